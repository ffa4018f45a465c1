"""A function of the user's as a problem: it draws one round after another.

    def my_problem(rng):                       # called once for each step, with the generator of the trial
        context = rng.normal(size=4)
        means = np.array([context[0], 0.5])    # what each action would pay on average
        return context, means + rng.normal(size=2), means

It returns (context, rewards) or (context, rewards, means), with a number for each action; or a dict of these and of
`available` (a mask) and `features` (num_actions, action_dim). A generator function draws what is the same for a whole
trial first, then yields its rounds. Where no means are given, regret is counted from the largest reward of each step.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from showdown.basics.errors import InvalidProblemError, UsageError
from showdown.config.handed import describe
from showdown.protocol.in_python import Drawn, raised

PARTS = ("context", "rewards", "means", "available", "features")


class Rounds:
    """Draws trials by calling a function for each round."""

    longest: int | None = None

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def draw(self, rng: np.random.Generator, steps: int) -> Drawn:
        name = describe(self.function)
        drawn: list[Any] = []
        try:
            drawn.extend(itertools.islice(self._rounds(rng), steps))
        except Exception as error:
            raise raised(name, f"at step {len(drawn)}", error) from error
        if len(drawn) < steps:
            raise UsageError(f"{name} ends after {len(drawn):,} rounds, and a trial of {steps:,} was asked for")
        return stacked(name, drawn)

    def _rounds(self, rng: np.random.Generator) -> Iterator[Any]:
        if inspect.isgeneratorfunction(self.function):
            return iter(self.function(rng))
        return (self.function(rng) for _ in iter(int, 1))  # without end


def stacked(name: str, rounds: list[Any]) -> Drawn:
    """Rounds as arrays, each checked for its shape and for numbers that are finite."""
    each = [_parts(name, round) for round in rounds]
    context = _stack(name, "context", [np.ravel(numbers(name, "context", part["context"])) for part in each])
    rewards = _stack(name, "rewards", [numbers(name, "rewards", part["rewards"]) for part in each])
    if rewards.ndim != 2:
        raise UsageError(f"the rewards of {name} must be one number per action, and have shape {rewards.shape[1:]}")
    given = {part: each[0].get(part) is not None for part in PARTS[2:]}
    for step, part in enumerate(each):
        other = next((name for name, is_given in given.items() if (part.get(name) is not None) != is_given), None)
        if other is not None:
            raise UsageError(f"{name} must give the same parts at every step, and {other} differs at step {step}")
    means = (
        _stack(name, "means", [numbers(name, "means", part["means"]) for part in each]) if given["means"] else rewards
    )
    masks = [np.asarray(part["available"], bool) for part in each] if given["available"] else None
    features = [numbers(name, "features", part["features"]) for part in each] if given["features"] else None
    drawn = Drawn(
        context,
        rewards,
        means,
        None if masks is None else _stack(name, "available", masks),
        None if features is None else _stack(name, "features", features),
    )
    return checked(name, drawn)


def checked(name: str, drawn: Drawn) -> Drawn:
    """Rounds whose arrays fit each other and whose numbers are finite."""
    steps, actions = drawn.rewards.shape
    shapes = {"means": (steps, actions), "available": (steps, actions)}
    for part, shape in shapes.items():
        array = getattr(drawn, part)
        if array is not None and array.shape != shape:
            raise UsageError(f"the {part} of {name} have shape {array.shape[1:]}, and its rewards {shape[1:]}")
    if drawn.features is not None and (drawn.features.ndim != 3 or drawn.features.shape[1] != actions):
        raise UsageError(f"the features of {name} must have a row for each of the {actions} actions")
    for part, array in zip(PARTS, drawn, strict=True):
        if array is not None and not np.isfinite(array).all():
            step = int(np.argwhere(~np.isfinite(array))[0][0])
            raise InvalidProblemError(f"the {part} of {name} at step {step} are not all finite numbers of float32")
    if drawn.available is not None and not drawn.available.any(axis=1).all():
        raise InvalidProblemError(f"{name} offers no action at step {int((~drawn.available.any(axis=1)).argmax())}")
    return drawn


def _parts(name: str, round: Any) -> dict[str, Any]:
    if isinstance(round, dict) and {"context", "rewards"} <= round.keys() <= set(PARTS):
        return round
    if isinstance(round, tuple) and len(round) in (2, 3):
        return dict(zip(PARTS, round, strict=False))
    raise UsageError(
        f"{name} must give (context, rewards) or (context, rewards, means), or a dict of {', '.join(PARTS)}, "
        f"and gave {_shortly(round)}"
    )


def numbers(name: str, part: str, given: Any) -> np.ndarray:
    """What was given as an array of float32."""
    if given is None and part == "context":
        return np.ones(1, np.float32)  # there is nothing to see
    try:
        with np.errstate(over="ignore"):
            return np.asarray(given).astype(np.float32, casting="unsafe" if _is_numeric(given) else "safe")
    except (TypeError, ValueError):
        raise UsageError(f"the {part} of {name} must be numbers, not {_shortly(given)}") from None


def _is_numeric(given: Any) -> bool:
    return np.asarray(given).dtype.kind in "biuf"


def _stack(name: str, part: str, arrays: list[np.ndarray]) -> np.ndarray:
    different = next((step for step, array in enumerate(arrays) if array.shape != arrays[0].shape), None)
    if different is not None:
        raise UsageError(
            f"the {part} of {name} must have one shape at every step, and it is {arrays[0].shape} at step 0 and "
            f"{arrays[different].shape} at step {different}"
        )
    return np.stack(arrays)


def _shortly(given: Any) -> str:
    text = repr(given).replace("\n", " ")
    return text if len(text) <= 80 else f"{text[:79]}…"
