"""showdown: exploration methods for contextual bandits, played against each other, chosen, and run.

    import showdown as sd

    results = sd.run(["LinFullPost", "NeuralLinear"], customers, label="bought")   # a DataFrame
    results                                                                       # a table and a verdict
    results.plot.curves()

Everything is imported when it is first asked for, so that `import showdown` and the command line answer before JAX is
loaded. docs/api.md is the guide.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from showdown.agent import Agent as Agent
    from showdown.api.list import list as list
    from showdown.api.open import open as open
    from showdown.api.own import policy as policy
    from showdown.api.own import problem as problem
    from showdown.api.recommend import recommend as recommend
    from showdown.api.results import Results as Results
    from showdown.api.run import run as run
    from showdown.api.tune import tune as tune
    from showdown.basics.errors import ShowdownError as ShowdownError
    from showdown.basics.errors import ShowdownWarning as ShowdownWarning
    from showdown.basics.errors import UsageError as UsageError
    from showdown.logged.evaluate import evaluate as evaluate

__version__ = "0.1.0"

_LATER = {  # name → the module that defines it
    "Agent": "showdown.agent",
    "Results": "showdown.api.results",
    "ShowdownError": "showdown.basics.errors",
    "UsageError": "showdown.basics.errors",
    "ShowdownWarning": "showdown.basics.errors",
    "evaluate": "showdown.logged.evaluate",
    "list": "showdown.api.list",
    "open": "showdown.api.open",
    "policy": "showdown.api.own",
    "problem": "showdown.api.own",
    "recommend": "showdown.api.recommend",
    "run": "showdown.api.run",
    "tune": "showdown.api.tune",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'showdown' has no attribute {name!r}; it has {', '.join(_LATER)}")


def __dir__() -> Iterable[str]:
    return sorted([*_LATER, "__version__", "__doc__"])
