"""One Registry class, two instances: the presets of policies and of problems, found by name.

`NAME[field=value,…]` is a preset with fields replaced, so a name is also a whole configuration. `NAME/WRAPPER[…]` is
that preset inside another configuration, such as a problem whose rewards come late.
"""

from __future__ import annotations

import difflib
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Generic, TypeVar

from showdown.basics.errors import UsageError
from showdown.basics.text import LONGEST_SPELLING, check_name
from showdown.config import Configuration, layers, override
from showdown.config.kinds import is_config

T = TypeVar("T")


@dataclass(frozen=True)
class Registered(Generic[T]):
    name: str
    value: T
    base: str | None = None  # the preset this one is a variation of


registries: dict[str, Registry[Any]] = {}  # by noun, for files that hold presets of any kind


class Registry(Generic[T]):
    """Names to configurations. `noun` is what one of them is called in messages."""

    def __init__(self, noun: str) -> None:
        self.noun = noun
        registries.setdefault(noun, self)
        self._entries: dict[str, Registered[T]] = {}
        self._wrappers: dict[str, tuple[Callable[[T], T], str]] = {}
        self._plugins_loaded = False

    def add(self, name: str, value: T, base: str | None = None) -> T:
        """Register `value` under `name`; returns it, so a module can keep the preset as a constant."""
        check_name(f"the name of a {self.noun}", name)
        if any(letter in name for letter in "[,/"):
            raise UsageError(f"a {self.noun} name may not hold '[', ',' or '/': {name!r}")
        if self.noun in ("policy", "problem") and not isinstance(value, Configuration):
            kind = getattr(value, "__name__", type(value).__name__)
            raise UsageError(f"{kind} is plain Python: add as_{self.noun}(…) of it, from showdown.plain")
        for layer in layers(value):
            if isinstance(layer, Configuration) and not is_config(layer):
                raise UsageError(f"{type(layer).__name__} lacks @config: write it in the line above its `class`")
        known = self._entries.get(name)
        if known is not None and known.value != value and not _typed_again(known.value, value):
            raise UsageError(f"two different {self.noun} presets are called {name!r}")
        self._entries[name] = Registered(name, value, base)
        return value

    def add_wrapper(self, name: str, wrap: Callable[[T], T], summary: str) -> None:
        """Let `PRESET/name` mean what `wrap` makes of the preset."""
        self._wrappers[name] = wrap, summary

    def wrappers(self) -> dict[str, str]:
        """What each wrapper does, by its name."""
        self._load_plugins()
        return {name: summary for name, (_, summary) in self._wrappers.items()}

    def entry(self, name: str) -> Registered[T]:
        self._load_plugins()
        if name not in self._entries:
            raise UsageError(f"no {self.noun} is called {name!r}{self._near(name)}")
        return self._entries[name]

    def get(self, text: str) -> T:
        """The preset called `text`, which may carry overrides: `wheel[delta=0.8]`; a preset itself is taken as it is.

        `Configuration.resolve` fills in fields that follow from others.
        """
        preset, *around = split_at_slashes(text)
        name, changes = parse_name(preset)
        value = self._changed(self.entry(name).value, changes, name)
        for part in around:
            name, changes = parse_name(part)
            if name not in self.wrappers():
                known = ", ".join(self._wrappers) or "none"
                raise UsageError(f"nothing that a {self.noun} can be put into is called {name!r}; there are: {known}")
            value = self._changed(self._wrappers[name][0](value), changes, name, always=True)
        return value

    def _changed(self, value: T, changes: dict[str, str], name: str, always: bool = False) -> T:
        """The value with overrides, filled in and checked; as it is where there are none, unless `always`."""
        if not changes and not always:
            return value
        value = override(value, changes, name)
        if isinstance(value, Configuration):
            value = value.resolve()
            value.check()
        return value

    def name_of(self, value: T) -> str | None:
        """The preset that equals `value`, if there is one; the most particular where several do."""
        equal = [entry for entry in self if entry.value == value]
        return max(equal, key=lambda entry: entry.base is not None).name if equal else None

    def names(self) -> list[str]:
        self._load_plugins()
        return list(self._entries)

    def listed(self) -> list[Registered[T]]:
        """What is registered so far, without looking for plug-ins."""
        return list(self._entries.values())

    def __repr__(self) -> str:
        return f"<the registry of {self._plural()}: {len(self._entries)} presets>"

    def __iter__(self) -> Iterator[Registered[T]]:
        self._load_plugins()
        return iter(list(self._entries.values()))

    def __contains__(self, name: str) -> bool:
        self._load_plugins()
        return name in self._entries

    def _near(self, name: str) -> str:
        lowered = {known.lower(): known for known in self._entries}
        near = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.5)
        return f"; did you mean {lowered[near[0]]!r}?" if near else f"; see `showdown list {self._plural()}`"

    def _plural(self) -> str:
        return self.noun[:-1] + "ies" if self.noun.endswith("y") else self.noun + "s"

    def _load_plugins(self) -> None:
        """Import outside packages that declare the entry point `showdown.policy` or `showdown.problem`."""
        if self._plugins_loaded:
            return
        self._plugins_loaded = True
        for point in entry_points(group=f"showdown.{self.noun}"):
            point.load()


