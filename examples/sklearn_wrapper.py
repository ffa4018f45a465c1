"""An agent as a scikit-learn estimator: `partial_fit` learns rewards of classes, `predict` says the best class.

    classifier = BanditClassifier(policy="LinFullPost")
    classifier.partial_fit(X[:100], y[:100], classes=[0, 1, 2])   # full feedback: reward 1 for the class, 0 for others
    action = classifier.choose(x)                                 # online: explores, as the policy decides
    classifier.learn(x, action, reward)

`fit` and `predict` make it comparable with classifiers: with full feedback the agent learns one reward per row and
class. `predict` takes the action with the largest probability, and does not explore.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from showdown.agent import Agent
from showdown.policies import policies


class BanditClassifier(ClassifierMixin, BaseEstimator):
    """A policy as a classifier. Features are standardised with the mean and deviation of the first batch."""

    def __init__(self, policy: str = "LinFullPost", seed: int = 0) -> None:
        self.policy = policy
        self.seed = seed

    def fit(self, X: Any, y: Any) -> BanditClassifier:
        for name in ("agent_", "classes_"):
            if hasattr(self, name):
                delattr(self, name)
        return self.partial_fit(X, y, classes=unique_labels(y))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> BanditClassifier:
        """Learn from rows whose class is known. The first call must name all classes."""
        X, y = validate_data(self, X, y, reset=not hasattr(self, "agent_"))
        check_classification_targets(y)
        if not hasattr(self, "agent_"):
            self._begin(X, y if classes is None else classes)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y holds classes that the first call did not name: {unknown.tolist()}")
        contexts, count = self._contexts(X), len(self.classes_)
        rows = np.repeat(contexts, count, axis=0)
        actions = np.tile(np.arange(count), len(X))
        self.agent_.learn_many(rows, actions, (np.repeat(y, count) == self.classes_[actions]).astype(float))
        return self

    def _begin(self, X: np.ndarray, classes: Any) -> None:
        self.classes_ = unique_labels(classes)
        if len(self.classes_) < 2:
            raise ValueError("there is nothing to choose between: y holds one class")
        self.mean_, deviation = X.mean(axis=0), X.std(axis=0)
        self.scale_ = np.where(deviation > 0, deviation, 1.0)
        sizes = {"context_dim": X.shape[1], "num_actions": len(self.classes_)}
        self.agent_ = Agent(policies.get(self.policy), **sizes, seed=self.seed)

    def _contexts(self, X: np.ndarray) -> np.ndarray:
        return (np.asarray(X, float) - self.mean_) / self.scale_

    def predict_proba(self, X: Any) -> np.ndarray:
        """With what probability the policy takes each class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.array([self.agent_.probabilities(row).values for row in self._contexts(X)])

    def predict(self, X: Any) -> np.ndarray:
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]

    # An agent has a lock and perhaps threads, so what is pickled is the file that it saves

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "agent_" in state:
            with TemporaryDirectory() as folder:
                state["agent_"].save(Path(folder) / "agent.npz")
                state["agent_"] = (Path(folder) / "agent.npz").read_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "agent_" in state:
            with TemporaryDirectory() as folder:
                (Path(folder) / "agent.npz").write_bytes(state["agent_"])
                self.agent_ = Agent.load(Path(folder) / "agent.npz")

    # Online, where only the reward of what was chosen is known

    def choose(self, x: Any) -> Any:
        check_is_fitted(self)
        return self.classes_[self.agent_.choose(self._contexts(np.asarray(x)))]

    def learn(self, x: Any, action: Any, reward: float) -> bool:
        check_is_fitted(self)
        number = int(np.flatnonzero(self.classes_ == action)[0])
        return self.agent_.learn(self._contexts(np.asarray(x)), number, reward)
