"""Attacks on `showdown serve`: kills under load with a full disk and a moved journal in between, and rude clients."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from attacks import Score
from showdown.agent import Agent, journal_records
from showdown.policies import policies

TOKEN = "a-token-for-these-attacks"
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
PATIENCE = 60.0  # seconds for an answer; more is a hang
DISK = "64m"  # of the file system that is filled
Full = Callable[[Path, subprocess.Popen], AbstractContextManager]


@contextmanager
def serving(
    folder: Path, *options: str, policy: str = "Uniform", dim: int = 2
) -> Iterator[tuple[int, subprocess.Popen]]:
    """The port and the process of a server of an agent in `folder`, on 127.0.0.1."""
    path = folder / "agent.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        Agent(policies.get(policy), context_dim=dim, num_actions=3, remember=100_000).save(path)
    command = [
        sys.executable,
        "-m",
        "showdown",
        "serve",
        str(path),
        "--port",
        "0",
        "--journal",
        str(folder / "journal"),
    ]
    environment = {**os.environ, "SHOWDOWN_TOKEN": TOKEN}
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
            if found is None:
                raise RuntimeError(process.stderr.read())
            yield int(found[1]), process
        finally:
            process.kill()


class Client(threading.Thread):
    """Decides and rewards until the server is gone, and remembers what was acknowledged."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self._port = port
        self.decided: list[str] = []
        self.rewarded: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.hung = 0
        self.start()

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        try:
            while True:
                made = self._post(connection, "/choose", {"context": [0.5, 0.5]})
                self.decided.append(made["id"])
                self._post(connection, "/learn", {"id": made["id"], "reward": 1.0})
                self.rewarded.append(made["id"])
        except TimeoutError:
            self.hung += 1
        except (OSError, http.client.HTTPException, ValueError):
            pass  # the server was killed

    def _post(self, connection: http.client.HTTPConnection, path: str, body: dict) -> dict:
        """Ask again for as long as the answer is 503."""
        while True:
            connection.request("POST", path, json.dumps(body), HEADERS)
            answer = connection.getresponse()
            content = answer.read()
            self.statuses[answer.status] += 1
            if answer.status == 200:
                return json.loads(content)
            if answer.status != 503:
                raise ValueError(content)
            time.sleep(0.02)


