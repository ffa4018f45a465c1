"""How many trials are played at a time, and playing one such batch through to the horizon.

The players are donated from segment to segment, so memory does not grow with the horizon (beyond the history that
refitting policies read), a progress bar can move, and Ctrl-C falls between segments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import jax
import numpy as np

from showdown.memory import excess, trials_that_fit
from showdown.play.programs import Programs, compiled, trial_bytes
from showdown.play.segment import Played
from showdown.play.setting import Setting


def fitting(setting: Setting, trials: int, batch_trials: int | None) -> tuple[Programs, int, float]:
    """The programs of the largest batch that should fit in memory, its size, and the seconds spent on compiling."""
    batch = equal(trials, batch_trials or trials_that_fit(partial(trial_bytes, setting)))
    programs, compile_seconds = compiled(setting, batch)
    here = sum(leaf.nbytes for leaf in jax.tree.leaves(setting.tables))
    # what a refit needs only XLA knows, after compiling
    while batch_trials is None and batch > 1 and (times := excess(programs.play, here)) > 1:
        batch = equal(trials, min(batch // 2, math.floor(batch / times)))  # at least halved: compiling is expensive
        programs, seconds = compiled(setting, batch)
        compile_seconds += seconds
    return programs, batch, compile_seconds


def policies_that_fit(setting: Setting) -> int:
    """How many of the stacked policies should be played together, so that one trial of them fits in memory."""
    population = setting.population
    assert population is not None
    return equal(population, trials_that_fit(lambda: trial_bytes(setting) // population))


def equal(trials: int, batch: int) -> int:
    """The size of equal batches, so that one program serves them all; at most `batch`, at least one trial."""
    return math.ceil(trials / math.ceil(trials / max(1, min(trials, batch))))


def play_batch(
    setting: Setting, programs: Programs, seed: int, trials: range, record: Callable[[int, Played], None]
) -> dict[str, np.ndarray]:
    """Play these trials; `record` gets the first step of each segment and what was played, on the host.

    Returns the policy's diagnostics at the end, (trials,) each.
    """
    arguments = setting.policy, setting.problem, setting.tables
    episodes, players = programs.start(*arguments, *setting.keys(seed, trials))
    pending = None
    for segment in range(setting.segments):
        players, played = programs.play(*arguments, episodes, players, np.int32(segment * setting.steps))
        if pending is not None:  # read the last segment while the device works on this one
            record(pending[0], jax.device_get(pending[1]))
        pending = segment * setting.steps, played
    assert pending is not None
    record(pending[0], jax.device_get(pending[1]))
    return jax.device_get(_diagnostics(setting, players.state, len(trials)))


def _diagnostics(setting: Setting, states: object, trials: int) -> dict[str, jax.Array]:
    def of_trials(policy, states):
        return jax.vmap(policy.diagnostics, axis_size=trials)(states)

    return (jax.vmap(of_trials) if setting.population else of_trials)(setting.policy, states)
