"""Signs that a belief has collapsed: scores that tie, and features that are zero for every context.

A network whose hidden units have all died gives every action the same value, and the first action is then played for
ever. Nothing in the numbers is infinite, so it must be looked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from showdown.agent.decision import Probabilities
from showdown.config import core
from showdown.protocol.policy import Policy, State, Thompson
from showdown.protocol.situation import Situation

RECENT = 64  # contexts that features are looked at for


class Watch:
    """What was unusual about the decisions of an agent since it was started."""

    def __init__(self) -> None:
        self.refused_laws = 0  # decisions refused since the law was not finite or did not sum to one
        self.degenerate_laws = 0  # laws that gave one action everything, though several could be taken
        self.ties = 0  # decisions in which several actions had the largest score
        self._recent: deque[np.ndarray] = deque(maxlen=RECENT)

    def see(self, contexts: Iterable[np.ndarray], ties: Iterable[bool], laws: Iterable[Probabilities]) -> None:
        """Count decisions that were made after the warm-up."""
        self._recent.extend(contexts)
        self.ties += sum(ties)
        self.degenerate_laws += sum(law.is_certain for law in laws)

    def counts(self) -> dict[str, int]:
        return {"refused_laws": self.refused_laws, "degenerate_laws": self.degenerate_laws, "ties": self.ties}

    @property
    def recent(self) -> np.ndarray:
        """The last contexts that were decided about, (rows, context_dim)."""
        return np.array(self._recent, np.float32)


def is_tied(policy: Policy, key: jax.Array, state: State, situation: Situation) -> jax.Array:
    """Whether several of the available actions have the largest score, (); False for a policy without scores."""
    inner = core(policy)
    if not isinstance(inner, Thompson):
        return jnp.bool_(False)
    scores = situation.among(inner.scores(key, state, situation), -jnp.inf)
    return jnp.sum(scores == jnp.max(scores)) > 1


@jax.jit
def _dead(policy: Policy, state: State, contexts: jax.Array) -> jax.Array | None:
    features = policy.learned_features(state, contexts)
    return None if features is None else jnp.sum((features == 0).all(axis=0))


def dead_features(policy: Policy, state: State, contexts: Any) -> int | None:
    """How many learned features are zero for all of these contexts, (rows, context_dim).

    None for a policy that learns no features, and where there are no contexts to look at.
    """
    if not len(contexts):
        return None
    found = _dead(policy, state, contexts)
    return None if found is None else int(found)
