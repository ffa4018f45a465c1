"""Council beside everything else that was played on each table, from stored cells: the tables of docs/council.md."""

from __future__ import annotations

import pandas as pd

from showdown.analysis.compare_trials import difference, values_of
from showdown.analysis.summary import BASELINE
from showdown.metrics import MAIN

NEW = ("Council", "Council-fast")


def percentages(frame: pd.DataFrame) -> pd.DataFrame:
    """One problem's regret in % of Uniform's mean: trials by policies."""
    values = values_of(frame, MAIN)
    return 100 * values.drop(columns=BASELINE) / values[BASELINE].mean()


def each_table(frame: pd.DataFrame, sizes: dict[str, tuple[int, int]], earlier: dict[str, str]) -> list[str]:
    """A row per problem with its rows and actions; `earlier` names the edition before this one, which is no other."""
    heads = ["table", "rows", "actions", "others", "Council", "ratio", "Council-fast", "ratio"]
    rows = [f"| {' | '.join([*heads, 'best other', 'difference', 'to the second edition'])} |", f"|{'---|' * 11}"]
    for problem, own in frame.groupby("problem"):
        values = percentages(own)
        means = values.mean()
        others = means.drop([*NEW, *earlier.values()], errors="ignore")
        before = values[earlier[NEW[0]]]
        best = str(others.idxmin())
        count, actions = sizes[str(problem)]
        shown = [str(problem), f"{count:,}", str(actions), str(len(others))]
        for name in NEW:
            shown += [plus(means[name], values[name].sem()), f"{means[name] / means.min():.2f}"]
        shown += [f"{best} {others.min():.2f}", *(apart(values["Council"], other) for other in (values[best], before))]
        rows.append(f"| {' | '.join(shown)} |")
    return rows


def over_tables(frame: pd.DataFrame) -> list[str]:
    """Mean, median and worst ratio to the best of each problem, of every policy that was played on all of them."""
    tables = {str(problem): percentages(own).mean() for problem, own in frame.groupby("problem")}
    ratios = pd.DataFrame({problem: means / means.min() for problem, means in tables.items()}).dropna()
    rows = ["| | mean ratio | median | worst |", "|---|---|---|---|"]
    for name, own in ratios.loc[ratios.mean(axis=1).sort_values().index].iterrows():
        rows.append(f"| {name} | {own.mean():.2f} | {own.median():.2f} | {own.max():.2f} {own.idxmax()} |")
    return rows


def plus(mean: float, error: float) -> str:
    return f"{mean:.2f} ± {error:.2f}"


def apart(one: pd.Series, other: pd.Series) -> str:
    """The mean difference by trial, with a true minus."""
    found = difference(one, other)
    return plus(found.mean, found.error).replace("-", "−")
