"""Ensemble+ on one of the networks that `Council` trains: members with prior functions; only the doubt differs.

All members see the same mini-batches; they differ by their first weights, their prior functions, the noise on their
targets and the units that dropout takes from them. What a member is: `ensemble_plus.py`.

Cost per refit `num_networks` times that of the network; per decision one forward pass of one member and its prior.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.network_features import Drawn, NetworkState, network_inputs
from showdown.config import between, config, integers, log, non_negative, param
from showdown.policies.registry import policies
from showdown.policies.shared.network_policy import NetworkPolicy, measured, row_normals
from showdown.policies.shared.prior_functions import Priors, first_rows
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import network
from showdown.posteriors.network import Network
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work
from showdown.tricks.threefry import key_of


class EnsembleNetworkState(NamedTuple):
    network: NetworkState  # its parameters have a leading axis of members
    priors: Priors
    noise_key: jax.Array  # (2,) words of the key that perturbs targets
    residual: jax.Array  # () s, in root mean square rewards


@config
class EnsembleNetwork(NetworkPolicy):
    reference = "Osband et al. 2023, https://arxiv.org/abs/2302.09205, after https://arxiv.org/abs/1806.03335 of 2018"
    numerics = 2  # 2: prior functions see contexts on one scale for ever
    num_networks: int = param(10, "how many members", between(1, 1000), integers(1, 20), small=2)
    prior_scale: float = param(
        1.0, "β: deviation of prior functions, in root mean square rewards", non_negative, log(0.03, 10)
    )
    target_noise: float = param(
        0.1, "σ: deviation of perturbed targets, in deviations of the residuals", non_negative, log(0.03, 3)
    )

    def init(self, key: jax.Array, spec: ProblemSpec) -> EnsembleNetworkState:
        def members(role: str) -> Network:
            keys = jax.random.split(role_key(key, role), self.num_networks)
            return jax.vmap(lambda each: self.features.new_network(each, spec))(keys)

        return EnsembleNetworkState(
            self.features.begin(members("networks")),
            Priors.start(members("priors"), self.num_networks),
            jax.random.key_data(role_key(key, "targets")),
            jnp.float32(1.0),
        )

    def scores(self, key: jax.Array, state: EnsembleNetworkState, situation: Situation) -> jax.Array:
        """In units of the root mean square reward, by one member."""
        pick = jax.random.randint(role_key(key, "pick"), (), 0, self.num_networks)
        member, prior = (
            jax.tree.map(lambda leaf: leaf[pick], each) for each in (state.network.averaged, state.priors.networks)
        )
        inputs = self.inputs(state.network, situation.inputs)
        raw = network.predict(prior, seen_by_priors(state, inputs))
        before = (raw - state.priors.mean[pick]) / state.priors.deviation[pick]
        return situation.by_action(network.predict(member, inputs) + self.prior_scale * before)

    def means(self, key: jax.Array, state: EnsembleNetworkState, situation: Situation) -> jax.Array:
        values = self.predict(state, state.network.averaged, self.inputs(state.network, situation.inputs))
        return situation.by_action(values.mean(axis=0))

    def predict(self, state: EnsembleNetworkState, members: Network, inputs: jax.Array) -> jax.Array:
        """What all members say, (networks, …, num_outputs)."""
        learned = jax.vmap(lambda each: network.predict(each, inputs))(members)
        return learned + self.prior_scale * state.priors.of(seen_by_priors(state, inputs))

    def retrained(self, key: jax.Array, state: EnsembleNetworkState, history: History) -> EnsembleNetworkState:
        now = measured(state.network, history)
        inputs, known = first_rows(history)
        scale = now.contexts.refit()
        priors = state.priors.measured(network_inputs(scale, inputs), known, history.count, scale.used)
        state = state._replace(network=now._replace(contexts=scale), priors=priors)
        batch = history.sample(role_key(key, "residual"), self.features.batch_size)
        values = self.predict(state, now.averaged, network_inputs(scale, batch.inputs)).mean(axis=0)
        residual = jnp.sqrt(jnp.mean((batch.played(values) - batch.rewards / now.unit) ** 2))
        return super().retrained(key, state._replace(residual=jnp.minimum(residual, 1.0)), history)

    def loss(
        self, key: jax.Array, state: EnsembleNetworkState, parameters: Network, drawn: Drawn, history: History
    ) -> jax.Array:
        """The sum of the members' mean squared errors, of which each moves one member."""
        keys = jax.random.split(key, self.num_networks)
        learned = jax.vmap(lambda each, member: self.features.predict(each, member, drawn.inputs))(keys, parameters)
        # a key for each member: one draw for all, transposed, did not compile on an H200 (JAX 0.11)
        members = jax.random.split(key_of(state.noise_key), self.num_networks)
        noise = jax.vmap(lambda each: row_normals(each, history.first + drawn.rows, 1)[:, 0])(
            members
        )  # (networks, size)
        targets = drawn.batch.rewards + self.target_noise * state.residual * noise
        priors = state.priors.of(seen_by_priors(state, drawn.inputs))
        values = drawn.batch.played(learned + self.prior_scale * priors)
        return jnp.sum(jnp.mean((values - targets) ** 2, axis=-1))

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        one = super().work(spec, horizon)
        return one._replace(steps=one.steps * self.num_networks, operations=one.operations * self.num_networks)


def seen_by_priors(state: EnsembleNetworkState, inputs: jax.Array) -> jax.Array:
    """What the prior functions see of the networks' inputs: contexts on the scale that they were measured with.

    The scale of contexts goes on settling for thousands of steps; with it the prior functions would move.
    """
    ratio = jnp.where(state.priors.scale > 0, state.network.contexts.used / state.priors.scale, 1.0)
    return jnp.concatenate([ratio * inputs[..., :-1], inputs[..., -1:]], axis=-1)


policies.add("Ensemble+-Net", WarmUp(inner=EnsembleNetwork()), base="Ensemble+")
