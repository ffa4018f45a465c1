"""From names to cells: what a run is going to play, and what of it is already stored."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from showdown.basics.errors import MissingDataError, NoFileNamedError, UsageError
from showdown.bench.cell import Cell
from showdown.bench.record import MOST_TRIALS
from showdown.bench.store import Store
from showdown.bench.suite import Suite
from showdown.bench.table_folder import tables_in
from showdown.bench.table_names import named_by_file, stored_shapes
from showdown.config.registry import Registry
from showdown.play.simulate import LONGEST
from showdown.policies import policies
from showdown.problems import problems
from showdown.problems.own_table import Table
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem

T = TypeVar("T")


@dataclass(frozen=True)
class Planned:
    cell: Cell
    names: list[tuple[str, str]]  # every (policy, problem) that was asked for and means this cell
    done: bool  # already in the store


def plan(suite: Suite, store: Store, notes: list[str] | None = None) -> list[Planned]:
    """Every cell of the suite, problem by problem, so that each problem's data is loaded once.

    The data of a problem whose cells are all done is not loaded at all. A problem with fewer rows than the suite's
    horizon is played at its own length, and `notes` gets a sentence about it.
    """
    planned: dict[str, Planned] = {}
    for part in (suite, *suite.also):
        _check_counts(part)
        _add_cells(planned, part, _chosen(part, notes), {*suite.without, *part.without}, store, notes)
    return list(planned.values())


def plan_values(
    policies: Mapping[str, Policy],
    problems: Mapping[str, Problem],
    store: Store,
    *,
    trials: int,
    seed: int = 0,
    horizon: int | None = None,
    notes: list[str] | None = None,
) -> list[Planned]:
    """Every cell of these policies on these problems, both by what they are to be called, as `plan` makes them."""
    planned: dict[str, Planned] = {}
    asked = Suite(name="values", policies=(), problems=(), trials=trials, seed=seed, horizon=horizon)
    _check_counts(asked)
    _add_cells(planned, asked, _Chosen(dict(policies), dict(problems)), set(), store, notes)
    return list(planned.values())


@dataclass(frozen=True)
class _Chosen:
    """What a suite plays, by the names that it is called by."""

    policies: dict[str, Policy]
    problems: dict[str, Problem]
    if_available: frozenset[str] = frozenset()  # problems that are left out where their data is not at hand
    trials_of: dict[str, int] = field(default_factory=dict)  # of policies that play another number


def _chosen(suite: Suite, notes: list[str] | None) -> _Chosen:
    asked, only = suite.problems, suite.tables_only
    if suite.tables and suite.tables_named:
        only = tuple(name for name in asked if name not in problems and not any(mark in name for mark in "[/*?"))
        asked = tuple(name for name in asked if name not in only)
    play_tables = bool(suite.tables) and (bool(only) or not suite.tables_named)
    chosen = resolved(problems, (*asked, *(tables_in(suite.tables, only, notes) if play_tables else ())))
    others = [name for name in suite.problems_if_available if name.partition("/")[0] in problems and name not in chosen]
    return _Chosen(
        resolved(policies, suite.policies),
        {**chosen, **resolved(problems, tuple(others))},
        frozenset(others),
        {name: count for key, count in suite.trials_of.items() for name in resolved(policies, (key,))},
    )


def _add_cells(
    planned: dict[str, Planned],
    suite: Suite,
    chosen: _Chosen,
    without: set[str],
    store: Store,
    notes: list[str] | None,
) -> None:
    """Add the cells of one suite, some of which may be planned already."""
    if not chosen.policies or not chosen.problems:
        raise UsageError(f"there is nothing to play: no {'policy' if not chosen.policies else 'problem'} was named")
    names = _names(chosen.problems, store)
    for spelled, problem in chosen.problems.items():
        problem_name = names[spelled]
        _check_file_named(problem)
        problem = _at_horizon(problem, suite.horizon)
        _check_horizon(problem_name, problem)
        here = {name: policy for name, policy in chosen.policies.items() if f"{name} on {spelled}" not in without}
        cells = _cells(suite, here, chosen.trials_of, problem_name, problem)
        if not all(cell.hash in planned or store.is_done(cell.hash) for cell in cells):
            asked_for = spelled not in chosen.if_available
            fitted = _fitted(problem_name, problem, suite.horizon, notes, asked_for)
            if fitted is None:
                continue
            cells = _cells(suite, here, chosen.trials_of, problem_name, fitted)
        new = {cell.hash: Planned(cell, [], store.is_done(cell.hash)) for cell in cells if cell.hash not in planned}
        planned |= new
        for cell in cells:
            planned[cell.hash].names.append((cell.policy_name, problem_name))


def _names(asked: dict[str, Problem], store: Store) -> dict[str, str]:
    """What each problem is called, by its spelling: a user's own table by its file."""
    own = any(isinstance(problem, Table) for problem in asked.values())
    return named_by_file(asked, stored_shapes(store.cells()) if own else {})


