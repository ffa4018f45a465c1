"""Networks that each carry a random function of their own, which only data can outweigh; one makes each decision.

Member i predicts f_i(x) + β·M·p_i(x): f_i is trained, p_i is a network of the same shape that never is (its prior
function), and M is the root mean square reward. Where there is data f_i learns to cancel p_i; elsewhere members
disagree by about β·M. Each member's targets are also perturbed, r + σ·s·w with w ~ N(0, 1) fixed for a member and a
step and s the deviation of the residuals, so that members disagree about noise as a posterior does.

f_i is fitted to r + σ·s·w − β·M·p_i(x), so the trainer is that of `bootstrap.py` (here, `Ensemble+`) or that of the
network of `Council`'s (`ensemble_plus_network.py`, `Ensemble+-Net`), unchanged.

Reference: Osband, Aslanides, Cassirer, "Randomized Prior Functions for Deep Reinforcement Learning", NeurIPS 2018; Lu
and Van Roy, "Ensemble Sampling", NeurIPS 2017. Differences from them: docs/policies/ensemble-plus.md.

Cost and memory as `bootstrap.py`, and one more forward pass of every row and context.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import config, log, non_negative, param
from showdown.policies.registry import policies
from showdown.policies.shared.bootstrapped import Bootstrap, BootstrapState, own_steps
from showdown.policies.shared.network_policy import row_normals
from showdown.policies.shared.prior_functions import Priors, first_rows
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import network, training
from showdown.posteriors.training import Fit, precision_scope
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Batch, Situation
from showdown.tricks.threefry import key_of


class EnsembleState(NamedTuple):
    ensemble: BootstrapState
    priors: Priors
    unit: jax.Array  # () M at the last refit
    residual: jax.Array  # () s at the last refit


@config
class Ensemble(Bootstrap):
    """Bootstrapped networks with prior functions and perturbed targets."""

    reference = "Osband et al. 2023, https://arxiv.org/abs/2302.09205, after https://arxiv.org/abs/1806.03335 of 2018"
    prior_scale: float = param(
        1.0, "β: deviation of prior functions, in root mean square rewards", non_negative, log(0.03, 10)
    )
    target_noise: float = param(
        0.1, "σ: deviation of perturbed targets, in deviations of the residuals", non_negative, log(0.03, 3)
    )

    def init(self, key: jax.Array, spec: ProblemSpec) -> EnsembleState:
        keys = jax.random.split(role_key(key, "priors"), self.num_networks)
        priors = jax.vmap(lambda each: network.init(each, self.sizes(spec), self.initial_scale, self.layer_norm))(keys)
        start = Priors.start(priors, self.num_networks)
        return EnsembleState(super().init(key, spec), start, jnp.float32(1.0), jnp.float32(1.0))

    def values(self, state: EnsembleState, situation: Situation) -> jax.Array:
        """The values of all members, (networks, num_actions)."""

        def predict(inputs: jax.Array) -> jax.Array:
            learned = jax.vmap(lambda each: network.predict(each, inputs))(state.ensemble.fits.parameters)
            return learned + self.prior_scale * state.unit * state.priors.of(inputs)

        values = predict(situation.inputs)  # (networks, [num_actions,] num_outputs)
        return values if situation.features is None else values[..., 0]

    def scores(self, key: jax.Array, state: EnsembleState, situation: Situation) -> jax.Array:
        return self.values(state, situation)[jax.random.randint(role_key(key, "pick"), (), 0, self.num_networks)]

    def means(self, key: jax.Array, state: EnsembleState, situation: Situation) -> jax.Array:
        return self.values(state, situation).mean(axis=0)

    def refit(self, key: jax.Array, state: EnsembleState, history: History) -> EnsembleState:
        known = jnp.arange(history.rewards.shape[0]) < history.count
        square = jnp.sum(jnp.where(known, history.rewards**2, 0.0)) / jnp.maximum(history.count, 1).astype(jnp.float32)
        unit = jnp.where(square > 0, jnp.sqrt(square), 1.0)
        with precision_scope(self.training_precision):
            priors = state.priors.measured(*first_rows(history), history.count)
            state = state._replace(priors=priors, unit=unit)
            state = state._replace(residual=self.residual(role_key(key, "residual"), state, history))
        members = state.ensemble.member_key
        lists, counts = own_steps(self.members(members, history))
        noise_key = role_key(key_of(members), "targets")

        def train_one(key: jax.Array, number: jax.Array, fit: Fit, steps: jax.Array, count: jax.Array) -> Fit:
            prior = jax.tree.map(lambda leaf: leaf[number], priors.networks)

            def draw(key: jax.Array) -> Batch:
                rows = steps[jax.random.randint(key, (self.batch_size,), 0, count)]
                batch = history.at(rows)
                noise = row_normals(jax.random.fold_in(noise_key, number), history.first + rows, 1)[:, 0]
                before = (network.predict(prior, batch.inputs) - priors.mean[number]) / priors.deviation[number]
                moved = self.target_noise * state.residual * noise - self.prior_scale * unit * batch.played(before)
                return batch._replace(rewards=batch.rewards + moved)

            return self.train(key, fit, draw)

        keys = jax.random.split(key, self.num_networks)
        numbers = jnp.arange(self.num_networks, dtype=jnp.int32)
        fits = jax.vmap(train_one)(keys, numbers, state.ensemble.fits, lists, counts)
        return state._replace(ensemble=state.ensemble._replace(fits=fits))

    def residual(self, key: jax.Array, state: EnsembleState, history: History) -> jax.Array:
        """s: the root mean square error of the members' mean on a batch of the past, at most the unit, ()."""
        batch = history.sample(key, self.batch_size)
        learned = jax.vmap(lambda each: network.predict(each, batch.inputs))(state.ensemble.fits.parameters)
        mean = jnp.mean(learned + self.prior_scale * state.unit * state.priors.of(batch.inputs), axis=0)
        error = training.mean_squared_error(batch.played(mean), batch.rewards)
        return jnp.minimum(jnp.sqrt(error), state.unit)


policies.add("Ensemble+", WarmUp(inner=Ensemble()))
