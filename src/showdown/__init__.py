"""showdown: the runnable showdown of exploration methods for contextual bandits.

Nothing is imported here, so that the command line answers before JAX is loaded; what is named in `_LATER` is imported
when it is first asked for:

    import showdown
    from showdown.policies import policies
    from showdown.problems import problems
    from showdown.play.simulate import simulate

    showdown.evaluate("LinFullPost", "log.csv", action="action", reward="reward", propensity="propensity")
    showdown.recommend("customers.csv", label="bought")
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_LATER = {  # name → the module that defines it
    "evaluate": "showdown.logged.evaluate",
    "recommend": "showdown.recommendation.recommend",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'showdown' has no attribute {name!r}")
