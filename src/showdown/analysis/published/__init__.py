"""The paper's eight tables of results, as data: `tables.csv`, one row per published number.

Its columns are `table` (which of the eight), `algorithm` (the name printed there), `preset` (ours), `problem`,
`metric`, `mean` and `sem`, the digits as printed. Rows of the linear-model tables are presets called `NAME@linear`,
because they are other models than the networks of the same name; the exact linear methods and Uniform are the same
presets in both.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018.

Does a number of ours agree with the published one? It does when |mean − paper| ≤ 3·√(sem² + paper_sem²) + 0.10·paper:
three standard errors of the difference, plus a tenth for what the paper leaves open. A standard error that is missing
(a single trial; a time) counts as 0.

The rule forgives noise: a cell with a huge standard error agrees with anything. A row therefore also says by how many
standard errors the two differ (z), and a cell that agrees is called *noisy* where three standard errors exceed half of
the published mean: such a comparison could hardly have failed. Tables, the page and the counts all use this finding.

Numbers published since are in `later.csv`, by source: `short-track` (Wang and Zhou 2020, Table 1: T = 2,000, 50 trials;
the ± printed there is the deviation of one trial and is divided by √50 here), `later-wheels` (VBLL and Rich-BLL) and
`zero-one` (the protocol of NeuralTS: absolute regret). Its column `certainty` says where a number was read: P the
paper or the authors' code, A a page that quotes it, R from memory. Only P is evidence; all are shown and compared.

A preset with fields overridden is another *reading* of the paper's row: it stands beside the same published number, and
is counted apart from the presets.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd

from showdown.analysis import preset_of
from showdown.basics.errors import UsageError

# A source is a set of tables that hold the same runs in the same unit. The main table repeats the non-linear one.
SOURCES = {
    "paper": ("nonlinear_cumulative", "nonlinear_simple", "nonlinear_time", "wheel_cumulative", "wheel_simple"),
    "paper-linear": ("linear_cumulative", "linear_simple"),
}
LATER_SOURCES = ("short-track", "later-wheels", "zero-one")  # of other papers
ABSOLUTE_SOURCES = ("paper-linear", "zero-one")  # regret itself; the others are relative to Uniform, or to RMS for time

# The eight tables by the name a user asks for them.
LAYOUTS = {
    "main": "main_cumulative",
    "nonlinear-cumulative": "nonlinear_cumulative",
    "nonlinear-simple": "nonlinear_simple",
    "nonlinear-time": "nonlinear_time",
    "wheel-cumulative": "wheel_cumulative",
    "wheel-simple": "wheel_simple",
    "linear-cumulative": "linear_cumulative",
    "linear-simple": "linear_simple",
}

# Steps of a trial. The wheel's is not stated there; 20,000 reproduces the published standard errors.
HORIZONS = {
    "mushroom": 50_000,
    "statlog": 43_500,
    "covertype": 150_000,
    "financial": 3_713,
    "jester": 19_181,
    "adult": 45_222,
    "census": 250_000,
    "song": 250_000,
    **{f"wheel-{delta}": 20_000 for delta in (0.5, 0.7, 0.9, 0.95, 0.99)},
}

# The suite over which the paper's mean rank is taken: found by trying, since the paper does not say.
RANKED_PROBLEMS = (
    "mushroom",
    "statlog",
    "covertype",
    "financial",
    "jester",
    "adult",
    "song",
    "census",
    "wheel-0.5",
    "wheel-0.99",
)


PUBLISHED = ["policy", "problem", "paper_mean", "paper_sem", "paper_steps"]


@cache
def _tables() -> pd.DataFrame:
    with (files(__name__) / "tables.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


@cache
def _later() -> pd.DataFrame:
    with (files(__name__) / "later.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def later() -> pd.DataFrame:
    """Every number published since: source, algorithm, preset, problem, metric, mean, sem, horizon, certainty."""
    return _later().copy()


def tables() -> pd.DataFrame:
    """Every published number: table, algorithm, preset, problem, metric, mean, sem."""
    return _tables().copy()


def published(source: str, metric: str) -> pd.DataFrame:
    """The published numbers of a metric: policy, problem, paper_mean, paper_sem, paper_steps."""
    if source in LATER_SOURCES:
        everything = _later()
        chosen = everything[(everything["source"] == source) & (everything["metric"] == metric)]
    elif source in SOURCES:
        everything = _tables()
        chosen = everything[everything["table"].isin(SOURCES[source]) & (everything["metric"] == metric)]
        chosen = chosen.assign(horizon=chosen["problem"].map(HORIZONS))
    else:
        known = [*SOURCES, *LATER_SOURCES]
        raise UsageError(f"there are no published numbers called {source!r}; there are {', '.join(known)}")
    if chosen.empty:
        raise UsageError(f"nothing was published under {source} for the metric {metric!r}")
    names = {"preset": "policy", "mean": "paper_mean", "sem": "paper_sem", "horizon": "paper_steps"}
    return chosen.rename(columns=names)[PUBLISHED].reset_index(drop=True)


@dataclass(frozen=True)
class Layout:
    """How one of the paper's tables is arranged."""

    metric: str
    source: str
    problems: tuple[str, ...]  # its columns, in order
    elsewhere: frozenset[str]  # presets whose numbers are published, but not in this source
    rank: bool  # whether it begins with a column of mean ranks


