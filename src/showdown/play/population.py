"""Several configurations of one structure, played together: one compilation, the same episodes, one program.

The population is the outer axis and trials the inner one. All players of a trial get the keys that each would get
alone, so the numbers are those of `simulate` up to float rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from showdown.basics.errors import DivergedError, TooLargeError, UsageError
from showdown.machine.resources import cores
from showdown.play import memory
from showdown.play.accumulator import Accumulator, check_available, check_valid, divergence
from showdown.play.batch_size import equal, policies_that_fit
from showdown.play.batches import Progress, play_trials
from showdown.play.outcome import Outcome
from showdown.play.prepared import Prepared, prepare
from showdown.play.segment import Played
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem

MOST_THREADS = 8  # that add up


def simulate_many(
    policies: Sequence[Policy],
    problem: Problem,
    *,
    trials: int,
    seed: int = 0,
    horizon: int | None = None,
    batch_trials: int | None = None,
    progress: Progress | None = None,
) -> list[Outcome | DivergedError]:
    """The outcome of each policy, in order; a DivergedError in the place of one whose state stopped being finite.

    The policies may differ only in floats. Seconds are those of the whole population, divided by its size.
    """
    if not policies:
        return []
    if len({jax.tree.structure(policy) for policy in policies}) > 1:
        raise UsageError("policies that are played together may differ only in fields that hold floats")
    for policy in policies:
        policy.check()
    alone = prepare(policies[0], problem, trials=trials, horizon=horizon, batch_trials=batch_trials)
    size = policies_that_fit(replace(alone, policy=stacked(policies), population=len(policies)))
    outcomes: list[Outcome | DivergedError] = []
    while len(outcomes) < len(policies):
        # the last part is filled up with policies nobody asked for, so that one program serves all parts
        numbers = range(len(outcomes), len(outcomes) + size)
        part = [policies[min(number, len(policies) - 1)] for number in numbers]
        try:
            prepared = replace(alone, policy=stacked(part), population=size)
            outcomes += _play_population(prepared, seed, trials, batch_trials, progress)
        except TooLargeError:  # one trial of them all
            if size == 1:
                raise
            size = equal(len(policies) - len(outcomes), size // 2)
    return outcomes[: len(policies)]


def stacked(policies: Sequence[Policy]) -> Policy:
    """One policy whose leaves hold those of all, along a new first axis; JAX keeps Python floats weakly typed."""
    return jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *policies)


class _Accumulators:
    """One book for a whole population, the trials of one policy after those of another: far fewer calls of NumPy.

    Its pages are added up by several threads: on a GPU a large population takes less time to play than one core does to
    add it up.
    """

    def __init__(self, trials: int, prepared: Prepared) -> None:
        assert prepared.population is not None
        self.trials = trials
        self.together = Accumulator(prepared.population * trials, prepared.problem.horizon, prepared.spec.num_actions)
        threads = max(1, min(MOST_THREADS, cores() // memory.sharers))
        size = math.ceil(self.together.trials / threads)
        self.parts = [slice(first, first + size) for first in range(0, self.together.trials, size)]
        self.diverged: dict[int, DivergedError] = {}

    def record(self, first_step: int, played: Played) -> int:
        played = jax.tree.map(lambda array: array[:, : self.trials], played)
        steps = min(played.regret.shape[2], self.together.horizon - first_step)
        check_valid(first_step, played.valid[0, :, :steps])  # all policies play the same rounds
        for number, finite in enumerate(played.finite):
            if error := divergence(first_step + steps, finite):
                self.diverged.setdefault(number, error)
            elif number not in self.diverged:
                check_available(first_step, played.actions[number], played.expected_regret[number, :, :steps])
        actions: Any = np.array(played.actions)
        actions[list(self.diverged)] = 0  # what they did means nothing, and may not even be an action
        played = played._replace(actions=actions)
        rows = self.together.trials
        flat = jax.tree.map(lambda array: array.reshape(rows, *array.shape[2:]), played)

        def add(part: slice) -> int:
            return self.together.of_trials(part).add(first_step, jax.tree.map(lambda array: array[part], flat))

        with ThreadPoolExecutor(len(self.parts), "add up") as pool:
            return rows * max(pool.map(add, self.parts))

    def of_policy(self, number: int) -> Accumulator:
        return self.together.of_trials(slice(number * self.trials, (number + 1) * self.trials))


def _play_population(
    prepared: Prepared, seed: int, trials: int, batch_trials: int | None, progress: Progress | None
) -> list[Outcome | DivergedError]:
    assert prepared.population is not None
    batches = play_trials(
        prepared,
        trials=trials,
        seed=seed,
        batch_trials=batch_trials,
        recorder=lambda count: _Accumulators(count, prepared),
        progress=progress,
    )
    diverged = {number: error for each in reversed(batches.recorders) for number, error in each.diverged.items()}
    return [
        diverged.get(number)
        or Outcome.of(
            [each.of_policy(number) for each in batches.recorders],
            [{name: values[number] for name, values in each.items()} for each in batches.diagnostics],
            spec=prepared.spec,
            compile_seconds=batches.compile_seconds / prepared.population,
            run_seconds=batches.run_seconds / prepared.population,
            batch_trials=batches.size,
            rows=prepared.problem.longest(prepared.tables),
        )
        for number in range(prepared.population)
    ]
