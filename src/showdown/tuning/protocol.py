"""The paper's protocol: tune on one problem, report on all. Which policies gain from tuning, and does the gain travel?

Every configuration of a policy (its default, the paper's -MR and -SL rows, ours tuned on each problem) plays the same
fresh episodes of every problem, so all differences are paired.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from showdown.analysis.compare_trials import NO_DIFFERENCE, difference
from showdown.bench.cell import Cell
from showdown.bench.store import Store
from showdown.policies import policies
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem
from showdown.tuning.final import REPORTING
from showdown.tuning.population import Measured, Place, Player, play
from showdown.tuning.request import Request
from showdown.tuning.tune import Watch, tune

PUBLISHED = {"-MR": "mushroom", "-SL": "statlog"}  # what the paper tuned these rows on


@dataclass(frozen=True)
class Configuration:
    """One row of the table."""

    policy: str  # the default that it is a variation of
    name: str
    tuned_on: str  # empty: the default
    published: bool
    value: Policy


@dataclass(frozen=True)
class Reported:
    """One configuration on one problem, compared with another over the same trials: the default, or the paper's row
    that was tuned on the same problem."""

    policy: str
    configuration: str
    tuned_on: str
    kind: str  # default, own (played on what it was tuned on) or transferred
    published: bool
    problem: str
    compared_with: str
    mean: float  # NaN: it diverged
    other: float  # the mean of what it is compared with
    difference: float
    low: float  # 95 % interval of the difference
    high: float
    wins: int
    trials: int
    verdict: str  # better, worse, or that no difference is shown


def study(
    requests: Sequence[Request],
    report_on: dict[str, Problem],
    store: Store,
    trials: int,
    watch: Watch | None = None,
    player: Player | None = None,
) -> list[Reported]:
    """Do all tunings that are not done, then play every configuration on every problem. One policy at a time."""
    rows: list[Reported] = []
    for name in dict.fromkeys(request.space.name for request in requests):
        own = [request for request in requests if request.space.name == name]
        found = [_default(own[0]), *_published(name), *(_tuned(request, store, watch, player) for request in own)]
        for problem_name, problem in report_on.items():
            seed = own[0].seed + REPORTING
            cells = [Cell(each.name, problem_name, each.value, problem, trials, seed) for each in found]
            measured = play(cells, Place(store, player), own[0].objective)
            rows += _compared(found, measured, problem_name)
    return rows


def _default(request: Request) -> Configuration:
    name = request.space.name
    return Configuration(name, name, "", False, request.space.policy)


def _published(name: str) -> Iterator[Configuration]:
    for suffix, problem in PUBLISHED.items():
        if f"{name}{suffix}" in policies:
            preset = f"{name}{suffix}"
            yield Configuration(name, preset, problem, True, policies.get(preset))


def _tuned(request: Request, store: Store, watch: Watch | None, player: Player | None) -> Configuration:
    _, result = tune(request, store, watch, player)
    space, on = request.space, "+".join(request.problems)
    return Configuration(space.name, request.preset, on, False, space.configured(result.candidate))


def _compared(found: Sequence[Configuration], measured: Sequence[Measured], problem: str) -> Iterator[Reported]:
    for each, own in zip(found, measured, strict=True):
        yield _row(each, own, found[0], measured[0], problem)
        for rival, theirs in zip(found, measured, strict=True):
            if rival.published and not each.published and each.tuned_on == rival.tuned_on == problem:
                yield _row(each, own, rival, theirs, problem)


def _row(each: Configuration, own: Measured, rival: Configuration, theirs: Measured, problem: str) -> Reported:
    kind = "default" if not each.tuned_on else "own" if problem in each.tuned_on.split("+") else "transferred"
    labels = (each.policy, each.name, each.tuned_on, kind, each.published, problem, rival.name)
    if own.losses is None or theirs.losses is None:
        nothing = (math.nan, math.nan, math.nan, math.nan, math.nan)
        return Reported(*labels, *nothing, 0, 0, NO_DIFFERENCE)
    gap = difference(pd.Series(own.losses), pd.Series(theirs.losses))
    means = float(own.losses.mean()), float(theirs.losses.mean())
    return Reported(*labels, *means, gap.mean, gap.low, gap.high, gap.wins, gap.trials, gap.verdict)
