"""A log of decisions as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from showdown.basics.errors import UsageError
from showdown.basics.text import wrapped
from showdown.data.encoder import Encoder
from showdown.protocol.problem import ProblemSpec

ROUNDING = 1e-6  # by which a propensity in float32 may be above 1
NEVER = 1e-18  # a smaller propensity is that of no action that was ever taken; its square must be a number as well


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Decisions in the order of time: what was seen, done and paid."""

    contexts: np.ndarray  # (rows, context_dim) float32, standardised
    actions: np.ndarray  # (rows,) int32
    rewards: np.ndarray  # (rows,) float64, of the action taken
    propensities: np.ndarray | None  # (rows,) float64, of the action taken; None where they were not logged
    action_names: tuple[str, ...]
    available: np.ndarray | None = None  # (rows, num_actions) bool; None where every action always is
    timed: bool = False  # whether the order of the rows is known to be that of time
    encoder: Encoder | None = None  # how a row became a context, to start an agent from the log
    rows_left_out: int = 0  # because their action is missing
    notes: tuple[str, ...] = ()  # sentences on how it was made that a reader of its estimates should know
    items: np.ndarray | None = None  # (num_actions, dims) float32, features of each action that never change
    offered: np.ndarray | None = None  # (rows, num_actions, dims) float32, those of each decision

    def __post_init__(self) -> None:
        rows = len(self.actions)
        for name in ("contexts", "rewards", "propensities", "available", "offered"):
            array = getattr(self, name)
            if array is not None and len(array) != rows:
                raise UsageError(f"the log has {rows} actions and {len(array)} {name}")
        if rows == 0:
            raise UsageError("the log has no rows")
        if len(self.action_names) < 2:
            raise UsageError("the log has one action only: there is nothing to choose")
        _check_finite("reward", self.rewards)
        _check_finite("context", self.contexts)
        if self.propensities is not None:
            _check_propensities(self.propensities)
        if self.available is not None and not self.available[np.arange(rows), self.actions].all():
            row = int(np.flatnonzero(~self.available[np.arange(rows), self.actions])[0])
            raise UsageError(f"in row {row + 1} of the log the action taken is not among those available")

    def __repr__(self) -> str:
        sizes = f"{self.rows:,} decisions, contexts of {self.contexts.shape[1]} numbers"
        known = "with propensities" if self.propensities is not None else "without propensities"
        return wrapped([f"<Log of {sizes}, {known}; actions {', '.join(self.action_names)}>"], most=5)

    @property
    def rows(self) -> int:
        return len(self.actions)

    @property
    def num_actions(self) -> int:
        return len(self.action_names)

    @property
    def spec(self) -> ProblemSpec:
        dims = [array.shape[-1] for array in (self.items, self.offered) if array is not None]
        return ProblemSpec(self.contexts.shape[1], self.num_actions, sum(dims))

    def features_of(self, rows: np.ndarray, actions: np.ndarray) -> np.ndarray | None:
        """The features of these actions in these rows, (size, action_dim); None where actions have none."""
        items = [] if self.items is None else [self.items[actions]]
        offered = [] if self.offered is None else [self.offered[rows, actions]]
        return np.concatenate([*items, *offered], axis=1) if items or offered else None

    @property
    def allowed(self) -> np.ndarray:
        """(rows, num_actions) bool, whether or not the log names the available actions."""
        return np.ones((self.rows, self.num_actions), bool) if self.available is None else self.available

    def take(self, rows: np.ndarray) -> Log:
        """Some rows of it, in the order given."""

        def taken(array: np.ndarray | None) -> np.ndarray | None:
            return None if array is None else array[rows]

        return replace(
            self,
            contexts=self.contexts[rows],
            actions=self.actions[rows],
            rewards=self.rewards[rows],
            propensities=taken(self.propensities),
            available=taken(self.available),
            offered=taken(self.offered),
        )


def _check_finite(what: str, values: np.ndarray) -> None:
    bad = ~np.isfinite(values)
    if bad.any():
        first = int(np.argwhere(bad)[0][0])
        raise UsageError(f"{int(bad.sum()):,} {what}s of the log are not finite numbers (the first in row {first + 1})")


def _check_propensities(propensities: np.ndarray) -> None:
    bad = ~((propensities > 0) & (propensities <= 1 + ROUNDING))
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise UsageError(
            f"a propensity is the probability of the action taken, above 0 and at most 1; {int(bad.sum()):,} are not "
            f"(the first, {propensities[first]:.9g}, in row {first + 1})"
        )
    if (propensities < NEVER).any():
        first = int(np.flatnonzero(propensities < NEVER)[0])
        raise UsageError(
            f"{int((propensities < NEVER).sum()):,} propensities are below {NEVER:g} (the first, "
            f"{propensities[first]:.9g}, in row {first + 1}): an action of that probability is never taken"
        )
