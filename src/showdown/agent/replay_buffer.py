"""The observations that an agent keeps for refits: all of them, the last ones, or a random sample of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from showdown.basics.errors import UsageError

FIRST_CAPACITY = 1024  # rows; doubled when full, so that programs are seldom compiled for another size
AHEAD = 8192  # rows before it is full, where it has as many: seconds of decisions, to compile for the next size


@dataclass(frozen=True)
class Window:
    """Keep the last `rows` observations: for a world that changes."""

    rows: int


@dataclass(frozen=True)
class Reservoir:
    """Keep `rows` observations, each of those ever seen with equal probability: for a world that stays."""

    rows: int


Bound = Window | Reservoir | None


class Rows(NamedTuple):
    """Observations in arrays of a fixed size, of which the first `filled` are used, the oldest first."""

    inputs: np.ndarray  # (capacity, input_dim) float32
    actions: np.ndarray  # (capacity,) int32
    rewards: np.ndarray  # (capacity,) float32
    filled: int


class ReplayBuffer:
    """Appends in constant time. A bounded history has one size for ever; the other one doubles."""

    def __init__(self, input_dim: int, bound: Bound, seed: int, *, keeps: bool) -> None:
        if not isinstance(bound, Bound):
            raise UsageError(f"a history is bounded by Window(rows) or Reservoir(rows), not by {bound!r}")
        if bound is not None and (type(bound.rows) is not int or bound.rows < 1):
            raise UsageError(f"a bounded history holds at least one row, not {bound.rows!r}")
        self.bound, self.keeps, self._seed = bound, keeps, seed
        capacity = 0 if not keeps else FIRST_CAPACITY if bound is None else bound.rows
        self.inputs = np.zeros((capacity, input_dim), np.float32)
        self.actions = np.zeros(capacity, np.int32)
        self.rewards = np.zeros(capacity, np.float32)
        self.seen = 0  # rows ever given
        self.count = 0  # rows kept
        self._oldest = 0  # place of the oldest row, once a window is full

    @property
    def capacity(self) -> int:
        return len(self.actions)

    def append(self, inputs: np.ndarray, action: int, reward: np.float32) -> None:
        if not self.keeps:
            return
        place = self._place()
        self.seen += 1
        if place is not None:
            self.inputs[place], self.actions[place], self.rewards[place] = inputs, action, reward

    def _place(self) -> int | None:
        if self.bound is None or self.count < self.capacity:
            if self.count == self.capacity:
                self._resize(2 * self.capacity)
            self.count += 1
            return self.count - 1
        if isinstance(self.bound, Window):
            place = self._oldest
            self._oldest = (place + 1) % self.capacity
            return place
        drawn = int(np.random.default_rng((self._seed, self.seen)).integers(self.seen + 1))
        return drawn if drawn < self.capacity else None

    def _resize(self, capacity: int) -> None:
        """New arrays, so that a refit in progress keeps the old ones."""
        for name in ("inputs", "actions", "rewards"):
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]), old.dtype)
            new[: self.count] = old[: self.count]
            setattr(self, name, new)

    def reserve(self, rows: int) -> None:
        """Make room for so many rows in all: it is not nearly full before they have come."""
        if self.keeps and self.bound is None:
            capacity = self.capacity
            while rows > _ample(capacity):
                capacity *= 2
            if capacity > self.capacity:
                self._resize(capacity)

    @property
    def nearly_full(self) -> bool:
        return self.count > _ample(self.capacity)

    def extend(self, inputs: np.ndarray, actions: np.ndarray, rewards: np.ndarray) -> None:
        if not self.keeps:
            return
        if self.bound is not None:
            for row in zip(inputs, actions, rewards, strict=True):
                self.append(*row)
            return
        wanted = self.count + len(actions)
        if wanted > self.capacity:
            self._resize(capacity_for(wanted))
        new = slice(self.count, wanted)
        self.inputs[new], self.actions[new], self.rewards[new] = inputs, actions, rewards
        self.count, self.seen = wanted, self.seen + len(actions)

    def forget(self, first: int, end: int) -> int:
        """Drop rows of an unbounded history, and say how many; a bounded one loses them in time."""
        if self.bound is not None:
            return 0
        for name in ("inputs", "actions", "rewards"):
            array = getattr(self, name).copy()
            array[first : self.count - (end - first)] = array[end : self.count]
            setattr(self, name, array)
        self.count -= end - first
        return end - first

    def drop(self, action: int) -> int:
        """Take out the rows of an action, and say how many they were."""
        rows = self.rows()
        kept = np.flatnonzero(rows.actions[: rows.filled] != action)
        gone = rows.filled - len(kept)
        if gone:
            for name, array in zip(("inputs", "actions", "rewards"), rows[:3], strict=True):
                fresh = np.zeros_like(array)
                fresh[: len(kept)] = array[kept]
                setattr(self, name, fresh)
            self.count, self._oldest = len(kept), 0
        return gone

    def rows(self) -> Rows:
        """The rows for a refit, which may go on while others are appended.

        An unbounded history never changes a row that it has, so its arrays are shared; a bounded one is copied.
        """
        arrays = self.inputs, self.actions, self.rewards
        if self.bound is None:
            return Rows(*arrays, self.count)
        inputs, actions, rewards = (np.roll(array, -self._oldest, axis=0) for array in arrays)
        return Rows(inputs, actions, rewards, self.count)

    def fill(self, inputs: np.ndarray, actions: np.ndarray, rewards: np.ndarray, seen: int) -> None:
        """What was saved, the oldest first; of more rows than a bound allows the last, or a random sample."""
        if not self.keeps:
            return
        if self.bound is None:
            self._resize(capacity_for(len(actions)))
        rows = np.arange(len(actions))
        if len(rows) > self.capacity:
            draw = np.random.default_rng((self._seed, seen))
            sample = isinstance(self.bound, Reservoir)
            rows = np.sort(draw.choice(rows, self.capacity, replace=False)) if sample else rows[-self.capacity :]
        self.count, self.seen, self._oldest = len(rows), seen, 0
        for kept, saved in ((self.inputs, inputs), (self.actions, actions), (self.rewards, rewards)):
            kept[: self.count] = saved[rows]


def capacity_for(rows: int) -> int:
    """The size that arrays of so many rows would have grown to."""
    return max(FIRST_CAPACITY, 1 << (max(1, rows) - 1).bit_length())


def _ample(capacity: int) -> int:
    """How many rows it may hold and not be nearly full."""
    return capacity - min(AHEAD, capacity // 2)
