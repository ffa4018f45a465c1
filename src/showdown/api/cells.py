"""The cells that results are about: those of one run, of a whole store, or the trials in a tidy file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from showdown.analysis.play_details import DetailsByCell, play_details
from showdown.analysis.selection import Selection, select
from showdown.basics.errors import UsageError
from showdown.bench.record import Record
from showdown.bench.store import Store

Key = tuple[str, str, str]  # a cell's hash, and the policy and the problem by the names that it is listed under
CELL_COLUMNS = ("horizon", "seed", "trials", "compile_seconds", "run_seconds", "beside", "labels", "data", "cell")


class PartOfStore(Store):
    """A store of which only some cells are seen."""

    def __init__(self, directory: str | Path, keys: Iterable[Key] | None = None) -> None:
        super().__init__(directory)
        self.keys = None if keys is None else frozenset(keys)

    def cells(self) -> list[Record]:
        found = super().cells()
        return [record for record in found if self.keys is None or _key(record) in self.keys]


def _key(record: Record) -> Key:
    return record.cell, record.policy, record.problem


@dataclass(frozen=True)
class Cells:
    """Finished cells and their trials."""

    frame: pd.DataFrame  # one row per (cell, trial), as `Store.frame` gives it
    store: PartOfStore | None = None  # None: they were read from a tidy file, which holds no more than the frame
    records: list[Record] = field(default_factory=list)  # unfinished cells too

    @classmethod
    def of_store(cls, directory: str | Path, keys: Iterable[Key] | None = None) -> Cells:
        store = PartOfStore(directory, keys)
        records = store.cells()
        return cls(store.frame(records), store, records)

    @cached_property
    def details(self) -> DetailsByCell:
        return {} if self.store is None else play_details(self.store, self.records, self.frame["cell"])

    @cached_property
    def chosen(self) -> Selection:
        """One cell per (policy, problem), and the others."""
        return select(self.frame)

    def where(self, keep: Callable[[pd.DataFrame], pd.Series]) -> Cells:
        """The cells for whose rows `keep` is true."""
        frame = self.frame[keep(self.frame)].reset_index(drop=True)
        if frame.empty:
            raise UsageError("none of these cells is finished, so nothing would be left")
        if self.store is None:
            return replace(self, frame=frame)
        keys = {tuple(map(str, key)) for key in frame[["cell", "policy", "problem"]].drop_duplicates().to_numpy()}
        return Cells.of_store(self.store.directory, keys)  # type: ignore[arg-type]

    def part(self) -> tuple[PartOfStore, list[Record]]:
        """The store and the records; raises UsageError where there is only a tidy file."""
        if self.store is None:
            raise UsageError(
                "these results were read from a tidy file, which holds the trials alone: curves, configurations and "
                "pages need the folder that they were played in"
            )
        return self.store, self.records


@dataclass(frozen=True)
class Together(Cells):
    """The cells of several folders, for tables alone: there is no one store that they come from."""

    parts: list[Cells] = field(default_factory=list)

    @cached_property
    def details(self) -> DetailsByCell:
        return {cell: about for part in self.parts for cell, about in part.details.items()}


def together(parts: list[Cells]) -> Cells:
    """The cells of all of these; one that two of them hold counts once."""
    if len(parts) == 1:
        return parts[0]
    key = ["cell", "policy", "problem", "trial"]
    frame = pd.concat([part.frame for part in parts], ignore_index=True).drop_duplicates(key, ignore_index=True)
    records = {_key(record): record for part in reversed(parts) for record in part.records}
    return Together(frame, None, list(records.values()), parts)


def tidy(frame: pd.DataFrame) -> pd.DataFrame:
    """The trials with what they are of first, then what was measured, then how the cell was played."""
    first = ["policy", "problem", "trial"]
    measured = [name for name in frame.columns if name not in first and name not in CELL_COLUMNS]
    last = [name for name in CELL_COLUMNS if name in frame]
    return frame[[*first, *measured, *last]].reset_index(drop=True)
