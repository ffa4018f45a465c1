"""A greedy network whose every parameter is perturbed by Gaussian noise, afresh for each decision.

After each training, or as often as contexts were played since the last, the noise is adapted: on 300 past contexts,
the clean and one perturbed network are compared by the mean KL divergence of the softmax of their outputs. Below the
threshold δ = −ln(1 − ε + ε/num_actions), the divergence of an ε-greedy policy, the noise grows by 1 %; above it, it
shrinks. Then ε is multiplied by 0.99.

Reference: Plappert et al., "Parameter Space Noise for Exploration", ICLR 2018; settings from Riquelme, Tucker, Snoek,
"Deep Bayesian Bandits Showdown", ICLR 2018.

Differences from the paper
1. ε decays geometrically, as in the released code; the paper says linearly.
2. The released code adapts the noise once per training. The noise of the -MR and -SL rows would then still be 0.4 and
   0.9 when financial ends, and they play at random (98 and 100 % of Uniform's regret; published 20 and 11). Those two
   presets adapt once per context (`adapt_per="context"`), all at the refit, since the belief stands still in between.
   -MR is thus reproduced, -SL nearer than before but not; the numbers are in docs/policies/parameter-noise.md.
3. ε is a probability, yet the -MR and -SL rows start it at 1.5 and 2. With k actions δ does not exist above k/(k − 1):
   the released code compares with NaN, so the noise shrinks until ε has decayed so far. (With two actions 1.5 gives a δ
   of 1.39 and 2 an infinite one, and the noise grows.) Those two presets keep that (`threshold="published"`); by
   default ε is taken as at most 1.
4. The KL divergence is computed from log-softmax; exponentials of raw outputs overflow, and the released code then
   reads a distance of zero.
5. Layer norm is on, as the paper says; the released demonstration leaves it off.
6. A decision draws each layer's perturbed pre-activations instead of its perturbed weights: the same law, since every
   decision has fresh noise, with a few hundred random numbers instead of tens of thousands.
7. The network's own differences are those of `greedy_network.py`.

Cost and memory as the greedy network, plus two forward passes of 300 contexts each time the noise is adapted.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import at_least, config, integers, linear, log, param, positive
from showdown.policies.registry import PAPER, policies
from showdown.policies.shared.rms_network import RMSNetwork
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import network
from showdown.posteriors.draws import normals, normals_like
from showdown.posteriors.network import Network
from showdown.posteriors.training import Fit, precision_scope
from showdown.protocol.keys import role_key
from showdown.protocol.policy import History, Policy
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

ADAPTATION = 1.01  # factor by which the noise grows or shrinks each time it is adapted


class ParameterNoiseState(NamedTuple):
    fit: Fit
    deviation: jax.Array  # () current noise of every parameter
    epsilon: jax.Array  # () current ε of the ε-greedy policy to match


@config
class ParameterNoise(RMSNetwork):
    numerics = 2  # 2: random numbers of an adaptation are drawn by its index
    sees_action_features = False  # the noise is adapted by the law over all actions that one network gives
    reference = f"Plappert et al. 2018, https://arxiv.org/abs/1706.01905; {PAPER}"
    layer_norm: bool = param(True, "normalise the units of each hidden layer")
    noise: float = param(0.01, "σ: initial standard deviation of the noise on every parameter", positive, log(1e-3, 10))
    epsilon: float = param(
        0.01, "ε: initial level of the ε-greedy policy whose divergence is the target", positive, log(1e-3, 3)
    )
    epsilon_decay: float = param(
        0.99, "ε is multiplied by this each time the noise is adapted", positive, linear(0.9, 1)
    )
    adapt_per: Literal["training", "context"] = param(
        "training", "how often: after each training, or once per context played"
    )
    distance_samples: int = param(
        300, "past contexts on which clean and perturbed outputs are compared", at_least(1), integers(50, 1000), small=8
    )
    threshold: Literal["clamped", "published"] = param("clamped", "ε above 1: taken as 1, or put into δ as released")

    def init(self, key: jax.Array, spec: ProblemSpec) -> ParameterNoiseState:
        noise, epsilon = (jnp.asarray(value, jnp.float32) for value in (self.noise, self.epsilon))
        return ParameterNoiseState(self.init_fit(key, spec), noise, epsilon)

    def scores(self, key: jax.Array, state: ParameterNoiseState, situation: Situation) -> jax.Array:
        return predict_perturbed(key, state.fit.parameters, situation.context, state.deviation)

    def refit(self, key: jax.Array, state: ParameterNoiseState, history: History) -> ParameterNoiseState:
        fit = self.train(role_key(key, "fit"), state.fit, self.batches(history))
        state, adapt_key = state._replace(fit=fit), role_key(key, "adapt")

        def adapt(index: jax.Array, state: ParameterNoiseState) -> ParameterNoiseState:
            return self.adapt(jax.random.fold_in(adapt_key, index), state, history)

        with precision_scope(self.training_precision):
            return jax.lax.fori_loop(0, self.refit_every if self.adapt_per == "context" else 1, adapt, state)

    def adapt(self, key: jax.Array, state: ParameterNoiseState, history: History) -> ParameterNoiseState:
        """The noise one step nearer to its target, and ε decayed."""
        clean = state.fit.parameters
        contexts = history.sample(role_key(key, "contexts"), self.distance_samples).contexts
        perturbed = perturb(role_key(key, "noise"), clean, state.deviation)
        distance = softmax_divergence(network.predict(clean, contexts), network.predict(perturbed, contexts))
        grow = distance < self.target(state.epsilon, history.spec.num_actions)
        deviation = jnp.where(grow, state.deviation * ADAPTATION, state.deviation / ADAPTATION)
        return state._replace(deviation=deviation, epsilon=state.epsilon * self.epsilon_decay)

    def target(self, epsilon: jax.Array, num_actions: int) -> jax.Array:
        """δ; where it is undefined, NaN: no distance lies below it."""
        if self.threshold == "clamped":
            epsilon = jnp.minimum(epsilon, 1.0)
        return -jnp.log(1 - epsilon + epsilon / num_actions)


def perturb(key: jax.Array, parameters: Network, deviation: jax.Array) -> Network:
    """Every parameter plus independent noise."""
    noise = normals_like(key, parameters)
    return jax.tree.map(lambda leaf, normal: leaf + deviation * normal, parameters, noise)


def predict_perturbed(key: jax.Array, parameters: Network, context: jax.Array, deviation: jax.Array) -> jax.Array:
    """The values `perturb` would give for this one context, drawn layer by layer.

    x·(W + σE) is Gaussian about x·W with deviation σ‖x‖, independent over units.
    """
    values = context
    noise = normals(key, [(3, *layer.bias.shape) for layer in parameters])
    for layer, (on_product, on_bias, on_scale) in zip(parameters, noise, strict=True):
        values = values @ layer.weights + deviation * jnp.linalg.norm(values) * on_product
        if layer.scale is not None:
            values = network.normalise(values) * (layer.scale + deviation * on_scale)
        values = values + layer.bias + deviation * on_bias
        if layer is not parameters[-1]:
            values = jax.nn.relu(values)
    return values


def softmax_divergence(clean: jax.Array, noisy: jax.Array) -> jax.Array:
    """Mean over rows of KL(softmax(clean) ‖ softmax(noisy)), rounding below zero removed."""
    clean, noisy = jax.nn.log_softmax(clean), jax.nn.log_softmax(noisy)
    return jnp.mean(jnp.maximum(jnp.sum(jnp.exp(clean) * (clean - noisy), axis=-1), 0.0))


def _noise(noise: float, epsilon: float, **fields) -> Policy:
    return WarmUp(inner=ParameterNoise(noise=noise, epsilon=epsilon, **fields))


policies.add("ParamNoise", _noise(0.01, 0.01))
_tuned = {"training_steps": 20, "adapt_per": "context", "threshold": "published"}
policies.add("ParamNoise-MR", _noise(2.6, 1.5, **_tuned), base="ParamNoise")
policies.add("ParamNoise-SL", _noise(1.8, 2.0, refit_every=50, **_tuned), base="ParamNoise")
policies.add("ParamNoise@linear", _noise(0.01, 0.01, hidden_layers=(), layer_norm=False), base="ParamNoise")
policies.add(
    "ParamNoise2@linear",
    _noise(0.01, 0.01, hidden_layers=(), layer_norm=False, training_steps=800),
    base="ParamNoise",
)
