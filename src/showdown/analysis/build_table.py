"""Make one table of the cells of a store: choose, summarise, rank, compare with the paper, put in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from showdown.analysis.judge import judge
from showdown.analysis.notes import Absent, LeftOut, NoBaseline, Note, OtherHorizon, RankedOver, merged
from showdown.analysis.play_details import DetailsByCell
from showdown.analysis.published import ABSOLUTE_SOURCES, RANKED_PROBLEMS, against, layout, published
from showdown.analysis.ranks import RANK, coverage, rank_rows
from showdown.analysis.selection import Selection, in_order
from showdown.analysis.summary import (
    cells_with_metric,
    per_trial,
    relative_where_possible,
    summarise,
    summarise_best_fixed,
)
from showdown.analysis.table import Table, TableRequest
from showdown.analysis.validity import cautions, with_times
from showdown.analysis.verdict import Verdict
from showdown.basics.errors import UsageError
from showdown.metrics import metric_named
from showdown.metrics.metric import Metric


def build_table(selection: Selection, request: TableRequest, details: DetailsByCell | None = None) -> Table:
    """The table of a selection; `details` are about its cells, for notes on what makes comparisons doubtful."""
    metric = metric_named(request.metric)
    frame, notes = _usable(selection, request, metric, details)
    shown = frame[request.shows(frame)]
    columns = frame[frame["problem"].isin(shown["problem"])]  # with the policies that others are relative to
    rows, without = _summarised(columns, request)
    rows = rows[request.shows(rows)]
    notes += [NoBaseline(tuple(without), metric.baseline)] if without else []
    title = _title(rows, request, metric)
    paper = None
    if request.source is not None:
        paper = published(request.source, metric.published or metric.name)
        # where the baseline has no cell our number is absolute, and theirs is relative
        not_relative = [] if _is_absolute(request) else rows.loc[rows["unit"] == metric.unit, "problem"]
        rows = against(rows, paper[~paper["problem"].isin(not_relative)])
        notes += _horizon_notes(rows)
    policies = _ordered(rows["policy"], request.policies, request.known_policies)
    problems = _ordered(rows["problem"], request.problems, request.known_problems)
    over: list[str] = []
    if request.rank:
        ranked, over = _ranked(frame, request, metric, paper, problems)
        notes.append(RankedOver(tuple(over), published_only=paper is not None))
        rows = pd.concat([ranked[ranked["policy"].isin(policies)], rows], ignore_index=True)
        problems = [RANK, *problems]
    reference = summarise_best_fixed(shown, request.metric)
    table = Table(title, rows, policies, problems, merged(notes), metric=metric, reference=reference)
    if request.judged and not metric.cell:  # a time has no interval, and so no verdict
        table = _judged(table, shown, request, details, over)
    return table if request.sort is None else replace(table, policies=_sorted(table, request.sort))


def _judged(
    table: Table, shown: pd.DataFrame, request: TableRequest, details: DetailsByCell | None, over: list[str]
) -> Table:
    """The table with the verdict about what is shown, every tie for the best marked, and notes on what is doubtful."""

    def about(problems: list[str] | None) -> Verdict:
        return judge(shown, details or {}, request.metric, expected=request.expected, problems=problems)

    best = {name: about([name]).ties for name in table.problems if name != RANK}
    if over:
        found = about(over)
        best[RANK] = found.ties if found.new_problem is None else found.new_problem.ties
    notes = [*table.notes, *cautions(shown, details)]
    return replace(table, verdict=about(None), best=best, notes=merged(notes))


def _is_absolute(request: TableRequest) -> bool:
    return request.absolute or request.source in ABSOLUTE_SOURCES


def _summarised(columns: pd.DataFrame, request: TableRequest) -> tuple[pd.DataFrame, list[str]]:
    """A summary of the metric, and the problems on which it could not be relative though it should be."""
    if _is_absolute(request):
        return summarise(columns, request.metric, expected=request.expected, absolute=True), []
    return relative_where_possible(columns, request.metric, expected=request.expected)


def _usable(
    selection: Selection, request: TableRequest, metric: Metric, details: DetailsByCell | None
) -> tuple[pd.DataFrame, list[Note]]:
    """The cells that hold the metric, of which at least one was asked for, and notes about the others."""
    asked = selection.frame[request.shows(selection.frame)]
    if asked.empty:
        raise UsageError("none of the cells that were asked for is finished")
    lacking: list[Note] = [*cells_with_metric(asked, metric, request.expected).notes]
    frame = cells_with_metric(selection.frame, metric, request.expected).frame
    if metric.cell:
        frame, _ = with_times(frame[request.shows(frame) | (frame["policy"] == metric.baseline)], details)
        lacking += with_times(asked, details)[1]
    if not request.shows(frame).any():
        raise UsageError(f"there is no {metric.title} to show: {'; '.join(map(str, lacking))}")
    left_out = selection.left_out[request.shows(selection.left_out)]
    return frame, [*_absent_notes(selection.frame, request), *_left_out_notes(left_out), *lacking]


def _ranked(
    frame: pd.DataFrame, request: TableRequest, metric: Metric, paper: pd.DataFrame | None, problems: list[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Rows of mean ranks, and the problems they are over."""
    over = list(RANKED_PROBLEMS) if paper is not None or request.layout == "main" else problems
    if paper is not None:
        over = [name for name in over if name in set(paper["problem"])]
    summary = summarise(frame, request.metric, expected=request.expected, absolute=True)
    rows = rank_rows(per_trial(summary) if metric.cell else summary, paper, over)
    compared = coverage(summary[summary["problem"].isin(over)]).problems if paper is None else over
    return rows, in_order(frame.loc[frame["problem"].isin(compared), "problem"], over)


