"""What every problem around another one is: spelled after its name, `wheel-0.5/drift`, and drawn by the same trials.

A wrapper is given the key of its inner problem and draws what is its own by a role of that key, so contexts and noise
are those that are played without it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax

from showdown.protocol.feedback import Feedback
from showdown.protocol.problem import Episode, Problem, ProblemSpec, Round, Tables


class ProblemWrapper(Problem):
    """A problem around another one, `inner`, which it leaves as it is unless a subclass says otherwise."""

    inner: Problem

    @property
    def horizon(self) -> int:
        return self.inner.horizon

    def with_horizon(self, horizon: int) -> ProblemWrapper:
        return replace(self, inner=self.inner.with_horizon(horizon))  # type: ignore[type-var]

    @property
    def has_labels(self) -> bool:
        return self.inner.has_labels

    def bandit_table(self) -> Any:
        return self.inner.bandit_table()

    def load(self) -> Tables:
        return self.inner.load()

    def spec(self, tables: Tables) -> ProblemSpec:
        return self.inner.spec(tables)

    def longest(self, tables: Tables) -> int | None:
        return self.inner.longest(tables)

    def draw_ahead(self, keys: jax.Array) -> None:
        self.inner.draw_ahead(keys)

    def begin(self, key: jax.Array, tables: Tables) -> Episode:
        return self.inner.begin(key, tables)

    def round(self, step: jax.Array, episode: Episode, tables: Tables) -> Round:
        return self.inner.round(step, episode, tables)

    def context(self, step: jax.Array, episode: Episode, tables: Tables) -> jax.Array:
        return self.inner.context(step, episode, tables)

    def action_features(self, step: jax.Array, episode: Episode, tables: Tables) -> jax.Array | None:
        return self.inner.action_features(step, episode, tables)

    @property
    def randomness(self) -> Problem:
        return self.inner.randomness


class ChangedProblem(ProblemWrapper):
    """A wrapper that changes what is seen or paid, and leaves alone when rewards become known."""

    @property
    def feedback(self) -> Feedback:
        return self.inner.feedback


class DrawnChange(ChangedProblem):
    """A changed problem whose trials draw something more: its episodes hold that of the inner one as `inner`."""

    def context(self, step: jax.Array, episode: Any, tables: Tables) -> jax.Array:
        return self.inner.context(step, episode.inner, tables)

    def action_features(self, step: jax.Array, episode: Any, tables: Tables) -> jax.Array | None:
        return self.inner.action_features(step, episode.inner, tables)
