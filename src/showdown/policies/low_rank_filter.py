"""HiLoFi and LRKF: a Kalman filter over the weights of a network. No replay, constant memory, a constant step.

Every reward moves all weights at once, through a Gaussian belief about them, and is then forgotten. `HiLoFi` keeps the
full covariance Σ_a of each action's last layer, w_a, and a factor C of `rank` rows for that of the hidden weights θ:
Cov θ ≈ CᵀC. `LRKF` has one factor for all weights. With the derivative j of the action's output by θ, its design
z = [last hidden layer / √width, 1] and error e, in units of the largest root mean square of rewards so far,

    S = R + ‖Cj‖² + q‖j‖² + zᵀΣ_a z,   K = (CᵀCj + qj) / S,   θ ← θ + K e,   w_a ← w_a + Σ_a z e / S,
    C ← the largest `rank` directions of [C − (Cj)Kᵀ ; √(R + zᵀΣ_a z) Kᵀ],   Σ_a ← Σ_a − Σ_a z zᵀ Σ_a / S.

C grows by a row in each step and is cut back every `BUFFER` steps, through the eigenvectors of its Gram matrix. q lets
weights drift outside of the directions that are kept: it is the step of plain gradient descent. R is a floor plus a
share of the running mean squared error of the action. A decision draws one θ and one w_a for each action; the value of
all actions under the drawn θ is one directional derivative.

Reference: Duran-Martin et al., "Low-rank Kalman filtering for online Bayesian neural networks", 2025; Chang et al.,
"Low-rank extended Kalman filtering for online learning of neural networks from streaming data", CoLLAs 2023.
Differences from them: docs/policies/low-rank-filter.md.

Cost per step 4·rank·weights + num_actions·width², and (rank + BUFFER)³ every `BUFFER` steps; memory rank·weights +
num_actions·width² floats, whatever the number of steps. There is no refit and no history.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from showdown.beliefs.belief import Values
from showdown.beliefs.features import ContextScale, root_or_one
from showdown.beliefs.network_features import he_network, network_inputs
from showdown.config import between, config, integers, linear, log, non_negative, param, positive, sizes
from showdown.policies.registry import policies
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import network, regression
from showdown.posteriors.draws import cut
from showdown.posteriors.network import Network
from showdown.posteriors.training import precision_scope
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.tricks.threefry import shape_of_keys

BUFFER = 8  # steps between two truncations
MEMORY = 200.0  # pulls over which the mean squared error is averaged
SETTLED = 100.0  # contexts after which their scale stands still
TINY = 1e-6  # of the largest eigenvalue: below it a direction is rounding


class FilterState(NamedTuple):
    weights: jax.Array  # (weights,) θ
    factor: jax.Array  # (rank + BUFFER, weights) C
    heads: Any  # regression.Regressions of the last layer; None where it is among the weights
    error: jax.Array  # (owners,) running mean squared error, in squares of the unit
    pulls: jax.Array  # (owners,)
    contexts: ContextScale
    squares: jax.Array  # () sum of squared rewards
    unit: jax.Array  # () the largest root mean square that rewards have had so far


@config
class LowRankFilter(ValueThompson):
    """Thompson sampling with a low-rank Gaussian belief about the weights of a network."""

    reference = "Duran-Martin et al. 2025, https://arxiv.org/abs/2506.11898"
    numerics = 2  # 2: the unit of rewards never falls, and each action has a noise of its own
    hidden_layers: tuple[int, ...] = param((100, 100), "units of each hidden layer", sizes, small=(4,))
    layer_norm: bool = param(True, "normalise the units of each hidden layer", small=True)
    last_layer: Literal["full", "low-rank"] = param("full", "covariance of the last layer: HiLoFi's or LRKF's")
    rank: int = param(
        20, "r: directions of weights whose variance is kept", between(1, 1000), integers(1, 100), small=2
    )
    variance: float = param(1.0, "prior variance of each direction", positive, log(1e-3, 100))
    last_variance: float = param(1.0, "prior variance of the last layer's weights", positive, log(1e-3, 100))
    drift: float = param(1e-4, "q: variance that every weight gains in a step", non_negative, log(1e-7, 1e-2))
    noise_floor: float = param(1e-4, "least variance of noise, in mean squared rewards", positive, log(1e-5, 1))
    noise_share: float = param(0.1, "share of the mean squared error that is noise", non_negative, linear(0, 1))
    draw_noise: float = param(0.0, "share of the noise in draws of values", non_negative, linear(0, 1))
    exploration: float = param(1.0, "deviation of draws, in those of the belief", non_negative, linear(0, 2))

    sees_action_features = True  # as inputs, beside the context; the network then has one output

    def init(self, key: jax.Array, spec: ProblemSpec) -> FilterState:
        weights, _ = ravel_pytree(self._filtered(self._new_network(role_key(key, "network"), spec)))
        heads = None
        if self.last_layer == "full":
            width = (spec.input_dim + 1, *self.hidden_layers)[-1]
            heads = regression.prior(spec.num_outputs, width + 1, 1 / self.last_variance)
        directions = self._directions(role_key(key, "factor"), weights.size)
        factor = jnp.concatenate([directions, jnp.zeros((BUFFER, weights.size))])
        zeros, zero = jnp.zeros(spec.num_outputs), jnp.float32(0.0)
        return FilterState(weights, factor, heads, zeros + 1, zeros, ContextScale.start(), zero, zero + 1)

    def _directions(self, key: jax.Array, size: int) -> jax.Array:
        """The first rows of C: random directions of unit length, or all of the axes where the rank allows it."""
        if self.rank >= size:
            return jnp.sqrt(self.variance) * jnp.eye(self.rank, size)
        rows = jax.random.normal(key, (self.rank, size))
        return jnp.sqrt(self.variance) * rows / jnp.linalg.norm(rows, axis=1, keepdims=True)

    def _new_network(self, key: jax.Array, spec: ProblemSpec) -> Network:
        layers = network.layer_sizes(spec.input_dim + 1, self.hidden_layers, spec.num_outputs)
        return he_network(key, layers, self.layer_norm)

    def _filtered(self, parameters: Network) -> Network:
        """The layers whose weights are in θ."""
        return parameters if self.last_layer == "low-rank" else parameters[:-1]

    def _layers(self, weights: jax.Array, spec: ProblemSpec) -> Network:
        """θ as layers."""
        shapes = self._filtered(jax.eval_shape(partial(self._new_network, spec=spec), shape_of_keys()))
        leaves, structure = jax.tree.flatten(shapes)
        return jax.tree.unflatten(structure, cut(weights, [leaf.shape for leaf in leaves]))

    def outputs(self, state: FilterState, inputs: jax.Array, spec: ProblemSpec) -> Callable[[jax.Array], jax.Array]:
        """The function from θ to the outputs for one input, (num_outputs,)."""
        return lambda weights: self._predict(self._layers(weights, spec), state, inputs)

    def _predict(self, parameters: Network, state: FilterState, inputs: jax.Array) -> jax.Array:
        if state.heads is None:
            return network.predict(parameters, inputs)
        return state.heads.mean @ design_of(parameters, inputs)

    def design(self, state: FilterState, inputs: jax.Array, spec: ProblemSpec) -> jax.Array:
        """z, (width + 1,)."""
        return design_of(self._layers(state.weights, spec), inputs)

    def noise(self, state: FilterState) -> jax.Array:
        """R of each owner, in squares of the unit, (owners,)."""
        return self.noise_floor + self.noise_share * state.error

    def scores(self, key: jax.Array, state: FilterState, situation: Situation) -> jax.Array:
        spec, extra = situation.spec, self.draw_noise * self.noise(state)
        inputs = network_inputs(state.contexts, situation.inputs)
        with precision_scope("highest"):
            direction = jax.random.normal(role_key(key, "weights"), state.factor.shape[:1]) @ state.factor

            def of(inputs: jax.Array) -> tuple[jax.Array, jax.Array]:
                return jax.jvp(self.outputs(state, inputs, spec), (state.weights,), (direction,))

            mean, move = of(inputs) if situation.features is None else jax.vmap(of)(inputs)
            mean, move = situation.by_action(mean), situation.by_action(move)
            if state.heads is not None and situation.features is not None:  # one set of coefficients for all actions
                designs = jax.vmap(lambda each: self.design(state, each, spec))(inputs)
                directions = regression.projections(state.heads, designs)
                move += directions @ jax.random.normal(role_key(key, "heads"), directions.shape[-1:])
            elif state.heads is not None:
                extra = extra + regression.variance(state.heads, self.design(state, inputs, spec))
            move += jnp.sqrt(extra) * jax.random.normal(role_key(key, "values"), mean.shape)
        return state.unit * (mean + self.exploration * move)

    def values(self, state: FilterState, situation: Situation) -> Values:
        """The law of each action's value on its own; draws of several are correlated."""
        spec, inputs = situation.spec, network_inputs(state.contexts, situation.inputs)

        def of(inputs: jax.Array) -> tuple[jax.Array, jax.Array]:
            function = self.outputs(state, inputs, spec)
            moves = jax.vmap(lambda row: jax.jvp(function, (state.weights,), (row,))[1])(state.factor)
            variance = jnp.sum(moves**2, axis=0)
            if state.heads is not None:
                variance += regression.variance(state.heads, self.design(state, inputs, spec))
            return function(state.weights), variance

        with precision_scope("highest"):
            mean, variance = of(inputs) if situation.features is None else jax.vmap(of)(inputs)
        noise = jnp.broadcast_to(self.noise(state) * state.unit**2, situation.num_actions)
        variance = situation.by_action(variance) + self.draw_noise * self.noise(state)
        mean, spread = situation.by_action(mean), self.exploration * jnp.sqrt(variance)
        return Values(state.unit * mean, state.unit * spread, jnp.full_like(mean, jnp.inf), noise)

    def probabilities(self, state: FilterState, situation: Situation) -> None:
        return None  # draws of several actions are correlated

    def update(
        self, key: jax.Array, state: FilterState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> FilterState:
        state, spec = self._in_new_units(state, situation.inputs_of(action), reward, situation.spec), situation.spec
        inputs, owner = network_inputs(state.contexts, situation.inputs_of(action)), spec.owner(action)
        with precision_scope("highest"):
            function = self.outputs(state, inputs, spec)
            predicted, slope = jax.value_and_grad(lambda weights: function(weights)[owner])(state.weights)
            error = reward / state.unit - predicted
            projected = state.factor @ slope  # Cj
            noise, heads, doubt = self.noise(state)[owner], state.heads, jnp.float32(0.0)
            moved = jnp.sum(projected**2) + self.drift * jnp.sum(slope**2)
            if heads is not None:
                design, deviation = self.design(state, inputs, spec), jnp.sqrt(noise + moved)
                doubt = regression.variance_at(heads, owner, design)  # zᵀΣz
                scaled = design / deviation, (error + heads.mean[owner] @ design) / deviation
                heads, _ = regression.absorb(heads, owner, *scaled)
            gain = (projected @ state.factor + self.drift * slope) / (noise + moved + doubt)
            grown = state.factor - jnp.outer(projected, gain)
            row = self.rank + situation.step % BUFFER
            grown = grown.at[row].set(jnp.sqrt(noise + doubt) * gain)
            # the step is the same for all trials, so this is a real branch
            last = situation.step % BUFFER == BUFFER - 1
            factor = jax.lax.cond(last, lambda: self.truncated(grown), lambda: grown)
        pulls = state.pulls.at[owner].add(1.0)
        weight = jnp.maximum(1 / pulls[owner], 1 / MEMORY)
        return state._replace(
            weights=state.weights + gain * error,
            factor=factor,
            heads=heads,
            error=state.error.at[owner].add(weight * (error**2 - state.error[owner])),
            pulls=pulls,
        )

    def _in_new_units(self, state: FilterState, inputs: jax.Array, reward: jax.Array, spec: ProblemSpec) -> FilterState:
        """The state after noting a context and a reward; predictions stay what they were, in the new unit.

        A unit that fell with the rewards of a method that does nothing would take its doubt along, and its belief that
        nothing is best would confirm itself (mushroom: two trials of five never ate again).
        """
        contexts = state.contexts.observe(inputs)
        scale = jnp.where(contexts.seen <= SETTLED, contexts.refit().used, contexts.used)
        squares = state.squares + reward**2
        now = root_or_one(squares / contexts.seen)
        unit = jnp.where(state.squares > 0, jnp.maximum(state.unit, now), now)
        ratio = jnp.where(state.squares > 0, state.unit / unit, 1.0)
        later = state._replace(contexts=contexts._replace(used=scale), squares=squares, unit=unit)
        if state.heads is not None:
            return later._replace(heads=state.heads._replace(mean=state.heads.mean * ratio))
        width = (spec.input_dim + 1, *self.hidden_layers)[-1]
        start = state.weights.size - (width + 1) * spec.num_outputs  # of the last layer
        return later._replace(weights=state.weights.at[start:].multiply(ratio))

    def truncated(self, factor: jax.Array) -> jax.Array:
        """The largest `rank` directions of CᵀC with the drift of `BUFFER` steps, and `BUFFER` rows of zeros."""
        gram = factor @ factor.T
        values, vectors = jnp.linalg.eigh((gram + gram.T) / 2)  # ascending
        values, vectors = values[BUFFER:], vectors[:, BUFFER:]
        real = values > TINY * values[-1]
        growth = jnp.where(real, jnp.sqrt(1 + BUFFER * self.drift / jnp.where(real, values, 1.0)), 0.0)
        return jnp.concatenate([growth[:, None] * (vectors.T @ factor), jnp.zeros((BUFFER, factor.shape[1]))])


def design_of(hidden: Network, inputs: jax.Array) -> jax.Array:
    """[last hidden layer / √width, 1]."""
    for layer in hidden:
        inputs = network.hidden(layer, inputs)
    return jnp.append(inputs / jnp.sqrt(jnp.float32(inputs.shape[-1])), 1.0)


# the authors' constants for MNIST; their network is LeNet
_code = LowRankFilter(
    hidden_layers=(100, 100), layer_norm=False, rank=50, variance=0.1, last_variance=0.1, drift=1e-6, noise_share=0.0,
    draw_noise=1.0,
)  # fmt: skip
policies.add("HiLoFi", WarmUp(inner=_code))
policies.add("HiLoFi-Net", WarmUp(inner=LowRankFilter()), base="HiLoFi")
policies.add("LRKF", WarmUp(inner=replace(_code, last_layer="low-rank")), base="HiLoFi")
policies.add("LRKF-Net", WarmUp(inner=LowRankFilter(last_layer="low-rank")), base="HiLoFi")
