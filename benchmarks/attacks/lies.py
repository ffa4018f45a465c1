"""Records and tables that lie, with a checksum that fits: nothing but their content gives them away."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from attacks import TRIALS, Score, call, judge, made_store, rows_by_cell
from showdown.bench import record_file
from showdown.bench.cell import identity_hash
from showdown.bench.store import Store
from showdown.report.page.collect import collect

SECONDS = 100  # a reader that takes longer hangs
WRONG = (None, "x", -1, 1.5, [], {}, True, 10**400, [["a", "b", "c"]], {"a": {"b": 10**400}}, "\ud800", "\x1b[31m")
FIELDS = (
    *("format", "cell", "names", "horizon", "seed", "trials", "identity", "status", "reason", "checkpoints"),
    *("context_dim", "num_actions", "labels", "compile_seconds", "run_seconds", "batch_trials", "diagnostics"),
    *("finished", "versions", "beside", "hardware", "traceback", "table_sha256", "checksum"),
)
# these could be true, and with a checksum that fits nothing gives them away
POSSIBLE = (("labels", True), ("compile_seconds", 1.5), ("run_seconds", 1.5))
Lie = Callable[[Path], None]  # given the record's file of a healthy cell


def lies(every: int = 1) -> dict[str, Lie]:
    """By name; only each `every`-th of the wrong values of fields, which are most of them."""
    fields = [(field, value) for field in FIELDS for value in WRONG if (field, value) not in POSSIBLE]
    named: dict[str, Lie] = {
        f"{field} is {str(value)[:12]!r}": _field(field, value) for field, value in fields[::every]
    }
    named |= {f"identity: {name}": _identity(change) for name, change in _IDENTITIES.items()}
    named |= {f"text: {name}": _text(content) for name, content in _TEXTS.items()}
    named |= {f"file: {name}": lie for name, lie in _FILES.items()}
    named |= {f"table: {name}": _table(change) for name, change in _TABLES.items()}
    return named


def lying_records(directory: Path, every: int = 1) -> Score:
    score = Score("lying records, tables and files")
    made_store(directory, 2)
    before = rows_by_cell(Store(directory).frame())
    healthy = directory.with_name("healthy")
    shutil.copytree(directory, healthy)
    for name, lie in lies(every).items():
        path = sorted((directory / "cells").glob("*.json"))[0]
        lie(path)
        failed = score.crashed + score.silent
        with score.attempt(), within(SECONDS):
            _read_every_way(directory)
            judge(score, directory, before, {path.stem})
        if score.crashed + score.silent > failed:
            print(f"not withstood: {name}")
        shutil.rmtree(directory)
        shutil.copytree(healthy, directory)
    return score


def _read_every_way(directory: Path) -> None:
    """Commands give an exit code of their own; nothing raises."""
    store = Store(directory)
    for path in store.paths():
        store.is_done(path.stem)
    if len(store.frame()) > TRIALS:  # else the lie was left out, and the page is the one of any healthy cell
        collect(directory, command="")
    for arguments in (["table", str(directory), "--absolute"], ["verify", str(directory)]):
        if call(*arguments) not in (0, 1):
            raise RuntimeError(f"{arguments} refused the store")


@contextmanager
def within(seconds: int) -> Iterator[None]:
    def hangs(*_: Any) -> None:
        raise TimeoutError(f"took longer than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _field(field: str, value: Any) -> Lie:
    def lie(path: Path) -> None:
        data = {**json.loads(path.read_text()), field: value}
        if field != "checksum":
            data = record_file.sealed(data)
        path.write_text(json.dumps(data))

    return lie


def _identity(change: Callable[[dict[str, Any]], Any]) -> Lie:
    """Under the name that belongs to the changed identity."""

    def lie(path: Path) -> None:
        data = json.loads(path.read_text())
        change(data)
        data["cell"] = identity_hash(data["identity"])
        path.with_stem(data["cell"]).write_text(json.dumps(record_file.sealed(data)))
        shutil.copy(path.with_suffix(".parquet"), path.with_stem(data["cell"]).with_suffix(".parquet"))

    return lie


def _nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"inner": value}
    return value


_IDENTITIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "other trials": lambda data: data["identity"].update(trials=99),
    "other seed": lambda data: data["identity"].update(seed=99),
    "other horizon": lambda data: data["identity"]["problem"].update(horizon=99),
    "negative horizon": lambda data: (data.update(horizon=-5), data["identity"]["problem"].update(horizon=-5)),
    "deep": lambda data: data["identity"].update(policy=_nested(200)),
}
_TEXTS = {
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "NaN": b'{"format": 1, "status": NaN}',
    "Infinity": b'{"format": 1, "status": "done", "run_seconds": -Infinity}',
    "5,000 digits": b'{"format": ' + b"9" * 5000 + b"}",
    "not UTF-8": b'{"format": "\xff"}',
    "UTF-16": '{"format": 1}'.encode("utf-16"),
    "half a surrogate": b'{"format": 1, "status": "\\ud800"}',
    "empty": b"",
    "NUL": b"\0" * 100,
    "a list": b"[1, 2]",
}


def _text(content: bytes) -> Lie:
    return lambda path: path.write_bytes(content) and None


def _replaced(make: Callable[[Path], Any], suffix: str) -> Lie:
    def lie(path: Path) -> None:
        path = path.with_suffix(suffix)
        path.unlink()
        make(path)

    return lie


def _sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(1 << 40)


_MAKERS: dict[str, Callable[[Path], Any]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a link to an endless device": lambda path: path.symlink_to("/dev/zero"),
    "a terabyte": _sparse,
}
_FILES: dict[str, Lie] = {
    f"{name}{suffix}": _replaced(make, suffix) for name, make in _MAKERS.items() for suffix in (".json", ".parquet")
}


def _table(change: Callable[[pd.DataFrame, Path], pa.Table]) -> Lie:
    def lie(path: Path) -> None:
        parquet = path.with_suffix(".parquet")
        pq.write_table(change(pd.read_parquet(parquet), path), parquet)
        digest = record_file.sha256(parquet.read_bytes())
        path.write_text(json.dumps(record_file.sealed({**json.loads(path.read_text()), "table_sha256": digest})))

    return lie


def _assign(**columns: Any) -> Callable[[pd.DataFrame, Path], pa.Table]:
    return lambda table, _: pa.Table.from_pandas(table.assign(**columns))


_TABLES: dict[str, Callable[[pd.DataFrame, Path], pa.Table]] = {
    "no column": lambda table, _: pa.Table.from_pandas(table.drop(columns="cumulative")),
    "no row": lambda table, _: pa.Table.from_pandas(table.iloc[:0]),
    "text": _assign(cumulative="many"),
    "not finite": _assign(simple=float("inf")),
    "empty curves": _assign(curve=[[]] * 3),
    "twenty million rows": lambda table, _: pa.table({"trial": pa.nulls(20_000_000, pa.int8())}),
    "a list of twenty million": lambda table, _: pa.table(
        {"curve": pa.ListArray.from_arrays([0, 20_000_000, 20_000_000, 20_000_000], pa.nulls(20_000_000, pa.int8()))}
    ),
}
