"""Playing one batch of trials after another through to the horizon, with fewer at a time where memory runs out.

The players are donated from segment to segment, so memory does not grow with the horizon (beyond the history that
refitting policies read), a progress bar can move, and Ctrl-C falls between segments.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import jax
import numpy as np

from showdown.errors import TooLargeError
from showdown.memory import is_exhaustion
from showdown.play.programs import Programs, compiled
from showdown.play.room import equal, fitting
from showdown.play.segment import Played
from showdown.play.setting import Setting

Progress = Callable[[int], None]  # called with the number of trial-steps just played


class Recorder(Protocol):
    """Adds up what the segments of one batch measured."""

    def record(self, first_step: int, played: Played) -> int:
        """Add a segment, which is on the host by now; returns the number of its trial-steps."""
        ...


R = TypeVar("R", bound=Recorder)


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
    setting: Setting,
    *,
    trials: int,
    seed: int,
    batch_trials: int | None,
    recorder: Callable[[int], R],
    progress: Progress | None = None,
) -> Batches[R]:
    """Play them all, in batches of the size asked for or else as large as memory allows.

    Where memory runs out all the same, the batch is played again with half as many trials at a time. `recorder` is
    called with the number of trials of each batch.
    """
    programs, size, compile_seconds = fitting(setting, trials, batch_trials)
    batches: Batches[R] = Batches(size, compile_seconds)
    meter, first = _Meter(progress), 0
    while first < trials:
        wanted = min(batches.size, trials - first)  # the last batch may hold trials nobody asked for
        mine, failure, began = recorder(wanted), "", time.perf_counter()
        try:
            ended = _play_batch(setting, programs, seed, range(first, first + batches.size), mine, meter)
        except Exception as error:
            if not is_exhaustion(error):
                raise
            failure = str(error) or type(error).__name__  # not the error, whose traceback keeps all arrays alive
        batches.run_seconds += time.perf_counter() - began
        meter.end_batch(bool(failure))
        if not failure:
            batches.recorders.append(mine)
            asked_for = (slice(None), slice(wanted)) if setting.population else slice(wanted)
            batches.diagnostics.append({name: values[asked_for] for name, values in ended.items()})
            first += wanted
        elif batches.size == setting.devices or batch_trials is not None:
            raise TooLargeError(f"memory ran out with {batches.size} trials at a time ({failure.splitlines()[0]})")
        else:
            batches.size = equal(trials - first, batches.size // 2, setting.devices)
            programs, seconds = compiled(setting, batches.size)
            batches.compile_seconds += seconds
    return batches


def _play_batch(
    setting: Setting, programs: Programs, seed: int, trials: range, recorder: Recorder, progress: Progress
) -> dict[str, np.ndarray]:
    """Play these trials; returns the policy's diagnostics at the end, (trials, …) each."""
    arguments = setting.policy, setting.problem, setting.tables
    episodes, players = programs.start(*arguments, *setting.keys(seed, trials))
    pending = None
    for segment in range(setting.segments):
        players, played = programs.play(*arguments, episodes, players, np.int32(segment * setting.steps))
        if pending is not None:  # read the last segment while the device works on this one
            progress(recorder.record(pending[0], jax.device_get(pending[1])))
        pending = segment * setting.steps, played
    assert pending is not None
    progress(recorder.record(pending[0], jax.device_get(pending[1])))
    return jax.device_get(_diagnostics(setting, players.state, len(trials)))


def _diagnostics(setting: Setting, states: object, trials: int) -> dict[str, jax.Array]:
    def of_trials(policy, states):
        return jax.vmap(policy.diagnostics, axis_size=trials)(states)

    return (jax.vmap(of_trials) if setting.population else of_trials)(setting.policy, states)
