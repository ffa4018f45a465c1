"""Playing candidates, and the numbers that a tuning makes small, read back from what was stored.

A candidate on a problem is a normal cell, at the whole horizon or at a part of it. Candidates of one structure play the
same episodes as one program; those that are in the store already are not played again. Where each candidate is a
program of its own, an engine of `showdown run` (several processes, or a cluster) is faster than a population.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import numpy as np

from showdown.basics.errors import DivergedError, MissingDataError, ShowdownError, UsageError
from showdown.bench.cell import Cell
from showdown.bench.engine import RunLimits, make_engine
from showdown.bench.plan import Planned
from showdown.bench.play_cell import about
from showdown.bench.record import About
from showdown.bench.store import Store
from showdown.play import memory
from showdown.play.population import simulate_many
from showdown.play.propensity import at_once

Trials = np.ndarray  # (trials,) of one candidate on one problem, in the unit of the objective, smaller is better


def losses(objective: str, columns: Mapping[str, np.ndarray]) -> Trials:
    """What each trial lost. A reward is turned round, so that smaller is better throughout."""
    values = np.asarray(columns[objective], float)
    return -values if objective == "reward" else values


def combined(measured: Sequence[Sequence[Trials]], default: Sequence[Trials], combine: str) -> np.ndarray:
    """(candidates,) one number each, over the problems: `measured[candidate][problem]`, and the same of the default.

    One problem: the mean of its trials. Several: the mean of each problem's mean relative to the default's (regret 0.8
    is four fifths of what the default loses), or the mean rank among these candidates.
    """
    means = np.array([[trials.mean() for trials in each] for each in measured], float)
    if means.shape[1] == 1:
        return means[:, 0]
    if combine == "rank":
        from scipy.stats import rankdata

        return np.asarray(rankdata(means, axis=0), float).mean(axis=1)
    return (means / scales(default)).mean(axis=1)


def scales(default: Sequence[Trials]) -> np.ndarray:
    """(problems,) what one unit is: the size of the default's mean."""
    return np.maximum(np.abs([trials.mean() for trials in default]), 1e-12)


Progress = Callable[[int], None]  # trial-steps just played
Names = dict[str, list[tuple[str, str]]]  # of each cell, by its hash: every (policy, problem) that it is asked for by
FINAL = ("done", "diverged", "error")  # of a candidate: it is not played again
PlayCells = Callable[[list[Cell], Names, Store, Progress | None], None]  # plays cells that are missing and stores them


class Place(NamedTuple):
    """A store for cells, and what plays them."""

    store: Store
    player: PlayCells | None = None  # None: populations, in this process


@dataclass(frozen=True)
class StoredLosses:
    """What one stored cell lost in each trial, and the seconds it took."""

    losses: Trials | None  # None: the policy diverged, or refused these values
    seconds: float


def play(cells: Sequence[Cell], place: Place, objective: str, progress: Progress | None = None) -> list[StoredLosses]:
    """What each cell measured, in order; those that the store does not hold are played first.

    Cells that mean the same are played once, and are stored under the names of all.
    """
    store, unique = place.store, {cell.hash: cell for cell in cells}
    names: Names = {}
    for cell in cells:
        names.setdefault(cell.hash, []).append((cell.policy_name, cell.problem_name))
    groups: dict[object, list[Cell]] = {}
    for cell in unique.values():
        structure = jax.tree.structure((cell.policy, cell.problem))
        groups.setdefault((structure, cell.trials, cell.seed), []).append(cell)
    for group in groups.values():
        missing = [cell for cell in group if _stored(cell, store, objective) is None]
        if progress is not None:
            progress(sum(cell.trials * cell.problem.horizon for cell in group if cell not in missing))
        if place.player is not None:
            place.player(missing, names, store, progress)
        else:
            _play_group(missing, len(group), names, store, progress)
        for cell in group:
            if cell not in missing:
                store.add_names(cell, names[cell.hash])
    found = {key: _stored(cell, store, objective) for key, cell in unique.items()}
    lost = [unique[key].label for key, measured in found.items() if measured is None]
    if lost:
        raise UsageError(f"{lost[0]} was played and cannot be read back from {store.directory}")
    return [measured for cell in cells if (measured := found[cell.hash]) is not None]


def _stored(cell: Cell, store: Store, objective: str) -> StoredLosses | None:
    record = store.read_record(store.folder / f"{cell.hash}.json")
    if record is None or record.status not in FINAL:
        return None
    seconds = record.compile_seconds + record.run_seconds
    if not record.is_done:
        return StoredLosses(None, seconds)
    table = store.trials(record)
    if table is None:  # damaged: play it again
        return None
    return StoredLosses(losses(objective, {objective: np.asarray(table[objective])}), seconds)


def _play_group(cells: list[Cell], whole: int, names: Names, store: Store, progress: Progress | None) -> None:
    """Cells of one structure on one problem, as populations of the size that the whole group would have.

    Where some are stored already (a tuning was killed), the last is repeated rather than another program compiled.
    """
    playable = []
    for cell in cells:
        store.require_space(cell)
        try:
            cell.policy.check()
            playable.append(cell)
        except UsageError as error:  # values that each are in range and together make no sense
            store.write_failed(cell, names[cell.hash], "error", str(error), _about())
    if not playable:
        return
    first = playable[0]
    size = min(whole, _largest_population(first))
    for begin in range(0, len(playable), size):
        part = playable[begin : begin + size]
        players = [part[min(number, len(part) - 1)].policy for number in range(size)]
        outcomes = simulate_many(players, first.problem, trials=first.trials, seed=first.seed, progress=progress)
        for cell, outcome in zip(part, outcomes[: len(part)], strict=True):
            if isinstance(outcome, DivergedError):
                store.write_failed(cell, names[cell.hash], "diverged", str(outcome), _about())
            else:
                store.write_done(cell, names[cell.hash], outcome, _about())


def _about() -> About:
    return about(memory.sharers - 1)


def _largest_population(cell: Cell) -> int:
    """The most candidates to play together; on a CPU what jaxlib adds up correctly in one go (see `at_once`)."""
    if jax.default_backend() != "cpu":
        return 1 << 20
    try:
        actions = cell.problem.spec(cell.problem.load()).num_actions
    except MissingDataError as error:
        raise UsageError(f"{cell.problem_name} cannot be tuned on: {error}") from None
    return at_once(cell.trials * actions)


def by_engine(name: str, limits: RunLimits) -> PlayCells:
    def play(cells: list[Cell], names: Names, store: Store, progress: Progress | None) -> None:
        def report(cell: Cell, steps: int) -> None:
            if progress is not None:
                progress(steps)

        planned = [Planned(cell, names[cell.hash], done=False) for cell in cells]
        for result in make_engine(name, store).run(planned, replace(limits, progress=report)):
            if result.status not in FINAL:
                raise ShowdownError(f"{result.cell.label}: {result.status}: {result.reason}")

    return play