def _cells(
    suite: Suite, chosen: dict[str, Policy], trials_of: dict[str, int], problem_name: str, problem: Problem
) -> list[Cell]:
    return [
        Cell(name, problem_name, policy, problem, trials_of.get(name, suite.trials), suite.seed)
        for name, policy in chosen.items()
    ]


def _check_counts(suite: Suite) -> None:
    counts = [("trials", suite.trials), *((f"trials of {name}", count) for name, count in suite.trials_of.items())]
    for name, count in (*counts, ("horizon", suite.horizon)):
        if count is not None and count < 1:
            raise UsageError(f"{name} must be at least 1, not {count}")
        if count is not None and count > MOST_TRIALS and name != "horizon":
            raise UsageError(f"{name} must be at most {MOST_TRIALS}, not {count}")
    if abs(suite.seed) >= 2**63:
        raise UsageError(f"seed must fit 64 bits, and {suite.seed} does not")


def resolved(registry: Registry[T], names: tuple[str, ...]) -> dict[str, T]:
    """Names to values. `Lin*` stands for every preset it matches; an override that spells a preset takes its name."""
    chosen: dict[str, T] = {}
    for name in names:
        pattern, slash, around = name.partition("/")
        if "[" not in pattern and ("*" in pattern or "?" in pattern):  # a field's value may hold a star of its own
            matches = [known for known in registry.names() if fnmatch.fnmatchcase(known, pattern)]
            if not matches:
                raise UsageError(f"no {registry.noun} matches {pattern!r}")
            found = {match + slash + around: registry.get(match + slash + around) for match in matches}
            chosen.update((match, value) for match, value in found.items() if not _needs_file(value))
        else:
            value = registry.get(name)
            chosen[name if name in registry else registry.name_of(value) or name] = value
    return chosen


def _needs_file(value: object) -> bool:
    """Whether this is a problem made of a user's file, and none was named; a pattern does not mean it."""
    try:
        _check_file_named(value)
    except NoFileNamedError:
        return True
    return False


def _check_file_named(value: object) -> None:
    try:
        if isinstance(value, Problem):
            value.check()
    except NoFileNamedError:
        raise
    except (MissingDataError, UsageError):  # the run skips it, or `_check_size` says what is wrong
        pass


def _at_horizon(problem: Problem, horizon: int | None) -> Problem:
    return problem if horizon is None else problem.with_horizon(horizon)


def _check_horizon(name: str, problem: Problem) -> None:
    if not 1 <= problem.horizon <= LONGEST:
        raise UsageError(f"the horizon of {name} must lie between 1 and {LONGEST}, and is {problem.horizon}")


def _fitted(
    name: str, problem: Problem, horizon: int | None, notes: list[str] | None, asked_for: bool
) -> Problem | None:
    """The problem, no longer than its rows where a horizon was asked for of all; None where it is left out.

    What cannot be played is refused before anything is; what has no data here is left to the run to skip.
    """
    try:
        tables = problem.load()
        longest = problem.longest(tables)
        if horizon is not None and longest is not None and problem.horizon > longest:
            if notes is not None:
                notes.append(f"{name} has {longest:,} rows: played for that many steps, not {horizon:,}")
            problem = _at_horizon(problem, longest)
        problem.spec(tables)
    except MissingDataError:
        return problem if asked_for else None
    except UsageError as error:
        if asked_for:
            raise UsageError(f"{name} cannot be played: {error}") from None
        return None
    return problem
