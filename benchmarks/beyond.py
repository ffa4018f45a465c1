"""The settings of docs/beyond-the-paper.md: our presets beside Vowpal Wabbit and MABWiser on the same trials.

    python benchmarks/beyond.py play GROUP --out beyond.jsonl --peers VENV/bin/python --data FOLDER
    python benchmarks/beyond.py play drift --out beyond.jsonl --policies 'LinFullPost;LinDiscounted'
    python benchmarks/beyond.py table GROUP --out beyond.jsonl --data FOLDER
    python benchmarks/beyond.py recovery --out beyond.jsonl

`play` writes a line for each method on each problem as it finishes, and leaves out what is there already. `table`
prints the mean reward per step with standard errors over trials; `recovery` says how soon each method is back after a
drift. Of each peer the best setting is shown, which flatters it. FOLDER has the tables of `choice`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from showdown.play.prepared import prepare
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.problem import Problem

LINEAR = ["Uniform", "LinFullPost", "LinUCB", "LinHybrid/UCB"]
FORGETTING = ["Uniform", "LinFullPost", "LinUCB", "LinDiscounted", "LinWindow"]
COUNCILS = ["Council-fast", "Council-adaptive-fast", "Council", "Council-adaptive"]
PEERS = ["vowpal", "mabwiser"]
CHOICES = {
    "catsup": "label=choice,ignore=id",
    "cracker": "label=choice,ignore=id",
    "yogurt": "label=choice,ignore=id",
    "tuna": "label=Tuna.choice,ignore=Tuna.hid+Tuna.id,horizon=3000",
    "car": "label=choice,horizon=3000",
}
DRIFTS = [
    "linear[horizon=4000]",
    "linear[horizon=4000]/drift[at=2000]",
    "linear[horizon=4000]/walk[deviation=0.03]",
    "items[horizon=4000]/drift[at=2000]",
    "statlog[horizon=4000]",
    "statlog[horizon=4000]/drift[at=2000]",
]
GROUPS: dict[str, tuple[list[str], list[str]]] = {
    "choice": (["LinGreedy", "LinHybrid[own=constant]/UCB", "LinHybrid[own=all]/UCB"], []),
    "in-order": (["LinHybrid[own=all]/UCB", "LinDiscounted", "LinWindow"], []),
    "items": (
        ["LinHybrid[own=all]/UCB", "NeuralLinear"],
        [f"items{kind}[horizon=2000]" for kind in ("", "-quadratic", "-cosine", "-network")],
    ),
    "thousand": (
        [],
        [f"items{kind}[num_items=1000,horizon=1000]" for kind in ("", "-quadratic", "-cosine")]
        + ["items-fixed[horizon=1000]"],
    ),
    "drift": (FORGETTING, DRIFTS),
    "actions": (
        [],
        [
            "linear/available[probability=0.5]",
            "linear/turnover[every=200]",
            "items[num_items=8,horizon=2000]/available[probability=0.5]",
        ],
    ),
    "late": (
        [],
        ["linear/delay[steps=100]", "linear/random-delay[mean=100]", "statlog[horizon=2000]/batched[size=100]"],
    ),
}


def wanted(group: str, folder: str) -> tuple[list[str], dict[str, str]]:
    """The methods of a group, and its problems by their short names."""
    own, spelled = GROUPS[group]
    names = own if group == "drift" else [*LINEAR, *own]
    if group in ("choice", "in-order"):
        tables = {name: f"table[path={folder}/{name}.csv.gz,features=all,{how}]" for name, how in CHOICES.items()}
        if group == "choice":
            return [*names, *COUNCILS, *PEERS], tables
        return [*names, *COUNCILS], {f"{name}/in-order": f"{tables[name]}/in-order" for name in ("catsup", "tuna")}
    return [*names, *COUNCILS, *([] if group == "thousand" else PEERS)], {text: text for text in spelled}


def stored(path: Path) -> dict[tuple[str, str], Any]:
    """The lines of the file, by problem and method."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {(line["problem"], line["method"]): line for line in map(json.loads, lines)}


