"""How long choose and learn take, one at a time, as a service calls them: p50, p99 and the slowest call.

    python benchmarks/latency.py                       # 50,000 decisions per policy
    python benchmarks/latency.py --decisions 2000 --policies LinFullPost

The aim, on two idle cores at 20 features and 10 actions after `warm()`: p99 of each at most 2 ms for LinFullPost and
5 ms for NeuralLinear and Council-fast, and no call above 50 ms. Refits run in the background. `learn_many` is timed at
the end, on as many rows.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

import numpy as np

from showdown.agent import Agent
from showdown.policies import policies

DIM, ACTIONS = 20, 10
POLICIES = ("LinFullPost", "NeuralLinear", "Council-fast")


def measure(name: str, decisions: int, *, propensities: bool) -> dict[str, Any]:
    draw = np.random.default_rng(0)
    weights = draw.normal(size=(ACTIONS, DIM))
    agent = Agent(policies.get(name), context_dim=DIM, num_actions=ACTIONS, background=True)
    began = time.perf_counter()
    agent.warm(rows=decisions)
    warm_seconds = time.perf_counter() - began
    contexts = draw.normal(size=(decisions, DIM)).astype(np.float32)
    noise = draw.normal(size=decisions)
    times = np.zeros((2, decisions))
    for step, context in enumerate(contexts):
        start = time.perf_counter()
        if propensities:
            decision = agent.decide(context)
            action = decision.action
        else:
            action = agent.choose(context)
        middle = time.perf_counter()
        reward = float(weights[action] @ context + noise[step])
        again = time.perf_counter()
        if propensities:
            agent.learn(decision.id, reward)
        else:
            agent.learn(context, action, reward)
        times[:, step] = middle - start, time.perf_counter() - again
    agent.close()
    fresh = Agent(policies.get(name), context_dim=DIM, num_actions=ACTIONS)
    began = time.perf_counter()
    fresh.learn_many(contexts, draw.integers(ACTIONS, size=decisions), noise)
    return {
        "policy": name,
        "decisions": decisions,
        "warm_seconds": warm_seconds,
        "choose_ms": summary(times[0]),
        "learn_ms": summary(times[1]),
        "learn_many_seconds": time.perf_counter() - began,
        "counts": agent.counts(),
    }


def summary(seconds: np.ndarray) -> dict[str, float]:
    p50, p99 = np.quantile(seconds, [0.5, 0.99])
    return {"p50": 1e3 * p50, "p99": 1e3 * p99, "slowest": 1e3 * seconds.max()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=50_000)
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--propensities", action="store_true", help="time `decide`, with a propensity, for `choose`")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = [measure(name, asked.decisions, propensities=asked.propensities) for name in asked.policies.split(",")]
    if asked.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{asked.decisions} decisions, {DIM} features, {ACTIONS} actions, {os.cpu_count()} cores; milliseconds")
    print("| policy | choose p50 | p99 | slowest | learn p50 | p99 | slowest | warm (s) | learn_many (s) |")
    print("|---|---|---|---|---|---|---|---|---|")
    for each in found:
        cells = [f"{each[call][part]:.2f}" for call in ("choose_ms", "learn_ms") for part in ("p50", "p99", "slowest")]
        seconds = [f"{each[name]:.1f}" for name in ("warm_seconds", "learn_many_seconds")]
        print("|", " | ".join([each["policy"], *cells, *seconds]), "|")


if __name__ == "__main__":
    main()
