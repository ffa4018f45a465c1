"""Seconds from starting `showdown serve` of a saved agent to its first answer, with and without kept programs.

    python benchmarks/serve_restart.py              # LinFullPost and Council-fast, three warm starts each
    python benchmarks/serve_restart.py --policies NeuralLinear --times 5

The aim is 5 s on two idle cores where programs were compiled by an earlier start. 20 features, 10 actions. The first
start has an empty folder for compiled programs (cold); those after it find what it has left.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path
from unittest import mock

from latency import ACTIONS, DIM, make_rows
from serve_load import HOST, Http, Server, serve_process
from showdown.agent import Agent
from showdown.policies import policies

OBSERVATIONS = 40


async def first_decision(server: Server, client: Http) -> None:
    reader, writer = await asyncio.open_connection(HOST, server.port)
    await client(reader, writer, 0)
    writer.close()


def measure(policy: str, times: int) -> list[tuple[float, float]]:
    """Wall and processor seconds of each start, the cold one first, until a decision and its reward were answered."""
    rows, found = make_rows(OBSERVATIONS), []
    client = Http(rows)
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"SHOWDOWN_CACHE": f"{folder}/cache"}):
        path = Path(folder) / "agent.npz"
        agent = Agent(policies.get(policy), context_dim=DIM, num_actions=ACTIONS)
        for context in rows["contexts"]:
            agent.reward(agent.decide(context).id, 1.0)
        agent.save(path)
        for _ in range(times + 1):
            began = time.perf_counter()
            with serve_process(path, "--journal", f"{folder}/journal") as server:
                asyncio.run(first_decision(server, client))
                found.append((time.perf_counter() - began, server.worked()))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", default="LinFullPost,Council-fast")
    parser.add_argument("--times", type=int, default=3, help="starts with programs that were compiled before")
    asked = parser.parse_args()
    print("| | start | seconds | of the processor |\n|---|---|---|---|")
    for policy in asked.policies.split(","):
        for number, (wall, worked) in enumerate(measure(policy, asked.times)):
            print(f"| {policy} | {'warm' if number else 'cold'} | {wall:.2f} | {worked:.2f} |", flush=True)


if __name__ == "__main__":
    main()
