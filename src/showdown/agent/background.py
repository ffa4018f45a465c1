"""Refits off the request path: a thread fits a copy of the state, catches up with what came since, and swaps it in."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import jax
import numpy as np

from showdown.agent.replay_buffer import Rows
from showdown.protocol.policy import State
from showdown.tricks.threads import short_turns

FEW = 1  # observations that a swap may catch up with while callers wait
ROUNDS = 20  # of catching up before that, at most: callers may observe faster than the thread catches up


class Observation(NamedTuple):
    inputs: np.ndarray
    action: np.int32
    reward: np.float32
    step: np.int32


class Fitted(NamedTuple):
    """What a refit in the background ended with."""

    state: State  # after what was observed while it was fitted
    fine: bool  # whether it is finite
    rows: int  # of the history, when it began
    error: Exception | None = None


class Background:
    """One task at a time; a refit that falls due meanwhile is skipped, and the next one sees its rows too."""

    def __init__(
        self,
        fit: Callable[[State, Rows, int], tuple[State, jax.Array]],
        catch_up: Callable[[State, list[Observation]], State],
        swap: Callable[[Fitted], None],
        lock: AbstractContextManager,
    ) -> None:
        self._fit, self._catch_up, self._swap, self._lock = fit, catch_up, swap, lock
        self._threads: ThreadPoolExecutor | None = None
        self._tasks: list[Future] = []
        self._missed: list[Observation] = []  # what was observed since the refit began
        self._number = 0  # of the refit whose result is wanted
        self._running = False

    def submit(self, task: Callable[..., None], *arguments: Any) -> None:
        if self._threads is None:  # a thread that the interpreter waits for when it ends
            self._threads = ThreadPoolExecutor(1, thread_name_prefix="agent")
        self._tasks = [task for task in self._tasks if not task.done()]
        self._tasks.append(self._threads.submit(_in_short_turns, task, *arguments))

    @property
    def busy(self) -> bool:
        return self._running or any(not task.done() for task in self._tasks)

    def start(self, state: State, rows: Rows, step: int) -> None:
        """Begin a refit of `state`, which must be a copy. With the lock held, as for all but `wait` and `close`."""
        self._running, self._missed = True, []
        self._number += 1
        self.submit(self._run, self._number, state, rows, step)

    def note(self, seen: Observation) -> None:
        if self._running:
            self._missed.append(seen)

    def cancel(self) -> None:
        """Let the refit that runs come to nothing."""
        self._number += 1
        self._running = False

    def _run(self, number: int, state: State, rows: Rows, step: int) -> None:
        missed, caught_up, error, fine = self._missed, 0, None, False
        try:
            state, finite = self._fit(state, rows, step)
            fine = bool(finite)
            for _ in range(ROUNDS):
                behind = missed[caught_up:]
                if not fine or len(behind) <= FEW or number != self._number:
                    break
                state = self._catch_up(state, behind)
                caught_up += len(behind)
        except Exception as failed:  # the live state goes on
            error = failed
        with self._lock:
            if number != self._number:
                return
            self._running = False
            if fine and error is None:
                state = self._catch_up(state, missed[caught_up:])
            self._swap(Fitted(state, fine, rows.filled, error))

    def wait(self) -> None:
        """Until nothing runs. Not with the lock held: a swap needs it."""
        for task in list(self._tasks):
            task.result()

    def close(self) -> None:
        self.wait()
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None


def _in_short_turns(task: Callable[..., None], *arguments: Any) -> None:
    with short_turns():
        task(*arguments)
