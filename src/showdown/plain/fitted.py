"""Learners of MABWiser and contextualbandits as policies (`pip install mabwiser`, `pip install contextualbandits`).

Both are fitted to decisions, rewards and contexts. Until there is something to fit to, actions are played in turn,
once each. Then a learner is fitted to these, and learns by `partial_fit` every `refit_every` rewards; one that cannot
is fitted again to all rewards so far.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.config.handed import describe
from showdown.protocol.in_python import Player
from showdown.protocol.problem import ProblemSpec

REFIT_EVERY = 100  # rewards, where a learner must be fitted again to all of them


class FittedLearner:
    """Begins the trials of a learner of either library."""

    def __init__(self, learner: Any, refit_every: int | None) -> None:
        self.is_mab = hasattr(learner, "arms")
        self.learner = learner if self.is_mab else _seeded(learner, 0)  # as handed in it may begin with any numbers
        self.in_parts = self.is_mab or _takes_parts(learner)
        self.refit_every = refit_every or (1 if self.in_parts else REFIT_EVERY)

    @property
    def num_actions(self) -> int:
        return len(self.learner.arms) if self.is_mab else int(self.learner.nchoices)

    def check(self, spec: ProblemSpec) -> None:
        if spec.action_dim:
            raise UsageError(f"{describe(self.learner)} cannot use features of actions, of which there are some here")
        if self.num_actions != spec.num_actions:
            raise UsageError(
                f"{describe(self.learner)} was made for {self.num_actions} actions, and the problem has "
                f"{spec.num_actions}"
            )

    def begin(self, spec: ProblemSpec, rng: np.random.Generator) -> Player:
        return FittedPlayer(self, spec, rng)


class FittedPlayer:
    """A learner in one trial."""

    takes_available = False

    def __init__(self, about: FittedLearner, spec: ProblemSpec, rng: np.random.Generator) -> None:
        self.about, self.count = about, spec.num_actions
        seed = int(rng.integers(2**31))
        self.learner: Any = (_seeded_mab if about.is_mab else _seeded)(about.learner, seed)
        self.arms = list(about.learner.arms) if about.is_mab else range(self.count)
        self.numbers = {arm: number for number, arm in enumerate(self.arms)}
        self.rows: list[tuple[np.ndarray, int, float]] = []  # to learn, or all so far
        self.turn, self.learned, self.fitted = 0, 0, False

    def choose(self, context: Any) -> int:
        if not self.fitted:
            self.turn += 1
            return (self.turn - 1) % self.count
        if self.about.is_mab:
            seen = [context] if self.learner.is_contextual else None
            return self.numbers[self.learner.predict(seen)]
        return int(self.learner.predict(context[None].astype(np.float64))[0])

    def learn(self, context: Any, action: int, reward: float) -> None:
        self.rows.append((context, action, reward))
        self.learned += 1
        due = self.learned % self.about.refit_every == 0
        if self.learned < self.count or not (due or self.learned == self.count):
            return
        contexts, actions, rewards = zip(*self.rows, strict=True)
        fit = self.learner.partial_fit if self.fitted and self.about.in_parts else self.learner.fit
        if self.about.is_mab:
            seen = np.stack(contexts) if self.learner.is_contextual else None
            fit([self.arms[number] for number in actions], list(rewards), seen)
        else:
            fit(np.stack(contexts).astype(np.float64), np.array(actions), np.array(rewards))
        self.fitted = True
        if self.about.in_parts:
            self.rows = []

    def probabilities(self, context: Any, available: Any = None, features: Any = None) -> None:
        """Neither library says with what probability it decides."""
        return


def _takes_parts(learner: Any) -> bool:
    """Whether `partial_fit` works: with `batch_train=True`, and for the linear ones."""
    return bool(getattr(learner, "batch_train", False)) or type(learner).__name__ in ("LinUCB", "LinTS")


def _seeded(learner: Any, seed: int) -> Any:
    """A copy whose random numbers are of this trial."""
    copied = copy.deepcopy(learner)
    copied.random_state = np.random.default_rng(seed)
    return copied


def _seeded_mab(mab: Any, seed: int) -> Any:
    return type(mab)(
        list(mab.arms), mab.learning_policy, mab.neighborhood_policy, seed=seed, n_jobs=mab.n_jobs, backend=mab.backend
    )
