"""How many decisions per second `showdown serve` makes, and how long one takes, beside Vowpal Wabbit's daemon.

    python benchmarks/serve_load.py                              # 5,000 decisions, at most 30 s, for each row
    python benchmarks/serve_load.py --decisions 500 --seconds 10 --policies LinFullPost

Servers run on this machine, on 127.0.0.1 only. Each client connection asks for a decision, then sends its reward, and
so on; the time is measured from sending a request to having read its answer. 20 features, 10 actions. A decision of
`showdown serve` has an id and a propensity and travels as JSON over HTTP with a token; one of Vowpal Wabbit is text
over a socket, answered by probabilities that the client draws from. Its daemon serves one connection at a time.
`showdown serve` writes a journal and saves every five seconds meanwhile. The processor time of a server for a decision
and its reward says what it could do on idle cores when other programs are busy.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from latency import ACTIONS, DIM, make_rows
from latency_worker import summary
from peers import BUSY, PEER_PYTHON, PEERS, install, processor_seconds, say
from showdown.agent import Agent
from showdown.policies import policies

HOST, TOKEN = "127.0.0.1", "a-token-for-this-benchmark"
DAEMON = Path(__file__).with_name("vw_daemon.py")
START_SECONDS = 120  # for a server to come up
Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[tuple[float, float]]]


class Http:
    """One decision and its reward through `showdown serve`; returns the seconds that each took."""

    def __init__(self, rows: dict[str, np.ndarray]) -> None:
        self.rewards = rows["contexts"] @ rows["weights"].T + rows["noise"][:, None]
        self.bodies = [json.dumps({"context": row}).encode() for row in rows["contexts"].round(6).tolist()]

    async def __call__(self, reader: Any, writer: Any, row: int) -> tuple[float, float]:
        made, choose = await self._post(reader, writer, b"/choose", self.bodies[row])
        told = {"id": made["id"], "reward": float(self.rewards[row, made["action"]])}
        _, learn = await self._post(reader, writer, b"/learn", json.dumps(told).encode())
        return choose, learn

    async def _post(self, reader: Any, writer: Any, path: bytes, body: bytes) -> tuple[dict[str, Any], float]:
        head = b"POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
        began = time.perf_counter()
        writer.write(head % (path, TOKEN.encode()) + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        content = await reader.readexactly(int(re.search(rb"content-length: (\d+)", answer)[1]))
        seconds = time.perf_counter() - began
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"the server answered {answer[:30]!r} {content[:200]!r}")
        return json.loads(content), seconds


class Lines:
    """The same through Vowpal Wabbit's daemon."""

    def __init__(self, rows: dict[str, np.ndarray]) -> None:
        self.rewards = rows["contexts"] @ rows["weights"].T + rows["noise"][:, None]
        self.shared = [
            "shared |c " + " ".join(f"{name}:{value:.6g}" for name, value in enumerate(context)) + "\n"
            for context in rows["contexts"]
        ]
        self.actions = [f"|a action={action}" for action in range(ACTIONS)]
        self.draw = np.random.default_rng(0)

    async def __call__(self, reader: Any, writer: Any, row: int) -> tuple[float, float]:
        law, choose = await self._send(reader, writer, self.shared[row] + "\n".join(self.actions) + "\n\n")
        chances = {int(part.split(":")[0]): float(part.split(":")[1]) for part in law.split(",")}
        values = np.array([chances[number] for number in range(ACTIONS)])
        action = int(self.draw.choice(ACTIONS, p=values / values.sum()))
        lines = self.actions.copy()
        lines[action] = f"0:{-self.rewards[row, action]}:{chances[action]} {lines[action]}"
        _, learn = await self._send(reader, writer, self.shared[row] + "\n".join(lines) + "\n\n")
        return choose, learn

    async def _send(self, reader: Any, writer: Any, text: str) -> tuple[str, float]:
        began = time.perf_counter()
        writer.write(text.encode())
        answer = ""
        while not answer.strip():  # an empty line ends the answer before
            answer = (await reader.readline()).decode()
            if not answer:
                raise RuntimeError("the daemon closed the connection")
        return answer.strip(), time.perf_counter() - began


