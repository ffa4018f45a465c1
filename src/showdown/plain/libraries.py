"""Which library an object comes from, and what makes a policy or a problem of it; nothing is imported to find out."""

from __future__ import annotations

import copy
from typing import Any

from showdown.protocol.in_python import DrawsTrials, PlaysTrials


def plays(value: Any, refit_every: int | None) -> PlaysTrials | None:
    """What begins the trials of a learner of another library; None for what comes from none of them."""
    if isinstance(value, str) and value.lstrip().startswith("-"):
        from showdown.plain.vowpal import VowpalWabbit

        return VowpalWabbit(value)
    if _is_from(value, "vowpalwabbit"):
        from showdown.plain.vowpal import VowpalWabbit, options_of

        return VowpalWabbit(options_of(value))
    if _is_from(value, "coba") or (hasattr(value, "predict") and hasattr(value, "score") and hasattr(value, "learn")):
        from showdown.plain.coba import CobaLearner

        return CobaLearner(copy.deepcopy(value))
    if _is_from(value, "mabwiser", "contextualbandits"):
        from showdown.plain.fitted import FittedLearner

        return FittedLearner(copy.deepcopy(value), refit_every)
    return None


def draws(value: Any) -> DrawsTrials | None:
    """What draws the trials of an environment of another library; None for what comes from none of them."""
    if hasattr(value, "action_space") and hasattr(value, "observation_space"):
        from showdown.plain.gymnasium import Environment
        from showdown.plain.simulators import Simulator

        return Simulator(Environment(copy.deepcopy(value)))
    if _is_from(value, "coba") and not hasattr(value, "predict"):
        from showdown.plain.coba import CobaRows, only_one

        return CobaRows(only_one(value))
    return None


def _is_from(value: Any, *packages: str) -> bool:
    return any(base.__module__.partition(".")[0] in packages for base in type(value).__mro__)