def _typed_again(old: Any, new: Any) -> bool:
    """Whether a class was defined again at a prompt, as a notebook does when a cell is run twice."""
    kinds = [type(layers(value)[-1]) for value in (old, new)]
    return {kind.__module__ for kind in kinds} == {"__main__"} and kinds[0].__name__ == kinds[1].__name__


def load_file(path: Path) -> None:
    """Run a Python file that registers policies or problems of its own; once, even if it is loaded several times.

    A TOML file holds presets: tables `policy.NAME` or `problem.NAME` with the `base` they vary and a table of `fields`.
    """
    if path.suffix == ".toml":
        _load_presets(path)
        return
    loaded = sys.modules.get(path.stem)
    if loaded is not None and loaded.__file__ and path.resolve() == Path(loaded.__file__).resolve():
        return
    if not path.is_file():
        raise UsageError(f"there is no file {path} to load")
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look the module up by name
    try:
        spec.loader.exec_module(module)
    except UsageError:
        raise
    except Exception as error:
        del sys.modules[path.stem]
        raise UsageError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error


def _load_presets(path: Path) -> None:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no file {path} to load") from None
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be loaded: {error}") from None
    for noun, presets in found.items():
        if noun not in registries or not isinstance(presets, dict):
            raise UsageError(f"{path} holds no presets: {noun!r} is none of {', '.join(registries)}")
        for name, preset in presets.items():
            if not isinstance(preset, dict) or not {"base"} <= preset.keys() <= {"base", "fields"}:
                raise UsageError(f"the preset {name!r} in {path} must have a base, may have fields, and nothing else")
            base, fields = preset["base"], preset.get("fields", {})
            if not isinstance(base, str) or not isinstance(fields, dict):
                raise UsageError(f"the base of {name!r} in {path} must be a name, and its fields a table")
            value = override(registries[noun].get(base), fields, base)
            value.check()
            registries[noun].add(name, value, base=base if base in registries[noun] else None)


def parse_name(text: str) -> tuple[str, dict[str, str]]:
    """`NAME[a=1,b=(2,3)]` → (NAME, {a: '1', b: '(2,3)'})."""
    text = text.strip()
    check_name("a name", text.partition("[")[0])
    check_name("a name with its overrides", text, LONGEST_SPELLING)
    if "[" not in text:
        return text, {}
    if not text.endswith("]"):
        raise UsageError(f"{text!r} opens a '[' and does not close it")
    name, _, inside = text[:-1].partition("[")
    changes: dict[str, str] = {}
    for part in split_outside_brackets(inside):
        field, equals, item = part.partition("=")
        if not equals or not field.strip() or not item.strip():
            raise UsageError(f"{part!r} in {text!r} is not of the form field=value")
        changes[field.strip()] = item.strip()
    return name.strip(), changes


def split_at_slashes(text: str) -> list[str]:
    """A preset and what goes around it: the parts between slashes that are outside of `[…]`, empty ones included."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "/" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def split_outside_brackets(text: str) -> list[str]:
    """The parts of a text between commas that are outside any bracket; empty parts are dropped."""
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(text):
        if letter in "[(":
            depth += 1
        elif letter in "])":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]
