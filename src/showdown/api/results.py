"""What `sd.run`, `sd.open` and `sd.recommend` return: finished cells as tables, a verdict, pictures and a page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypedDict, Unpack

import pandas as pd

from showdown.analysis.head_to_head import HeadToHead, head_to_head
from showdown.analysis.judge import judge
from showdown.analysis.ranks import RANK
from showdown.analysis.selection import in_order
from showdown.analysis.summary import cells_with_metric
from showdown.analysis.table import Table
from showdown.analysis.verdict import Verdict
from showdown.api.cells import Cells, tidy
from showdown.api.names import chosen_names
from showdown.api.plot import Plot
from showdown.api.summary import with_intervals
from showdown.api.tables import request_for, table_of
from showdown.basics.errors import UsageError
from showdown.metrics import MAIN, METRICS, metric_named
from showdown.policies import policies as known_policies
from showdown.problems import problems as known_problems

MOST_ROWS = 12  # policies that are printed
WIDTH = 110  # of what is printed


class Part(TypedDict, total=False):
    """A part of results; see `Results.select`."""

    problems: str | Iterable[str] | None
    horizon: int | None
    seed: int | None
    trials: int | None


class Results:
    """Policies played on problems. Made by `sd.run`, `sd.open` and `sd.recommend`.

    Where a store holds several horizons, seeds or numbers of trials of the same problem, everything but `trials()`
    looks at one cell per policy and problem, as `showdown table` does: the longest horizon, of that the lowest seed.
    """

    _opens_with_answer = False  # whether a page of them shows the recommendation that their folder holds

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    # What there is

    @property
    def policies(self) -> list[str]:
        """The policies that were played."""
        return in_order(self._cells.frame["policy"], known_policies.names())

    @property
    def problems(self) -> list[str]:
        """The problems that they were played on."""
        return in_order(self._cells.frame["problem"], known_problems.names())

    @property
    def metric(self) -> str:
        """What is compared where you name nothing else: cumulative regret or, where no best is known, the reward."""
        return MAIN if bool(self._cells.frame[MAIN].notna().any()) else "reward"

    @property
    def folder(self) -> Path | None:
        """The folder of the store that they are kept in; None for those of a tidy file."""
        return None if self._cells.store is None else Path(self._cells.store.directory)

    def select(
        self,
        policies: str | Iterable[str] | None = None,
        problems: str | Iterable[str] | None = None,
        *,
        horizon: int | None = None,
        seed: int | None = None,
        trials: int | None = None,
    ) -> Results:
        """A part of these results: only these policies and problems (names or patterns), of this size and seed."""
        wanted: dict[str, list[Any]] = {}
        if policies is not None:
            wanted["policy"] = self._names(policies, "policy")
        if problems is not None:
            wanted["problem"] = self._names(problems, "problem")
        for name, value in (("horizon", horizon), ("seed", seed), ("trials", trials)):
            if value is not None:
                there = sorted(self._cells.frame[name].unique())
                if value not in there:
                    raise UsageError(f"no finished cell has {name} {value}; there are {', '.join(map(str, there))}")
                wanted[name] = [value]

        def keep(frame: pd.DataFrame) -> pd.Series:
            kept = pd.Series(True, index=frame.index)
            for name, values in wanted.items():
                kept &= frame[name].isin(values)
            return kept

        return Results(self._cells.where(keep))

    # As tables

    def table(self, metric: str | None = None, *, absolute: bool = False, expected: bool = False) -> pd.DataFrame:
        """A row per policy and problem, the best first: mean, sem, low and high (95 % interval), trials and more.

        Regret is in % of what playing at random has, where Uniform was played, unless `absolute`. `expected` counts the
        mean reward of each action instead of the one that was drawn. `best` marks the best and what ties with it.
        """
        made = self._table(metric, absolute=absolute, expected=expected)
        return with_intervals(made, self._cells.chosen.frame, expected)

    def trials(self) -> pd.DataFrame:
        """A row per trial, with every metric: what everything else here is computed from."""
        return tidy(self._cells.frame)

    def curves(self) -> pd.DataFrame:
        """Regret over time: a row per policy, problem and checkpoint, with its mean and standard error over trials."""
        from showdown.report.drawing.curves import stored_curves

        store, records = self._cells.part()
        found = stored_curves(store, records, self._cells.chosen.frame)
        parts = [
            pd.DataFrame({"policy": policy, "problem": problem, "step": one.steps, "mean": one.mean, "sem": one.sem})
            for (policy, problem), one in found.items()
        ]
        return pd.concat(parts, ignore_index=True)

    # Compared

    @property
    def verdict(self) -> Verdict:
        """Who is best, how sure that is, and when not to believe it; prints as sentences."""
        return self.judge()

    def judge(self, metric: str | None = None, *, expected: bool = False) -> Verdict:
        """The verdict by a metric, such as reward or accuracy."""
        cells = self._cells
        return judge(cells.chosen.frame, cells.details, metric or self.metric, expected=expected)

    def compare(self, first: str, second: str, metric: str | None = None, **part: Unpack[Part]) -> HeadToHead:
        """Two policies, problem by problem and over all of them, paired over trials; prints as sentences.

        `part` is as for `select`: problems, horizon, seed, trials.
        """
        one, other = (self._one_policy(name) for name in (first, second))
        if one == other:
            raise UsageError(f"{one} cannot be compared with itself")
        cells = self.select(**part)._cells if part else self._cells
        order = self.problems if part.get("problems") is None else self._names(part["problems"] or "", "problem")
        frame = cells.chosen.frame.sort_values("problem", key=lambda column: column.map(order.index), kind="stable")
        return head_to_head(frame, cells.details, one, other, metric or self.metric)

    @property
    def plot(self) -> Plot:
        """Pictures: `.plot.curves()`, `.plot.overview()` and `.plot.time()`."""
        return Plot(self)

    # Kept

    def report(self, path: str | Path = "report.html", *, title: str = "") -> Path:
        """Write everything as one web page that opens anywhere; returns its path."""
        from showdown.api.report import write_page

        store, _ = self._cells.part()
        return write_page(store, Path(path), title=title, whole=store.keys is None or self._opens_with_answer)[0]

    def save(self, folder: str | Path) -> Results:
        """Keep the cells in a folder, for `sd.open` and for every command; returns the results as kept there."""
        from showdown.api.interchange import copied

        return Results(copied(self._cells, Path(folder)))

    def to_parquet(self, path: str | Path) -> Path:
        """Write `trials()` to a Parquet file, which pandas, polars and R read, and `sd.open` reads back."""
        from showdown.api.interchange import write_trials

        return write_trials(self._cells.frame, Path(path), ".parquet")

    def to_csv(self, path: str | Path) -> Path:
        """Write `trials()` to a CSV file, which `sd.open` reads back."""
        from showdown.api.interchange import write_trials

        return write_trials(self._cells.frame, Path(path), ".csv")

    # Shown

    def __len__(self) -> int:
        return len(self._cells.frame[["policy", "problem"]].drop_duplicates())

    def __repr__(self) -> str:
        from showdown.report.formats import text

        lines = text.write(self._shown(), WIDTH).splitlines()
        return "\n".join([*lines, *self._more()])

    def _repr_html_(self) -> str:
        from showdown.report.formats import html

        below = "".join(f"<p>{line}</p>" for line in self._more())
        return html.write(self._shown()) + below

    def _more(self) -> list[str]:
        left = len(self.policies) - MOST_ROWS
        return [f"and {left} more policies: all of them are in .table()"] if left > 0 else []

    def _shown(self) -> Table:
        """The table that is printed: the best few policies, sorted."""
        several = len(self.problems) > 1
        made = self._table(rank=several and len(self.policies) > 1)
        ranked = RANK in made.problems
        order = self._order(made, ranked)
        return self._table(rank=ranked, policies=order[:MOST_ROWS])

    def _order(self, made: Table, ranked: bool) -> list[str]:
        rows = made.rows[made.rows["problem"] == RANK] if ranked else made.rows
        sign = 1 if ranked or made.metric.smaller_is_better else -1
        means = sign * rows.groupby("policy")["mean"].mean()
        return sorted(made.policies, key=lambda name: means.get(name, float("inf")))

    def _table(self, metric: str | None = None, **request: Any) -> Table:
        request = {"metric": self._metric(metric), **request}
        return table_of(self._cells, request_for(**request))

    def _metric(self, metric: str | None) -> str:
        if metric is None:
            return self.metric
        found = metric_named(metric)
        if not found.cell and cells_with_metric(self._cells.frame, found).frame.empty:
            held = [name for name, one in METRICS.items() if len(cells_with_metric(self._cells.frame, one).frame)]
            raise UsageError(f"none of these cells holds the {found.title}; there is {', '.join(held)}")
        return metric

    def _one_policy(self, asked: str) -> str:
        found = self._names(asked, "policy")
        if len(found) > 1:
            raise UsageError(f"{asked!r} names {len(found)} policies here, and two are compared: {', '.join(found)}")
        return found[0]

    def _names(self, asked: str | Iterable[str], noun: str) -> list[str]:
        """The names that a text with commas, or a list, means here; a star stands for any letters."""
        held = list(dict.fromkeys(self._cells.frame[noun]))
        return chosen_names(asked, noun, held)
