"""The paper's protocol: tune on one problem, report on all. Which policies gain from tuning, and does the gain travel?

Every configuration of a policy (its default, the paper's -MR and -SL rows, ours tuned on each problem) plays the same
fresh episodes of every problem, so all differences are paired. `table` and `sentences` say what tuning gained.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from showdown.analysis.compare_trials import BETTER, NO_DIFFERENCE, WORSE, difference
from showdown.bench.cell import Cell
from showdown.bench.store import Store
from showdown.policies import policies
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem
from showdown.tuning.fresh_choice import REPORTING
from showdown.tuning.play_candidates import Place, PlayCells, StoredLosses, play
from showdown.tuning.request import TuningRequest
from showdown.tuning.tune import Watch, tune

PUBLISHED = {"-MR": "mushroom", "-SL": "statlog"}  # what the paper tuned these rows on


@dataclass(frozen=True)
class StudiedConfiguration:
    """A configuration of a policy: the default, a published one, or one tuned here. A row of the table."""

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
    requests: Sequence[TuningRequest],
    report_on: dict[str, Problem],
    store: Store,
    trials: int,
    watch: Watch | None = None,
    player: PlayCells | None = None,
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


def _default(request: TuningRequest) -> StudiedConfiguration:
    name = request.space.name
    return StudiedConfiguration(name, name, "", False, request.space.policy)


def _published(name: str) -> Iterator[StudiedConfiguration]:
    for suffix, problem in PUBLISHED.items():
        if f"{name}{suffix}" in policies:
            preset = f"{name}{suffix}"
            yield StudiedConfiguration(name, preset, problem, True, policies.get(preset))


def _tuned(request: TuningRequest, store: Store, watch: Watch | None, player: PlayCells | None) -> StudiedConfiguration:
    _, result = tune(request, store, watch, player)
    space, on = request.space, "+".join(request.problems)
    return StudiedConfiguration(space.name, request.preset, on, False, space.configured(result.candidate))


def _compared(
    found: Sequence[StudiedConfiguration], measured: Sequence[StoredLosses], problem: str
) -> Iterator[Reported]:
    for each, own in zip(found, measured, strict=True):
        yield _row(each, own, found[0], measured[0], problem)
        for rival, theirs in zip(found, measured, strict=True):
            if rival.published and not each.published and each.tuned_on == rival.tuned_on == problem:
                yield _row(each, own, rival, theirs, problem)


def _row(
    each: StudiedConfiguration, own: StoredLosses, rival: StudiedConfiguration, theirs: StoredLosses, problem: str
) -> Reported:
    kind = "default" if not each.tuned_on else "own" if problem in each.tuned_on.split("+") else "transferred"
    labels = (each.policy, each.name, each.tuned_on, kind, each.published, problem, rival.name)
    if own.losses is None or theirs.losses is None:
        nothing = (math.nan, math.nan, math.nan, math.nan, math.nan)
        return Reported(*labels, *nothing, 0, 0, NO_DIFFERENCE)
    gap = difference(pd.Series(own.losses), pd.Series(theirs.losses))
    means = float(own.losses.mean()), float(theirs.losses.mean())
    return Reported(*labels, *means, gap.mean, gap.low, gap.high, gap.wins, gap.trials, gap.verdict)


def table(rows: Sequence[Reported]) -> str:
    """A row per configuration, a column per problem: its loss in % of the default's."""
    problems = list(dict.fromkeys(row.problem for row in rows))
    by_name: dict[str, dict[str, Reported]] = {}
    for row in _with_default(rows):
        by_name.setdefault(row.configuration, {})[row.problem] = row
    lines = [["configuration", *problems]]
    lines += [[name, *(_entry(found.get(problem)) for problem in problems)] for name, found in by_name.items()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = ["  ".join(_padded(word, widths, place) for place, word in enumerate(line)).rstrip() for line in lines]
    legend = "in % of the default's; + better, − worse than the default (95 % interval, paired); (…) tuned on it"
    return "\n".join([*text, legend])


def _padded(word: str, widths: Sequence[int], place: int) -> str:
    return word.ljust(widths[0]) if place == 0 else word.rjust(widths[place])


def _entry(row: Reported | None) -> str:
    if row is None:
        return ""
    if math.isnan(row.mean):
        return "diverged"
    if not row.other:
        return f"{row.mean:.4g}"
    text = f"{100 * row.mean / row.other:.1f}"
    mark = {BETTER: "+", WORSE: "−"}.get(row.verdict, " ")
    return f"({text}){mark}" if row.kind == "own" else f"{text}{mark}"


def sentences(rows: Sequence[Reported]) -> list[str]:
    """A sentence for each tuned configuration."""
    found = []
    for name in dict.fromkeys(row.configuration for row in rows if row.kind != "default"):
        mine = [row for row in _with_default(rows) if row.configuration == name]
        rivals = [row for row in rows if row.configuration == name and row.compared_with != row.policy]
        own = [_gain(row) for row in mine if row.kind == "own"]
        others = [row for row in mine if row.kind == "transferred"]
        better = sum(row.verdict == BETTER for row in others)
        worse = sum(row.verdict == WORSE for row in others)
        same = len(others) - better - worse
        travels = f"elsewhere better on {better}, worse on {worse}, not to be told apart on {same} of {len(others)}"
        found.append(f"{name}: {'; '.join([*own, *([travels] if others else [])])}")
        found += [f"{name} against {row.compared_with}: {_gain(row)}{_verdict(row)}" for row in rivals]
    return found


def _with_default(rows: Sequence[Reported]) -> list[Reported]:
    """The rows that are compared with the default, and not with a published row."""
    return [row for row in rows if row.compared_with == row.policy]


def _verdict(row: Reported) -> str:
    return ": not to be told apart" if row.verdict == NO_DIFFERENCE else f": {row.verdict}"


def _gain(row: Reported) -> str:
    if math.isnan(row.mean):
        return f"diverges on {row.problem}"
    size = abs(row.other) or 1.0
    low, high = 100 * row.low / size, 100 * row.high / size
    return f"{100 * row.difference / size:+.1f} % on {row.problem} (95 % interval {low:+.1f} to {high:+.1f})"
