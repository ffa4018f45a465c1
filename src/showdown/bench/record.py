"""The record of a cell: what was played, what came of it, when, with what and where. One JSON file per cell.

`read_record` is strict: every field has a type and a range, and what does not fit is refused with a sentence instead of
reaching a table. Fields of later versions are ignored. See docs/design/decisions.md for why this is no library's job.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict

FORMAT = 1
STATUSES = ("done", "diverged", "timeout", "error", "skipped")
JSON_NAMES = {"concurrent": "beside"}  # what records have called it since before the field had its present name
MOST_STEPS = 2**31 - 2  # steps are counted in int32
MOST_DOUBLINGS = 64  # of the steps of a timeline
MOST_TRIALS = 10**9
DEEPEST = 40  # a policy wraps a policy: a handful of levels; readers recurse
_NOT_WRITTEN = ("policy", "problem", "verified")  # a record is listed once under each of its names


class About(TypedDict, total=False):
    """When, with what and where a cell was played: the fields of a record that the store does not know itself."""

    finished: str
    versions: dict[str, Any]
    concurrent: int
    hardware: dict[str, Any]
    traceback: str


class NotARecord(ValueError):
    """A file is not the record of its cell. The text says why, and follows the name of the file."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Record:
    """The record of a cell. Fields are in the order in which they are written."""

    cell: str  # the hash of the identity
    names: tuple[tuple[str, str], ...]  # every (policy, problem) that it was asked for by
    horizon: int
    seed: int
    trials: int
    identity: dict[str, Any]  # the whole configuration; see `Cell.identity`
    status: str
    reason: str = ""
    checkpoints: tuple[int, ...] = ()  # steps at the points of the curves; this to diagnostics: only of a done cell
    context_dim: int | None = None
    num_actions: int | None = None
    labels: bool | None = None  # whether each step has a right action; records of before do not say
    rows: int | None = None  # the most steps a trial of the problem can have; None: no limit, or a record of before
    compile_seconds: float = 0.0
    run_seconds: float = 0.0
    batch_trials: int = 0
    diagnostics: dict[str, float] = field(default_factory=dict)  # what the policy says of itself, the largest of trials
    timelines: dict[str, list[float]] = field(default_factory=dict)  # the same by doublings of steps, mean of trials
    finished: str = ""  # the time, in ISO 8601
    versions: dict[str, Any] = field(default_factory=dict)
    concurrent: int = 0  # processes that played other cells at the same time
    hardware: dict[str, Any] = field(default_factory=dict)
    traceback: str = ""
    table_sha256: str | None = None  # of the cell's Parquet file; None: no table, or a record of before
    verified: bool = False  # whether it was read with a checksum that fits
    policy: str = ""  # the name it is listed under
    problem: str = ""

    def __repr__(self) -> str:
        policy, problem = (self.policy, self.problem) if self.policy else self.names[0]
        sizes = f"{self.trials} trials × {self.horizon} steps, seed {self.seed}"
        return f"<Record {self.cell}: {policy} on {problem}, {sizes}, {self.status}>"

    @property
    def is_done(self) -> bool:
        return self.status == "done"

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"format": FORMAT}
        for item in fields(self):
            value = getattr(self, item.name)
            left_out = item.name in _NOT_WRITTEN or (item.name in _IF_DONE and not self.is_done)
            if not left_out and value is not None and (item.name not in _IF_NOT_EMPTY or value):
                data[JSON_NAMES.get(item.name, item.name)] = value
        if self.is_done:  # JSON has no word for infinity
            finite = {name: value if math.isfinite(value) else None for name, value in self.diagnostics.items()}
            data["diagnostics"] = finite
        return data


