"""Rich-BLL: neural-linear whose prior covariance comes from the tangent kernel of the whole network.

NeuralLinear lets only the last layer vary, with the same prior variance in every direction of its features φ. But the
layers below may vary too. To first order they add ψ_a(x)ᵀψ_a(x') to the covariance of values of action a, with ψ_a the
gradient to all weights below the last layer. Regressed on φ this is a prior covariance of the last layer alone,

    coefficients of action a ~ N(0, σ²·(I + s·B_aᵀB_a)/λ),   ψ_a ≈ B_a φ  over `rows` contexts drawn from history,

and everything else stays conjugate and of the size of the last layer (`posteriors/tangent_kernel.py`). The noise
variance σ² is the mean of recent squared prediction errors, or what NeuralLinear believes of it (`noise`).

Reference: Calvo-Ordoñez et al., ICML 2026, https://arxiv.org/abs/2602.01279.

Differences from the paper
1. It was known here from its abstract and a review only; no code was found. That the model is a prior covariance, in
   closed form for any depth and with layer norm, was worked out here and is tested against gradients.
2. The prior is recomputed after every training, and is I/λ before the first.
3. "Recent" is an average in which an error of n steps ago has weight 0.99^n. The mean is that of the regression.
4. The network of `Rich-BLL` is that of NeuralLinear, not one in μP. s = 1, as there is no other reading of the kernel.

Cost per step as NeuralLinear; per refit rows²·(width·layers + dim)·num_actions operations more; no more memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.beliefs.belief import Values
from showdown.beliefs.dropout_features import DropoutFeatures
from showdown.beliefs.features import Features, FeatureState
from showdown.beliefs.linear import LinearState, StudentLinear
from showdown.beliefs.network_features import check_one_network
from showdown.config import at_least, config, integers, log, non_negative, param, positive
from showdown.policies.registry import policies
from showdown.policies.rules import UCB, BestMean
from showdown.policies.shared.refit_beliefs import moments_of
from showdown.policies.shared.rms_features import RMSFeatures
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import moments as all_at_once
from showdown.posteriors import tangent_kernel
from showdown.posteriors.network import Network
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work

RECENT = 0.01  # weight of the newest squared error


@runtime_checkable
class HasNetwork(Protocol):
    """Features that are the last layer of a network."""

    def tangents(self, state: FeatureState, inputs: jax.Array) -> tuple[Network, jax.Array, float]: ...


class RichState(NamedTuple):
    features: FeatureState
    belief: LinearState
    error: jax.Array  # () weighted sum of squared prediction errors
    weight: jax.Array  # () of their weights


@config
class RichLastLayer(ValueThompson):
    """Bayesian regression on the last layer of a network, with a prior from the network's tangent kernel."""

    reference = "Calvo-Ordoñez et al. 2026, https://arxiv.org/abs/2602.01279"
    sees_action_features = True

    features: Features = param(RMSFeatures(), "the network")
    belief: StudentLinear = param(
        StudentLinear(prior_precision=0.25, noise_shape=3.0, noise_rate=3.0, compensated=False), "about its last layer"
    )
    strength: float = param(
        1.0, "s: how much the layers below count; 0 is NeuralLinear's prior", non_negative, log(0.1, 10)
    )
    noise: Literal["recent", "belief"] = param("recent", "its variance: mean of recent squared errors, or as believed")
    rows: int = param(
        256, "N: contexts of the regression of gradients on features", at_least(1), integers(64, 1024), small=8
    )
    ridge: float = param(1e-3, "of that regression, in units of the mean squared feature", positive, log(1e-6, 0.1))

    @property
    def refit_every(self) -> int:
        return self.features.refit_every

    def check(self) -> None:
        super().check()
        if not isinstance(self.features, HasNetwork):
            raise UsageError(f"Rich-BLL needs features of a network, and {type(self.features).__name__} has none")
        check_one_network(self.features, "Rich-BLL")

    def init(self, key: jax.Array, spec: ProblemSpec) -> RichState:
        start = self.belief.init(spec.num_outputs, self.features.dim(spec))
        return RichState(self.features.init(key, spec), start, jnp.float32(0), jnp.float32(0))

    def values(self, state: RichState, situation: Situation) -> Values:
        return self._rescaled(state, self.belief.values(state.belief, self._design(state, situation)))

    def scores(self, key: jax.Array, state: RichState, situation: Situation) -> jax.Array:
        design = self._design(state, situation)
        draw = self.belief.draw(key, state.belief, design)
        if self.noise == "belief":
            return draw
        values = self.belief.values(state.belief, design)
        return values.mean + self._factor(state, values) * (draw - values.mean)

    def update(
        self, key: jax.Array, state: RichState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> RichState:
        inputs, owner = situation.inputs_of(action), situation.spec.owner(action)
        features = self.features.observe(state.features, inputs, reward)
        design = self.features.design(features, inputs)
        error = (reward - jnp.sum(state.belief.regressions.mean[owner] * design)) ** 2
        return RichState(
            features,
            self.belief.observe(state.belief, design, owner, reward)[0],
            (1 - RECENT) * state.error + RECENT * error,
            (1 - RECENT) * state.weight + RECENT,
        )

    def refit(self, key: jax.Array, state: RichState, history: History) -> RichState:
        def redo() -> RichState:
            features = self.features.refit(key, state.features, history)
            known = moments_of(self.features, self.features.dim(history.spec), features, history)
            prior = self.prior(features, history.sample(role_key(key, "rows"), self.rows).inputs)
            regressions, noise = all_at_once.posterior(known, prior, self.belief.noise_shape, self.belief.noise_rate)
            return state._replace(
                features=features, belief=self.belief.replaced(state.belief, regressions, known.gram, noise)
            )

        return jax.lax.cond(self.features.is_due(history), redo, lambda: state)

    def prior(self, features: FeatureState, inputs: jax.Array) -> jax.Array:
        """The prior precision of each owner's coefficients, (owners, dim, dim), from some inputs, (rows, input_dim)."""
        assert isinstance(self.features, HasNetwork)
        network, seen, scale = self.features.tangents(features, inputs)
        if len(network) == 1:
            raise UsageError("Rich-BLL takes its prior from the layers below the last, and hidden_layers=() has none")
        kernel = scale**2 * tangent_kernel.hidden_kernel(network, seen)
        designs = self.features.design(features, inputs)
        return self.belief.prior_precision * tangent_kernel.last_layer_prior(kernel, designs, self.strength, self.ridge)

    def learned_features(self, state: RichState, inputs: jax.Array) -> jax.Array | None:
        return self.features.learned(state.features, inputs)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return self.features.work(spec, horizon, posteriors=1)

    def _design(self, state: RichState, situation: Situation) -> jax.Array:
        return self.features.design(state.features, situation.inputs)

    def _rescaled(self, state: RichState, values: Values) -> Values:
        """The values with the noise that recent errors show, where that is asked for."""
        if self.noise == "belief":
            return values
        factor = self._factor(state, values)
        noise = None if values.noise is None else values.noise * factor**2
        return values._replace(spread=values.spread * factor, noise=noise)

    def _factor(self, state: RichState, values: Values) -> jax.Array:
        """The deviation of recent errors in units of the deviation of noise that is believed, (num_actions,)."""
        assert values.noise is not None
        return jnp.sqrt(state.error / jnp.maximum(state.weight, RECENT) / values.noise)


_rich = RichLastLayer()
policies.add("Rich-BLL", WarmUp(inner=_rich))
policies.add("Rich-BLL-Greedy", WarmUp(inner=BestMean(inner=_rich)), base="Rich-BLL")
policies.add("Rich-BLL-UCB", WarmUp(inner=UCB(inner=_rich)), base="Rich-BLL")
policies.add("Rich-BLL-Net", WarmUp(inner=replace(_rich, features=DropoutFeatures())), base="Rich-BLL")
