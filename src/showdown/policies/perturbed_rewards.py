"""Perturbed rewards: a greedy network, trained on rewards with noise. It has no belief; the noise makes it explore.

At each training the targets are r_i + a·s·z_i with z_i ~ N(0, 1) drawn afresh for the training and kept within it, and
s the deviation of the residuals; until the next training all decisions are greedy. In a linear model that is a draw
from the posterior, but for the prior.

`NPR` perturbs rewards. `EVILL` perturbs the loss instead, by a linear function of the weights θ: with θ̂ the weights
before the training it adds the sum of 2a·s·z_i·∇f_i(θ̂)ᵀθ over rows, and 2a·s·√λ·Zᵀθ, the prior's part. For squared
errors and a linear model both are the same, and the second is the exact posterior.

Reference: Jia et al., "Learning Neural Contextual Bandits Through Perturbed Rewards", ICLR 2022; Janz et al.,
"Exploration via linearly perturbed loss minimisation", AISTATS 2024. Differences: docs/policies/perturbed-rewards.md.

Cost and memory as the greedy network; EVILL trains with one more forward pass of two networks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.dropout_features import DropoutFeatures
from showdown.beliefs.network_features import Drawn, NetworkState, network_inputs
from showdown.config import config, log, non_negative, param
from showdown.policies.registry import policies
from showdown.policies.shared.network_policy import PLAIN, NetworkPolicy, measured, row_normals
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import network
from showdown.posteriors.draws import normals_like
from showdown.posteriors.network import Network
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Greedy
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.tricks.threefry import key_of


class PerturbedState(NamedTuple):
    network: NetworkState
    noise_key: jax.Array  # (2,) words of the key that perturbs the targets of a training
    residual: jax.Array  # () s, in root mean square rewards


@config
class PerturbedRewards(NetworkPolicy, Greedy):
    reference = "Jia et al. 2022, https://arxiv.org/abs/2201.09910; Janz et al. 2024, https://arxiv.org/abs/2311.07565"
    perturb: Literal["rewards", "loss"] = param("rewards", "NPR perturbs rewards, EVILL the loss")
    scale: float = param(1.0, "a: deviation of the noise, in deviations of the residuals", non_negative, log(0.03, 10))
    least_scale: float = param(
        0.1, "least deviation of the noise over a, in root mean square rewards", non_negative, log(0.01, 1)
    )
    prior_precision: float = param(1.0, "λ: of the prior's part in EVILL's noise", non_negative, log(1e-3, 10))

    def init(self, key: jax.Array, spec: ProblemSpec) -> PerturbedState:
        start = self.features.begin(self.features.new_network(role_key(key, "network"), spec))
        return PerturbedState(start, jax.random.key_data(role_key(key, "targets")), jnp.float32(1.0))

    def scores(self, key: jax.Array, state: PerturbedState, situation: Situation) -> jax.Array:
        """In units of the root mean square reward."""
        inputs = self.inputs(state.network, situation.inputs)
        return situation.by_action(network.predict(state.network.averaged, inputs))

    def means(self, key: jax.Array, state: PerturbedState, situation: Situation) -> jax.Array:
        return self.scores(key, state, situation)

    def retrained(self, key: jax.Array, state: PerturbedState, history: History) -> PerturbedState:
        now = measured(state.network, history)
        batch = history.sample(role_key(key, "residual"), self.features.batch_size)
        inputs = network_inputs(now.contexts.refit(), batch.inputs)
        error = batch.played(network.predict(now.averaged, inputs)) - batch.rewards / now.unit
        residual = jnp.clip(jnp.sqrt(jnp.mean(error**2)), self.least_scale, 1.0)
        return super().retrained(key, state._replace(residual=residual), history)

    def loss(
        self, key: jax.Array, state: PerturbedState, parameters: Network, drawn: Drawn, history: History
    ) -> jax.Array:
        batch, predicted = drawn.batch, self.features.predict(key, parameters, drawn.inputs)
        this_training = jax.random.fold_in(key_of(state.noise_key), history.first + history.count)
        noise = self.scale * state.residual * row_normals(this_training, drawn.rows, 1)[:, 0]
        if self.perturb == "rewards":
            return jnp.mean((batch.played(predicted) - batch.rewards - noise) ** 2)
        start = state.network.fit.parameters  # θ̂
        moved = jax.tree.map(jnp.subtract, parameters, start)
        _, change = jax.jvp(lambda each: network.predict(each, drawn.inputs), (start,), (moved,))  # ∇f(θ̂)ᵀ(θ − θ̂)
        products = jax.tree.map(jnp.vdot, normals_like(role_key(this_training, "prior"), moved), moved)
        prior = self.scale * state.residual * jnp.sqrt(self.prior_precision) * sum(jax.tree.leaves(products))
        linear = jnp.mean(noise * batch.played(change)) + prior / history.count.astype(jnp.float32)
        return jnp.mean((batch.played(predicted) - batch.rewards) ** 2) + 2 * linear


_published = replace(PLAIN, hidden_layers=(100,))
_last = replace(DropoutFeatures(), averaging=0.0)  # an average over trainings would average their noise away
policies.add("NPR", WarmUp(inner=PerturbedRewards(features=_published)))
policies.add("NPR-Net", WarmUp(inner=PerturbedRewards(features=_last)), base="NPR")
policies.add("EVILL", WarmUp(inner=PerturbedRewards(features=_published, perturb="loss")), base="NPR")
policies.add("EVILL-Net", WarmUp(inner=PerturbedRewards(features=_last, perturb="loss")), base="NPR")