def by_us(name: str, problem: Problem, trials: int) -> dict[str, Any]:
    found = simulate(policies.get(name), problem, trials=trials)
    best = found.columns["reward"] + found.columns["cumulative"] / problem.horizon  # of every step, on average
    kept = slice(None, None, max(1, len(found.steps) // 100))
    return {
        "reward": found.columns["reward"].tolist(),
        "best": best.tolist(),
        "steps": np.asarray(found.steps)[kept].tolist(),
        "regret": np.round(found.curves["curve"].mean(axis=0)[kept], 3).tolist(),
        "diagnostics": {name: np.round(line, 3).tolist() for name, line in found.mean_timelines().items()},
    }


def trials_of(problem: Problem, trials: int) -> dict[str, np.ndarray]:
    """What every action would have paid in each trial, what was seen, and when rewards come."""
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
    order, known = problem.feedback.order(problem.horizon)
    return {name: np.stack([each[name] for each in drawn]) for name in drawn[0]} | {"order": order, "known": known}


def by_peer(name: str, python: str, problem: Problem, trials: int) -> dict[str, Any]:
    """What the best setting of a peer earned."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trials.npz"
        np.savez(path, **trials_of(problem, trials))
        worker = Path(__file__).parent / "beyond_peers.py"
        command = [python, str(worker), name, str(path)]
        answer = subprocess.run(command, capture_output=True, text=True, env={"OMP_NUM_THREADS": "1"}, check=True)
    found = json.loads(answer.stdout)
    best = max(found, key=lambda setting: np.mean(found[setting]))
    return {"setting": best, "reward": found[best]}


def play(asked: argparse.Namespace) -> None:
    names, spelled = wanted(asked.group, asked.data)
    names = asked.policies.split(";") if asked.policies else names
    if asked.problems:
        spelled = {short: spelled.get(short, short) for short in asked.problems.split(";")}
    for short, text in spelled.items():
        problem = problems.get(text)
        for name in names:
            if (short, name) in stored(asked.out) or (name in PEERS and not asked.peers):
                continue
            began = time.perf_counter()
            peer = name in PEERS
            found = by_peer(name, asked.peers, problem, asked.trials) if peer else by_us(name, problem, asked.trials)
            seconds = round(time.perf_counter() - began, 1)
            line = {"problem": short, "method": name, "horizon": problem.horizon, "seconds": seconds, **found}
            with asked.out.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(f"{short} {name} {np.mean(found['reward']):.4f} {seconds} s", file=sys.stderr, flush=True)


def table(asked: argparse.Namespace) -> None:
    names, spelled = wanted(asked.group, asked.data)
    found = stored(asked.out)
    print("| | " + " | ".join(spelled) + " |\n|" + "---|" * (1 + len(spelled)))
    for name in names:
        row = [found.get((short, name)) for short in spelled]
        if any(row):
            print(f"| {name} | " + " | ".join("" if line is None else written(line) for line in row) + " |")


def written(line: dict[str, Any]) -> str:
    rewards = np.array(line["reward"])
    setting = f" ({line['setting']})" if "setting" in line else ""
    return f"{rewards.mean():.3f} ± {rewards.std(ddof=1) / np.sqrt(len(rewards)):.3f}{setting}"


OVER = 0.05  # of the horizon: the steps that a reward is averaged over


def recovery(asked: argparse.Namespace) -> None:
    """Steps until a mean reward of 90 % of the old one, after the start and after the flip in the middle."""
    print("| problem | method | old reward | steps after the start | steps after the flip |\n|---|---|---|---|---|")
    for (short, name), line in stored(asked.out).items():
        if "/drift" not in short or "regret" not in line:
            continue
        steps, horizon = np.array([0, *line["steps"]]), line["horizon"]
        earned = np.mean(line["best"]) * steps - np.array([0.0, *line["regret"]])
        over, flip = OVER * horizon, horizon / 2

        def reward(step: float, steps: Any = steps, earned: Any = earned, over: float = over) -> float:
            return float(np.diff(np.interp([step, step + over], steps, earned))[0] / over)

        old = float(np.diff(np.interp([0.8 * flip, flip], steps, earned))[0] / (0.2 * flip))
        back = [
            next((int(step) for step in range(0, int(flip - over), 10) if reward(begin + step) >= 0.9 * old), None)
            for begin in (0, flip)
        ]
        print(f"| {short} | {name} | {old:.3f} | {back[0]} | {'not' if back[1] is None else back[1]} |")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("what", choices=["play", "table", "recovery"])
    reader.add_argument("group", choices=list(GROUPS), nargs="?", default="drift")
    reader.add_argument("--out", type=Path, required=True, help="a file of lines of JSON")
    reader.add_argument("--trials", type=int, default=20)
    reader.add_argument("--policies", default="", help="instead of the group's own: A;B")
    reader.add_argument("--problems", default="", help="instead of the group's own: A;B")
    reader.add_argument("--peers", default="", help="a Python that has vowpalwabbit and mabwiser")
    reader.add_argument("--data", default="", help="the folder of the choice tables")
    asked = reader.parse_args()
    {"play": play, "table": table, "recovery": recovery}[asked.what](asked)


if __name__ == "__main__":
    main()
