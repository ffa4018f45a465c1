"""Open the agent of a server, and run the server until it is told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from showdown.agent import Agent, checkpoint_file, compute_in_one_thread
from showdown.agent.checkpoint import recommended
from showdown.agent.table_rows import OF_A_TABLE
from showdown.basics.errors import UsageError
from showdown.basics.files import take_lock
from showdown.bench.compilation import use_compilation_cache
from showdown.data.choose_columns import find_columns, likely_columns
from showdown.data.read_table import read_table
from showdown.policies import policies
from showdown.protocol.policy import Policy
from showdown.serve.app import App
from showdown.serve.protocol import Connection
from showdown.serve.service import Service

ARCHIVE = b"PK"  # what a saved agent begins with
LAST_PORT = 65535
BACKLOG = 2048  # connections that may wait to be accepted
STOP_SECONDS = 5  # for answers that are on their way when the server is stopped
SWEEP = 0.5  # seconds between looks for connections that wait too long
TURN = 2e-4  # seconds that one thread may keep Python's interpreter from the other; 5 ms unless it is said

# The agent


def default_save(file: Path) -> Path:
    """Where a server saves unless it is said: over the agent it was started from, or next to the recommendation."""
    return file if _is_saved(file) else file.with_suffix(".npz")


def open_agent(
    file: Path,
    save: Path,
    *,
    new: dict[str, Any],
    rows: int = 0,
    background: bool = False,
    warm: Path | None = None,
    **options: Any,
) -> Agent:
    """The agent to go on with, compiled. `new` are options of one that never was saved; there is room for `rows`.

    One that never was saved learns from the file `warm`, and is then saved, so that this happens once.
    """
    if background:
        compute_in_one_thread()
        if not _policy(
            file
        ).refit_every:  # nothing else computes, and handing parts of a decision to threads takes long
            os.environ.setdefault("PJRT_NPROC", "1")
    use_compilation_cache()
    is_known = warm is not None and save.exists()
    if warm is not None and not is_known:
        with _found(file, save, new, {"history": options.get("history")}) as pupil:
            _learn_file(pupil, warm, {} if _is_saved(file) else recommended(file).data)
            pupil.save(save)
    agent = _found(file, save, new, {"background": background, **options})
    if is_known:
        agent.notes.append(f"{warm} is not read: the agent goes on from {save}")
    agent.warm(rows=rows, together_only=True)
    return agent


def _policy(file: Path) -> Policy:
    """The policy of the file that a server is started with."""
    return checkpoint_file.policy_of(file) if _is_saved(file) else recommended(file).policy


def _found(file: Path, save: Path, new: dict[str, Any], options: dict[str, Any]) -> Agent:
    if _is_saved(file):
        # what an earlier run of this server has saved elsewhere is later than the file it was started from
        return Agent.load(save if save.exists() else file, **options)
    if not save.exists():
        return Agent.recommended(file, **options, **new)
    found, agent = recommended(file), Agent.load(save, **options)
    if agent.policy != found.policy or agent.encoder != found.encoder:
        agent.close()
        raise UsageError(f"{save} holds another agent than {file} describes: move it away, or say --save")
    return agent


def _learn_file(agent: Agent, path: Path, table: dict[str, Any]) -> int:
    """Learn a table like that of the recommendation, whose options are given, or a log; how many rewards it held."""
    frame = read_table(path).table
    roles = {name: table[name] for name in ("label", "rewards") if table.get(name)}
    if roles and all(_has(frame, columns) for columns in roles.values()):
        options = {name: table[name] for name in OF_A_TABLE if table.get(name)}
        if "reward_matrix" in options:
            options["reward_matrix"] = read_table(options["reward_matrix"]).table
        return agent.learn_table(frame, **roles, **options)
    log = likely_columns(frame)
    if not log.action or not log.reward:
        wanted = f"a table with {' or '.join(map(repr, roles.values()))}" if roles else "a table"
        raise UsageError(f"{path} is neither {wanted} nor a log with an action and a reward in each row")
    return agent.learn_table(frame, action=log.action, reward=log.reward)


def _has(frame: pd.DataFrame, columns: str) -> bool:
    try:
        return bool(find_columns(columns, [str(name) for name in frame.columns]))
    except UsageError:
        return False


def _is_saved(file: Path) -> bool:
    try:
        with open(file, "rb") as stream:
            return stream.read(2) == ARCHIVE
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None


def policy_name(agent: Agent) -> str:
    """The name of the preset, where the agent's policy is one; else the name of its class."""
    names = [name for name in policies.names() if policies.get(name) == agent.policy]
    return names[0] if names else type(agent.policy).__name__


@contextmanager
def alone_with(file: Path) -> Iterator[Callable[[], bool]]:
    """Hold the lock of a file that is saved to, under every name of its folder; what is given says whether it holds.

    Raises UsageError where another process holds it. The lock is a file of its own, since a save replaces the other.
    """
    real = Path(os.path.realpath(file))
    if not real.parent.is_dir():
        raise UsageError(f"there is no folder {real.parent} to save in")
    path = real.with_name(f".lock-{real.name}")
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UsageError(f"cannot lock {file}: {path} {error.strerror}") from None

    def is_held() -> bool:
        try:
            return os.path.samestat(os.stat(path), os.fstat(handle))
        except FileNotFoundError:
            return False

    try:
        if not take_lock(handle, wait=False) or not is_held():
            raise UsageError(f"another process serves {file} already")
        yield is_held
        if is_held():
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)


# The server


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """The socket, before anything else is done: an address in use is found at once, and early clients wait."""
    if not 0 <= port <= LAST_PORT:  # a system may take the rest of a division, and listen elsewhere
        raise UsageError(f"--port is a number from 0 to {LAST_PORT}, not {port}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # asyncio sets TCP_NODELAY only where the protocol is given; without it every answer waits 40 ms
        listener = socket.socket(family, kind, protocol)
    except (OSError, OverflowError) as error:
        raise _cannot(host, port, error) from None
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError as error:
            raise _cannot(host, port, error) from None
        yield listener


def _cannot(host: str, port: int, error: Exception) -> UsageError:
    return UsageError(f"cannot listen on {host}, port {port}: {getattr(error, 'strerror', None) or error}")


def address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def shown_address(listener: socket.socket) -> str:
    """An address that a client on this machine can use, where the server listens on all of them."""
    return address_of(listener).replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def run(app: App, service: Service, listener: socket.socket) -> None:
    """Answer until SIGTERM or Ctrl-C, then save; however often it is said, the save is not skipped."""
    sys.setswitchinterval(TURN)
    asyncio.run(_serve(app, service, listener))


async def _serve(app: App, service: Service, listener: socket.socket) -> None:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    connections: set[Connection] = set()
    server = await loop.create_server(
        lambda: Connection(app, service.limits, connections), sock=listener, backlog=BACKLOG
    )
    tasks = [asyncio.create_task(service.save_now_and_then()), asyncio.create_task(_sweep(connections))]
    await stopped.wait()
    server.close()
    for connection in list(connections):
        connection.end()
    until = loop.time() + STOP_SECONDS
    while connections and loop.time() < until:
        await asyncio.sleep(0.02)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.to_thread(service.close)


async def _sweep(connections: set[Connection]) -> None:
    """End connections that keep the server waiting."""
    while True:
        await asyncio.sleep(SWEEP)
        now = asyncio.get_running_loop().time()
        for connection in list(connections):
            connection.sweep(now)
