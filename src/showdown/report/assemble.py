"""From the cells of a store to one table: choose, summarise, rank, hold against the paper, put in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from showdown.analysis import SUMMARY, preset_of
from showdown.analysis.agreement import against
from showdown.analysis.elapsed import elapsed
from showdown.analysis.published import ABSOLUTE_SOURCES, HORIZONS, RANKED_PROBLEMS, layout, published
from showdown.analysis.ranks import mean_ranks
from showdown.analysis.regret import summarise
from showdown.analysis.selection import Selection, in_order
from showdown.errors import UsageError
from showdown.report.tables import RANK, Table

_METRIC_NAMES = {"cumulative": "cumulative regret", "simple": "simple regret", "time": "time to run"}


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a table is to show. Leaving out policies or problems changes no regret and no time that remains."""

    metric: str = "cumulative"  # or simple, or time
    absolute: bool = False
    expected: bool = False
    source: str | None = None  # published numbers to stand beside ours
    rank: bool = False  # over the problems shown; over the paper's ten in its own layout or beside its numbers
    layout: str | None = None  # one of the paper's tables, which then says metric, columns and rows
    sort: str | None = None  # a problem, or "rank"
    policies: list[str] | None = None  # rows, in order; None: all, in the order of `known_policies`
    problems: list[str] | None = None  # columns, likewise
    known_policies: Iterable[str] = ()
    known_problems: Iterable[str] = ()

    def shows(self, cells: pd.DataFrame) -> pd.Series:
        """True per row whose policy and problem were asked for."""
        wanted = pd.Series(True, index=cells.index)
        for name, names in (("policy", self.policies), ("problem", self.problems)):
            if names is not None:
                wanted &= cells[name].isin(names)
        return wanted


def assemble(selection: Selection, request: Request) -> Table:
    frame = selection.frame
    shown = frame[request.shows(frame)]
    if shown.empty:
        raise UsageError("none of the cells that were asked for is finished")
    columns = frame[frame["problem"].isin(shown["problem"])]  # with the policies that others are relative to
    rows = _summary(columns, request, request.absolute or request.source in ABSOLUTE_SOURCES)
    rows = rows[request.shows(rows)]
    notes = _absent_notes(frame, request) + _left_out_notes(selection.left_out[request.shows(selection.left_out)])
    if request.metric == "time":
        notes += _beside_notes(shown)
    title = _title(rows, request)
    paper = None
    if request.source is not None:
        paper = published(request.source, request.metric)
        in_seconds = rows.loc[rows["unit"] == "seconds", "problem"]  # no RMS there to be relative to
        rows = against(rows, paper[~paper["problem"].isin(in_seconds)])
        notes += _horizon_notes(rows)
    policies = _ordered(rows["policy"], request.policies, request.known_policies)
    problems = _ordered(rows["problem"], request.problems, request.known_problems)
    if request.rank:
        over = list(RANKED_PROBLEMS) if paper is not None or request.layout == "main" else problems
        among = ""
        if paper is not None:
            over, among = [name for name in over if name in set(paper["problem"])], " among published cells"
        ranked = _rank_rows(_summary(frame, request, True), paper, over)
        ranked_over = in_order(frame.loc[frame["problem"].isin(over), "problem"], over)
        notes.append(f"mean rank over {', '.join(ranked_over)}{among}")
        rows = pd.concat([ranked[ranked["policy"].isin(policies)], rows], ignore_index=True)
        problems = [RANK, *problems]
    if request.sort is not None:
        policies = _sorted(policies, rows, request.sort)
    return Table(title, rows, policies, problems, notes)


def in_layout(name: str, selection: Selection, request: Request) -> tuple[Selection, Request]:
    """For one of the paper's tables: its metric and columns, and the policies that belong there."""
    paper = layout(name)
    there = set(selection.frame["problem"])
    problems = [problem for problem in paper.problems if problem in there]
    if not problems:
        raise UsageError(f"the table {name} is about {', '.join(paper.problems)}, and none of them is finished there")

    if request.policies is not None and not any(in_table(name, policy) for policy in request.policies):
        raise UsageError(
            f"{request.policies[0]} has no row in the paper's table {name}, but in others: leave out --paper"
        )

    def belonging(cells: pd.DataFrame) -> pd.DataFrame:
        return cells[cells["policy"].map(partial(in_table, name)).astype(bool)]

    request = replace(
        request,
        layout=name,
        metric=paper.metric,
        absolute=paper.source in ABSOLUTE_SOURCES,
        source=paper.source if request.source is not None else None,
        rank=request.rank or paper.rank,
        problems=problems,
    )
    return Selection(belonging(selection.frame), belonging(selection.left_out)), request


def in_table(name: str, policy: str) -> bool:
    """Whether a policy belongs in that table of the paper: with fields overridden where the preset does, and one that
    the paper does not know in every table."""
    return preset_of(policy) not in layout(name).elsewhere


def _summary(frame: pd.DataFrame, request: Request, absolute: bool) -> pd.DataFrame:
    if request.metric == "time":
        return elapsed(frame, absolute=absolute)
    return summarise(frame, request.metric, expected=request.expected, absolute=absolute)


