"""A problem around another one: what all of them share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax

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

    def begin(self, key: jax.Array, tables: Tables) -> Episode:
        return self.inner.begin(key, tables)

    def round(self, step: jax.Array, episode: Episode, tables: Tables) -> Round:
        return self.inner.round(step, episode, tables)

    def context(self, step: jax.Array, episode: Episode, tables: Tables) -> jax.Array:
        return self.inner.context(step, episode, tables)

    def action_features(self, step: jax.Array, episode: Episode, tables: Tables) -> jax.Array | None:
        return self.inner.action_features(step, episode, tables)
