"""Several networks, each trained on its own random part of the data: the base of the bootstrap and of Ensemble+.

What differs from the papers is said in `policies/bootstrap.py`, the family that adds nothing to it.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import at_least, config, integers, linear, param, positive_probability
from showdown.policies.registry import PAPER
from showdown.policies.shared.rms_network import RMSNetwork
from showdown.posteriors.network import Network
from showdown.posteriors.training import Fit
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Batch, History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work
from showdown.tricks.threefry import key_of


class BootstrapState(NamedTuple):
    fits: Fit  # every array with a leading axis of networks
    member_key: jax.Array  # (2,) words of the key that decides who learns from what


@config
class Bootstrap(RMSNetwork):
    reference = f"Osband et al. 2016, https://arxiv.org/abs/1602.04621; {PAPER}"
    num_networks: int = param(10, "q: how many networks", at_least(1), integers(1, 20), small=2)
    inclusion_probability: float = param(
        1.0, "p: probability that a point enters a network's data", positive_probability, linear(0.3, 1)
    )

    def init(self, key: jax.Array, spec: ProblemSpec) -> BootstrapState:
        keys = jax.random.split(role_key(key, "networks"), self.num_networks)
        fits = jax.vmap(lambda each: self.init_fit(each, spec))(keys)
        return BootstrapState(fits, jax.random.key_data(role_key(key, "members")))

    def scores(self, key: jax.Array, state: BootstrapState, situation: Situation) -> jax.Array:
        def values_of(parameters: Network) -> jax.Array:
            return self.values_by(partial(self.predict, role_key(key, "predict"), parameters), situation)

        values = jax.vmap(values_of)(state.fits.parameters)  # (networks, num_actions)
        return values[jax.random.randint(role_key(key, "pick"), (), 0, self.num_networks)]

    def refit(self, key: jax.Array, state: BootstrapState, history: History) -> BootstrapState:
        lists, counts = own_steps(self.members(state.member_key, history))

        def train_one(key: jax.Array, fit: Fit, steps: jax.Array, count: jax.Array) -> Fit:
            def draw(key: jax.Array) -> Batch:
                return history.at(steps[jax.random.randint(key, (self.batch_size,), 0, count)])

            return self.train(key, fit, draw)

        keys = jax.random.split(key, self.num_networks)
        return state._replace(fits=jax.vmap(train_one)(keys, state.fits, lists, counts))

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        one = super().work(spec, horizon)
        return one._replace(steps=one.steps * self.num_networks, operations=one.operations * self.num_networks)

    def members(self, member_key: jax.Array, history: History) -> jax.Array:
        """Whether each network learns from each step played, (networks, capacity)."""
        key = key_of(member_key)
        steps = jnp.arange(history.actions.shape[0], dtype=jnp.int32)
        numbers = history.first + steps  # a row that moves forward in the history stays with its networks
        draws = jax.vmap(lambda step: jax.random.uniform(jax.random.fold_in(key, step), (self.num_networks,)))(numbers)
        inside = (draws < self.inclusion_probability) | (steps == 0)[:, None]
        return (inside & (steps < history.count)[:, None]).T


def own_steps(members: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Each network's own steps, moved to the front of its row, (networks, capacity), and how many there are."""
    steps = jnp.arange(members.shape[1], dtype=jnp.int32)

    def front(row: jax.Array) -> jax.Array:
        place = jnp.where(row, jnp.cumsum(row) - 1, row.shape[0])
        return jnp.zeros_like(steps).at[place].set(steps, mode="drop")

    return jax.vmap(front)(members), jnp.sum(members, axis=1, dtype=jnp.int32)
