"""Asking an Optuna study, rebuilt in memory from what was measured; needs `pip install 'bandit-showdown[tune]'`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.tuning.space import Dimension, Space


def ask(
    make: Callable[[ModuleType], Any], space: Space, places: np.ndarray, values: np.ndarray, count: int
) -> np.ndarray:
    """`make` gets Optuna's samplers. Trials that are asked for and not finished count as running."""
    try:
        import optuna
    except ImportError:
        raise UsageError(
            "this sampler needs Optuna: pip install 'bandit-showdown[tune]', or take --sampler gp"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    distributions = {row.name: _distribution(optuna.distributions, row) for row in space.dimensions}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of experimental features
        try:
            study = optuna.create_study(direction="minimize", sampler=make(optuna.samplers))
            for place, value in zip(places, values, strict=True):
                params = {name: _plain(item) for name, item in space.candidate(place).items()}
                trial = optuna.trial.create_trial(params=params, distributions=distributions, value=float(value))
                study.add_trial(trial)
            asked = [study.ask(fixed_distributions=distributions).params for _ in range(count)]
        except ImportError as error:
            raise UsageError(f"this sampler needs a further package: {error}") from None
    return space.places([{name: _tuple(item) for name, item in params.items()} for params in asked])


def _distribution(kinds: ModuleType, row: Dimension) -> Any:
    search = row.search
    if search.scale == "choices":
        return kinds.CategoricalDistribution([_plain(option) for option in search.options])
    if search.scale == "integers":
        return kinds.IntDistribution(int(search.low or 0), int(search.high or 0))
    return kinds.FloatDistribution(float(search.low or 0.0), float(search.high or 0.0), log=search.scale == "log")


def _plain(item: Any) -> Any:
    """The item as Optuna's categories take it: numbers and text stay, a tuple becomes text."""
    return repr(item) if isinstance(item, tuple) else item


def _tuple(item: Any) -> Any:
    import ast

    return ast.literal_eval(item) if isinstance(item, str) and item.startswith("(") else item