def kills_on_small_disk(folder: Path, times: int) -> Score | None:
    """The same on a file system of its own that is filled to the last byte; it needs the right to mount one."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        print("kills on a small disk: left out, since no file system may be mounted", file=sys.stderr)
        return None
    try:
        return kills(folder, times, full_disk=_filled)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def _without_growth(folder: Path, process: subprocess.Popen) -> Iterator[None]:
    """No file of the server may grow: what a write finds on a full disk."""
    before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def _filled(folder: Path, process: subprocess.Popen) -> Iterator[None]:
    """Nothing is left of the file system of `folder`."""
    ballast = folder / "ballast"
    try:
        with open(ballast, "wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(1 << 16))
        yield
    finally:
        ballast.unlink()


def kills(folder: Path, times: int, seconds: float = 0.7, full_disk: Full = _without_growth) -> Score:
    """Kill a loaded server again and again: every acknowledged decision and reward is in its journal exactly once."""
    how = "a disk that is really full" if full_disk is _filled else "a full disk"
    score = Score(f"a loaded server is killed (-9), with {how} or a moved journal before")
    decided: list[str] = []
    rewarded: list[str] = []
    options = ("--archive-journal", "--save-every", "0.3")
    for number in range(times):
        with score.attempt(), serving(folder, *options) as (port, process):
            clients = [Client(port) for _ in range(4)]
            time.sleep(seconds / 2)
            if number % 3:
                with full_disk(folder, process) if number % 3 == 1 else _moved(folder):
                    time.sleep(0.3)
                    score.silent += health(port)["status"] != "degraded"
                score.hung += not _recovers(port)
            time.sleep(seconds / 2)
            score.crashed += process.poll() is not None
            process.send_signal(signal.SIGKILL)
            process.wait()
            for client in clients:
                client.join(PATIENCE)
                score.hung += client.is_alive() or client.hung
                score.crashed += sum(client.statuses[status] for status in (404, 422, 500))
                decided += client.decided
                rewarded += client.rewarded
    records = list(journal_records(folder / "journal"))
    made = Counter(record["decision"] for record in records if "context" in record)
    paid = Counter(record["decision"] for record in records if "reward" in record)
    score.lost += sum(id not in made for id in decided) + sum(id not in paid for id in rewarded)
    score.silent += sum(count != 1 for count in (*made.values(), *paid.values()))
    with Agent.load(folder / "agent.npz", journal=folder / "journal") as agent:
        score.silent += (agent.decisions, agent.observations) != (len(made), len(paid))
    score.attack += f" ({len(rewarded):,} acknowledged rewards)"
    return score


@contextmanager
def _moved(folder: Path) -> Iterator[None]:
    """The journal is not where it was."""
    (folder / "journal").rename(folder / "away")
    try:
        yield
    finally:
        (folder / "away").rename(folder / "journal")


def _recovers(port: int) -> bool:
    """Whether the server says that all is well again, in time."""
    until = time.monotonic() + PATIENCE
    while health(port)["status"] != "ok":
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def health(port: int) -> dict:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/health")
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def deaf_clients(folder: Path, clients: int, requests: int = 2600) -> Score:
    """Clients that ask and never read: each is cut, and others are answered meanwhile."""
    score = Score("clients that send thousands of requests and never read")
    body = b'{"context": [0.5, 0.5]}'
    head = f"POST /choose HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    request = head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with score.attempt(), serving(folder) as (port, process):
        health(port)  # it has opened what it needs for itself
        time.sleep(0.5)
        idle = _sockets(process)
        deaf = []
        for _ in range(clients):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.setblocking(False)
            deaf.append([connection, requests * request])
        until = time.monotonic() + 60
        while time.monotonic() < until and (_sockets(process) > idle or any(left for _, left in deaf)):
            for each in deaf:
                if each[1]:
                    try:
                        each[1] = each[1][each[0].send(each[1][:65536]) :]
                    except BlockingIOError:
                        pass
                    except OSError:
                        each[1] = b""
            began = time.monotonic()
            health(port)
            score.hung += time.monotonic() - began > 10
            time.sleep(0.05)
        score.tried, score.hung = clients, score.hung + _sockets(process) - idle
        for connection, _ in deaf:
            connection.close()
    return score


def _sockets(process: subprocess.Popen) -> int:
    """How many connections the server holds."""
    names = Path(f"/proc/{process.pid}/fd")
    return sum(os.readlink(name).startswith("socket:") for name in list(names.iterdir()) if name.exists())


RUDE = [
    (b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", b" 421 "),
    (b"GET /docs HTTP/1.1\r\nHost: evil.example:8000\r\n\r\n", b" 421 "),
    (b"GET /openapi.json HTTP/1.1\r\n\r\n", b" 421 "),
    (b"DELETE /health HTTP/1.1\r\nHost: localhost\r\n\r\n", b"allow: GET, HEAD"),
    (b"GET /choose HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" % TOKEN.encode(), b"allow: POST"),
    (b"POST /choose HTTP/1.1\r\nHost: localhost\r\n\r\n", b" 401 "),
    (b"GARBAGE\r\n\r\n", b" 400 "),
    (b"GET /health HTTP/1.1\r\nX: " + 100_000 * b"x", b" 431 "),
]
BODIES = [
    b'{"context": [1, 2], "context": [3, 4]}',
    b'{"context": [1e20, 0]}',
    b'{"context": [1e38, 0]}',
    b'{"context": [NaN, 0]}',
    b'{"context": [1e999, 0]}',
    b'{"context": [' + 400 * b"9" + b", 0]}",
    b'{"context": ["\\ud800", 0]}',
    b'{"context": ' + 9000 * b"[" + 9000 * b"]" + b"}",
]


def rude_requests(folder: Path) -> Score:
    """Requests that must be refused, each with its status and one sentence."""
    score = Score("requests with a foreign Host, another method, no token, keys twice, numbers too large")
    with serving(folder) as (port, _):
        for content, wanted in RUDE:
            with score.attempt(), socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
                connection.sendall(content)
                score.silent += wanted not in connection.recv(65536)
        for body in BODIES:
            with score.attempt():
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
                connection.request("POST", "/choose", body, HEADERS)
                answer = connection.getresponse()
                score.silent += answer.status != 422 or "error" not in json.loads(answer.read())
                connection.close()
        score.silent += health(port)["decisions"] != 0
    return score


def stalls(folder: Path, seconds: float, policy: str = "Uniform", dim: int = 2) -> Score:
    """Save every 0.2 seconds under load: silent where an answer took more than 100 ms longer than without saves."""
    score = Score(f"saves of {policy}, {dim} features, under load: an answer that waits 100 ms more")
    slowest = {}
    for save_every in (1000.0, 0.2):
        place, options = folder / str(save_every), ("--save-every", str(save_every))
        with serving(place, *options, policy=policy, dim=dim) as (port, _):
            slowest[save_every] = _slowest(port, seconds, dim)
    print(f"slowest without and with saves: {slowest[1000.0] * 1e3:.0f}, {slowest[0.2] * 1e3:.0f} ms", file=sys.stderr)
    score.tried = int(seconds / 0.2)
    score.silent += slowest[0.2] > slowest[1000.0] + 0.1
    return score


def _slowest(port: int, seconds: float, dim: int) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    body, times, began = json.dumps({"context": [0.5] * dim}), [], time.monotonic()
    while time.monotonic() - began < seconds:
        asked = time.perf_counter()
        connection.request("POST", "/choose", body, HEADERS)
        made = json.loads(connection.getresponse().read())
        connection.request("POST", "/learn", json.dumps({"id": made["id"], "reward": 1.0}), HEADERS)
        connection.getresponse().read()
        times.append(time.perf_counter() - asked)
    connection.close()
    return max(times[10:])
