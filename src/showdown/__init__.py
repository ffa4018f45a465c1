"""showdown: the runnable showdown of exploration methods for contextual bandits."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Imported on first use, so that the command line answers before JAX is loaded.
_EXPORTS = {
    "policies": "showdown.policies",
    "problems": "showdown.problems",
    "simulate": "showdown.simulate",
    "Outcome": "showdown.simulate",
    "Policy": "showdown.policy",
    "Thompson": "showdown.policy",
    "Problem": "showdown.problem",
    "ProblemSpec": "showdown.problem",
    "Round": "showdown.problem",
    "Agent": "showdown.agent",
    "config": "showdown.config",
}

if TYPE_CHECKING:
    from showdown.agent import Agent as Agent
    from showdown.config import config as config
    from showdown.policies import policies as policies
    from showdown.policy import Policy as Policy
    from showdown.policy import Thompson as Thompson
    from showdown.problem import Problem as Problem
    from showdown.problem import ProblemSpec as ProblemSpec
    from showdown.problem import Round as Round
    from showdown.problems import problems as problems
    from showdown.simulate import Outcome as Outcome
    from showdown.simulate import simulate as simulate


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'showdown' has no attribute {name!r}")
    return getattr(import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
