"""What one decision chooses among: its places, each with an action, and the features of each where actions have any.

Where what is learned has a slot for each action, the places are these slots. Where all actions share what is learned,
any actions may be offered, each at the place it is named in, and some places behind them stay empty, so that few
programs serve every number of actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from showdown.agent.roster import Name, Roster
from showdown.basics.errors import UsageError
from showdown.config import core
from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec

MOST = 10_000  # actions in one decision
GROWTH = 4  # from one number of places to the next


class Offer(NamedTuple):
    available: np.ndarray | None = None  # (places,) bool; None: every place
    features: np.ndarray | None = None  # (places, action_dim); None: actions have none
    names: tuple[Name, ...] | None = None  # of the places that are filled; None: the places are the agent's slots

    def inputs_of(self, context: np.ndarray, place: int) -> np.ndarray:
        """What is learned from if the action at this place is taken: the context and its features."""
        return context if self.features is None else np.concatenate([context, self.features[place]])


def check_policy(policy: Policy, spec: ProblemSpec) -> None:
    """Raise UsageError, in one sentence, where an agent cannot decide by this policy among actions of such sizes."""
    policy.check_problem(spec)
    if spec.action_dim and core(policy).learns_from_all_offered:
        raise UsageError(
            f"{type(core(policy)).__name__} learns from the features of all actions of a decision, and an agent keeps "
            "those of the one that was taken: take another policy, such as Council instead of its first edition"
        )


def has_slots(policy: Policy, spec: ProblemSpec) -> bool:
    """Whether what a policy learns has a part for each action, by the shapes of its state."""
    if not spec.action_dim:
        return True

    def shapes(count: int) -> list[tuple[int, ...]]:
        size = spec._replace(num_actions=count)
        return [leaf.shape for leaf in jax.tree.leaves(jax.eval_shape(lambda: policy.init(jax.random.key(0), size)))]

    return shapes(spec.num_actions) != shapes(spec.num_actions + 1)


def places_for(count: int, usual: int) -> int:
    """How many places a decision among `count` actions has: `usual` of them, or else a power of 4."""
    size = GROWTH
    while size < count:
        size *= GROWTH
    return usual if count <= usual <= size else size


def all_sizes(usual: int) -> list[int]:
    """Every number of places that decisions among at most `usual` actions have."""
    sizes, size = [usual], GROWTH
    while size < usual:
        sizes.append(size)
        size *= GROWTH
    return sizes


def in_slots(roster: Roster, names: Sequence[Any], features: np.ndarray, spec: ProblemSpec) -> Offer:
    """An offer of actions that the agent knows, each at its own slot."""
    slots = [roster.slot(name) for name in names]
    placed, mask = np.zeros((spec.num_actions, spec.action_dim), np.float32), np.zeros(spec.num_actions, bool)
    placed[slots], mask[slots] = features, True
    return Offer(None if mask.all() else mask, placed)


def in_order(names: Sequence[Any], features: np.ndarray, spec: ProblemSpec) -> Offer:
    """An offer of any actions, in the order given."""
    count, places = len(names), places_for(len(names), spec.num_actions)
    placed, mask = np.zeros((places, spec.action_dim), np.float32), np.zeros(places, bool)
    placed[:count], mask[:count] = features, True
    return Offer(None if count == places else mask, placed, tuple(names))


def listed(actions: Any) -> tuple[list[Any], list[Any]]:
    """The names and the features of the actions in a request: an object by name, or a list, whose names are numbers."""
    if isinstance(actions, Mapping):
        names, features = list(actions.keys()), list(actions.values())
    elif isinstance(actions, list | tuple | np.ndarray):
        names, features = list(range(len(actions))), list(actions)
    else:
        raise UsageError(f"actions are given by name, each with its features, not as {type(actions).__name__}")
    names = [int(name) if isinstance(name, np.integer) else name for name in names]
    for name in names:
        if not isinstance(name, str) and type(name) is not int:
            raise UsageError(f"an action is offered by its name, text or a whole number, not {str(name)[:60]}")
    if len({str(name) for name in names}) < len(names):
        raise UsageError("an action is offered twice, as a number and as text")
    if not names:
        raise UsageError("no action is offered, so there is nothing to choose")
    if len(names) > MOST:
        raise UsageError(f"one decision chooses among at most {MOST:,} actions, not {len(names):,}")
    return names, features


def narrowed(offer: Offer, available: Iterable[Any], roster: Roster) -> Offer:
    """The same offer, where only some of its actions may be taken."""
    if isinstance(available, str | bytes) or not isinstance(available, Iterable):
        raise UsageError(f"the available actions are a list of actions, not {type(available).__name__}")
    if offer.names is None:
        size = len(roster.names)
        chosen = [roster.slot(name) for name in available]
    else:
        known = {str(name): place for place, name in enumerate(offer.names)}  # 3 and '3' are one name over HTTP
        size = len(offer.features) if offer.features is not None else len(known)
        chosen = []
        for name in available:
            if isinstance(name, bool) or not isinstance(name, str | int | np.integer) or str(name) not in known:
                raise UsageError(f"{str(name)[:60]!r} is said to be available and is not among the actions offered")
            chosen.append(known[str(name)])
    mask = np.zeros(size, bool)
    mask[chosen] = True
    if offer.available is not None:
        mask &= offer.available
    if not mask.any():
        raise UsageError("no action is available, so there is nothing to choose")
    return offer._replace(available=mask)
