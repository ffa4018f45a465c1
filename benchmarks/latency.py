"""How long choose and learn take, one at a time, as a service calls them: p50, p99 and the slowest call.

    python benchmarks/latency.py                       # 50,000 decisions of ours and of the other libraries, one run
    python benchmarks/latency.py --decisions 2000 --policies LinFullPost --no-peers

The aim, on two idle cores at 20 features and 10 actions after `warm()`: p99 of each at most 2 ms for LinFullPost and
5 ms for NeuralLinear and Council-fast, and no call above 50 ms. Refits run in the background, in one thread
(`compute_in_one_thread`). `learn_many` is timed at the end, on as many rows. All libraries play the same rows and
rewards, one after another, each in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from latency_worker import play
from peers import BUSY, PEER_PYTHON, PEERS, install, last_line, processor_seconds, say
from showdown.agent import Agent, compute_in_one_thread
from showdown.policies import policies

DIM, ACTIONS = 20, 10
GOALS = {"LinFullPost": 2.0, "NeuralLinear": 5.0, "Council-fast": 5.0}  # milliseconds at p99
SLOWEST = 50.0  # milliseconds that no call may take
PEER_SECONDS = 60.0  # that a library may play; a slow one plays fewer decisions
WORKER = Path(__file__).with_name("latency_worker.py")


def make_rows(count: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    return {
        "weights": draw.normal(size=(ACTIONS, DIM)),
        "contexts": draw.normal(size=(count, DIM)).astype(np.float32),
        "noise": draw.normal(size=count),
    }


class Ours:
    """An agent as the worker's loop calls it."""

    def __init__(self, agent: Agent, contexts: np.ndarray, *, propensities: bool) -> None:
        self.agent, self.contexts, self.propensities = agent, contexts, propensities
        self.id = ""

    def choose(self, row: int) -> int:
        if not self.propensities:
            return self.agent.choose(self.contexts[row])
        decision = self.agent.decide(self.contexts[row])
        self.id = decision.id
        return decision.action

    def learn(self, row: int, action: int, reward: float) -> None:
        if self.id:
            self.agent.reward(self.id, reward)
        else:  # no decision has been asked for: the loop's warm-up
            self.agent.learn(self.contexts[row], action, reward)


def measure(name: str, rows: dict[str, np.ndarray], *, propensities: bool) -> dict[str, Any]:
    contexts = rows["contexts"]
    agent = Agent(policies.get(name), context_dim=DIM, num_actions=ACTIONS, background=True)
    began = time.perf_counter()
    agent.warm(rows=len(contexts))
    warm_seconds = time.perf_counter() - began
    found = play(Ours(agent, contexts, propensities=propensities), **rows, limit=float("inf"))
    agent.close()
    fresh = Agent(policies.get(name), context_dim=DIM, num_actions=ACTIONS)
    actions = np.random.default_rng(1).integers(ACTIONS, size=len(contexts))
    began = time.perf_counter()
    fresh.learn_many(contexts, actions, rows["noise"])
    seconds = {"warm_seconds": warm_seconds, "learn_many_seconds": time.perf_counter() - began}
    return {"name": name, **found, **seconds, "counts": agent.counts()}


def measure_peers(rows: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, **rows)
        for name, label, requirement in PEERS:
            if name == "pymab-experiment":  # plays a problem of its own, many steps at a time
                continue
            say(f"measuring {label}")
            reason = install(requirement)
            found.append({"name": label, **({"missing": reason} if reason else run_worker(name, path))})
    return found


def run_worker(name: str, path: Path) -> dict[str, Any]:
    command = [str(PEER_PYTHON), str(WORKER), name, str(path), str(PEER_SECONDS)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 2 * PEER_SECONDS)
    except subprocess.TimeoutExpired:
        return {"missing": "it did not finish in time"}
    return json.loads(done.stdout.splitlines()[-1]) if not done.returncode else {"missing": last_line(done.stderr)}


def table(found: list[dict[str, Any]], busy: float) -> str:
    lines = [
        "| | decisions | choose p50 | p99 | slowest | learn p50 | p99 | slowest | warm (s) | learn_many (s) |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for each in found:
        if "missing" in each:
            lines.append(f"| {each['name']} | not available: {each['missing']} |")
            continue
        times = [f"{each[call][part]:.2f}" for call in ("choose_ms", "learn_ms") for part in ("p50", "p99", "slowest")]
        seconds = [f"{each[name]:.1f}" if name in each else "" for name in ("warm_seconds", "learn_many_seconds")]
        label = f"{each['name']} ({each['software']})" if "software" in each else each["name"]
        lines.append(f"| {label} | {each['decisions']} | " + " | ".join([*times, *seconds]) + " |")
    for each in found:
        goal = GOALS.get(each["name"])
        if goal is not None:
            p99 = max(each[call]["p99"] for call in ("choose_ms", "learn_ms"))
            slowest = max(each[call]["slowest"] for call in ("choose_ms", "learn_ms"))
            mark = "pass" if p99 <= goal and slowest <= SLOWEST else "MISS"
            lines.append(
                f"{mark}  {each['name']}: p99 {p99:.2f} ms, goal {goal:g}; slowest {slowest:.1f} ms, goal {SLOWEST:g}"
            )
    if busy > BUSY:
        lines.append(f"other programs were using {busy:.0%} of this machine: measure again when it is quiet")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=50_000)
    parser.add_argument("--policies", default=",".join(GOALS))
    parser.add_argument("--propensities", action="store_true", help="time `decide`, with a propensity, for `choose`")
    parser.add_argument("--no-peers", action="store_true", help="ours only")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # measure this policy in this process
    asked = parser.parse_args()
    rows = make_rows(asked.decisions)
    if asked.one:
        compute_in_one_thread()
        print(json.dumps(measure(asked.one, rows, propensities=asked.propensities)))
        return
    before, found = processor_seconds(), []
    for name in asked.policies.split(","):  # each in a process of its own: what one leaves behind slows the next
        say(f"measuring {name}")
        options = ["--decisions", str(asked.decisions), "--one", name, *["--propensities"] * asked.propensities]
        done = subprocess.run([sys.executable, __file__, *options], stdout=subprocess.PIPE, text=True, check=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    if not asked.no_peers:
        found += measure_peers(rows)
    total, working, ours = processor_seconds() - before
    busy = max(0.0, float((working - ours) / total))
    if asked.json:
        print(json.dumps({"busy": busy, "rows": found}, indent=1))
    else:
        print(f"{DIM} features, {ACTIONS} actions, {os.cpu_count()} cores; milliseconds")
        print(table(found, busy))


if __name__ == "__main__":
    main()
