"""A suite: named lists of policies and problems with a number of trials and a seed, kept as a TOML file."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from showdown.basics.errors import UsageError
from showdown.basics.text import LONGEST_SPELLING, check_name


@dataclass(frozen=True, kw_only=True)
class Suite:
    name: str
    title: str = ""
    policies: tuple[str, ...]
    problems: tuple[str, ...]
    problems_if_available: tuple[str, ...] = ()  # played only where their data is at hand
    tables: str = ""  # a folder of tables, each of which is a problem (`table_folder.py`)
    tables_only: tuple[str, ...] = ()  # of these tables; all if none is named
    tables_named: bool = False  # `problems` were asked for by name; of these tables only those among them are played
    trials: int = 50
    trials_of: dict[str, int] = field(default_factory=dict)  # of policies that play another number, by name or pattern
    seed: int = 0
    horizon: int | None = None  # None: each problem's own
    without: tuple[str, ...] = ()  # cells that are left out, each written "POLICY on PROBLEM"
    also: tuple[Suite, ...] = ()  # suites whose cells are cells of this one too, but for those left out


def suite_names() -> list[str]:
    return sorted(path.name.removesuffix(".toml") for path in files("showdown.suites").iterdir() if _is_suite(path))


def _is_suite(path: Any) -> bool:
    return path.name.endswith(".toml")


def load_suite(name: str, included: bool = False) -> Suite:
    """A shipped suite by name, or any TOML file by path. One that is included by another includes no third."""
    check_name("the name of a suite", name, LONGEST_SPELLING)  # it may be a path
    if name.endswith(".toml"):
        path: Any = Path(name)
        if not path.is_file():
            raise UsageError(f"there is no suite file {name}")
    else:
        path = files("showdown.suites") / f"{name}.toml"
        if not path.is_file():
            near = difflib.get_close_matches(name, suite_names(), n=1)
            hint = (
                f"did you mean {near[0]!r}?" if near else "see `showdown list suites`, or give a path to a .toml file"
            )
            raise UsageError(f"no suite is called {name!r}; {hint}")
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the suite {name} is not valid TOML: {error}") from None
    if included and "also" in fields:
        raise UsageError(f"the suite {name} includes others, so no suite can include it")
    return _suite(name.removesuffix(".toml"), fields)


def changed(suite: Suite, changes: dict[str, Any]) -> Suite:
    """The suite with some fields changed, in the suites that it includes too."""
    if "problems" in changes:
        changes = {**changes, "problems_if_available": (), "tables_only": (), "tables_named": True}
    if "trials" in changes:
        changes = {**changes, "trials_of": {}}
    also = () if "policies" in changes else tuple(changed(part, changes) for part in suite.also)
    return replace(suite, **changes, also=also)


_KINDS = {
    "title": str,
    "policies": list,
    "problems": list,
    "problems_if_available": list,
    "tables": str,
    "tables_only": list,
    "trials": int,
    "trials_of": dict,
    "seed": int,
    "horizon": int,
    "without": list,
    "also": list,
}


def _suite(name: str, fields: dict[str, Any]) -> Suite:
    for key, value in fields.items():
        if key not in _KINDS:
            near = difflib.get_close_matches(key, _KINDS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"the suite {name} has an unknown field {key!r}{hint}")
        kind = _KINDS[key]
        strings = kind is not list or (isinstance(value, list) and all(isinstance(item, str) for item in value))
        if not isinstance(value, kind) or isinstance(value, bool) or not strings:
            wanted = "a list of names" if kind is list else kind.__name__
            raise UsageError(f"{key} in the suite {name} must be {wanted}, not {value!r}")
    for key in ("policies", "problems"):
        if not fields.get(key) and not (key == "problems" and fields.get("tables")):
            raise UsageError(f"the suite {name} names no {key}")
    for policy, count in fields.get("trials_of", {}).items():
        if not isinstance(count, int) or isinstance(count, bool):
            raise UsageError(f"trials_of {policy} in the suite {name} must be a whole number, not {count!r}")
    values: dict[str, Any] = {key: tuple(item) if isinstance(item, list) else item for key, item in fields.items()}
    values["also"] = tuple(load_suite(part, included=True) for part in values.get("also", ()))
    return Suite(name=name, **{"problems": (), **values})
