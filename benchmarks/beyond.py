"""The settings of docs/beyond-the-paper.md: our presets beside Vowpal Wabbit on the same trials.

    python benchmarks/beyond.py choice --trials 20 --vw VENV/bin/python --data FOLDER > choice.md
    python benchmarks/beyond.py drift --policies LinFullPost,LinDiscounted

Prints a table of mean reward per step with standard errors over trials, for each group: `choice` (tables with features
of each action, in FOLDER), `items`, `drift` and `actions` (that come and go). Vowpal Wabbit plays five settings, and
the best of them is shown, which flatters it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from showdown.play.prepared import prepare
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.problem import Problem

LINEAR = ["Uniform", "LinFullPost", "LinUCB", "LinHybrid", "LinHybrid/UCB"]
MORE = ["LinGreedy", "LinHybrid[own=constant]/UCB", "LinHybrid[own=all]/UCB"]
FORGETTING = ["Uniform", "LinFullPost", "LinUCB", "LinDiscounted", "LinDiscounted[discount=0.995]", "LinWindow"]
CHOICES = {
    "catsup": "label=choice,ignore=id",
    "cracker": "label=choice,ignore=id",
    "yogurt": "label=choice,ignore=id",
    "tuna": "label=Tuna.choice,ignore=Tuna.hid+Tuna.id,horizon=3000",
    "car": "label=choice,horizon=3000",
}
GROUPS = {
    "items": (
        LINEAR,
        [
            "items[horizon=2000]",
            "items-quadratic[horizon=2000]",
            "items-cosine[horizon=2000]",
            "items-network[horizon=2000]",
        ],
    ),
    "drift": (
        FORGETTING,
        [
            "linear[horizon=4000]",
            "linear[horizon=4000]/drift[at=2000]",
            "linear[horizon=4000]/walk[deviation=0.03]",
            "items[horizon=4000]/drift[at=2000]",
            "statlog[horizon=4000]/drift[at=2000]",
        ],
    ),
    "actions": (
        LINEAR,
        [
            "linear/available[probability=0.5]",
            "linear/turnover[every=200]",
            "items[num_items=8,horizon=2000]/available[probability=0.5]",
        ],
    ),
}


def trials_of(problem: Problem, trials: int) -> dict[str, np.ndarray]:
    """What every action would have paid in each trial, and what was seen: (trials, steps, …)."""
    setting = prepare(policies.get("Uniform"), problem, trials=trials)
    keys, _ = setting.keys(0, range(trials))

    @jax.jit
    def rounds(key: jax.Array) -> dict[str, jax.Array]:
        episode = problem.begin(key, setting.tables)
        found = jax.vmap(lambda step: problem.round(step, episode, setting.tables))(jnp.arange(problem.horizon))
        seen = {"contexts": found.context, "rewards": found.rewards}
        others = {"available": found.available, "features": found.features}
        return seen | {name: array for name, array in others.items() if array is not None}

    drawn = [jax.device_get(rounds(key)) for key in keys]
    return {name: np.stack([each[name] for each in drawn]) for name in drawn[0]}


def written(values: np.ndarray) -> str:
    return f"{values.mean():.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def by_vowpal(python: str, problem: Problem, trials: int) -> tuple[str, np.ndarray]:
    """The name of the best setting, and the mean reward of each of its trials."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trials.npz"
        np.savez(path, **trials_of(problem, trials))
        worker = Path(__file__).parent / "vw_adf_worker.py"
        answer = subprocess.run([python, str(worker), str(path)], capture_output=True, text=True, env={}, check=True)
    means = {name: np.array(rewards).mean(axis=1) for name, rewards in json.loads(answer.stdout).items()}
    best = max(means, key=lambda name: means[name].mean())
    return best, means[best]


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("group", choices=["choice", *GROUPS])
    reader.add_argument("--trials", type=int, default=20)
    reader.add_argument("--policies", default="", help="instead of the group's own: A;B")
    reader.add_argument("--problems", default="", help="instead of the group's own: A;B")
    reader.add_argument("--vw", default="", help="a Python that has vowpalwabbit")
    reader.add_argument("--data", default="", help="the folder of the choice tables")
    asked = reader.parse_args()
    if asked.group == "choice":
        names = [*LINEAR, *MORE]
        spelled = [f"table[path={asked.data}/{name}.csv.gz,features=all,{how}]" for name, how in CHOICES.items()]
    else:
        names, spelled = GROUPS[asked.group]
    names = asked.policies.split(";") if asked.policies else names
    for text in asked.problems.split(";") if asked.problems else spelled:
        problem = problems.get(text)
        began = time.perf_counter()
        rows = [(name, simulate(policies.get(name), problem, trials=asked.trials).columns["reward"]) for name in names]
        if asked.vw:
            best, means = by_vowpal(asked.vw, problem, asked.trials)
            rows.append((f"VW, {best}", means))
        print(f"\n{text.replace(asked.data + '/', '') if asked.data else text}, {asked.trials} trials")
        for name, values in rows:
            print(f"| {name} | {written(values)} |", flush=True)
        print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
