"""The agent of a server: one thread answers the calls that wait, together, and another saves it now and then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

from prometheus_client.core import Metric

from showdown import __version__
from showdown.agent import Agent
from showdown.agent.batch_programs import ROOM
from showdown.agent.together import Answer, Call
from showdown.basics.errors import ShowdownError
from showdown.serve import metrics
from showdown.serve.http import BusyError, RequestLimits

AT_ONCE = ROOM  # calls that the agent is asked together
LINGER = 1e-3  # seconds that a call may wait for others, however many still come
ENOUGH = 16  # calls that wait for no others: with more, computing and HTTP had better go on side by side


Then = Callable[[Sequence[Answer] | Exception], None]  # takes answers, or what was raised


class _Asked(NamedTuple):
    calls: Sequence[Call]
    then: Then


class Service:
    """Its agent has one lock, so one thread is enough; calls wait for it in their order, and not too many do."""

    def __init__(
        self,
        agent: Agent,
        policy: str,
        file: Path,
        *,
        save_every: float,
        limits: RequestLimits,
        say: Callable[[str], None],
        is_alone: Callable[[], bool] = lambda: True,
    ) -> None:
        """`is_alone` says whether this process still holds the lock of `file`."""
        self.agent, self.policy, self.file, self.limits = agent, policy, file, limits
        self.metrics = metrics.ServerMetrics(self._numbers)
        self._save_every, self._say, self._is_alone = save_every, say, is_alone
        self._queue: SimpleQueue[list[_Asked] | None] = SimpleQueue()
        self._waiting = 0
        self._asked: list[_Asked] = []
        self._saved: tuple[int, int, list[Any]] | None = None  # decisions, observations, actions at the last save
        self._saved_at: float | None = None
        self._failed_saves = 0
        self.not_saved = ""  # why the last save failed, where it did
        self._thread = Thread(target=self._work, name="decide", daemon=True)
        self._thread.start()

    # Asking

    def ask(self, calls: Sequence[Call], then: Then) -> None:
        """Hand the agent's answers to some calls, in their order, to `then`, later and in the loop's thread."""
        if self._waiting >= self.limits.waiting:
            raise BusyError(f"{self._waiting} requests are waiting already; try again later")
        self._ask(calls, [], then)

    def _ask(self, calls: Sequence[Call], before: list[Answer], then: Then) -> None:
        """Ask for some of the calls, then for the rest, so that others have their turn during a long batch."""

        def answered(answers: Sequence[Answer] | Exception) -> None:
            self._waiting -= 1
            if isinstance(answers, Exception):
                then(answers)
            elif len(calls) > AT_ONCE:
                self._ask(calls[AT_ONCE:], [*before, *answers], then)
            else:
                then([*before, *answers] if before else answers)

        self._waiting += 1
        self._asked.append(_Asked(calls[:AT_ONCE], answered))
        if len(self._asked) == 1:  # those that this turn of the loop reads are handed over together, after it
            loop = asyncio.get_running_loop()
            loop.call_soon(self._hand_over, loop)

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queue.put(self._asked)
        self._asked = []

    def _work(self) -> None:
        """Answer what waits until there is a None in the queue.

        Clients that were answered together ask again at nearly the same time, so a few of them wait for the others.
        """
        waiting: list[_Asked] = []
        going, last = True, 0  # calls that were answered together the last time, as far as they are waited for
        while going or waiting:
            until: float | None = None  # when the first of them has waited for long enough
            while going and (count := _count(waiting)) < AT_ONCE:
                if waiting and until is None:
                    until = time.monotonic() + LINGER
                try:
                    left = None if until is None else max(0.0, until - time.monotonic())
                    more = self._queue.get(count < last or not waiting, left)
                except Empty:
                    break
                going = more is not None
                waiting += more or []
            together: list[_Asked] = []
            while waiting and _count(together) < AT_ONCE:
                together.append(waiting.pop(0))
            last = min(_count(together), ENOUGH)
            if together:
                self._answer(together)

    def _answer(self, together: list[_Asked]) -> None:
        calls = [call for asked in together for call in asked.calls]
        answers: list[Answer] | Exception
        try:
            answers = self.agent.answer_together(calls)
        except Exception as failed:  # a fault of the program: each of these requests is answered with 500
            answers = failed
        self._loop.call_soon_threadsafe(_deliver, together, answers)

    # Saving

    async def save_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(self._save_every)
            await asyncio.to_thread(self.save)

    def save(self) -> None:
        """Save what has changed since the last time. A failure is said and counted; the next save may work."""
        now = self.agent.decisions, self.agent.observations, self.agent.actions
        if now == self._saved:
            return
        try:
            if not self._is_alone():
                raise ShowdownError(f"the lock of {self.file} is gone: another process may serve the same file")
            self.agent.save(self.file)
        except Exception as error:  # whatever it is: one that is not caught would end all later saves in silence
            self._failed_saves += 1
            self.not_saved = str(error) or type(error).__name__
            self._say(f"not saved: {self.not_saved}")
            return
        self._saved, self._saved_at, self.not_saved = now, time.time(), ""

    def close(self) -> None:
        """Let what was asked be answered, then save."""
        self._queue.put(None)
        self._thread.join()
        self.agent.wait()
        self.save()
        self.agent.close()

    # What can be watched

    @property
    def trouble(self) -> str:
        """Why the service is degraded; empty where it is not."""
        return self.agent.trouble or self.not_saved

    @property
    def seconds_since_save(self) -> float | None:
        return None if self._saved_at is None else max(0.0, time.time() - self._saved_at)

    def unusual(self) -> dict[str, Any]:
        """The agent's counts, and its dead features where it has learned any."""
        dead = self.agent.dead_features()
        return self.agent.counts() | ({} if dead is None else {"dead_features": dead})

    def _numbers(self) -> Iterator[Metric]:
        about = {"policy": self.policy, "version": __version__}
        yield metrics.gauge("showdown_info", "The policy that decides, and the version of showdown.", 1, about)
        yield metrics.gauge("showdown_degraded", "1 while the journal or a save fails.", float(bool(self.trouble)))
        yield from metrics.of_agent(self.unusual())
        yield metrics.gauge("showdown_failed_saves", "Saves that failed since the start.", self._failed_saves)
        if self._saved_at is not None:
            yield metrics.gauge("showdown_saved_timestamp_seconds", "Time of the last save.", self._saved_at)
        yield metrics.gauge("showdown_waiting_requests", "Requests that wait for the agent.", self._waiting)


def _count(waiting: list[_Asked]) -> int:
    return sum(len(asked.calls) for asked in waiting)


def _deliver(together: list[_Asked], answers: list[Answer] | Exception) -> None:
    """Hand each request its answers, in the loop's thread."""
    first = 0
    for asked in together:
        last = first + len(asked.calls)
        asked.then(answers if isinstance(answers, Exception) else answers[first:last])
        first = last
