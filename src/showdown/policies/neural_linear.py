"""Exact Bayesian linear regression per action on the last hidden layer of a greedy network.

The network learns the representation z(x); uncertainty comes from a regression with unknown noise on z, as LinFullPost
has on x. After every training z is computed anew for all of the past and the regressions are rebuilt from it; between
trainings each step is absorbed exactly. Until the first training z is that of the random network.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018; the idea is Snoek et al., "Scalable
Bayesian Optimization Using Deep Neural Networks", ICML 2015.

Differences from the paper
1. z has no intercept and the network's own output layer plays no part in decisions, as in the released code.
2. The released code lets an action's very first pull into its regression one step late; here it enters at once.
3. The value of an action is drawn from its Student-t law, which is the same as drawing noise, then coefficients.
4. In float32 the precision matrix of large or repeated features may not factor; its diagonal is then raised by a
   millionth part, or as much more as it takes.
5. The network's own differences are those of `greedy_network.py`.

Cost per step O(num_actions·width²); per refit the training, one forward pass of all t past contexts and
2·t·width² operations for the Gram matrices (chunks of 256 rows of one action, as many as t needs), then num_actions
factorisations; memory num_actions·width² floats per trial beside the network's.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import Values
from showdown.beliefs.linear import LinearState, StudentLinear
from showdown.config import at_least, config, integers, log, param, positive
from showdown.policies.registry import policies
from showdown.policies.rules import IDS, UCB, BestMean, SquareCB
from showdown.policies.shared.rms_network import RMSNetwork
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.policies.wrappers import Duel, WarmUp
from showdown.posteriors import moments, network
from showdown.posteriors.network import Network
from showdown.posteriors.training import Fit, Precision, precision_scope
from showdown.protocol.keys import role_key
from showdown.protocol.policy import History, Policy
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

CHUNK = 256  # rows of one action
TOGETHER = 8  # chunks whose features are held at once


class NeuralLinearState(NamedTuple):
    fit: Fit
    belief: LinearState


COLLAPSED = "collapsed features"  # among diagnostics


@config
class NeuralLinear(ValueThompson, RMSNetwork):
    numerics = 2  # 2: history is summed in chunks of 256 rows
    posteriors = 1
    training_steps: int = param(20, "t_s: optimiser steps per training", at_least(1), integers(10, 1000), small=2)
    prior_precision: float = param(0.25, "λ: ridge prior, coefficients ~ N(0, σ²I/λ)", positive, log(1e-3, 1e3))
    noise_shape: float = param(
        3.0, "a0: shape of the inverse-gamma prior on the noise variance", positive, log(1e-2, 1e2)
    )
    noise_rate: float = param(3.0, "b0: its rate", positive, log(1e-2, 1e2))
    posterior_precision: Precision = param("highest", "of features and Gram matrices: highest is full float32")

    @property
    def belief(self) -> StudentLinear:
        """What is believed of the last layer; rounding is not compensated, since every refit starts afresh."""
        return StudentLinear(
            prior_precision=self.prior_precision,
            noise_shape=self.noise_shape,
            noise_rate=self.noise_rate,
            compensated=False,
        )

    def init(self, key: jax.Array, spec: ProblemSpec) -> NeuralLinearState:
        width = self.sizes(spec)[-1][0]
        return NeuralLinearState(self.init_fit(key, spec), self.belief.init(spec.num_outputs, width))

    def features(self, parameters: Network, inputs: jax.Array) -> jax.Array:
        """z, (…, width)."""
        with precision_scope(self.posterior_precision):
            return network.features(parameters, inputs)

    def learned_features(self, state: NeuralLinearState, inputs: jax.Array) -> jax.Array:
        return self.features(state.fit.parameters, inputs)

    def scores(self, key: jax.Array, state: NeuralLinearState, situation: Situation) -> jax.Array:
        return self.belief.draw(key, state.belief, self.features(state.fit.parameters, situation.inputs))

    def values(self, state: NeuralLinearState, situation: Situation) -> Values:
        return self.belief.values(state.belief, self.features(state.fit.parameters, situation.inputs))

    def update(
        self, key: jax.Array, state: NeuralLinearState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> NeuralLinearState:
        design = self.features(state.fit.parameters, situation.inputs_of(action))
        owner = situation.spec.owner(action)
        return state._replace(belief=self.belief.observe(state.belief, design, owner, reward)[0])

    def refit(self, key: jax.Array, state: NeuralLinearState, history: History) -> NeuralLinearState:
        fit = self.train(role_key(key, "fit"), state.fit, self.batches(history))

        def rows(steps: jax.Array) -> tuple[jax.Array, jax.Array]:
            batch = history.at(steps)
            return self.features(fit.parameters, batch.inputs), batch.rewards

        collected = moments.collect_by_owner(
            rows,
            history.owners,
            history.count,
            *state.belief.regressions.mean.shape,
            chunk=CHUNK,
            together=TOGETHER,
            precision=self.posterior_precision,
        )
        return NeuralLinearState(fit, self.belief.rebuild(state.belief, collected))

    def diagnostics(self, state: NeuralLinearState) -> dict[str, jax.Array]:
        """Whether every feature is 0 for every context: then all values tie, and the first action is always played."""
        return {COLLAPSED: self.belief.is_blind(state.belief).astype(jnp.float32)}


def _neural_linear(noise_shape: float, noise_rate: float, prior_precision: float, training_steps: int) -> Policy:
    return WarmUp(
        inner=NeuralLinear(
            noise_shape=noise_shape,
            noise_rate=noise_rate,
            prior_precision=prior_precision,
            training_steps=training_steps,
        )
    )


policies.add("NeuralLinear", _neural_linear(3.0, 3.0, 0.25, 20))
policies.add("NeuralLinear-MR", _neural_linear(12.0, 30.0, 23.0, 50), base="NeuralLinear")
policies.add("NeuralLinear-SL", _neural_linear(38.0, 1.0, 1.5, 20), base="NeuralLinear")
policies.add(  # as Wang and Zhou 2020 play it, whose reset of the learning rate never took effect (docs/families.md)
    "NeuralLinear-1x50",
    WarmUp(
        inner=NeuralLinear(
            hidden_layers=(50,),
            training_steps=100,
            refit_every=50,
            learning_rate=0.1,
            learning_rate_decay=0.5,
            noise_shape=6.0,
            noise_rate=6.0,
        ),
        pulls=2,
    ),
    base="NeuralLinear",
)
policies.add("NeuralLinear-Duel", WarmUp(inner=Duel(inner=NeuralLinear())), base="NeuralLinear")
for _name, _rule in (("UCB", UCB), ("SquareCB", SquareCB), ("IDS", IDS), ("Greedy", BestMean)):
    policies.add(f"NeuralLinear-{_name}", WarmUp(inner=_rule(inner=NeuralLinear())), base="NeuralLinear")
