"""Any problem behind a feedback: the same trials, whose rewards come late or in batches.

Spelled after the name of the problem: `wheel-0.5/delay[steps=50]`, `statlog/random-delay[mean=200]`,
`statlog/batched[size=100]`. Regret is counted at the step of the decision, whenever its reward comes; rewards that have
not come by the end are never learned.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax

from showdown.config import config, param, required
from showdown.problems.registry import problems
from showdown.protocol.feedback import Batched, Delay, Feedback, RandomDelay
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


@config
class Late(ProblemWrapper):
    """The trials of `inner`, with rewards that become known when `feedback` says."""

    inner: Problem = param(required, "the problem that is played")
    feedback: Feedback = param(required, "when rewards become known")

    @property
    def randomness(self) -> Problem:
        return self.inner.randomness


problems.add_wrapper(
    "delay", lambda inner: Late(inner=inner, feedback=Delay()), "each reward comes `steps` decisions later (100)"
)
problems.add_wrapper(
    "random-delay",
    lambda inner: Late(inner=inner, feedback=RandomDelay()),
    "each reward has a delay of its own, `mean` decisions on average (100)",
)
problems.add_wrapper(
    "batched",
    lambda inner: Late(inner=inner, feedback=Batched()),
    "rewards come when all `size` decisions of a batch are made (100)",
)