async def load(client: Client, server: Server, connections: int, decisions: int, seconds: float) -> dict[str, Any]:
    """Play `decisions` over some connections at once, or as many as fit into the time."""
    times: list[tuple[float, float]] = []
    began, worked = time.perf_counter(), server.worked()

    async def one(first: int) -> None:
        reader, writer = await asyncio.open_connection(HOST, server.port)
        try:
            for row in range(first, decisions, connections):
                times.append(await asyncio.wait_for(client(reader, writer, row), seconds))
                if time.perf_counter() - began > seconds:
                    break
        finally:
            writer.close()

    await asyncio.gather(*(one(first) for first in range(connections)))
    spent = time.perf_counter() - began
    choose, learn = (np.array(column) for column in zip(*times, strict=True))
    return {
        "connections": connections,
        "decisions": len(times),
        "per_second": len(times) / spent,
        "processor_us": (server.worked() - worked) / len(times) * 1e6,
        "choose_ms": summary(choose),
        "learn_ms": summary(learn),
    }


class Server(NamedTuple):
    port: int
    process: subprocess.Popen

    def worked(self) -> float:
        """Seconds of processor time that it has used, of all its threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(policy: str, rows: int, save_every: float) -> Iterator[Server]:
    """A `showdown serve` of this policy, with a journal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.npz"
        Agent(policies.get(policy), context_dim=DIM, num_actions=ACTIONS).save(path)
        options = ("--rows", str(rows), "--journal", f"{folder}/journal", "--save-every", str(save_every))
        with serve_process(path, *options) as server:
            yield server


@contextmanager
def serve_process(path: Path, *options: str) -> Iterator[Server]:
    """A `showdown serve` of a saved agent."""
    command = [sys.executable, "-m", "showdown", "serve", str(path), "--port", "0", *options]
    environment = {**os.environ, "SHOWDOWN_TOKEN": TOKEN}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            port = int(re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())[1])
            yield Server(port, process)
        finally:
            process.terminate()
            process.wait(30)


@contextmanager
def daemon() -> Iterator[Server]:
    """Vowpal Wabbit's daemon."""
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([str(PEER_PYTHON), str(DAEMON), str(port)]) as process:
        try:
            until = time.monotonic() + START_SECONDS
            while True:
                try:
                    socket.create_connection((HOST, port), 1).close()
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > until:
                        raise RuntimeError("the daemon did not start") from None
                    time.sleep(0.1)
            yield Server(port, process)
        finally:
            process.terminate()
            process.wait(30)


def measure(asked: argparse.Namespace) -> list[dict[str, Any]]:
    rows, found = make_rows(asked.decisions), []
    for policy in asked.policies.split(","):
        say(f"measuring showdown serve with {policy}")
        with served(policy, 5 * asked.decisions, asked.save_every) as server:
            asyncio.run(load(Http(rows), server, 1, 50, asked.seconds))  # a connection's first requests are slower
            for connections in (1, 8, 64):
                each = asyncio.run(load(Http(rows), server, connections, asked.decisions, asked.seconds))
                found.append({"name": f"showdown serve, {policy}", **each})
    say("measuring Vowpal Wabbit's daemon")
    label, requirement = next((label, needs) for name, label, needs in PEERS if name == "vowpalwabbit")
    reason = install(requirement)
    if reason is None:
        try:
            with daemon() as server:
                each = asyncio.run(load(Lines(rows), server, 1, asked.decisions, asked.seconds))
        except (RuntimeError, OSError, TimeoutError) as error:
            reason = str(error)
    found.append({"name": f"{label}, daemon", **({"missing": reason} if reason else each)})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=5000, help="at most, for each row of the table")
    parser.add_argument("--seconds", type=float, default=30.0, help="at most, for each row of the table")
    parser.add_argument("--policies", default="LinFullPost,NeuralLinear,Council-fast")
    parser.add_argument("--save-every", type=float, default=5.0, help="seconds between saves of the agent")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    before = processor_seconds()
    found = measure(asked)
    total, working, ours = processor_seconds() - before
    busy = max(0.0, float((working - ours) / total))
    if asked.json:
        print(json.dumps({"busy": busy, "rows": found}, indent=1))
        return
    print(f"{DIM} features, {ACTIONS} actions, {os.cpu_count()} cores; milliseconds, to the server and back")
    print("| | connections | decisions | per second | server µs ", end="")
    print("| choose p50 | p99 | slowest | learn p50 | p99 | slowest |")
    print("|---" * 11 + "|")
    for each in found:
        if "missing" in each:
            print(f"| {each['name']} | not available: {each['missing']} |")
            continue
        times = [f"{each[call][part]:.2f}" for call in ("choose_ms", "learn_ms") for part in ("p50", "p99", "slowest")]
        counts = [
            str(each["connections"]),
            str(each["decisions"]),
            f"{each['per_second']:.0f}",
            f"{each['processor_us']:.0f}",
        ]
        print(f"| {each['name']} | " + " | ".join([*counts, *times]) + " |")
    if busy > BUSY:
        print(f"other programs were using {busy:.0%} of this machine: measure again when it is quiet")


if __name__ == "__main__":
    main()
