"""What proposes candidates, one file each: a module here that defines `propose` is a sampler, named after its file.

`propose(space, places, values, count, seed)` gets what was measured so far, (candidates, dimensions) places in the unit
cube and finite values to make small, and returns (count, dimensions) places. It must depend on nothing else: a tuning
that was killed asks again and must get the same answer.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from typing import Protocol

import numpy as np

from showdown.basics.discover import defined
from showdown.basics.errors import UsageError
from showdown.tuning.space import Space


class Propose(Protocol):
    def __call__(self, space: Space, places: np.ndarray, values: np.ndarray, count: int, seed: int) -> np.ndarray: ...


def sampler_names() -> list[str]:
    found = (module.name for module in pkgutil.iter_modules(__path__) if module.name[0] != "_")
    return sorted(name.replace("_", "-") for name in found)


def sampler(name: str) -> Propose:
    if name not in sampler_names():
        near = difflib.get_close_matches(name, sampler_names(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sampler_names())}"
        raise UsageError(f"no sampler is called {name!r}; {hint}")
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    propose: Propose = defined(module, "propose")
    return propose
