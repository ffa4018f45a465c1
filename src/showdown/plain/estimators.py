"""One scikit-learn model that learns rewards, by `partial_fit` or fitted again to all of them on a schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from showdown.basics.errors import UsageError


class Estimator:
    """A model and the rewards that it has yet to learn, or all of them where it must be fitted again."""

    def __init__(self, model: Any, is_classifier: bool, refit_every: int) -> None:
        self.model, self.is_classifier = model, is_classifier
        self.in_parts = hasattr(model, "partial_fit")
        self.at_once = self.in_parts and refit_every == 1
        self.rows: list[np.ndarray] = []
        self.rewards: list[float] = []
        self.fitted = False
        self.constant: float | None = None  # what all rewards were so far, where a model cannot be fitted to them

    def value(self, row: np.ndarray) -> float:
        """The estimate for one row, (1, dim)."""
        if self.fitted:
            return float(self._predicted(row)[0])
        return np.inf if self.constant is None else self.constant

    def values(self, rows: np.ndarray) -> np.ndarray:
        if self.fitted:
            return self._predicted(rows)
        return np.full(len(rows), np.inf if self.constant is None else self.constant)

    def _predicted(self, rows: np.ndarray) -> np.ndarray:
        if not self.is_classifier:
            return np.asarray(self.model.predict(rows), float).reshape(len(rows))
        if hasattr(self.model, "predict_proba"):
            return np.asarray(self.model.predict_proba(rows)[:, 1], float)
        return np.asarray(self.model.predict(rows), float)  # the class itself: a hinge loss has no probabilities

    def learn(self, row: np.ndarray, reward: float, times: int) -> None:
        if self.is_classifier and reward not in (0.0, 1.0):
            raise UsageError(
                f"{type(self.model).__name__} predicts classes, and a reward of {reward:g} is neither 0 nor 1: take a "
                "regressor"
            )
        if self.at_once:
            for _ in range(times):
                self._fit_part(row[None], [reward])
        else:
            self.rows += [row] * times
            self.rewards += [reward] * times
            if not self.fitted and times:
                self.constant = float(np.mean(self.rewards))  # until it is fitted

    def _fit_part(self, rows: np.ndarray, rewards: list[float]) -> None:
        if self.is_classifier:
            self.model.partial_fit(rows, np.asarray(rewards, int), classes=[0, 1])
        else:
            self.model.partial_fit(rows, np.asarray(rewards))
        self.fitted = True

    def refit(self) -> None:
        """Learn what was collected."""
        if self.at_once or not self.rows:
            return
        if self.in_parts:
            self._fit_part(np.stack(self.rows), self.rewards)
            self.rows, self.rewards = [], []
        elif self.is_classifier and len(set(self.rewards)) < 2:
            self.constant = self.rewards[0]
        else:
            self.model.fit(np.stack(self.rows), np.asarray(self.rewards, int if self.is_classifier else float))
            self.fitted = True


def for_each(model: Any, count: int, rng: np.random.Generator, refit_every: int) -> list[Estimator]:
    """`count` unfitted copies of a model, whose random numbers are of this trial."""
    from sklearn.base import clone, is_classifier

    def fresh() -> Any:
        copied = clone(model)
        seeds = [name for name, item in copied.get_params().items() if name.endswith("random_state") and item is None]
        return copied.set_params(**{name: int(rng.integers(2**31)) for name in seeds}) if seeds else copied

    return [Estimator(fresh(), is_classifier(model), refit_every) for _ in range(count)]
