"""Vowpal Wabbit and MABWiser on trials that `beyond.py` has drawn: rewards of every trial and setting, as JSON.

Runs in an environment of its own that has them: `python beyond_peers.py vowpal|mabwiser TRIALS.npz`. Contexts,
features, rewards, available actions and delays of a trial are those that the project's policies see.

Vowpal Wabbit is `--cb_explore_adf`; the context is crossed with the action (`-q UA`), and where actions have no
features an action is a name. MABWiser has one model per action; where actions have features its context is the features
of all of them. It learns from one round of all actions before it decides.
"""

from __future__ import annotations

import json
import sys
from typing import Any, ClassVar, Protocol

import numpy as np

Trial = dict[str, np.ndarray]


class Peer(Protocol):
    def choose(self, step: int, offered: np.ndarray) -> int: ...

    def learn(self, step: int, action: int, reward: float) -> None: ...


class Vowpal:
    """One setting of Vowpal Wabbit."""

    settings: ClassVar = {
        "epsilon 0.02": "--epsilon 0.02 --cb_type mtr",
        "epsilon 0.02, DR": "--epsilon 0.02 --cb_type dr",
        "bag 5": "--bag 5",
        "cover 3": "--cover 3 --cb_type mtr",
        "SquareCB": "--squarecb --cb_type mtr",
    }

    @staticmethod
    def prepared(trial: Trial) -> list[list[str]]:
        """The lines of every step: what all actions share, and one of each."""

        def numbers(prefix: str, values: np.ndarray) -> str:
            return " ".join(f"{prefix}{place}:{value:.6g}" for place, value in enumerate(values))

        found = []
        for step, context in enumerate(trial["contexts"]):
            if "features" in trial:
                actions = [f"|A {numbers('f', features)}" for features in trial["features"][step]]
            else:
                actions = [f"|A a{action}" for action in range(trial["rewards"].shape[1])]
            found.append([f"shared |U {numbers('c', context)}", *actions])
        return found

    def __init__(self, setting: str, trial: Trial, lines: list[list[str]], seed: int) -> None:
        from vowpalwabbit import Workspace

        options = self.settings[setting]
        self.model = Workspace(f"--cb_explore_adf {options} -q UA --quiet --random_seed {seed}")
        self.lines, self.draw = lines, np.random.default_rng(seed)
        self.asked: dict[int, tuple[list[str], int, float]] = {}

    def choose(self, step: int, offered: np.ndarray) -> int:
        lines = [self.lines[step][0], *(self.lines[step][1 + action] for action in offered)]
        chances = np.array(self.model.predict(lines))
        place = int(self.draw.choice(len(offered), p=chances / chances.sum()))
        self.asked[step] = lines, place, float(chances[place])
        return int(offered[place])

    def learn(self, step: int, action: int, reward: float) -> None:
        lines, place, chance = self.asked.pop(step)
        lines[1 + place] = f"0:{-reward:.6g}:{chance:.6g} {lines[1 + place]}"
        self.model.learn(lines)


class MabWiser:
    """One learning policy of MABWiser."""

    settings: ClassVar = {
        "LinUCB, alpha 1": ("LinUCB", {"alpha": 1.0}),
        "LinUCB, alpha 0.1": ("LinUCB", {"alpha": 0.1}),
        "LinGreedy, epsilon 0.02": ("LinGreedy", {"epsilon": 0.02}),
    }

    @staticmethod
    def prepared(trial: Trial) -> np.ndarray:
        parts = [trial["contexts"], np.ones((len(trial["contexts"]), 1))]
        if "features" in trial:
            parts.append(trial["features"].reshape(len(trial["contexts"]), -1))
        return np.concatenate(parts, axis=1)

    def __init__(self, setting: str, trial: Trial, contexts: np.ndarray, seed: int) -> None:
        from mabwiser.mab import MAB, LearningPolicy

        kind, options = self.settings[setting]
        self.arms = list(range(trial["rewards"].shape[1]))
        self.model: Any = MAB(self.arms, getattr(LearningPolicy, kind)(**options), seed=seed)
        self.contexts, self.first, self.fitted = contexts, [], False

    def choose(self, step: int, offered: np.ndarray) -> int:
        if not self.fitted:
            return int(offered[step % len(offered)])
        expected = self.model.predict_expectations(self.contexts[step : step + 1])
        return int(max(offered, key=lambda action: expected[action]))

    def learn(self, step: int, action: int, reward: float) -> None:
        if self.fitted:
            self.model.partial_fit([action], [reward], self.contexts[step : step + 1])
            return
        self.first.append((step, action, reward))
        if len(self.first) == len(self.arms):
            steps, actions, rewards = map(list, zip(*self.first, strict=True))
            self.model.fit(actions, rewards, self.contexts[steps])
            self.fitted = True


def play(peer: Peer, trial: Trial, order: np.ndarray, known: np.ndarray) -> list[float]:
    """The reward of every step; after step t the rewards of the steps order[: known[t]] have come."""
    everything, taken = np.arange(trial["rewards"].shape[1]), []
    for step in range(len(trial["contexts"])):
        offered = np.flatnonzero(trial["available"][step]) if "available" in trial else everything
        taken.append(peer.choose(step, offered))
        for at in order[known[step - 1] if step else 0 : known[step]]:
            peer.learn(int(at), taken[at], float(trial["rewards"][at, taken[at]]))
    return [float(trial["rewards"][step, action]) for step, action in enumerate(taken)]


def main(name: str, path: str) -> None:
    drawn, kind = dict(np.load(path)), {"vowpal": Vowpal, "mabwiser": MabWiser}[name]
    order, known = drawn.pop("order"), drawn.pop("known")
    found: dict[str, list[list[float]]] = {setting: [] for setting in kind.settings}
    for seed in range(len(drawn["contexts"])):
        trial = {key: array[seed] for key, array in drawn.items()}
        prepared: Any = kind.prepared(trial)
        for setting in kind.settings:
            found[setting].append(play(kind(setting, trial, prepared, seed), trial, order, known))
    print(json.dumps({setting: [float(np.mean(each)) for each in trials] for setting, trials in found.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
