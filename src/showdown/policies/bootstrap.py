"""Several greedy networks, each trained on its own random part of the data; one, picked at random, makes each decision.

Reference: Osband, Blundell, Pritzel, Van Roy, "Deep Exploration via Bootstrapped DQN", NeurIPS 2016; settings from
Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018.

Differences from the paper
1. A point enters a network's data once or not at all, never twice: the released code's rule. The very first point
   enters all of them.
2. The network's own differences are those of `greedy_network.py`.

Whether step t belongs to network i is a hash of (trial, t, i), so nothing is stored for it. Each refit lists every
network's own steps anew and draws its batches from that list: exactly uniform, always full size.

Cost per step and per refit that of `num_networks` greedy networks, plus num_networks·horizon hashes per refit; memory
`num_networks` times the greedy network's, and about 3·num_networks·horizon·4 bytes per trial while refitting.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import at_least, config, integers, linear, param, positive_probability
from showdown.policies.registry import PAPER, policies
from showdown.policies.shared.rms_network import RMSNetwork
from showdown.policies.wrappers import WarmUp
from showdown.posteriors.network import Network
from showdown.posteriors.training import Fit
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Batch, History, Policy
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
        draws = jax.vmap(lambda step: jax.random.uniform(jax.random.fold_in(key, step), (self.num_networks,)))(steps)
        inside = (draws < self.inclusion_probability) | (steps == 0)[:, None]
        return (inside & (steps < history.count)[:, None]).T


def own_steps(members: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Each network's own steps, moved to the front of its row, (networks, capacity), and how many there are."""
    steps = jnp.arange(members.shape[1], dtype=jnp.int32)

    def front(row: jax.Array) -> jax.Array:
        place = jnp.where(row, jnp.cumsum(row) - 1, row.shape[0])
        return jnp.zeros_like(steps).at[place].set(steps, mode="drop")

    return jax.vmap(front)(members), jnp.sum(members, axis=1, dtype=jnp.int32)


def _bootstrap(num_networks: int, inclusion_probability: float, **fields) -> Policy:
    return WarmUp(inner=Bootstrap(num_networks=num_networks, inclusion_probability=inclusion_probability, **fields))


policies.add("BootstrappedNN", _bootstrap(10, 1.0))
policies.add("BootstrappedNN-MR", _bootstrap(2, 0.95, training_steps=50, refit_every=50), base="BootstrappedNN")
policies.add("BootstrappedNN-SL", _bootstrap(3, 0.92, training_steps=20, refit_every=20), base="BootstrappedNN")
policies.add("BootstrappedNN@linear", _bootstrap(5, 0.85, hidden_layers=()), base="BootstrappedNN")
policies.add("BootstrappedNN2@linear", _bootstrap(5, 1.0, hidden_layers=()), base="BootstrappedNN")
policies.add("BootstrappedNN3@linear", _bootstrap(10, 1.0, hidden_layers=()), base="BootstrappedNN")
