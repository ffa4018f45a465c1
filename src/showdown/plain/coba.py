"""Learners and environments of coba (`pip install coba`) as policies and problems.

A learner sees contexts as tuples of numbers, and actions as tuples: their features or, where they have none, one 1
among zeros, as coba itself writes them. Each trial has its own copy of the learner as it was handed in.

An environment is read once; its interactions are the rows of a problem, which each trial plays in an order of its own.
Values that are no numbers must be encoded first, by coba's `.repr("onehot", "onehot")` for example.
"""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.plain.decisions import Decisions, one_hot
from showdown.plain.rounds import checked
from showdown.protocol.in_python import Drawn, Player
from showdown.protocol.problem import ProblemSpec

LONGEST = 1_000_000  # interactions that an environment may have


class CobaLearner:
    """Begins the trials of a learner."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def check(self, spec: ProblemSpec) -> None:
        """Any problem can be played."""

    def begin(self, spec: ProblemSpec, rng: np.random.Generator) -> Player:
        return CobaPlayer(copy.deepcopy(self.learner), spec, int(rng.integers(2**31)))


class CobaPlayer:
    """A learner in one trial."""

    takes_available = True

    def __init__(self, learner: Any, spec: ProblemSpec, seed: int) -> None:
        from coba.safety import SafeLearner

        self.learner = SafeLearner(learner, seed)
        self.names = one_hot(spec.num_actions)
        self.decisions = Decisions()

    def _offered(self, available: Any, features: Any) -> tuple[list[Any], Any]:
        """The actions as coba sees them, and the number of each."""
        names = self.names if features is None else [tuple(row) for row in features.tolist()]
        if available is None:
            return names, range(len(names))
        numbers = np.flatnonzero(available)
        return [names[number] for number in numbers], numbers

    def choose(self, context: Any, available: Any = None, features: Any = None) -> int:
        names, numbers = self._offered(available, features)
        action, chance, known = self.learner.predict(tuple(context.tolist()), names)
        number = int(numbers[names.index(action)])
        self.decisions.remember(context, number, (chance, known))
        return number

    def learn(self, context: Any, action: int, reward: float, features: Any = None) -> None:
        name = self.names[action] if features is None else tuple(features[action].tolist())
        chance, known = self.decisions.recall(context, action, (None, {}))
        self.learner.learn(tuple(context.tolist()), name, reward, chance, **known)

    def probabilities(self, context: Any, available: Any = None, features: Any = None) -> np.ndarray | None:
        names, numbers = self._offered(available, features)
        law = np.zeros(len(self.names))
        try:
            law[list(numbers)] = [self.learner.score(tuple(context.tolist()), names, name) for name in names]
        except Exception:  # of a learner that cannot say it; coba has no error of its own for that
            return None
        return law


class CobaRows:
    """Draws trials by putting the interactions of an environment in an order."""

    def __init__(self, environment: Any) -> None:
        name = type(environment).__name__
        rows = [_row(name, each) for each in itertools.islice(environment.read(), LONGEST + 1)]
        if not rows or len(rows) > LONGEST:
            raise UsageError(f"{name} must have 1 to {LONGEST:,} interactions: take(n) makes it shorter")
        actions = [actions for _, actions, _ in rows]
        self.longest = len(rows)
        contexts, labels = [context for context, _, _ in rows], actions[0]
        if len({len(context) for context in contexts}) > 1:
            raise UsageError(f"the contexts of {name} must all have the same number of values: flatten() may help")
        same = all(each == labels for each in actions)
        most = len(labels) if same else max(map(len, actions))
        features = None if same else _features(name, actions, most)
        rewards = np.zeros((len(rows), most), np.float32)
        available = np.zeros((len(rows), most), bool)
        for place, (_, _, paid) in enumerate(rows):
            rewards[place, : len(paid)], available[place, : len(paid)] = paid, True
        masks = None if available.all() else available
        numbers = np.asarray(contexts, np.float32)
        self.rows = checked(name, Drawn(numbers, rewards, rewards, masks, features))

    def draw(self, rng: np.random.Generator, steps: int) -> Drawn:
        if steps > self.longest:
            raise UsageError(f"the environment has {self.longest:,} interactions, and {steps:,} were asked for")
        order = rng.permutation(self.longest)[:steps]
        return Drawn(*(None if part is None else part[order] for part in self.rows))  # type: ignore[arg-type]


def only_one(environments: Any) -> Any:
    """The environment among several, if there is one alone."""
    if hasattr(environments, "read"):
        return environments
    if len(environments) != 1:
        raise UsageError(f"a problem is one environment, and these are {len(environments)}: name one, such as [0]")
    return environments[0]


def _row(name: str, interaction: Any) -> tuple[list[float], list[Any], list[float]]:
    """The context, the actions and their rewards."""
    if not {"context", "actions", "rewards"} <= interaction.keys():
        raise UsageError(f"{name} must say what every action would have paid; a log is for `showdown evaluate`")
    actions, rewards = list(interaction["actions"]), interaction["rewards"]
    paid = [float(rewards(action)) for action in actions] if callable(rewards) else [float(each) for each in rewards]
    return _numbers(name, interaction["context"]), actions, paid


def _numbers(name: str, value: Any) -> list[float]:
    """A context or an action as numbers."""
    if value is None:
        return [1.0]
    if isinstance(value, str):
        if hasattr(value, "as_onehot"):  # a category of coba
            return [float(each) for each in value.as_onehot]
        raise UsageError(f"{name} has the value {str(value)!r}, which is no number: repr('onehot', 'onehot') may help")
    if hasattr(value, "keys"):
        raise UsageError(f"{name} has sparse contexts or actions: dense(n) makes them columns")
    if hasattr(value, "__iter__"):
        return [number for part in value for number in _numbers(name, part)]
    return [float(value)]


def _features(name: str, actions: list[list[Any]], most: int) -> np.ndarray:
    """The features of every action, zeros for those that a row lacks."""
    each = [[_numbers(name, action) for action in offered] for offered in actions]
    sizes = {len(row) for offered in each for row in offered}
    if len(sizes) != 1:
        raise UsageError(f"the actions of {name} must all have the same number of features")
    features = np.zeros((len(actions), most, sizes.pop()), np.float32)
    for place, offered in enumerate(each):
        features[place, : len(offered)] = offered
    return features
