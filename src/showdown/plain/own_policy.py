"""A class of the user's as a policy: `choose` an action, `learn` its reward.

    class MyPolicy:
        def begin(self, num_actions, context_dim, rng): ...   # a new trial; takes what it names of these
        def choose(self, context): ...                        # returns the number of an action
        def learn(self, context, action, reward): ...         # what that action paid

Only `choose` is needed. Each trial gets a copy of the object as it was handed in, then `begin`. All random numbers must
come from `rng`, a NumPy generator, so that a trial can be repeated. `probabilities(context)` says how probable each
action is; a class that has it needs no `choose`. `choose` and `probabilities` are also given `available`, a mask, and
`features`, (num_actions, action_dim), where they take them. A function of a context is a policy that never learns.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.config.handed import describe
from showdown.plain.signatures import taken
from showdown.protocol.in_python import Player
from showdown.protocol.problem import ProblemSpec

SUM_WITHIN = 1e-3  # of 1: what rounding to 16 bits may do to a law
OFFERED = ("num_actions", "context_dim", "action_dim", "rng")  # to `begin`


class OwnPolicy:
    """Begins the trials of an object with `choose` and `learn`."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def check(self, spec: ProblemSpec) -> None:
        if spec.action_dim and "features" not in taken(self._deciding, ["features"]):
            raise UsageError(
                f"{describe(self.value)} cannot use features of actions, of which this problem has {spec.action_dim}: "
                "let `choose` take `features`"
            )

    @property
    def _deciding(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(self.value, "choose", None) or getattr(
            self.value, "probabilities", self.value
        )
        return found

    def begin(self, spec: ProblemSpec, rng: np.random.Generator) -> Player:
        value = self.value if inspect.isroutine(self.value) else copy.deepcopy(self.value)
        if hasattr(value, "begin"):
            offered = {**spec._asdict(), "rng": rng}
            value.begin(**{name: offered[name] for name in taken(value.begin, OFFERED)})
        return OwnPlayer(value, spec, rng)


class OwnPlayer:
    """The object in one trial. Its own methods are called without anything between where that can be."""

    def __init__(self, value: Any, spec: ProblemSpec, rng: np.random.Generator) -> None:
        self._value, self._rng, self._num_actions = value, rng, spec.num_actions
        self._law = getattr(value, "probabilities", None)
        own_choice = getattr(value, "choose", value if callable(value) else None)
        self.choose: Callable[..., int] = own_choice or self._drawn
        self.learn: Callable[..., None]
        self.takes_available = "available" in taken(own_choice or self._law or value, ["available"])
        learn = getattr(value, "learn", None)
        sees_features = spec.action_dim and learn is not None and "features" in taken(learn, ["features"])
        if learn is None:
            self.learn = _nothing
        elif spec.action_dim and not sees_features:
            self.learn = lambda context, action, reward, **features: learn(context, action, reward)
        else:
            self.learn = learn

    def _drawn(self, context: np.ndarray, **seen: Any) -> int:
        assert self._law is not None  # else it has a choice of its own
        name = type(self._value).__name__
        return drawn(self._rng, stated_law(name, self._law(context, **seen), self._num_actions))

    def probabilities(self, context: Any, available: Any = None, features: Any = None) -> np.ndarray | None:
        if self._law is None:
            return None
        seen = {"available": available, "features": features}
        return np.asarray(self._law(context, **{name: part for name, part in seen.items() if part is not None}), float)


def _nothing(context: np.ndarray, action: int, reward: float, **features: Any) -> None:
    pass


def stated_law(name: str, law: Any, num_actions: int) -> np.ndarray:
    """What a policy says are its probabilities, checked."""
    found = np.asarray(law, float)
    if found.shape != (num_actions,) or not (found >= 0).all() or abs(found.sum() - 1) > SUM_WITHIN:
        said = " ".join(repr(law).split())
        raise UsageError(f"the probabilities of {name} must be {num_actions} numbers that sum to 1, not {said:.60}")
    return found


def drawn(rng: np.random.Generator, law: Any) -> int:
    """An action drawn from a law."""
    sums = np.cumsum(law)
    return int(min(np.searchsorted(sums, rng.random() * sums[-1], side="right"), len(sums) - 1))
