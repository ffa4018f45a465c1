"""The paper's eight tables of results, as data: `tables.csv`, one row per published number.

Its columns are `table` (which of the eight), `algorithm` (the name printed there), `preset` (ours), `problem`,
`metric`, `mean` and `sem`, the digits as printed. Rows of the linear-model tables are presets called `NAME@linear`,
because they are other models than the networks of the same name; the exact linear methods and Uniform are the same
presets in both.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import pandas as pd

from showdown.basics.errors import UsageError

# A source is a set of tables that hold the same runs in the same unit. The main table repeats the non-linear one.
SOURCES = {
    "paper": ("nonlinear_cumulative", "nonlinear_simple", "nonlinear_time", "wheel_cumulative", "wheel_simple"),
    "paper-linear": ("linear_cumulative", "linear_simple"),
}
ABSOLUTE_SOURCES = ("paper-linear",)  # regret itself; the others are relative to Uniform, or to RMS for time

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


@cache
def _tables() -> pd.DataFrame:
    with (files(__name__) / "tables.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def tables() -> pd.DataFrame:
    """Every published number: table, algorithm, preset, problem, metric, mean, sem."""
    return _tables().copy()


def published(source: str, metric: str) -> pd.DataFrame:
    """The published numbers of a metric: policy, problem, paper_mean, paper_sem."""
    if source not in SOURCES:
        raise UsageError(f"there are no published numbers called {source!r}; there are {' and '.join(SOURCES)}")
    everything = _tables()
    chosen = everything[everything["table"].isin(SOURCES[source]) & (everything["metric"] == metric)]
    if chosen.empty:
        raise UsageError(f"nothing was published under {source} for the metric {metric!r}")
    names = {"preset": "policy", "mean": "paper_mean", "sem": "paper_sem"}
    return chosen.rename(columns=names)[["policy", "problem", "paper_mean", "paper_sem"]].reset_index(drop=True)


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
    """Of one of the eight tables, by its name in `LAYOUTS`."""
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
