"""A folder of tables as problems: one for each file, its label found as `showdown inspect` finds it or named in a file.

`tables.toml` in the folder says of a table what its file does not: a section for each file, without its endings, with
the fields of `table[…]`, or `skip = true`.

    [customers]
    label = "bought"

A label that is not named is what the file declares as its output (KEEL), or the likeliest column where it is called
like a label or is the last. What cannot be played is left out with a sentence, and the others are played.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from showdown.basics.errors import MissingDataError, UsageError
from showdown.basics.text import name_of_file, one_line
from showdown.config.registry import parse_name
from showdown.data.catalogue import folders, named_folder
from showdown.data.choose_columns import LIKELY_LABELS, looks_like_log, possible_labels
from showdown.data.read_table import read_table
from showdown.problems import problems

KNOWN = "tables"  # the folder of the tables that `showdown data fetch tables` brings; and a suite
SETTINGS = "tables.toml"
ENDINGS = frozenset(
    (".csv", ".tsv", ".txt", ".data", ".dat", ".arff", ".parquet", ".json", ".jsonl", ".xlsx", ".xls", ".npy", ".npz")
)
_FIELDS = (
    *("label", "rewards", "reward_matrix", "costs", "ignore", "categorical", "keep", "features", "payoff"),
    *("delimiter", "header", "name", "horizon", "skip"),
)
_SHOWN = 3  # columns that could be the label


def tables_in(asked: str, only: Iterable[str] = (), notes: list[str] | None = None) -> tuple[str, ...]:
    """The problems of a folder, as `table[path=…,label=…]`; `notes` gets what was found and what was left out."""
    folder = found_folder(asked)
    wanted = set(only)
    files = {path: name_of_file(path.name) for path in sorted(folder.iterdir()) if _is_table(path)}
    settings = _settings(folder, set(files.values()))
    missing = wanted - set(files.values())
    if missing:
        hint = f"; get it with `showdown data fetch {KNOWN}`" if asked == KNOWN else ""
        raise MissingDataError(f"{folder} holds no table {min(missing)}{hint or _near(min(missing), files.values())}")
    chosen, labels, reasons = [], [], []
    for path, name in files.items():
        own = dict(settings.get(name, {}))
        if own.pop("skip", False) or (wanted and name not in wanted):
            continue
        try:
            problem, label = _as_problem(folder, path, own)
        except UsageError as error:
            reasons.append(f"{path.name} is left out: {str(error).removeprefix(f'{path} cannot be used: ')}")
            continue
        chosen.append(problem)
        labels += [f"{name}: {label}"] if label else []
    if notes is not None:
        notes += [one_line(reason) for reason in reasons]
        notes += [one_line(f"labels found, and not named in {SETTINGS}: {', '.join(labels)}")] if labels else []
    if not chosen:
        why = f" ({reasons[0]})" if reasons else f"; tables end in {', '.join(sorted(ENDINGS))}, or these and .gz"
        raise UsageError(one_line(f"{folder} holds no table that can be played{why}"))
    return tuple(chosen)


def found_folder(asked: str) -> Path:
    """The folder of that name: in the data folder that the user named, here, or in the cache.

    For `tables` the named data folder may itself be the folder of tables.
    """
    named = named_folder()
    inside = [folder / asked for folder in folders()]
    places = [inside[0], *([named] if asked == KNOWN else [])] if named is not None else []
    for place in (*places, Path(asked).expanduser(), *inside):
        if place.is_dir():
            return place
    if asked == KNOWN:
        raise MissingDataError(
            "there is no folder of tables: name yours with --data-dir, "
            f"or get {KNOWN} with `showdown data fetch {KNOWN}`"
        )
    raise UsageError(f"there is no folder {asked} of tables")


def _is_table(path: Path) -> bool:
    """Whether a name looks like that of a table; hidden files and folders do not."""
    ending = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    return ending.lower() in ENDINGS and not path.name.startswith(".")


def _settings(folder: Path, names: set[str]) -> dict[str, dict[str, Any]]:
    """What `tables.toml` says, by table."""
    path = folder / SETTINGS
    if not path.is_file():
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    for name, fields in found.items():
        if name not in names:
            raise UsageError(f"{path} is about {name!r}, and no table there is called so{_near(name, names)}")
        if not isinstance(fields, dict):
            raise UsageError(f"{name} in {path} must be a section with fields of a table, not {fields!r}")
        for field, value in fields.items():
            if field not in _FIELDS:
                raise UsageError(f"{name} in {path} has an unknown field {field!r}{_near(field, _FIELDS)}")
            kind = {"skip": bool, "horizon": int}.get(field, str | int)
            if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
                raise UsageError(f"{field} of {name} in {path} cannot be {value!r}")
    return found


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _as_problem(folder: Path, path: Path, own: dict[str, Any]) -> tuple[str, str]:
    """The problem that a file is, and its label where that was found and not named."""
    found = ""
    if not own.get("label") and not own.get("rewards"):
        found = _label(path, own)
        own = {**own, "label": found}
    if own.get("reward_matrix"):
        own["reward_matrix"] = folder / own["reward_matrix"]
    fields = {name: str(value) for name, value in {"path": path, **own}.items()}
    spelled = f"table[{','.join(f'{name}={value}' for name, value in fields.items())}]"
    if not _is_read_back(spelled, fields):
        raise UsageError("its path, or what is said of it, holds a comma or a bracket; call it something else")
    problems.get(spelled)  # reads it, and says what is wrong with it
    return spelled, found


def _is_read_back(spelled: str, fields: dict[str, str]) -> bool:
    try:
        return parse_name(spelled) == ("table", fields)
    except UsageError:
        return False


def _label(path: Path, own: dict[str, Any]) -> str:
    """The column that is surely the label."""
    frame = read_table(path, own.get("delimiter", "auto"), own.get("header", "auto")).table
    if looks_like_log(frame):
        raise UsageError("it looks like a log of decisions, for `showdown evaluate`; if it is none, name its label")
    likely = list(possible_labels(frame))
    first = next(iter(likely), None)
    if first is None:
        raise UsageError(f"no column could be a label; name one in {SETTINGS}")
    sure = first == frame.attrs.get("output") or first.lower() in LIKELY_LABELS or first == str(frame.columns[-1])
    if not sure and len(likely) > 1:
        shown = ", ".join(map(repr, likely[:_SHOWN])) + (", …" if len(likely) > _SHOWN else "")
        raise UsageError(f"its label could be any of {shown}; name it in {SETTINGS}")
    return first
