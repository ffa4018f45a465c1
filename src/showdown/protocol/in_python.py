"""What plain Python hands to the loop: the rounds of a trial, and what plays one trial.

`showdown.plain` makes these of a user's function, class, scikit-learn model and so on.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from showdown.basics.errors import ShowdownError, UsageError
from showdown.protocol.problem import ProblemSpec


class Drawn(NamedTuple):
    """All rounds of one trial, as NumPy arrays."""

    contexts: np.ndarray  # (steps, context_dim) float32
    rewards: np.ndarray  # (steps, num_actions) float32
    means: np.ndarray  # (steps, num_actions) float32
    available: np.ndarray | None = None  # (steps, num_actions) bool
    features: np.ndarray | None = None  # (steps, num_actions, action_dim) float32

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self if array is not None)


class DrawsTrials(Protocol):
    """A problem in plain Python: the same generator always gives the same trial."""

    def draw(self, rng: np.random.Generator, steps: int) -> Drawn: ...


class Player(Protocol):
    """A policy in plain Python, in one trial.

    `available` is given where not all actions are, and `features` where actions have features, by these names.
    """

    takes_available: bool  # whether it can play where not every action is available

    @property
    def choose(self) -> Callable[..., int]:
        """(context, available=…, features=…) -> the action to take."""
        ...

    @property
    def learn(self) -> Callable[..., None]:
        """(context, action, reward, features=…): take in what that action paid."""
        ...

    def probabilities(self, context: Any, available: Any = None, features: Any = None) -> np.ndarray | None:
        """The law of `choose`, (num_actions,); None where it is not known. It draws nothing from the generator."""
        ...


class PlaysTrials(Protocol):
    """A policy in plain Python, from which each trial gets a player that has learned nothing."""

    def check(self, spec: ProblemSpec) -> None:
        """Raise UsageError, in one sentence, where it cannot play problems of such sizes."""
        ...

    def begin(self, spec: ProblemSpec, rng: np.random.Generator) -> Player: ...


def raised(name: str, where: str, error: Exception) -> ShowdownError:
    """The sentence about an error in the user's code: what it says and the last line of theirs that it came from.

    An error that is a sentence of ours already stays as it is.
    """
    if isinstance(error, ShowdownError):
        return error
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if "/showdown/" not in frame.filename and "-packages/" not in frame.filename]
    line = f" ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})" if theirs else ""
    first = (str(error).strip().splitlines() or [""])[0]
    return UsageError(f"{name} raises {type(error).__name__} {where}{line}: {first}")


def generator(words: Any) -> np.random.Generator:
    """The random numbers of NumPy that belong to the two words of a key."""
    return np.random.default_rng(np.asarray(words, np.uint32))
