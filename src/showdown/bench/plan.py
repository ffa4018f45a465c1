"""From names to cells: what a run is going to play, and what of it is already there."""

from __future__ import annotations

import dataclasses
import fnmatch
from dataclasses import dataclass
from typing import TypeVar

from showdown.bench.cell import Cell
from showdown.bench.store import Store
from showdown.bench.suite import Suite
from showdown.errors import MissingDataError, UsageError
from showdown.policies import policies
from showdown.problems import problems
from showdown.registry import Registry

T = TypeVar("T")


@dataclass(frozen=True)
class Planned:
    cell: Cell
    names: list[tuple[str, str]]  # every (policy, problem) that was asked for and means this cell
    done: bool  # already in the store


def plan(suite: Suite, store: Store) -> list[Planned]:
    """Every cell of the suite, problem by problem, so that each problem's data is loaded once."""
    for name, count in (("trials", suite.trials), ("horizon", suite.horizon)):
        if count is not None and count < 1:
            raise UsageError(f"{name} must be at least 1, not {count}")
    chosen_policies = _resolve(policies, suite.policies)
    chosen_problems = _resolve(problems, suite.problems)
    for name in suite.problems_if_available:
        if name not in chosen_problems and _available(name):
            chosen_problems[name] = problems.get(name)
    planned: dict[str, Planned] = {}
    for problem_name, problem in chosen_problems.items():
        if suite.horizon is not None:
            problem = dataclasses.replace(problem, horizon=suite.horizon)  # type: ignore[type-var]
        for policy_name, policy in chosen_policies.items():
            cell = Cell(policy_name, problem_name, policy, problem, suite.trials, suite.seed)
            if cell.hash not in planned:
                planned[cell.hash] = Planned(cell, [], store.is_done(cell.hash))
            planned[cell.hash].names.append((policy_name, problem_name))
    return list(planned.values())


def _resolve(registry: Registry[T], names: tuple[str, ...]) -> dict[str, T]:
    """Names to values. `Lin*` stands for every preset it matches; an override that spells a preset takes its name."""
    chosen: dict[str, T] = {}
    for name in names:
        if "[" not in name and ("*" in name or "?" in name):  # a field's value may hold a star of its own
            matches = [known for known in registry.names() if fnmatch.fnmatchcase(known, name)]
            if not matches:
                raise UsageError(f"no {registry.noun} matches {name!r}")
            chosen.update((match, registry.get(match)) for match in matches)
        else:
            value = registry.get(name)
            chosen[name if name in registry else registry.name_of(value) or name] = value
    return chosen


def _available(name: str) -> bool:
    if name not in problems:
        return False
    try:
        problems.get(name).load()
    except MissingDataError:
        return False
    return True
