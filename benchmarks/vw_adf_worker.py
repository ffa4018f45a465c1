"""Vowpal Wabbit (`--cb_explore_adf`) on trials that `beyond.py` has drawn: rewards of every trial and setting, as JSON.

Runs in an environment of its own that has vowpalwabbit: `python vw_adf_worker.py TRIALS.npz`. A trial's contexts,
features, rewards and available actions are those that the project's policies see. Where actions have no features, an
action is a name. The context is crossed with the action (`-q UA`).
"""

from __future__ import annotations

import json
import sys

import numpy as np
from vowpalwabbit import Workspace

SETTINGS = {
    "epsilon 0.02": "--epsilon 0.02 --cb_type mtr",
    "epsilon 0.02, DR": "--epsilon 0.02 --cb_type dr",
    "bag 5": "--bag 5",
    "cover 3": "--cover 3 --cb_type mtr",
    "SquareCB": "--squarecb --cb_type mtr",
}


def numbers(prefix: str, values: np.ndarray) -> str:
    return " ".join(f"{prefix}{place}:{value:.6g}" for place, value in enumerate(values))


def play(options: str, trial: dict[str, np.ndarray], seed: int) -> np.ndarray:
    """The reward of every step."""
    model = Workspace(f"--cb_explore_adf {options} -q UA --quiet --random_seed {seed}")
    draw, earned = np.random.default_rng(seed), []
    for step, context in enumerate(trial["contexts"]):
        shared = f"shared |U {numbers('c', context)}"
        offered = (
            np.flatnonzero(trial["available"][step]) if "available" in trial else np.arange(len(trial["rewards"][0]))
        )
        actions = [
            f"|A {numbers('f', trial['features'][step, action])}" if "features" in trial else f"|A a{action}"
            for action in offered
        ]
        chances = np.array(model.predict([shared, *actions]))
        place = int(draw.choice(len(offered), p=chances / chances.sum()))
        reward = float(trial["rewards"][step, offered[place]])
        actions[place] = f"0:{-reward:.6g}:{chances[place]:.6g} {actions[place]}"
        model.learn([shared, *actions])
        earned.append(reward)
    model.finish()
    return np.array(earned)


def main(path: str) -> None:
    drawn = dict(np.load(path))
    trials = len(drawn["contexts"])
    found = {
        name: [
            play(options, {key: array[trial] for key, array in drawn.items()}, trial).tolist()
            for trial in range(trials)
        ]
        for name, options in SETTINGS.items()
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
