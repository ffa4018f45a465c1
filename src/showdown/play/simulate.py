"""Many trials of a policy on a problem as one compiled program: trials by `vmap`, time by a nested `scan`.

The parts are in `play/`: what is checked first (`prepared`), the loop itself (`block`, `segment`), compiling it and
playing batches of trials that fit in memory (`programs`, `batch_size`, `batches`), and adding up regret
(`accumulator`, `outcome`).
"""

from __future__ import annotations

from showdown.play.accumulator import Accumulator
from showdown.play.batches import Progress, play_trials
from showdown.play.in_python import play_in_python
from showdown.play.outcome import Outcome
from showdown.play.prepared import LONGEST, prepare, problem_identity
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem, Tables

__all__ = ["LONGEST", "NUMERICS", "Outcome", "Progress", "problem_identity", "simulate"]

NUMERICS = 1  # version of this loop's arithmetic, part of every cell's identity


def simulate(
    policy: Policy,
    problem: Problem,
    *,
    trials: int,
    seed: int = 0,
    horizon: int | None = None,
    segment_steps: int | None = None,
    batch_trials: int | None = None,
    progress: Progress | None = None,
    tables: Tables | None = None,
    keep_propensities: bool = False,
) -> Outcome:
    """Play `trials` independent trials and measure regret. The same arguments give the same numbers.

    `tables` is what `problem.load()` gave, where that was done before, perhaps on another machine. With
    `keep_propensities`, `outcome.decisions` holds every action, its reward and the probability with which it was taken:
    as the policy states it, or else from 200 draws. All other numbers stay the same, and it takes longer. A policy that
    is plain Python plays the same trials, one step after another.
    """
    prepared = prepare(
        policy,
        problem,
        trials=trials,
        horizon=horizon,
        segment_steps=segment_steps,
        batch_trials=batch_trials,
        tables=tables,
        propensities=keep_propensities,
    )
    if policy.in_python:
        return play_in_python(prepared, trials=trials, seed=seed, batch_trials=batch_trials, progress=progress)
    batches = play_trials(
        prepared,
        trials=trials,
        seed=seed,
        batch_trials=batch_trials,
        recorder=lambda count: Accumulator(
            count, prepared.problem.horizon, prepared.spec.num_actions, keep=keep_propensities
        ),
        progress=progress,
    )
    return Outcome.of(
        batches.recorders,
        batches.diagnostics,
        spec=prepared.spec,
        compile_seconds=batches.compile_seconds,
        run_seconds=batches.run_seconds,
        batch_trials=min(batches.size, trials),  # a batch is filled up to share it between devices
        rows=prepared.problem.longest(prepared.tables),
    )
