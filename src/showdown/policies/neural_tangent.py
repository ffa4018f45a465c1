"""NeuralTS and NeuralUCB: a network is taken as linear in its weights, and the gradient of its output is the design.

Let g_a be the gradient of output a, in root mean square rewards, with respect to every weight. One number is kept for
each weight, U, which starts at λ and grows by g_a² whenever action a is played. The value of an action is

    N(f_a(x), ν·λ·Σ g_a² / U).

`NeuralTS` draws from it, independently for each action; `NeuralUCB` plays the largest mean plus spread (`rules.py`);
with `draws=joint` one draw of all weights serves all actions. With `recount` U is summed anew from all of history after
each training, with the gradients of the network as it is now.

No gradient is formed. In a layer with inputs h and a derivative δ_a of output a by each of its units' sums, the
gradient is an outer product, so Σ g²/U = Σ_j δ_a[j]²·s[j] with s = (1/U)ᵀh², which all actions share. A joint draw
needs one normal for each unit, not for each weight.

Reference: Zhang, Zhou, Li, Gu, "Neural Thompson Sampling", ICLR 2021; Zhou, Li, Gu, "Neural Contextual Bandits with
UCB-based Exploration", ICML 2020. Differences from them: docs/policies/neural-tangent.md.

Cost per step O(weights + num_actions·width²); per refit the training and, with `recount`, 2·t·weights; memory one float
per weight beside the network's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import Values
from showdown.beliefs.network_features import NetworkState
from showdown.config import config, log, non_negative, param, positive
from showdown.policies.registry import policies
from showdown.policies.rules import UCB
from showdown.policies.shared.network_policy import CHUNK, PLAIN, NetworkPolicy
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import network
from showdown.posteriors.draws import normals
from showdown.posteriors.network import Layer, Network
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation


class Signals(NamedTuple):
    """The gradients of all outputs for one input, layer by layer."""

    inputs: Sequence[jax.Array]  # (inputs,) of each layer
    slopes: Sequence[Layer]  # derivatives by each unit's sum of weighted inputs, bias and scale, (outputs, units) each


def signals(parameters: Network, inputs: jax.Array) -> tuple[jax.Array, Signals]:
    """The outputs, (num_outputs,), and their gradients."""

    def run(shifts: Sequence[Layer]) -> tuple[jax.Array, tuple[jax.Array, list[jax.Array]]]:
        values, seen = inputs, []
        for layer, shift in zip(parameters, shifts, strict=True):
            seen.append(values)
            values = values @ layer.weights + shift.weights
            if layer.scale is not None and shift.scale is not None:
                values = network.normalise(values) * (layer.scale + shift.scale)
            values = values + layer.bias + shift.bias
            if layer is not parameters[-1]:
                values = jax.nn.relu(values)
        return values, (values, seen)

    none = [jax.tree.map(jnp.zeros_like, each._replace(weights=each.bias)) for each in parameters]
    slopes, (outputs, seen) = jax.jacrev(run, has_aux=True)(none)
    return outputs, Signals(seen, slopes)


def weighted_squares(found: Signals, counts: Network) -> jax.Array:
    """Σ g²/U of each output, (num_outputs,)."""
    total = jnp.float32(0.0)
    for inputs, slopes, count in zip(found.inputs, found.slopes, counts, strict=True):
        total += slopes.weights**2 @ ((inputs**2) @ (1 / count.weights)) + slopes.bias**2 @ (1 / count.bias)
        if slopes.scale is not None and count.scale is not None:
            total += slopes.scale**2 @ (1 / count.scale)
    return total


def squares(found: Signals, output: jax.Array) -> Network:
    """g² of one output, for each weight."""
    chosen = [jax.tree.map(lambda leaf: leaf[output] ** 2, slopes) for slopes in found.slopes]
    return tuple(
        each._replace(weights=jnp.outer(inputs**2, each.weights))
        for inputs, each in zip(found.inputs, chosen, strict=True)
    )


class TangentState(NamedTuple):
    network: NetworkState
    counts: Network  # U


@config
class NeuralTangent(NetworkPolicy, ValueThompson):
    """Thompson sampling with the diagonal of a network's tangent kernel."""

    reference = "Zhang et al. 2021, https://arxiv.org/abs/2010.00827"
    prior_precision: float = param(1.0, "λ: what U starts at", positive, log(1e-5, 10))
    exploration: float = param(
        0.01, "ν: variance of a value is ν·λ·Σ g²/U, in mean squared rewards", non_negative, log(1e-6, 1)
    )
    draws: Literal["independent", "joint"] = param("independent", "of actions' values: each its own, or one of weights")
    recount: bool = param(True, "sum U anew from all of history after each training", small=True)

    def init(self, key: jax.Array, spec: ProblemSpec) -> TangentState:
        start = self.features.new_network(key, spec)
        return TangentState(self.features.begin(start), self._no_counts(start))

    def _no_counts(self, like: Network) -> Network:
        return jax.tree.map(lambda leaf: jnp.full_like(leaf, self.prior_precision), like)

    def signals(self, state: TangentState, inputs: jax.Array) -> tuple[jax.Array, Signals]:
        return signals(state.network.averaged, self.inputs(state.network, inputs))

    def values(self, state: TangentState, situation: Situation) -> Values:
        def of(inputs: jax.Array) -> tuple[jax.Array, jax.Array]:
            outputs, found = self.signals(state, inputs)
            return outputs, weighted_squares(found, state.counts)

        mean, square = of(situation.inputs) if situation.features is None else jax.vmap(of)(situation.inputs)
        unit, variance = state.network.unit, self.exploration * self.prior_precision
        mean, spread = unit * situation.by_action(mean), unit * jnp.sqrt(variance * situation.by_action(square))
        return Values(mean, spread, jnp.full_like(mean, jnp.inf), jnp.full_like(mean, variance) * unit**2)

    def scores(self, key: jax.Array, state: TangentState, situation: Situation) -> jax.Array:
        if self.draws == "independent":
            mean, spread, _ = self.values(state, situation).law
            return mean + spread * jax.random.normal(key, mean.shape)
        if situation.features is None:
            return state.network.unit * self.joint(key, state, situation.inputs)
        # actions have inputs of their own, so every weight is drawn
        values = jax.vmap(lambda inputs: self.joint(key, state, inputs, every_weight=True))(situation.inputs)
        return state.network.unit * situation.by_action(values)

    def joint(self, key: jax.Array, state: TangentState, inputs: jax.Array, every_weight: bool = False) -> jax.Array:
        """All outputs with one draw of the weights, (num_outputs,)."""
        outputs, found = self.signals(state, inputs)
        move = jnp.zeros_like(outputs)
        by_unit = normals(role_key(key, "units"), [(3, *count.bias.shape) for count in state.counts])
        by_weight = normals(role_key(key, "weights"), [count.weights.shape for count in state.counts])
        for number, (seen, slopes, count) in enumerate(zip(found.inputs, found.slopes, state.counts, strict=True)):
            on_sum, on_bias, on_scale = by_unit[number]
            if every_weight:
                sums = seen @ (by_weight[number] / jnp.sqrt(count.weights))
            else:
                sums = jnp.sqrt(seen**2 @ (1 / count.weights)) * on_sum
            move += slopes.weights @ sums + slopes.bias @ (on_bias / jnp.sqrt(count.bias))
            if count.scale is not None:
                move += slopes.scale @ (on_scale / jnp.sqrt(count.scale))
        return outputs + jnp.sqrt(self.exploration * self.prior_precision) * move

    def probabilities(self, state: TangentState, situation: Situation) -> jax.Array | None:
        return None if self.draws == "joint" else super().probabilities(state, situation)

    def update(
        self, key: jax.Array, state: TangentState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> TangentState:
        _, found = self.signals(state, situation.inputs_of(action))
        more = squares(found, situation.spec.owner(action))
        return state._replace(counts=jax.tree.map(jnp.add, state.counts, more))

    def retrained(self, key: jax.Array, state: TangentState, history: History) -> TangentState:
        state = super().retrained(key, state, history)
        return state._replace(counts=self.recounted(state, history)) if self.recount else state

    def recounted(self, state: TangentState, history: History) -> Network:
        """U from all of history, with the gradients of the network as it is now."""

        def add(number: jax.Array, counts: Network) -> Network:
            rows = number * CHUNK + jnp.arange(CHUNK, dtype=jnp.int32)
            known = (rows < history.count).astype(jnp.float32)
            at = jnp.minimum(rows, history.actions.shape[0] - 1)
            _, found = jax.vmap(lambda inputs: self.signals(state, inputs))(history.at(at).inputs)
            chosen = jax.nn.one_hot(history.owners[at], history.spec.num_outputs) * known[:, None]

            of_played = partial(jnp.einsum, "ro,rou->ru", chosen)  # (rows, outputs, units) -> (rows, units)
            played = [jax.tree.map(lambda leaf: of_played(leaf**2), each) for each in found.slopes]
            sums = tuple(
                jax.tree.map(lambda leaf: leaf.sum(axis=0), each)._replace(weights=(seen**2).T @ each.weights)
                for seen, each in zip(found.inputs, played, strict=True)
            )
            return jax.tree.map(jnp.add, counts, sums)

        return jax.lax.fori_loop(0, (history.count + CHUNK - 1) // CHUNK, add, self._no_counts(state.counts))


_published = replace(PLAIN, hidden_layers=(100,))
_ts = NeuralTangent(features=_published, prior_precision=1e-2, exploration=1e-6, recount=False)
_ucb = NeuralTangent(features=_published, prior_precision=1e-5, exploration=1e-5, recount=False)
policies.add("NeuralTS", WarmUp(inner=_ts))
policies.add("NeuralTS-Net", WarmUp(inner=NeuralTangent()), base="NeuralTS")
policies.add("NeuralTS-Joint", WarmUp(inner=NeuralTangent(draws="joint")), base="NeuralTS")
policies.add("NeuralUCB", WarmUp(inner=UCB(inner=_ucb)), base="NeuralTS")
policies.add("NeuralUCB-Net", WarmUp(inner=UCB(inner=NeuralTangent())), base="NeuralTS")
