"""One cell per (policy, problem): which of several horizons, seeds and numbers of trials is looked at.

Numbers of different data, horizons or seeds are never mixed. If what a problem's name stands for has changed (a file's
content, a corrected sampler), only cells of its newest meaning are looked at. Where the caller does not choose, a
problem is shown at its longest horizon and, of that, its lowest seed; a policy with its largest number of trials (trial
i is the same however many run beside it, so the larger cell contains the smaller); and of cells that only differ in the
code that made them, the newest. What is left out is returned with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from showdown.analysis import preset_of
from showdown.basics.errors import UsageError

_CELL = ["cell", "policy", "problem", "data", "horizon", "seed", "trials"]


class Selection(NamedTuple):
    """One cell per (policy, problem), and the cells that were left out."""

    frame: pd.DataFrame  # the rows of the chosen cells
    left_out: pd.DataFrame  # the columns of a cell, because: data, horizon, seed, trials or older

    def __repr__(self) -> str:
        return f"<Selection of {self.frame['cell'].nunique()} cells, {len(self.left_out)} left out>"


def select(
    frame: pd.DataFrame, *, horizon: int | None = None, seed: int | None = None, trials: int | None = None
) -> Selection:
    """The cells to look at, from a frame whose rows are in the order the cells were made."""
    cells = frame[_CELL].drop_duplicates().reset_index(drop=True)
    for name, wanted in (("horizon", horizon), ("seed", seed), ("trials", trials)):
        if wanted is None:
            continue
        there = cells[name].drop_duplicates().sort_values()
        cells = cells[cells[name] == wanted]
        if cells.empty:
            raise UsageError(f"no finished cell has {name} {wanted}; there are {', '.join(map(str, there))}")
    left_out = []
    by_policy = ["policy", "problem"]
    for name, group, best in (
        ("data", ["problem"], "last"),
        ("horizon", ["problem"], "max"),
        ("seed", ["problem"], "min"),
        ("trials", by_policy, "max"),
    ):
        chosen = cells[name] == cells.groupby(group)[name].transform(best)
        left_out.append(cells[~chosen].assign(because=name))
        cells = cells[chosen]
    older = cells.duplicated(by_policy, keep="last")
    left_out.append(cells[older].assign(because="older"))
    keys = ["cell", *by_policy]  # one cell may go by several names
    chosen_frame = frame.merge(cells.loc[~older, keys], on=keys)
    return Selection(chosen_frame, pd.concat(left_out).sort_index().reset_index(drop=True))


def require_one_cell_each(frame: pd.DataFrame) -> None:
    """Raise ValueError where a (policy, problem) has two cells: their trials must not be averaged together."""
    cells = frame[_CELL].drop_duplicates()
    twice = cells[cells.duplicated(["policy", "problem"])]
    if len(twice):
        first = twice.iloc[0]
        raise ValueError(f"{first['policy']} on {first['problem']} has several cells; choose one with select()")


def in_order(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Each name once: in the order of `known`, a preset before its overrides; names that are not known come last."""
    position = {name: number for number, name in enumerate(known)}
    seen = dict.fromkeys(names)
    return sorted(seen, key=lambda name: (position.get(preset_of(name), len(position)), "[" in name))
