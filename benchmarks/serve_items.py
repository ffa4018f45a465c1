"""Actions with features, and actions that come and go, through `showdown serve`: how long it takes, what is lost.

    python benchmarks/serve_items.py                    # both parts
    python benchmarks/serve_items.py time --policies LinUCB --items 100,1000 --decisions 2000
    python benchmarks/serve_items.py kill --kills 10

`time`: a decision among N items of 20 features each, all of which travel in the request, and its reward; one
connection, a journal. Milliseconds from sending a request to having read its answer. The aim is a p99 of 5 ms with 100
items and 20 ms with 1,000, on two idle cores. A request with a single item, in the same run, says how busy the machine
is: compare ratios.

`kill`: clients decide, reward, and add and remove actions of an agent without features, until the server is killed with
−9; it is started again, and every change and every reward that was acknowledged must be there.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from attacks import actions
from latency_worker import summary
from peers import BUSY, processor_seconds, say
from serve_load import HOST, Http, Server, serve_process
from showdown.agent import Agent
from showdown.policies import policies

DIM, CONTEXT = 20, 5
BODIES = 50  # different requests
WARM_UP = 100  # decisions that are not counted: the first sixty are played in turn


class Items(Http):
    """One decision among items, and its reward."""

    def __init__(self, count: int) -> None:
        draw = np.random.default_rng(0)
        contexts = draw.normal(size=(BODIES, CONTEXT)).round(6).tolist()
        features = draw.normal(size=(BODIES, count, DIM)).round(6)
        self.rewards = (features @ draw.normal(size=DIM) / DIM**0.5).tolist()
        self.names = [f"item {number}" for number in range(count)]
        offered = [dict(zip(self.names, each.tolist(), strict=True)) for each in features]
        self.bodies = [
            json.dumps({"context": context, "actions": each}).encode()
            for context, each in zip(contexts, offered, strict=True)
        ]

    async def __call__(self, reader: Any, writer: Any, row: int) -> tuple[float, float]:
        row %= BODIES
        made, choose = await self._post(reader, writer, b"/choose", self.bodies[row])
        told = {"id": made["id"], "reward": self.rewards[row][self.names.index(made["action"])]}
        _, learn = await self._post(reader, writer, b"/learn", json.dumps(told).encode())
        return choose, learn


async def ask(server: Server, client: Items, decisions: int) -> dict[str, Any]:
    reader, writer = await asyncio.open_connection(HOST, server.port, limit=1 << 24)
    for row in range(WARM_UP):
        await client(reader, writer, row)
    times = [await client(reader, writer, row) for row in range(decisions)]
    writer.close()
    choose, learn = (np.array(part) for part in zip(*times, strict=True))
    return {"choose_ms": summary(choose), "learn_ms": summary(learn)}


def measure(names: list[str], items: list[int], decisions: int) -> None:
    print(f"{DIM} features of each item, {os.cpu_count()} cores; milliseconds, to the server and back")
    print("| | items | choose p50 | p99 | slowest | learn p50 | p99 | slowest | p99 beside one item |")
    print("|---" * 9 + "|")
    for policy, count in itertools.product(names, items):
        say(f"measuring {policy} with {count} items")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "agent.npz"
            Agent(policies.get(policy), context_dim=CONTEXT, num_actions=count, action_dim=DIM).save(path)
            with serve_process(path, "--journal", f"{folder}/journal") as server:
                one = asyncio.run(ask(server, Items(1), decisions))
                many = asyncio.run(ask(server, Items(count), decisions))
        times = [f"{many[call][part]:.2f}" for call in ("choose_ms", "learn_ms") for part in ("p50", "p99", "slowest")]
        ratio = many["choose_ms"]["p99"] / one["choose_ms"]["p99"]
        print(
            f"| {policy} | {count:,} | {' | '.join(times)} | {ratio:.1f} × {one['choose_ms']['p99']:.2f} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["time", "kill"], help="both unless one is named")
    parser.add_argument("--policies", default="LinUCB,LinFullPost")
    parser.add_argument("--items", default="100,1000")
    parser.add_argument("--decisions", type=int, default=1000, help="for each row of the table")
    parser.add_argument("--kills", type=int, default=10)
    asked = parser.parse_args()
    if asked.part in (None, "time"):
        before = processor_seconds()
        measure(asked.policies.split(","), [int(count) for count in asked.items.split(",")], asked.decisions)
        total, working, ours = processor_seconds() - before
        busy = max(0.0, float((working - ours) / total))
        if busy > BUSY:
            print(f"other programs were using {busy:.0%} of this machine: measure again when it is quiet")
    if asked.part in (None, "kill"):
        say("killing servers")
        with tempfile.TemporaryDirectory() as folder:
            print(actions.kills_while_actions_change(Path(folder) / "service", asked.kills, 2.0))


if __name__ == "__main__":
    main()