@cache
def layout(name: str) -> Layout:
    """The layout of one of the eight tables, by its name in `LAYOUTS`."""
    everything = _tables()
    rows = everything[everything["table"] == LAYOUTS[name]]
    cells = rows[rows["problem"] != "mean_rank"]
    return Layout(
        metric=cells["metric"].iloc[0],
        source="paper-linear" if LAYOUTS[name] in SOURCES["paper-linear"] else "paper",
        problems=tuple(cells["problem"].drop_duplicates()),
        elsewhere=frozenset(everything["preset"]) - frozenset(rows["preset"]),
        rank=len(cells) < len(rows),
    )


ERRORS = 3.0
SLACK = 0.10
NOISE = 0.5  # share of the published mean that three standard errors may reach before agreement says nothing
AGREES, DIFFERS, NOISY = "agrees", "differs", "noisy"
_ROUNDING = 1e-12  # a difference that equals the tolerance in decimals must not fail in binary


def agrees(summary: pd.DataFrame) -> pd.Series:
    """True or False per row with columns mean, sem, paper_mean, paper_sem; None where nothing was published."""
    mean, paper = summary["mean"].astype(float), summary["paper_mean"].astype(float)
    tolerance = ERRORS * _error(summary) + SLACK * paper
    close = (mean - paper).abs() <= tolerance + _ROUNDING * paper.abs()
    return close.astype(object).where(paper.notna() & mean.notna(), None)


def _error(summary: pd.DataFrame) -> pd.Series:
    """The standard error of the difference; a missing one counts as 0."""
    return np.hypot(summary["sem"].astype(float).fillna(0), summary["paper_sem"].astype(float).fillna(0))


def judged(compared: pd.DataFrame) -> pd.DataFrame:
    """The rows with z (the difference in standard errors; missing where there are none) and finding.

    The finding is AGREES, DIFFERS or NOISY, and None where nothing was published or the number of steps is another.
    """
    error, paper = _error(compared), compared["paper_mean"].astype(float)
    z = (compared["mean"].astype(float) - paper) / error.where(error > 0)
    noisy = ERRORS * error > NOISE * paper.abs()

    def finding(answer: bool | None, too_noisy: bool) -> str | None:
        if answer is None:
            return None
        return DIFFERS if not answer else NOISY if too_noisy else AGREES

    found = [finding(answer, too_noisy) for answer, too_noisy in zip(compared["agrees"], noisy, strict=True)]
    return compared.assign(z=z, finding=pd.Series(found, index=compared.index, dtype=object))


def count_findings(rows: pd.DataFrame, *, readings: bool = False, without: Collection[str] = ()) -> dict[str, int]:
    """Count the judged rows that agree, are too noisy to tell, and were compared: presets, or their other readings.

    `without` names policies that are no evidence: a baseline is 100 % of itself whatever happens.
    """
    mine = rows[(rows["policy"] != rows["policy"].map(preset_of)) == readings]
    found = list(mine.loc[~mine["policy"].isin(list(without)), "finding"].dropna())
    return {"agree": found.count(AGREES), "noisy": found.count(NOISY), "compared": len(found)}


def against(summary: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The summary with paper_mean, paper_sem, paper_steps, agrees, z and finding beside each row, in the same order.

    A cell of another number of steps than the paper's is shown with its number but not compared: agrees is None.
    """
    rows = summary.assign(preset=summary["policy"].map(preset_of))
    published = published.rename(columns={"policy": "preset"})
    joined = rows.merge(published, how="left", on=["preset", "problem"], validate="many_to_one").drop(columns="preset")
    answers = agrees(joined)
    steps = joined["paper_steps"]
    other_steps = steps.notna() & (joined["horizon"] != steps)
    return judged(joined.assign(agrees=answers.mask(other_steps, None)))
