"""A reward model of the user's own, for the direct method and doubly robust: any regressor of scikit-learn's kind.

It is given [context, features of the action, or a 0/1 for each action] and the reward, and asked for what every action
would pay. Rows are divided into folds and each fold is predicted by a copy that was fitted to the others, as the
project's own regression is (`estimators.py`). A classifier of rewards that are 0 or 1 gives probabilities.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.logged.estimators import FOLDS
from showdown.logged.log import Log

AT_ONCE = 1 << 22  # numbers of inputs that are predicted in one call


def predicted_by(model: Any, log: Log, seed: int = 0) -> np.ndarray:
    """What each action would pay in each row, (rows, num_actions), each row by a model that has not seen it."""
    if isinstance(model, type):
        raise UsageError(f"a reward model is an object, not a class: {model.__name__}()")
    if not (callable(getattr(model, "fit", None)) and callable(getattr(model, "predict", None))):
        raise UsageError(f"a reward model needs the methods fit and predict, and a {type(model).__name__} lacks them")
    folds = min(FOLDS, log.rows)
    fold = np.random.default_rng(seed).permutation(log.rows) % folds
    inputs = _inputs(log, np.arange(log.rows), log.actions)
    predicted = np.zeros((log.rows, log.num_actions))
    step = max(1, AT_ONCE // (log.num_actions * inputs.shape[1]))
    for number in range(folds):
        fitted = copy.deepcopy(model)
        fitted.fit(inputs[fold != number], log.rewards[fold != number])
        inside = np.flatnonzero(fold == number)
        for first in range(0, len(inside), step):
            rows = inside[first : first + step]
            everything = _inputs(log, np.repeat(rows, log.num_actions), np.tile(np.arange(log.num_actions), len(rows)))
            predicted[rows] = _values(fitted, everything).reshape(len(rows), log.num_actions)
    if not np.isfinite(predicted).all():
        raise UsageError(f"the reward model, a {type(model).__name__}, predicts rewards that are not finite")
    return predicted


def _inputs(log: Log, rows: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """[context, features of these actions] of rows; which action it is, where actions have no features."""
    features = log.features_of(rows, actions)
    if features is None:
        features = np.eye(log.num_actions, dtype=np.float32)[actions]
    return np.concatenate([log.contexts[rows], features], axis=1)


def _values(fitted: Any, inputs: np.ndarray) -> np.ndarray:
    classes = getattr(fitted, "classes_", None)
    if classes is None or not hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict(inputs), np.float64)
    return np.asarray(fitted.predict_proba(inputs) @ np.asarray(classes, np.float64), np.float64)
