"""Playing one batch of trials after another through to the horizon, with fewer at a time where memory runs out.

The players are donated from segment to segment, so memory does not grow with the horizon (beyond the history that
refitting policies read), a progress bar can move, and Ctrl-C falls between segments.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import jax
import numpy as np

from showdown.basics.errors import TooLargeError
from showdown.play.batch_size import equal, fitting
from showdown.play.memory import is_exhaustion
from showdown.play.prepared import Prepared
from showdown.play.programs import Programs, compiled
from showdown.play.segment import Played
from showdown.posteriors import float64

Progress = Callable[[int], None]  # called with the number of trial-steps just played


class Recorder(Protocol):
    """Adds up what the segments of one batch measured."""

    def record(self, first_step: int, played: Played) -> int:
        """Add a segment, which is on the host by now; returns the number of its trial-steps."""
        ...


R = TypeVar("R", bound=Recorder)
T = TypeVar("T")


@dataclass
class Batches(Generic[R]):
    """All batches of trials, as they were played."""

    size: int  # trials of one batch
    compile_seconds: float
    run_seconds: float = 0.0
    recorders: list[R] = field(default_factory=list)  # one per batch
    diagnostics: list[dict[str, np.ndarray]] = field(default_factory=list)  # of the policy, at the end of each batch


class _Meter:
    """Reports every step once, although a batch that failed is played again."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.batch = self.repeated = 0  # steps of this batch so far; steps that were reported before their batch failed

    def __call__(self, steps: int) -> None:
        self.batch += steps
        again = min(self.repeated, steps)
        self.repeated -= again
        if self.progress is not None:
            self.progress(steps - again)

    def end_batch(self, failed: bool) -> None:
        self.repeated += self.batch if failed else 0
        self.batch = 0


def play_trials(
    prepared: Prepared,
    *,
    trials: int,
    seed: int,
    batch_trials: int | None,
    recorder: Callable[[int], R],
    progress: Progress | None = None,
) -> Batches[R]:
    """Play them all, in batches of the size asked for or else as large as memory allows.

    As many batches are played at the same time as `batch_size.first_batch` says. Where memory runs out all the same,
    they are played again one after another, then with half as many trials at a time. `recorder` is called with the
    number of trials of each.
    """
    programs, size, at_once, compile_seconds = fitting(prepared, trials, batch_trials)
    batches: Batches[R] = Batches(size, compile_seconds)
    meter, first = _Meter(progress), 0
    while first < trials:
        size = batches.size
        starts = range(first, trials, size)[:at_once]
        wanted = [min(size, trials - start) for start in starts]  # the last batch may hold trials nobody asked for
        mine, failure, began = [recorder(count) for count in wanted], "", time.perf_counter()
        try:
            ended = _play_batches(prepared, programs, seed, [range(at, at + size) for at in starts], mine, meter)
        except Exception as error:
            if not is_exhaustion(error):
                raise
            failure = str(error) or type(error).__name__  # not the error, whose traceback keeps all arrays alive
        batches.run_seconds += time.perf_counter() - began
        meter.end_batch(bool(failure))
        if not failure:
            batches.recorders += mine
            for count, values in zip(wanted, ended, strict=True):
                asked_for = (slice(None), slice(count)) if prepared.population else slice(count)
                batches.diagnostics.append({name: value[asked_for] for name, value in values.items()})
            first += sum(wanted)
        elif at_once > 1:
            at_once = 1
        elif batches.size == prepared.devices or batch_trials is not None:
            raise TooLargeError(f"memory ran out with {batches.size} trials at a time ({failure.splitlines()[0]})")
        else:
            batches.size = equal(trials - first, batches.size // 2, prepared.devices)
            programs, seconds = compiled(prepared, batches.size)
            batches.compile_seconds += seconds
    return batches


def _play_batches(
    prepared: Prepared,
    programs: Programs,
    seed: int,
    batches: Sequence[range],
    recorders: Sequence[Recorder],
    progress: Progress,
) -> list[dict[str, np.ndarray]]:
    """Play batches of trials at the same time; returns the policy's diagnostics at the end of each, (trials, …).

    Several are played by a thread each, segment by segment. This thread adds up the last segment meanwhile, so errors
    and Ctrl-C fall between segments here too.
    """
    arguments = prepared.policy, prepared.problem, prepared.tables
    pending: list[Played] = []

    def read(segment: int) -> None:
        for recorder, played in zip(recorders, pending, strict=True):
            progress(recorder.record(segment * prepared.steps, jax.device_get(played)))

    with ThreadPoolExecutor(len(batches), "play") as pool:
        begin = partial(_begin, pool if len(batches) > 1 else None)
        keys = [prepared.keys(seed, trials) for trials in batches]
        for problem_keys, _ in keys:
            prepared.problem.draw_ahead(problem_keys)
        running = _all(begin(programs.start, *arguments, *of_batch) for of_batch in keys)
        for segment in range(prepared.segments):
            first_step = np.int32(segment * prepared.steps)
            playing = [begin(programs.play, *arguments, *both, first_step) for both in running]
            if pending:  # while this segment is being played
                read(segment - 1)
            ended = _all(playing)
            running = [(episodes, players) for (episodes, _), (players, _) in zip(running, ended, strict=True)]
            pending = [played for _, played in ended]
    read(prepared.segments - 1)
    return [jax.device_get(_diagnostics(prepared, players.state, len(batches[0]))) for _, players in running]


def _begin(pool: ThreadPoolExecutor | None, function: Callable[..., T], *arguments: Any) -> Callable[[], T]:
    """Call a compiled program in a thread, or in this one, where JAX may return before it has run.

    Call the result to wait for it.
    """
    if pool is not None:
        as_here = float64.outside()  # a thread has its own mode

        def in_thread() -> T:
            with as_here():
                return jax.block_until_ready(function(*arguments))

        return pool.submit(in_thread).result
    value = function(*arguments)
    return lambda: value


def _all(begun: Iterable[Callable[[], T]]) -> list[T]:
    return [result() for result in list(begun)]


def _diagnostics(prepared: Prepared, states: object, trials: int) -> dict[str, jax.Array]:
    def of_trials(policy, states):
        return jax.vmap(policy.diagnostics, axis_size=trials)(states)

    return (jax.vmap(of_trials) if prepared.population else of_trials)(prepared.policy, states)
