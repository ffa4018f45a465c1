"""A model of Vowpal Wabbit (`pip install vowpalwabbit`) as a policy, from its options: "--cb_explore_adf --squarecb".

Contexts are in the namespace `s`, actions in `a`: their features, or else their number. They are crossed (`-q sa`)
unless the options say how. Each trial has a new model; VW says with what probabilities it decides, and the action is
drawn by them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.plain.decisions import Decisions
from showdown.plain.own_policy import drawn
from showdown.protocol.in_python import Player
from showdown.protocol.problem import ProblemSpec

CROSSED = ("-q", "--quadratic", "--interactions", "--cubic")
# what VW itself adds to the options that it reports
ADDED = ("--cb_adf", "--cb_explore", "--csoaa_ldf", "--csoaa_rank", "--no_predict", "--no_stdin", "--cb_explore_adf")


class VowpalWabbit:
    """Begins the trials of a model with these options."""

    def __init__(self, options: str) -> None:
        if "--cb_explore" not in options:
            raise UsageError(f"a model of Vowpal Wabbit needs --cb_explore_adf to be a policy, and has {options!r}")
        words = options.split()
        if not any(word.startswith(CROSSED) for word in words):
            words += ["-q", "sa"]
        self.options = " ".join(words)

    def check(self, spec: ProblemSpec) -> None:
        """Any problem can be played."""

    def begin(self, spec: ProblemSpec, rng: np.random.Generator) -> Player:
        return VowpalPlayer(self.options, spec, rng)


class VowpalPlayer:
    """A model in one trial."""

    takes_available = True

    def __init__(self, options: str, spec: ProblemSpec, rng: np.random.Generator) -> None:
        from vowpalwabbit import Workspace

        seed = int(rng.integers(2**31))
        self.model = Workspace(f"{options} --quiet --random_seed {seed}")
        self.rng, self.decisions = rng, Decisions()
        self.names = [f"|a {number}" for number in range(spec.num_actions)]

    def _lines(self, context: np.ndarray, features: Any) -> tuple[str, list[str]]:
        """The line that all actions share, and one for each of them."""
        shared = f"shared |s {_numbers(context)}"
        return shared, self.names if features is None else [f"|a {_numbers(row)}" for row in features]

    def _law(self, context: np.ndarray, available: Any, features: Any) -> tuple[np.ndarray, Any]:
        """The probability of each action that is available, and the numbers of these."""
        shared, actions = self._lines(context, features)
        numbers = range(len(actions)) if available is None else np.flatnonzero(available)
        law = np.asarray(self.model.predict([shared, *(actions[number] for number in numbers)]))
        return law / law.sum(), numbers

    def choose(self, context: Any, available: Any = None, features: Any = None) -> int:
        law, numbers = self._law(context, available, features)
        place = drawn(self.rng, law)
        number = int(numbers[place])
        self.decisions.remember(context, number, (float(law[place]), numbers))
        return number

    def learn(self, context: Any, action: int, reward: float, features: Any = None) -> None:
        shared, actions = self._lines(context, features)
        chance, numbers = self.decisions.recall(context, action, (1.0, range(len(actions))))
        label = f"0:{-reward:.7g}:{chance:.7g} "
        lines = [(label if number == action else "") + actions[number] for number in numbers]
        self.model.learn([shared, *lines])

    def probabilities(self, context: Any, available: Any = None, features: Any = None) -> np.ndarray:
        found, numbers = self._law(context, available, features)
        law = np.zeros(len(self.names))
        law[list(numbers)] = found
        return law


def options_of(model: Any) -> str:
    """The options of a model that was made already; what it has learned is left out, as each trial begins anew."""
    kept, words = ["--cb_explore_adf"], iter(model.get_arguments().split(" --"))
    for word in words:
        option = f"--{word.strip().removeprefix('--')}"
        if option != "--" and option.split()[0] not in ADDED:
            kept.append(option)
    return " ".join(kept)


def _numbers(values: np.ndarray) -> str:
    return " ".join(f"{place}:{value:.7g}" for place, value in enumerate(values.tolist()))
