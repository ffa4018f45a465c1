"""One library's choose and learn, timed one at a time: `python latency_worker.py NAME ROWS.npz SECONDS`.

Run by `latency.py` in an interpreter that has the library. The rows hold `contexts` (rows, features), `weights`
(actions, features) and `noise` (rows,): an action pays weights[action] · context + noise. Prints the times as JSON. A
library that is too slow for all rows stops after SECONDS, and says how many it played.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np

import peer_worker
from peer_worker import PULLS


def play(player: Any, contexts: np.ndarray, weights: np.ndarray, noise: np.ndarray, limit: float) -> dict[str, Any]:
    """`player.choose(row)` and `player.learn(row, action, reward)`; each action is pulled a few times first."""
    rewards = contexts @ weights.T + noise[:, None]
    num_actions, rows = len(weights), len(contexts)
    times = np.zeros((2, rows))
    earned = np.zeros(rows)
    until = time.perf_counter() + limit
    played = 0
    for row in range(rows):
        begun = time.perf_counter()
        action = int(player.choose(row)) if row >= PULLS * num_actions else row % num_actions
        chosen = time.perf_counter()
        reward = float(rewards[row, action])
        asked = time.perf_counter()
        player.learn(row, action, reward)
        now = time.perf_counter()
        times[:, row] = chosen - begun, now - asked
        earned[row] = reward / max(rewards[row].max(), 1e-9)
        played += 1
        if now > until:
            break
    first = min(PULLS * num_actions, played - 1)  # the warm-up does not ask the library
    return {
        "decisions": played,
        "choose_ms": summary(times[0, first:played]),
        "learn_ms": summary(times[1, first:played]),
        "late_share": float(np.median(earned[played // 2 : played])),
    }


def summary(seconds: np.ndarray) -> dict[str, float]:
    p50, p99 = np.quantile(seconds, [0.5, 0.99])
    return {"p50": 1e3 * p50, "p99": 1e3 * p99, "slowest": 1e3 * seconds.max()}


def main() -> None:
    name, path, limit = sys.argv[1], sys.argv[2], float(sys.argv[3])
    with np.load(path) as rows:
        contexts, weights, noise = rows["contexts"], rows["weights"], rows["noise"]
    peer_worker.NUM_ACTIONS = len(weights)  # the peers read it when they are made
    kind = peer_worker.PEERS[name]
    found = play(kind(contexts), contexts, weights, noise, limit)
    print(json.dumps({**found, "software": f"{kind.distribution} {version(kind.distribution)}"}))


if __name__ == "__main__":
    main()
