"""Results from one place to another: cells copied between stores, and trials as a tidy file.

A tidy file has a row per trial. Its columns are those of `Results.trials()`, described in docs/api.md.
"""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from showdown.api.cells import Cells, Key, tidy
from showdown.basics.errors import UsageError, why
from showdown.bench.store import Store
from showdown.metrics import per_trial
from showdown.report import write_file

SUFFIXES = (".parquet", ".csv")
TEXTS = ("policy", "problem", "data", "cell")
REQUIRED = ("policy", "problem", "trial", "horizon", "seed", "trials", "cell")


def copied(cells: Cells, folder: Path) -> Cells:
    """The cells, finished ones, in the store in that folder."""
    store, records = cells.part()
    target = Store(folder)
    target.prepare()
    keys: set[Key] = set()
    for record in records:
        files = store.files_of(record.cell) if record.is_done else None
        if files is not None:
            target.adopt(files)
            keys.add((record.cell, record.policy, record.problem))
    return Cells.of_store(folder, keys)


def write_trials(frame: pd.DataFrame, path: Path, suffix: str) -> Path:
    """Write the trials; the ending of the file says the format."""
    if path.suffix.lower() != suffix:
        raise UsageError(f"this writes a {suffix} file, not {path.name!r}")
    table, written = tidy(frame), io.BytesIO()
    if suffix == ".csv":
        table.to_csv(written, index=False)
    else:
        table.to_parquet(written, index=False)
    write_file(path, written.getvalue())
    return path


def read_trials(path: Path) -> Cells:
    """The trials that `write_trials` wrote, or another program with the same columns."""
    try:
        table = pd.read_csv(path) if path.suffix.lower() == ".csv" else pd.read_parquet(path)
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except Exception as error:  # pandas and pyarrow raise many kinds
        raise UsageError(f"{path} cannot be read: {why(error)}") from None
    lacking = [name for name in REQUIRED if name not in table]
    if lacking or not len(table):
        what = f"has no column {lacking[0]!r}" if lacking else "has no rows"
        raise UsageError(f"{path} {what}: it is not the trials that Results.to_parquet or to_csv write")
    return Cells(_as_frame(table))


def _as_frame(table: pd.DataFrame) -> pd.DataFrame:
    """The columns that a store's frame has, with its types; what another program left out is not known."""
    columns = {}
    for name in ("cell", "policy", "problem", "data", "horizon", "seed", "trials", "labels"):
        columns[name] = table[name] if name in table else pd.Series(None, index=table.index, dtype=object)
    for name in TEXTS:
        columns[name] = columns[name].astype(object).where(columns[name].notna(), "").astype(str)
    columns["labels"] = columns["labels"].astype(object).where(columns["labels"].notna(), None)
    for name in ("compile_seconds", "run_seconds", "beside", "trial", *per_trial()):
        columns[name] = table[name] if name in table else pd.Series(float("nan"), index=table.index)
    return pd.DataFrame(columns)


def is_tidy_file(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES
