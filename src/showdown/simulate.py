"""Many trials of a policy on a problem as one compiled program: trials by `vmap`, time by a nested `scan`.

The parts are in `play/`: what is checked first (`setting`), the loop itself (`block`, `segment`), compiling it and
playing batches of trials that fit in memory (`programs`, `batches`), and adding up regret (`book`, `outcome`).
"""

from __future__ import annotations

import time
from collections.abc import Callable

from showdown.play.batches import fitting, play_batch
from showdown.play.book import Book
from showdown.play.outcome import Outcome
from showdown.play.segment import Played
from showdown.play.setting import LONGEST, prepare, problem_identity
from showdown.policy import Policy
from showdown.problem import Problem

__all__ = ["LONGEST", "NUMERICS", "Outcome", "Progress", "problem_identity", "simulate"]

NUMERICS = 1  # version of this loop's arithmetic, part of every cell's identity

Progress = Callable[[int], None]  # called with the number of trial-steps just played


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
) -> Outcome:
    """Play `trials` independent trials and measure regret. The same arguments give the same numbers."""
    setting = prepare(
        policy, problem, trials=trials, horizon=horizon, segment_steps=segment_steps, batch_trials=batch_trials
    )
    programs, batch, compile_seconds = fitting(setting, trials, batch_trials)
    books, diagnostics, began = [], [], time.perf_counter()
    for first in range(0, trials, batch):
        wanted = min(batch, trials - first)  # the last batch may hold trials nobody asked for
        book = Book(wanted, setting.problem.horizon, setting.spec.num_actions)

        def record(first_step: int, played: Played, book: Book = book) -> None:
            steps = book.record(first_step, played)
            if progress is not None:
                progress(steps)

        ended = play_batch(setting, programs, seed, range(first, first + batch), record)
        diagnostics.append({name: values[:wanted] for name, values in ended.items()})
        books.append(book)
    return Outcome.of(
        books,
        diagnostics,
        spec=setting.spec,
        compile_seconds=compile_seconds,
        run_seconds=time.perf_counter() - began,
        batch_trials=batch,
    )