def read_record(data: Any) -> Record:
    """The record that a parsed JSON file holds, or NotARecord."""
    if not isinstance(data, dict) or not {"format", "status"} <= set(data):
        raise NotARecord("is not the record of a cell")
    if data["format"] != FORMAT or isinstance(data["format"], bool) or data["status"] not in STATUSES:
        raise NotARecord("was written in another format")
    if _deeper_than(data, DEEPEST):
        raise NotARecord("is nested too deeply")
    values: dict[str, Any] = {}
    for item in fields(Record):
        name = JSON_NAMES.get(item.name, item.name)
        if item.name in _NOT_WRITTEN:
            continue
        if name in data:
            values[item.name] = _READERS[item.name](data[name], name)
        elif item.name in _REQUIRED or (data["status"] == "done" and item.name in _REQUIRED_IF_DONE):
            raise _refused(name)
    return Record(**values)


def _refused(name: str) -> NotARecord:
    return NotARecord(f"does not hold what the record of a cell must ({name})")


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise _refused(name)
    return value


def _yes_or_no(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise _refused(name)
    return value


def _whole(low: int, high: int) -> Callable[[Any, str], int]:
    def read(value: Any, name: str) -> int:
        if type(value) is not int or not low <= value <= high:
            raise _refused(name)
        return value

    return read


def _number(value: Any, name: str) -> float:
    if type(value) not in (int, float) or not abs(value) < 1e300 or not math.isfinite(value):
        raise _refused(name)
    return float(value)


def _seconds(value: Any, name: str) -> float:
    if _number(value, name) < 0:
        raise _refused(name)
    return float(value)


def _names(value: Any, name: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, list) or not value:
        raise _refused(name)
    for pair in value:
        if not isinstance(pair, list) or [type(part) for part in pair] != [str, str]:
            raise _refused(name)
    return tuple((policy, problem) for policy, problem in value)


def _checkpoints(value: Any, name: str) -> tuple[int, ...]:
    """The checkpoints of a curve, which must grow."""
    if not isinstance(value, list) or not all(type(step) is int and 0 < step <= MOST_STEPS for step in value):
        raise _refused(name)
    if any(after <= before for before, after in itertools.pairwise(value)):
        raise _refused(name)
    return tuple(value)


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _refused(name)
    return value


def _identity(value: Any, name: str) -> dict[str, Any]:
    if not all(isinstance(_mapping(value, name).get(part), dict) for part in ("policy", "problem")):
        raise _refused(name)
    return value


def _diagnostics(value: Any, name: str) -> dict[str, float]:
    pairs = _mapping(value, name).items()
    return {key: math.nan if item is None else _number(item, name) for key, item in pairs}


def _timelines(value: Any, name: str) -> dict[str, list[float]]:
    pairs = _mapping(value, name).items()
    if not all(isinstance(items, list) and len(items) <= MOST_DOUBLINGS for _, items in pairs):
        raise _refused(name)
    return {key: [_number(item, name) for item in items] for key, items in pairs}


def _deeper_than(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper_than(item, levels - 1) for item in inside)


_ANY_WHOLE = _whole(-(2**63), 2**63 - 1)
_COUNT = _whole(0, MOST_TRIALS)
_READERS: dict[str, Callable[[Any, str], Any]] = {
    "cell": _text,
    "names": _names,
    "horizon": _whole(1, MOST_STEPS),
    "seed": _ANY_WHOLE,
    "trials": _whole(1, MOST_TRIALS),
    "identity": _identity,
    "status": _text,
    "reason": _text,
    "checkpoints": _checkpoints,
    "context_dim": _COUNT,
    "num_actions": _COUNT,
    "labels": _yes_or_no,
    "rows": _COUNT,
    "compile_seconds": _seconds,
    "run_seconds": _seconds,
    "batch_trials": _COUNT,
    "diagnostics": _diagnostics,
    "timelines": _timelines,
    "finished": _text,
    "versions": _mapping,
    "concurrent": _COUNT,
    "hardware": _mapping,
    "traceback": _text,
    "table_sha256": _text,
}
_IF_NOT_EMPTY = {"traceback", "timelines"}
_REQUIRED = {"cell", "names", "horizon", "seed", "trials", "identity", "status"}
_REQUIRED_IF_DONE = {"checkpoints", "compile_seconds", "run_seconds"}
_IF_DONE = {*_REQUIRED_IF_DONE, "context_dim", "num_actions", "labels", "rows", "batch_trials"} | {
    "diagnostics",
    "timelines",
}
