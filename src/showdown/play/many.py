"""Several configurations of one structure, played together: one compilation, the same episodes, one program.

The population is the outer axis and trials the inner one. All players of a trial get the keys that each would get
alone, so the numbers are those of `simulate` up to float rounding.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp

from showdown.errors import DivergedError, UsageError
from showdown.play.batches import fitting, play_batch, policies_that_fit
from showdown.play.book import Book
from showdown.play.outcome import Outcome
from showdown.play.segment import Played
from showdown.play.setting import Setting, prepare
from showdown.policy import Policy
from showdown.problem import Problem


def simulate_many(
    policies: Sequence[Policy],
    problem: Problem,
    *,
    trials: int,
    seed: int = 0,
    horizon: int | None = None,
    batch_trials: int | None = None,
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
    for first in range(0, len(policies), size):
        # the last part is filled up with policies nobody asked for, so that one program serves all parts
        part = [policies[min(number, len(policies) - 1)] for number in range(first, first + size)]
        setting = replace(alone, policy=stacked(part), population=size)
        outcomes += _play_population(setting, trials, seed, batch_trials)
    return outcomes[: len(policies)]


def stacked(policies: Sequence[Policy]) -> Policy:
    """One policy whose leaves hold those of all, along a new first axis; JAX keeps Python floats weakly typed."""
    return jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *policies)


def _play_population(
    setting: Setting, trials: int, seed: int, batch_trials: int | None
) -> list[Outcome | DivergedError]:
    assert setting.population is not None
    programs, batch, compile_seconds = fitting(setting, trials, batch_trials)
    books: list[list[Book]] = [[] for _ in range(setting.population)]
    diverged: dict[int, DivergedError] = {}
    diagnostics, began = [], time.perf_counter()
    for first in range(0, trials, batch):
        wanted = min(batch, trials - first)
        for own in books:
            own.append(Book(wanted, setting.problem.horizon, setting.spec.num_actions))

        def record(first_step: int, played: Played) -> None:
            for number, own in enumerate(books):
                try:
                    own[-1].record(first_step, Played(*(array[number] for array in played)))
                except DivergedError as error:
                    diverged.setdefault(number, error)

        ended = play_batch(setting, programs, seed, range(first, first + batch), record)
        diagnostics.append({name: values[:, :wanted] for name, values in ended.items()})
    run_seconds = time.perf_counter() - began
    return [
        diverged.get(number)
        or Outcome.of(
            own,
            [{name: values[number] for name, values in each.items()} for each in diagnostics],
            spec=setting.spec,
            compile_seconds=compile_seconds / setting.population,
            run_seconds=run_seconds / setting.population,
            batch_trials=batch,
        )
        for number, own in enumerate(books)
    ]
