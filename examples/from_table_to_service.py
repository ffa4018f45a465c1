"""From a table to a service: recommend a method, stream raw rows through its agent, kill it, load it, go on.

    python examples/from_table_to_service.py                                  # a table made up here
    python examples/from_table_to_service.py data.csv --label bought --steps 5000

1. `recommend` plays a few methods on the table and writes `agent.json`: the best one, and how a row becomes a context.
2. A process of its own makes the agent of that file and decides about raw rows, one by one. Each decision gets reward 1
   where it was right. The agent is saved once on the way; its journal holds every decision and reward.
3. The process is killed with SIGKILL. The saved file and the journal bring back all it had decided and learned.
4. The agent goes on here. Its share of right decisions is compared with the benchmark's over as many steps.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from showdown.agent import Agent, journal_records
from showdown.data.read_table import read_table
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import table
from showdown.recommendation import recommend


def made_up(rows: int, path: Path) -> None:
    """Customers who buy one of three tariffs, by age, region and use."""
    draw = np.random.default_rng(0)
    age, region = draw.integers(18, 80, rows), draw.choice(["north", "south", "east"], rows)
    use = draw.gamma(2.0, 10.0, rows).round(1)
    score = age / 20 + use / 15 + 1.5 * (region == "south") + draw.normal(0, 0.4, rows)
    bought = np.select([score < 4, score < 6], ["basic", "plus"], "premium")
    frame = pd.DataFrame({"age": age, "region": region, "use": use, "bought": bought})
    frame.to_csv(path, index=False)


def stream(agent: Agent, file: Path, label: str, steps: int, seed: int, folder: Path) -> None:
    """Decide about rows in random order, from where the agent is; its rewards come three decisions late."""
    frame = read_table(file).table
    if label not in frame.columns:  # its position
        label = frame.columns[int(label)]
    order = np.random.default_rng(seed).permutation(len(frame))[:steps]
    waiting: list[tuple[str, float]] = []
    for step in range(agent.decisions, steps):
        row = frame.iloc[order[step]].to_dict()
        answer = str(row.pop(label))
        decision = agent.decide(row)  # a dict in, a name and a propensity out
        waiting.append((decision.id, float(decision.name == answer)))
        if len(waiting) > 3:
            agent.reward(*waiting.pop(0))
        if step == steps // 4:
            agent.save(folder / "agent.npz")
        print(step, flush=True)
    for late in waiting:
        agent.reward(*late)


def killed_on_the_way(file: Path, label: str, steps: int, seed: int, folder: Path, recipe: Path) -> None:
    """Stream in another process, and kill it when half of the rows are decided."""
    asked = [str(file), "--label", label, "--steps", str(steps), "--seed", str(seed)]
    command = [sys.executable, __file__, *asked, "--child", str(folder), "--recipe", str(recipe)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= steps // 2:
                os.kill(process.pid, signal.SIGKILL)
                break
        process.stdout.read()


def right_decisions(journal: Path) -> np.ndarray:
    """The rewards, from the journal: it holds all that is worth knowing afterwards."""
    records = list(journal_records(journal))
    return np.array([record["reward"] for record in records if "reward" in record])


def run_once(file: Path, label: str, steps: int, seed: int, folder: Path, recipe: Path) -> float:
    """The share of right decisions of one stream that was killed and taken up again."""
    killed_on_the_way(file, label, steps, seed, folder, recipe)
    with Agent.load(folder / "agent.npz", journal=folder / "journal", archive_journal=True) as agent:
        print(f"stream {seed}: killed; {agent.decisions} decisions are back", file=sys.stderr)
        with open(os.devnull, "w") as quiet:
            out, sys.stdout = sys.stdout, quiet
            try:
                stream(agent, file, label, steps, seed, folder)
            finally:
                sys.stdout = out
    return float(right_decisions(folder / "journal").mean())


def main(
    file: Path | None = None,
    label: str = "bought",
    *,
    steps: int = 5000,
    streams: int = 1,
    trials: int = 8,
    budget: str = "1m",
    names: list[str] | None = None,
) -> tuple[float, float]:
    """Share of right decisions: of the agent, and of the benchmark."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if file is None:
            file = folder / "customers.csv"
            made_up(max(steps, 500), file)
        found = recommend(file, label=label, budget=budget, out=folder / "recommendation", policies=names, page=False)
        print(found.sentence)
        if found.policy is None or found.agent_file is None:
            raise SystemExit("there is no method to recommend, so there is nothing to serve")
        problem = table(file, label=label)
        steps = min(steps, problem.horizon)
        benchmark = simulate(policies.get(found.policy), problem, trials=trials, horizon=steps).accuracy
        shares = []
        for seed in range(streams):
            mine = folder / f"stream{seed}"
            mine.mkdir()
            shares.append(run_once(file, label, steps, seed, mine, found.agent_file))
    agent, theirs = float(np.mean(shares)), float(benchmark.mean())
    print(f"{found.policy}, {steps} raw rows: {agent:.1%} right over {streams} stream(s), benchmark {theirs:.1%}")
    return agent, theirs


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--label", default="bought")
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--budget", default="1m")
    parser.add_argument("--policies", default="")
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--recipe", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child is None:
        only = asked.policies.split(",") if asked.policies else None
        main(asked.file, asked.label, steps=asked.steps, streams=asked.streams, budget=asked.budget, names=only)
    else:
        with Agent.recommended(asked.recipe, journal=asked.child / "journal", archive_journal=True) as begun:
            stream(begun, asked.file, asked.label, asked.steps, asked.seed, asked.child)
