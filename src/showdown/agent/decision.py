"""Decisions: with what probability an action is taken, and which decisions wait for their reward."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Container, Iterable
from typing import Any, NamedTuple

import numpy as np

from showdown.basics.errors import UsageError
from showdown.plain.own_policy import SUM_WITHIN

DRAWS = 1000  # for a propensity that has no closed form
SMALLEST = 1e-12  # of a propensity: one that was integrated may be too small for its float32


class UnknownDecisionError(UsageError):
    """A reward for a decision that no longer waits for one."""


class Probabilities(NamedTuple):
    values: np.ndarray  # (num_actions,) of each action, in the order of the actions
    errors: np.ndarray  # (num_actions,) standard errors; 0 where they are exact
    draws: int  # of the policy that they are estimated from; 0 where they are exact

    @classmethod
    def of(cls, values: np.ndarray, draws: int) -> Probabilities:
        """The error is the deviation of Beta(1 + times, 1 + draws − times): it is not 0 for what was never drawn."""
        if not draws:
            return cls(values, np.zeros_like(values), 0)
        times = values * draws
        errors = np.sqrt((1 + times) * (1 + draws - times) / (draws + 3)) / (draws + 2)
        return cls(values, errors, draws)

    @property
    def sums_to_one(self) -> bool:
        """Whether these are probabilities: a belief whose numbers overflow has none."""
        return bool(abs(self.values.sum() - 1) < SUM_WITHIN)

    @property
    def is_certain(self) -> bool:
        """Whether a stated law gives one of several actions everything."""
        return not self.draws and bool(self.values.max() >= 1)

    def taken(self, action: int) -> tuple[float, float]:
        """The propensity of an action that was taken, and its error.

        The action itself counts as one more draw, so that the propensity of what happened is never 0; nor is one that
        was integrated and is too small for its float32.
        """
        value = max(float(self.values[action]), SMALLEST if not self.draws else 0.0)
        if self.draws:
            value = (1 + value * self.draws) / (1 + self.draws)
        return value, float(self.errors[action])


class Chances(NamedTuple):
    """With what probability each of some actions would be taken."""

    names: list[Any]  # of the actions, in the order of the law
    law: Probabilities


class Decision(NamedTuple):
    """What was decided, with what is worth logging about it."""

    id: str  # to give to `reward`
    action: int  # its number; where the request named the actions, its place among them
    name: str  # of the action; its number as text where it has no name
    propensity: float  # the probability with which the policy takes this action here
    propensity_error: float  # its standard error; 0 where it is exact
    known_as: Any = None  # the action as it is to be named to the agent: its name, or its number where it has none


class Waiting(NamedTuple):
    """What must be known of a decision when its reward comes."""

    inputs: np.ndarray  # the context and, where actions have features, those of the action taken
    action: int  # its slot


class Pending:
    """The decisions without a reward, by id, the oldest first; when there are too many the oldest is dropped.

    Ids begin with a word drawn anew by every process, so that a reward for a decision that a crash has lost cannot be
    taken for that of a later one.
    """

    def __init__(self, most: int) -> None:
        if type(most) is not int or most < 1:
            raise UsageError(f"an agent remembers at least one decision, not {most!r}")
        self.most = most
        self.dropped = 0  # decisions forgotten before their reward came
        self.unknown = 0  # rewards refused since their decision is not known
        self._word = os.urandom(5).hex()
        self._made = 0
        self._waiting: OrderedDict[str, Waiting] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def new_id(self) -> str:
        self._made += 1
        return f"{self._word}-{self._made}"

    def add(self, id: str, waiting: Waiting) -> None:
        self._waiting[id] = waiting
        while len(self._waiting) > self.most:
            self._waiting.popitem(last=False)
            self.dropped += 1

    def find(self, id: Any, but: Container[str] = ()) -> Waiting:
        """The decision that waits under this id; raises UnknownDecisionError, and counts it, where there is none."""
        try:
            if id not in but:
                return self._waiting[id]
            self.unknown += 1
        except (KeyError, TypeError):
            self.unknown += 1
        raise UnknownDecisionError(
            f"no decision {str(id)[:60]!r} waits for a reward: it is not one of this agent's, it has had its reward, "
            f"or it was dropped as one of the oldest (at most {self.most} are remembered)"
        )

    def remove(self, id: str) -> None:
        """Take out a decision that has had its reward."""
        del self._waiting[id]

    def drop(self, action: int) -> None:
        """Forget the decisions for an action: its slot gets another one."""
        for id in [id for id, waiting in self._waiting.items() if waiting.action == action]:
            del self._waiting[id]
            self.dropped += 1

    def items(self) -> Iterable[tuple[str, Waiting]]:
        return self._waiting.items()
