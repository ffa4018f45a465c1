"""LMC-TS: gradient descent with noise walks through the posterior of a network's weights, and its last point decides.

With N rows, mean squared error L in mean squared rewards, temperature τ and h the learning rate of `features`, of which
decay and average are not used, one step is

    θ ← θ − h·P·(∇L + (w/N)·θ) + √(2·h·P·τ/N)·ε,   ε ~ N(0, I),

whose stationary law is exp(−(N·L + w·‖θ‖²/2)/τ). P is 1, or (1e-3 + root of the running mean squared gradient) to the
power −`preconditioning`. The walk goes on from where the last training ended; until the next one decisions are greedy.
`cooling` = 1 divides the noise by √N once more: the released code's, whose walk soon is gradient descent without noise.

Feel-good (`FG-LMC-TS`) subtracts λ·min(b, max_a f_a(x)) from the loss of each row: a reason to think contexts good.

Reference: Xu et al., "Langevin Monte Carlo for Contextual Bandits", ICML 2022; Zhang, "Feel-Good Thompson Sampling",
2021; Anand and Liaw, 2025. Differences from them: docs/policies/langevin.md.

Cost per refit that of the network's training and one random number per weight and update; memory two floats per weight.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.network_features import Drawn, NetworkState, network_inputs
from showdown.config import config, linear, log, non_negative, param, positive
from showdown.policies.registry import policies
from showdown.policies.shared.network_policy import PLAIN, NetworkPolicy, measured, or_nan
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import network
from showdown.posteriors.draws import normals_like
from showdown.posteriors.network import Network
from showdown.posteriors.training import precision_scope
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Greedy
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

MEMORY = 0.99  # of the running mean squared gradient
LEAST = 1e-3  # added to its root
SHARPNESS = 10.0  # of the smooth minimum in feel-good


class LangevinState(NamedTuple):
    network: NetworkState  # its optimiser is the running mean squared gradient


@config
class Langevin(NetworkPolicy, Greedy):
    reference = "Xu et al. 2022, https://arxiv.org/abs/2206.11254"
    temperature: float = param(0.01, "τ: of the posterior; twice the variance of noise", non_negative, log(1e-5, 1))
    prior_precision: float = param(0.1, "w: of the weights, times τ", non_negative, log(1e-3, 10))
    preconditioning: float = param(1.0, "power of 1 / root mean squared gradient; 0: none", non_negative, linear(0, 1))
    cooling: float = param(0.0, "1: noise falls by another √N, as in the released code", non_negative, linear(0, 1))
    feel_good: float = param(0.0, "λ: weight of the largest value in the loss", non_negative, linear(0, 1))
    feel_good_cap: float = param(
        1.0, "b: values above it are not rewarded, in root mean square rewards", positive, linear(0.1, 3)
    )

    def init(self, key: jax.Array, spec: ProblemSpec) -> LangevinState:
        start = self.features.begin(self.features.new_network(key, spec))
        squares = jax.tree.map(jnp.zeros_like, start.fit.parameters)
        return LangevinState(start._replace(fit=start.fit._replace(optimiser=squares)))

    def scores(self, key: jax.Array, state: LangevinState, situation: Situation) -> jax.Array:
        """In units of the root mean square reward."""
        inputs = self.inputs(state.network, situation.inputs)
        return situation.by_action(network.predict(state.network.averaged, inputs))

    def means(self, key: jax.Array, state: LangevinState, situation: Situation) -> jax.Array:
        return self.scores(key, state, situation)

    def loss(self, key: jax.Array, state: Any, parameters: Network, drawn: Drawn, history: History) -> jax.Array:
        values = self.features.predict(key, parameters, drawn.inputs)
        error = jnp.mean((drawn.batch.played(values) - drawn.batch.rewards) ** 2)
        return error - self.feel_good * jnp.mean(capped(values.max(axis=-1), self.feel_good_cap))

    def retrained(self, key: jax.Array, state: LangevinState, history: History) -> LangevinState:
        before, points = measured(state.network, history), history.count.astype(jnp.float32)
        scale, unit, features = before.contexts.refit(), before.unit, self.features
        heat = self.temperature / points / points**self.cooling

        def loss(key: jax.Array, parameters: Network, drawn: Drawn) -> jax.Array:
            return self.loss(key, state, parameters, drawn, history)

        def one_step(index: jax.Array, carried: tuple[Network, Network]) -> tuple[Network, Network]:
            step_key = jax.random.fold_in(key, index)
            rows = jax.random.randint(role_key(step_key, "batch"), (features.batch_size,), 0, history.count)
            batch = history.at(rows)
            batch = batch._replace(rewards=batch.rewards / unit)
            drawn = Drawn(rows, network_inputs(scale, batch.inputs), batch)
            parameters, squares = carried
            gradient = jax.grad(loss, argnums=1)(role_key(step_key, "loss"), parameters, drawn)
            squares = jax.tree.map(lambda old, each: old + (1 - MEMORY) * (each**2 - old), squares, gradient)
            scales = jax.tree.map(lambda each: (LEAST + jnp.sqrt(each)) ** -self.preconditioning, squares)
            gradient = jax.tree.map(lambda each, at: each + self.prior_precision / points * at, gradient, parameters)
            noise_key = role_key(step_key, "noise")
            return walk(noise_key, parameters, gradient, scales, features.learning_rate, heat), squares

        start = before.fit.parameters, before.fit.optimiser
        with precision_scope(features.training_precision):
            parameters, squares = jax.lax.fori_loop(0, features.updates(history.learned), one_step, start)
        fit = before.fit._replace(parameters=parameters, optimiser=squares)
        after = NetworkState(fit, parameters, scale, before.squares)
        return LangevinState(or_nan(key, features, after, history, loss))


def walk(key: jax.Array, parameters: Any, gradient: Any, scales: Any, step: Any, heat: Any) -> Any:
    """One step of Langevin dynamics with diagonal preconditioner `scales`, at temperature `heat`."""

    def moved(at: jax.Array, slope: jax.Array, scale: jax.Array, normal: jax.Array) -> jax.Array:
        return at - step * scale * slope + jnp.sqrt(2 * step * scale * heat) * normal

    return jax.tree.map(moved, parameters, gradient, scales, normals_like(key, parameters))


def capped(values: jax.Array, cap: jax.Array | float) -> jax.Array:
    """min(values, cap), smooth."""
    return cap - jax.nn.softplus(SHARPNESS * (cap - values)) / SHARPNESS


_code = Langevin(
    features=replace(PLAIN, hidden_layers=(100,), learning_rate=0.01),
    temperature=2e-4,
    prior_precision=2.0,
    preconditioning=0.0,
    cooling=1.0,
)
policies.add("LMC-TS", WarmUp(inner=_code))
policies.add("LMC-TS-Net", WarmUp(inner=Langevin()), base="LMC-TS")
policies.add("FG-LMC-TS", WarmUp(inner=replace(_code, feel_good=0.1)), base="LMC-TS")
policies.add("FG-LMC-TS-Net", WarmUp(inner=Langevin(feel_good=0.1)), base="LMC-TS")