def _ordered(there: pd.Series, asked: list[str] | None, known: Iterable[str]) -> list[str]:
    return in_order(there, known) if asked is None else [name for name in asked if name in set(there)]


def _sorted(policies: list[str], rows: pd.DataFrame, sort: str) -> list[str]:
    """Best first; policies without a number there come last, in their order."""
    by = rows[rows["problem"] == (RANK if sort == "rank" else sort)].set_index("policy")["mean"]
    if by.empty:
        choices = ", ".join(["rank (with --rank)", *rows.loc[rows["problem"] != RANK, "problem"].drop_duplicates()])
        raise UsageError(f"nothing is shown to sort by {sort!r}; there is {choices}")
    return sorted(policies, key=lambda name: by.get(name, float("inf")))


def _rank_rows(summary: pd.DataFrame, paper: pd.DataFrame | None, over: list[str]) -> pd.DataFrame:
    """Mean ranks as rows of a summary, and beside them those of the published means over the same cells."""
    per_trial = summary["mean"] / (summary["trials"] if summary["unit"].eq("seconds").all() else 1)
    summary = summary.assign(mean=per_trial)
    ranks = mean_ranks(summary, over) if paper is None else _ranks_among(summary, paper, over)
    if ranks.empty:
        raise UsageError(f"a mean rank needs a cell on one of {', '.join(over)}")
    rows = ranks.rename(columns={"mean_rank": "mean"}).assign(problem=RANK, metric=RANK, unit="rank", sem=float("nan"))
    rows = rows.assign(horizon=None, seed=None, trials=None)[list(SUMMARY)]
    if paper is not None:
        same = paper.merge(summary[["policy", "problem"]]).rename(columns={"paper_mean": "mean"})
        theirs = mean_ranks(same, over).set_index("policy")["mean_rank"]
        rows = rows.assign(paper_mean=rows["policy"].map(theirs), paper_sem=float("nan"), agrees=None)
    return rows


def _ranks_among(summary: pd.DataFrame, paper: pd.DataFrame, over: list[str]) -> pd.DataFrame:
    """Mean ranks among published cells, as the paper's are; a policy that is not published, as if it alone joined."""
    known = summary.merge(paper[["policy", "problem"]])
    parts = [mean_ranks(known, over)]
    unknown = summary[~summary["policy"].isin(known["policy"]) & summary["problem"].isin(known["problem"])]
    for policy, own in unknown.groupby("policy", sort=False):
        joined = mean_ranks(pd.concat([known, own]), over)
        parts.append(joined[joined["policy"] == policy])
    return pd.concat(parts, ignore_index=True)


def _title(rows: pd.DataFrame, request: Request) -> str:
    name = _METRIC_NAMES[request.metric]
    units = rows["unit"].drop_duplicates()
    counts = sorted(set(rows["trials"]))
    trials = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))) + (" trials" if counts[-1] > 1 else " trial")
    statistic = f"all of {trials} together" if request.metric == "time" else f"mean ± standard error over {trials}"
    unit = [word for word in units if word not in name] if len(units) == 1 else []  # not "cumulative regret, regret"
    parts = [f"expected {name}" if request.expected else name, *unit, statistic]
    return ", ".join(parts)


def _left_out_notes(left_out: pd.DataFrame) -> list[str]:
    told = {
        "data": "the name stands for other data now; only its newest cells are shown",
        "horizon": "the longest horizon is shown; --horizon chooses",
        "seed": "the lowest seed is shown; --seed chooses",
        "trials": "the largest number of trials is shown; --trials chooses",
        "older": "the newest is shown; the others were made by another version",
    }
    notes = []
    for because, cells in left_out.groupby("because", sort=False):
        size = f"{len(cells)} cell{'s' if len(cells) > 1 else ''}"
        values = ""
        if because in ("horizon", "seed", "trials"):
            values = f" with {because} {', '.join(map(str, sorted(set(cells[because]))))}"
        where = ", ".join(cells["problem"].drop_duplicates())
        notes.append(f"left out: {size}{values} on {where} ({told[because]})")
    return notes


def _absent_notes(frame: pd.DataFrame, request: Request) -> list[str]:
    if request.layout is None:
        return []
    absent = [name for name in layout(request.layout).problems if name not in set(frame["problem"])]
    return [f"no finished cell on {', '.join(absent)}, which the paper's table has"] if absent else []


def _beside_notes(cells: pd.DataFrame) -> list[str]:
    beside = cells[cells.get("beside", pd.Series(0, index=cells.index)).fillna(0) > 0].drop_duplicates("cell")
    told = f"{len(beside)} of these cells were played beside others (--processes): not the times of a machine to itself"
    return [told] if len(beside) else []


def _horizon_notes(rows: pd.DataFrame) -> list[str]:
    ran = rows[rows["paper_mean"].notna()].drop_duplicates("problem").set_index("problem")["horizon"]
    other = [f"{name} ({steps}, not {HORIZONS[name]})" for name, steps in ran.items() if steps != HORIZONS[name]]
    return [f"not the paper's number of steps: {', '.join(other)}"] if other else []
