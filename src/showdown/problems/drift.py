"""Any problem in a world that changes: at given steps, a little at every step, or as the rows of a table do.

Spelled after the name of the problem: `statlog/drift[at=(5000,10000)]`, `wheel-0.5/walk[deviation=0.01]`,
`table[path=sales.csv,label=bought]/in-order`. Contexts and noise are those of the problem without a change. Regret is
against the action that is best now.

- `drift`: at each of these steps every action takes over what another one paid. A trial draws a circle of the actions
  and how far it is turned each time, so no action goes on as before. Where actions have features it is their
  coordinates that are turned, which means that coefficients change places.
- `walk`: what an action pays is raised by a random walk of its own. Where actions have features each coefficient has
  one: the raise is (features)ᵀw.
- `in-order`: rows of a table as they stand, not shuffled. All trials then have the same rows, and differ by the
  policy's own chance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.config import config, non_negative, param, required, sizes
from showdown.problems.registry import problems
from showdown.problems.rows import LabelledRows, RowsEpisode
from showdown.problems.wrapper import ChangedProblem, DrawnChange
from showdown.protocol.keys import role_key
from showdown.protocol.problem import Episode, Problem, Round, Tables


class DriftEpisode(NamedTuple):
    inner: Episode
    order: Any  # (size,) the circle of actions, or of the coordinates of their features
    place: Any  # (size,) where each is in it
    turned: Any  # (changes + 1,) how far it is turned after each change


@config
class Drift(DrawnChange):
    """At given steps, every action takes over what another one paid."""

    inner: Problem = param(required, "the problem that changes")
    at: int | tuple[int, ...] = param(1000, "the step, or steps, from which on things are different", sizes)

    def check(self) -> None:
        super().check()
        if not self.steps or sorted(set(self.steps)) != list(self.steps):
            raise UsageError(f"the steps of a drift must be ascending, not {self.at}")
        if 0 < self.horizon <= self.steps[-1]:  # a table whose file is not read yet has a horizon of 0
            raise UsageError(
                f"a trial has {self.horizon} steps, counted from 0, so drift[at={self.steps[-1]}] would never come; "
                "name an earlier step, or play a longer horizon"
            )

    @property
    def steps(self) -> tuple[int, ...]:
        return (self.at,) if isinstance(self.at, int) else self.at

    def begin(self, key: jax.Array, tables: Tables) -> DriftEpisode:
        spec = self.spec(tables)
        size, own = spec.action_dim or spec.num_actions, role_key(key, "drift")
        order = jax.random.permutation(role_key(own, "circle"), size)
        place = jnp.zeros_like(order).at[order].set(jnp.arange(size))
        turns = jax.random.randint(role_key(own, "turns"), (len(self.steps),), 1, max(2, size))
        turned = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(turns, dtype=jnp.int32)])
        return DriftEpisode(self.inner.begin(key, tables), order, place, turned)

    def whose(self, step: jax.Array, episode: DriftEpisode) -> jax.Array:
        """Return, for each action or coordinate, the one whose place it has taken, (size,)."""
        changes = jnp.sum(step >= jnp.array(self.steps, jnp.int32), dtype=jnp.int32)
        size = episode.order.shape[0]
        return episode.order[(episode.place + episode.turned[changes]) % size]

    def round(self, step: jax.Array, episode: DriftEpisode, tables: Tables) -> Round:
        found, whose = self.inner.round(step, episode.inner, tables), self.whose(step, episode)
        if found.features is not None:
            return found._replace(features=found.features[:, whose])
        available = None if found.available is None else found.available[whose]
        return found._replace(rewards=found.rewards[whose], means=found.means[whose], available=available)

    def action_features(self, step: jax.Array, episode: DriftEpisode, tables: Tables) -> jax.Array | None:
        features = super().action_features(step, episode, tables)
        return None if features is None else features[:, self.whose(step, episode)]


class WalkEpisode(NamedTuple):
    inner: Episode
    path: jax.Array  # (horizon, actions or action_dim)


@config
class Walk(DrawnChange):
    """What each action pays is raised by a random walk."""

    inner: Problem = param(required, "the problem that changes")
    deviation: float = param(0.01, "standard deviation of one step of the walk", non_negative)

    @property
    def has_labels(self) -> bool:
        return False  # the best action is no longer the label

    def begin(self, key: jax.Array, tables: Tables) -> WalkEpisode:
        spec = self.spec(tables)
        shape = (self.horizon, spec.action_dim or spec.num_actions)
        steps = jax.random.normal(role_key(key, "walk"), shape)
        return WalkEpisode(self.inner.begin(key, tables), self.deviation * jnp.cumsum(steps, axis=0))

    def round(self, step: jax.Array, episode: WalkEpisode, tables: Tables) -> Round:
        found, raised = self.inner.round(step, episode.inner, tables), episode.path[step]
        if found.features is not None:
            raised = jnp.matmul(found.features, raised, precision="highest")
        return found._replace(rewards=found.rewards + raised, means=found.means + raised)


@config
class InOrder(ChangedProblem):
    """The rows of a table in their own order."""

    inner: Problem = param(required, "the problem over a table")

    def check(self) -> None:
        super().check()
        if not isinstance(self.inner, LabelledRows):
            raise UsageError(
                f"in-order goes directly behind a problem over the rows of a table, and {type(self.inner).__name__} is "
                "none: table[path=FILE,label=COLUMN]/in-order"
            )

    def begin(self, key: jax.Array, tables: Tables) -> RowsEpisode:
        assert isinstance(self.inner, LabelledRows)
        return self.inner.in_order(jnp.arange(self.horizon, dtype=jnp.int32), tables)


problems.add_wrapper(
    "drift",
    lambda inner: Drift(inner=inner),
    "from step `at` on (1000; or several: (500,900)) actions swap what they pay",
)
problems.add_wrapper(
    "walk", lambda inner: Walk(inner=inner), "what actions pay follows a random walk with steps of `deviation` (0.01)"
)
problems.add_wrapper("in-order", lambda inner: InOrder(inner=inner), "the rows of a table in their own order")