def _ordered(finished: pd.Series, asked: list[str] | None, known: Iterable[str]) -> list[str]:
    return in_order(finished, known) if asked is None else [name for name in asked if name in set(finished)]


def _sorted(table: Table, sort: str) -> list[str]:
    """The policies, the best first; those without a number come last, in their order."""
    problem = RANK if sort == "rank" else sort
    by = table.rows[table.rows["problem"] == problem].set_index("policy")["mean"]
    if by.empty:
        problems = table.rows.loc[table.rows["problem"] != RANK, "problem"].drop_duplicates()
        choices = ", ".join(["rank (with --rank)", *problems])
        raise UsageError(f"nothing is shown to sort by {sort!r}; there is {choices}")
    worse = 1 if table.smaller_is_better(problem) else -1
    return sorted(table.policies, key=lambda name: worse * by[name] if name in by else float("inf"))


def _title(rows: pd.DataFrame, request: TableRequest, metric: Metric) -> str:
    units = rows["unit"].drop_duplicates()
    counts = sorted(set(rows["trials"]))
    trials = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))) + (" trials" if counts[-1] > 1 else " trial")
    statistic = f"all of {trials} together" if metric.cell else f"mean ± standard error over {trials}"
    # not "cumulative regret, regret"
    unit = [word for word in units if word not in metric.title] if len(units) == 1 else []
    parts = [f"expected {metric.title}" if request.expected else metric.title, *unit, statistic]
    return ", ".join(parts)


def _left_out_notes(left_out: pd.DataFrame) -> list[Note]:
    return [
        LeftOut(tuple(zip(cells["cell"], cells["problem"], cells.get(because, cells["cell"]), strict=True)), because)
        for because, cells in left_out.groupby("because", sort=False)
    ]


def _absent_notes(frame: pd.DataFrame, request: TableRequest) -> list[Note]:
    if request.layout is None:
        return []
    absent = [name for name in layout(request.layout).problems if name not in set(frame["problem"])]
    return [Absent(tuple(absent))] if absent else []


def _horizon_notes(rows: pd.DataFrame) -> list[Note]:
    ran = rows[rows["paper_mean"].notna()].drop_duplicates("problem")
    steps = zip(ran["problem"], ran["horizon"], ran["paper_steps"].astype(int), strict=True)
    other = [(name, ours, theirs) for name, ours, theirs in steps if ours != theirs]
    return [OtherHorizon(tuple(other))] if other else []
