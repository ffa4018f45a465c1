"""What a table is to show, and how one of the paper's own tables asks for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from showdown.analysis import preset_of
from showdown.analysis.published import ABSOLUTE_SOURCES, layout
from showdown.analysis.selection import Selection
from showdown.basics.errors import UsageError
from showdown.metrics import MAIN


@dataclass(frozen=True, kw_only=True)
class Request:
    """Leaving out policies or problems changes no number that remains."""

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


def in_layout(name: str, selection: Selection, request: Request) -> tuple[Selection, Request]:
    """For one of the paper's tables: its metric and columns, and the policies that belong in it."""
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
    """Whether a policy belongs in that table of the paper: with fields overridden where the preset does, and one that
    the paper does not know in every table."""
    return preset_of(policy) not in layout(name).elsewhere
