"""`as_problem`: what a user has, as a problem."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.config.handed import Handed, describe, qualified, settings
from showdown.plain import libraries
from showdown.plain.rounds import Rounds
from showdown.plain.signatures import needed
from showdown.plain.simulators import Simulator
from showdown.problems.plain import PlainProblem
from showdown.protocol.in_python import DrawsTrials
from showdown.protocol.problem import Problem

PROBED = 3  # steps that are drawn to learn the sizes
ACCEPTED = (
    "a function of a random generator that returns (context, rewards), an object with `reset(rng)` and `step(action)`, "
    "an environment of Gymnasium with discrete actions or of coba, or a function without arguments that makes one of "
    "these"
)


def as_problem(value: Any, *, horizon: int | None = None) -> Problem:
    """A problem of a function, an object, a class or an environment of yours; what is a problem comes back as it is.

    A trial has `horizon` steps: 1000, or the attribute `horizon` of what was handed in.
    """
    if isinstance(value, Problem):
        return value if horizon is None else value.with_horizon(horizon)
    made = value
    if inspect.isclass(value) or (inspect.isroutine(value) and needed(value) == 0):
        if needed(value) > 0:
            raise UsageError(f"{describe(value)} is a class that needs arguments: hand in an object of it")
        made = value()
    draws = _drawing(made, value)
    longest = getattr(draws, "longest", None)
    steps = PROBED if longest is None else min(PROBED, longest)
    probe = copy.deepcopy(draws).draw(np.random.default_rng(0), steps)
    wanted = getattr(made, "horizon", None) if horizon is None else horizon
    if wanted is None:
        wanted = 1000 if longest is None else min(1000, longest)
    handed = Handed(draws)
    named = value if inspect.isroutine(value) else made
    return PlainProblem(
        name=qualified(named),
        settings=settings(named),
        code=handed.code,
        context_dim=probe.contexts.shape[1],
        num_actions=probe.rewards.shape[1],
        action_dim=0 if probe.features is None else probe.features.shape[2],
        masked=probe.available is not None,
        rows=longest,
        horizon=int(wanted),
        handed=handed,
    )


def _drawing(made: Any, given: Any) -> DrawsTrials:
    """What draws the trials of it."""
    found = libraries.draws(made)
    if found is not None:
        return found
    if hasattr(made, "reset") and hasattr(made, "step"):
        return Simulator(copy.deepcopy(made))
    if callable(made) and needed(made) == 1:
        return Rounds(made)
    raise UsageError(f"{describe(given)} is no problem: it must be {ACCEPTED}")
