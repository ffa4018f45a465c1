"""Finding the modules of a package, so that adding a file is enough and no list has to be kept."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

from showdown.basics.errors import UsageError


def import_modules(package: str, path: Iterable[str], first: Sequence[str] = ()) -> dict[str, ModuleType]:
    """Every module of a package by name, imported; those named `first` in that order, the others by name."""
    found = sorted(module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_"))
    ordered = [*(name for name in first if name in found), *(name for name in found if name not in first)]
    return {name: importlib.import_module(f"{package}.{name}") for name in ordered}


def defined(module: ModuleType, name: str) -> Any:
    """What a module that was found in its folder must define; raises UsageError where it does not."""
    if not hasattr(module, name):
        raise UsageError(f"{module.__file__} does not define {name!r}, as every file of {module.__package__} must")
    return getattr(module, name)
