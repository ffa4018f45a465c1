"""An object with `reset` and `step` as a problem: it shows a context, takes an action, and says what that paid.

    class MySimulator:
        num_actions = 3                     # or `actions`, a list of what `step` is to be given
        def reset(self, rng): ...           # begins a trial with a NumPy generator; returns the first context
        def step(self, action): ...         # returns (the next context, the reward of the action)
        def means(self): ...                # if known: what each action would pay now, on average

In a contextual bandit a choice changes its own reward and nothing else. So each trial is played once per action, with
the same random numbers, which gives the reward of every action at every step; and once more with actions in disorder,
which must find the same contexts and the same rewards. A simulator that fails this is refused in a sentence: either its
choices change what comes next, or its random draws depend on the action. Where `step` takes `rng`, it is given a
generator for each step, which mends the latter.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.config.handed import describe
from showdown.plain.rounds import checked, numbers
from showdown.plain.signatures import taken
from showdown.protocol.in_python import Drawn, raised

MOST_ACTIONS = 1000  # each of them is one more trial to play


class Simulator:
    """Draws trials by playing an object with `reset` and `step` once for each action."""

    longest: int | None = None

    def __init__(self, value: Any) -> None:
        self.value = value
        self.actions = actions_of(value)

    def draw(self, rng: np.random.Generator, steps: int) -> Drawn:
        seed, count = rng.bit_generator.random_raw(2), len(self.actions)
        plays = [self._played(seed, np.full(steps, action)) for action in range(count)]
        contexts, rewards = plays[0][0], np.stack([rewards for _, rewards, _ in plays], axis=1)
        means = plays[0][2]
        disorder = rng.integers(count, size=steps)
        for actions, (others, paid, _) in zip(
            [*range(1, count), disorder], [*plays[1:], self._played(seed, disorder)], strict=True
        ):
            _require_same(self.name, contexts, others, "the context differs")
            _require_same(self.name, rewards[np.arange(steps), actions], paid, "the same action pays another reward")
        return checked(self.name, Drawn(contexts, rewards, rewards if means is None else means))

    @property
    def name(self) -> str:
        return describe(self.value)

    def _played(self, seed: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Contexts, rewards of these actions, and means where they are known."""
        value, step = copy.deepcopy(self.value), 0
        rng = np.random.default_rng(seed)
        by_step = bool(taken(value.step, ["rng"]))
        contexts, rewards, means = [], np.zeros(len(actions), np.float32), []
        try:
            context = value.reset(rng)
            for step, action in enumerate(actions):
                contexts.append(np.ravel(numbers(self.name, "context", context)))
                if hasattr(value, "means"):
                    means.append(numbers(self.name, "means", value.means()))
                drawn = {"rng": np.random.default_rng([*seed, step])} if by_step else {}
                context, paid = self._one(value.step(self.actions[action], **drawn))
                rewards[step] = numbers(self.name, "reward", paid)
        except Exception as error:
            raise raised(self.name, f"at step {step}", error) from error
        if len({each.shape for each in contexts}) > 1:
            raise UsageError(f"the context of {self.name} must have one shape at every step")
        return np.stack(contexts), rewards, np.stack(means) if means else None

    def _one(self, given: Any) -> tuple[Any, Any]:
        if not isinstance(given, tuple) or len(given) != 2 or np.ndim(given[1]) != 0:
            raise UsageError(f"`step` of {self.name} must return (the next context, the reward)")
        return given


def actions_of(value: Any) -> list[Any]:
    """What `step` is to be given, by the number of each action."""
    actions, count = getattr(value, "actions", None), getattr(value, "num_actions", None)
    if actions is None and type(count) is not int and not isinstance(count, np.integer):
        raise UsageError(f"{describe(value)} must say how many actions it has: num_actions = 3, or a list of actions")
    found = list(range(int(count))) if actions is None else list(actions)  # type: ignore[arg-type]
    if not 2 <= len(found) <= MOST_ACTIONS:
        raise UsageError(
            f"{describe(value)} has {len(found)} actions; a simulator is played once per action, so it may have 2 to "
            f"{MOST_ACTIONS}: for more, write a function that draws the rewards of all of them"
        )
    return found


def _require_same(name: str, first: np.ndarray, other: np.ndarray, what: str) -> None:
    same = (first == other) | ((first != first) & (other != other))
    wrong = ~same.reshape(len(first), -1).all(axis=1)
    if wrong.any():
        raise UsageError(
            f"{name} is no contextual bandit: after other actions {what} at step {int(wrong.argmax())}; either its "
            "choices change what comes next, which no policy here plans for, or its random draws depend on the "
            "action: let `step` take `rng`, or draw what all actions would pay first"
        )
