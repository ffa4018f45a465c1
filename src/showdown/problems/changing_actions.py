"""Any problem whose actions are not always there.

Spelled after the name of the problem: `statlog/available[probability=0.8]`, `items/turnover[every=500,share=0.5]`.
Contexts, rewards and noise are those of the problem itself. Regret is against the best action that is available.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import at_least, config, param, probability, required
from showdown.problems.registry import problems
from showdown.problems.wrapper import DrawnChange
from showdown.protocol.keys import role_key
from showdown.protocol.problem import Episode, Problem, Round, Tables


class ChangingEpisode(NamedTuple):
    inner: Episode
    own: jax.Array  # what availability is drawn from


class ChangingActions(DrawnChange):
    """What both kinds share: a mask at every step, and with it all that the inner problem makes available."""

    def begin(self, key: jax.Array, tables: Tables) -> ChangingEpisode:
        size = self.spec(tables).num_actions
        return ChangingEpisode(self.inner.begin(key, tables), self.drawn(role_key(key, "available"), size))

    @abstractmethod
    def drawn(self, key: jax.Array, num_actions: int) -> jax.Array:
        """What a trial draws."""

    @abstractmethod
    def mask(self, step: jax.Array, own: jax.Array, num_actions: int) -> jax.Array:
        """Which actions are available at a step, (num_actions,) bool."""

    def round(self, step: jax.Array, episode: ChangingEpisode, tables: Tables) -> Round:
        found = self.inner.round(step, episode.inner, tables)
        mask = self.mask(step, episode.own, found.means.shape[0])
        if found.available is not None:
            both = mask & found.available
            mask = jnp.where(both.any(), both, found.available)
        return found._replace(available=mask)


@config
class Available(ChangingActions):
    """Each action is available with a probability, at each step anew; where none would be, one is."""

    inner: Problem = param(required, "the problem that is played")
    probability: float = param(0.8, "that an action is available", probability)

    def drawn(self, key: jax.Array, num_actions: int) -> jax.Array:
        return key

    def mask(self, step: jax.Array, own: jax.Array, num_actions: int) -> jax.Array:
        chances = jax.random.uniform(jax.random.fold_in(own, step), (num_actions,))
        return (chances < self.probability) | (chances == chances.min())


@config
class Turnover(ChangingActions):
    """Actions arrive and depart: every so many steps the one that was there longest leaves, and another one comes.

    A trial draws a circle of the actions, of which a window is available. One that has left comes back when the window
    has gone round.
    """

    inner: Problem = param(required, "the problem that is played")
    every: int = param(500, "steps between an arrival and the next", at_least(1))
    share: float = param(0.5, "of the actions that are there at a time; at least two are", probability)

    def drawn(self, key: jax.Array, num_actions: int) -> jax.Array:
        return jax.random.permutation(key, num_actions)  # the place of each action in the circle

    def mask(self, step: jax.Array, own: jax.Array, num_actions: int) -> jax.Array:
        present = jnp.maximum(jnp.round(self.share * num_actions).astype(jnp.int32), 2)
        return (own - step // self.every) % num_actions < present


problems.add_wrapper(
    "available", lambda inner: Available(inner=inner), "each action is available with this `probability` (0.8)"
)
problems.add_wrapper(
    "turnover",
    lambda inner: Turnover(inner=inner),
    "a `share` of the actions is there (0.5), and `every` so many steps (500) one leaves and one comes",
)
