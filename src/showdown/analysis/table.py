"""A table of policies × problems: what it is asked to show, and what it holds. `report/formats` writes it.

`in_layout` asks for one of the paper's own tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd

from showdown.analysis import SUMMARY, preset_of
from showdown.analysis.notes import Note
from showdown.analysis.published import ABSOLUTE_SOURCES, count_findings, layout
from showdown.analysis.ranks import RANK
from showdown.analysis.selection import Selection
from showdown.analysis.summary import BASELINE
from showdown.analysis.verdict import Verdict
from showdown.basics.errors import UsageError
from showdown.metrics import MAIN, METRICS
from showdown.metrics.metric import Metric


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """What a table is to show. Leaving out policies or problems changes no number that remains."""

    metric: str = MAIN  # one of `METRICS`
    absolute: bool = False
    expected: bool = False
    source: str | None = None  # published numbers to stand beside ours
    rank: bool = False  # over the problems shown; over the paper's ten in its own layout or beside its numbers
    layout: str | None = None  # one of the paper's tables, which then says metric, columns and rows
    sort: str | None = None  # a problem, or "rank"
    policies: list[str] | None = None  # rows, in order; None: all, in the order of `known_policies`
    problems: list[str] | None = None  # columns, likewise
    judged: bool = True  # whether the table has a verdict, marks of the best and notes on what is doubtful
    known_policies: Iterable[str] = ()
    known_problems: Iterable[str] = ()

    def shows(self, cells: pd.DataFrame) -> pd.Series:
        """True per row whose policy and problem were asked for."""
        wanted = pd.Series(True, index=cells.index)
        for name, names in (("policy", self.policies), ("problem", self.problems)):
            if names is not None:
                wanted &= cells[name].isin(names)
        return wanted


def in_layout(name: str, selection: Selection, request: TableRequest) -> tuple[Selection, TableRequest]:
    """The selection and the request of one of the paper's tables: its metric, its columns and its policies."""
    paper = layout(name)
    finished = set(selection.frame["problem"])
    problems = [problem for problem in paper.problems if problem in finished]
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
    """Whether a policy belongs in that table of the paper.

    One with fields overridden belongs where its preset does, and one that the paper does not know in every table.
    """
    return preset_of(policy) not in layout(name).elsewhere


def _no_rows() -> pd.DataFrame:
    return pd.DataFrame(columns=list(SUMMARY))


@dataclass(frozen=True, repr=False)
class Table:
    """Numbers of policies on problems, their order, and what is to be said about them."""

    title: str
    rows: pd.DataFrame  # a summary; with the columns of `against` when it is compared with the paper
    policies: list[str]  # every policy of the rows, in the order they are shown
    problems: list[str]  # every problem of the rows, likewise
    notes: list[Note] = field(default_factory=list)  # sentences below the table
    not_shown: list[dict[str, Any]] = field(default_factory=list)  # cells that were tried and are not done
    metric: Metric = METRICS[MAIN]
    reference: pd.DataFrame = field(default_factory=_no_rows)  # a summary of the best fixed action; ranked nowhere
    verdict: Verdict | None = None  # about all that is shown
    best: dict[str, tuple[str, ...]] = field(default_factory=dict)  # problem to its best policies: all that tie

    def __repr__(self) -> str:
        return f"<Table of {len(self.policies)} policies × {len(self.problems)} columns: {self.title}>"

    @property
    def is_compared(self) -> bool:
        return "agrees" in self.rows

    @property
    def agreement(self) -> dict[str, dict[str, int]]:
        """How many cells agree with the paper, are too noisy to tell, and were compared: of presets, and of readings.

        Uniform, and what the metric is relative to, are no evidence: they agree with themselves.
        """
        no_evidence = {BASELINE, self.metric.baseline} - {None}

        def count(readings: bool) -> dict[str, int]:
            return count_findings(self.rows, readings=readings, without=no_evidence)

        return {"agreement": count(readings=False), "agreement_of_readings": count(readings=True)}

    def smaller_is_better(self, problem: str) -> bool:
        return problem == RANK or self.metric.smaller_is_better
