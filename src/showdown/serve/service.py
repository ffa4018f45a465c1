"""The agent of a server: one thread asks it, and another saves it now and then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from showdown import __version__
from showdown.agent import Agent
from showdown.basics.errors import ShowdownError
from showdown.serve import metrics
from showdown.serve.answers import BusyError
from showdown.serve.limits import Limits

T = TypeVar("T")


class Service:
    """Its agent has one lock, so one thread is enough; requests wait for it in their order, and not too many do."""

    def __init__(
        self, agent: Agent, policy: str, file: Path, *, save_every: float, limits: Limits, say: Callable[[str], None]
    ) -> None:
        self.agent, self.policy, self.file, self.limits = agent, policy, file, limits
        self.requests = metrics.Requests()
        self._save_every, self._say = save_every, say
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="decide")
        self._waiting = 0
        self._saved: tuple[int, int] | None = None  # decisions and observations at the last save
        self._saved_at: float | None = None
        self._failed_saves = 0
        self.not_saved = ""  # why the last save failed, where it did

    async def ask(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call the agent in its thread."""
        if self._waiting >= self.limits.waiting:
            raise BusyError(f"{self._waiting} requests are waiting already; try again later")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)
        finally:
            self._waiting -= 1

    # Saving

    async def save_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(self._save_every)
            await asyncio.to_thread(self.save)

    def save(self) -> None:
        """Save what has changed since the last time. A failure is said and counted; the next save may work."""
        now = self.agent.decisions, self.agent.observations
        if now == self._saved:
            return
        try:
            self.agent.save(self.file)
        except ShowdownError as error:
            self._failed_saves += 1
            self.not_saved = str(error)
            self._say(f"not saved: {error}")
            return
        self._saved, self._saved_at, self.not_saved = now, time.time(), ""

    def close(self) -> None:
        """Let what was asked be answered, then save."""
        self._thread.shutdown()
        self.agent.wait()
        self.save()
        self.agent.close()

    # What can be watched

    @property
    def seconds_since_save(self) -> float | None:
        return None if self._saved_at is None else max(0.0, time.time() - self._saved_at)

    def metrics(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterable[str]:
        about = {"policy": self.policy, "version": __version__}
        yield from metrics.gauge("showdown_info", "The policy that decides, and the version of showdown.", 1, about)
        yield from metrics.agent_lines(self.agent.counts())
        yield from metrics.gauge("showdown_failed_saves", "Saves that failed since the start.", self._failed_saves)
        if self._saved_at is not None:
            yield from metrics.gauge("showdown_saved_timestamp_seconds", "Time of the last save.", self._saved_at)
        yield from metrics.gauge("showdown_waiting_requests", "Requests that wait for the agent.", self._waiting)
        yield from self.requests.lines()
