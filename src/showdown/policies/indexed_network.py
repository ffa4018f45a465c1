"""One network whose doubt is a function of a random index: Ensemble++ and the epinet.

    f_a(x, ζ) = b_a(x) + doubt_a(φ, x, ζ) + β·prior_a(φ, x, ζ)

b is the network, φ its last hidden layer / √width, through which the doubt sends no gradient back, and ζ an index of
`index_size` numbers. A decision draws one ζ for all actions and plays the largest f.

- `Ensemble++`: doubt = p·(A_a ζ)ᵀφ with A learned, prior = (Ã_a ζ)ᵀφ with rows of Ã random on a sphere and never
  learned. Row t of history owns a random ξ_t on the sphere, and training fits r + c·ζᵀξ_t, averaged over the indices
  ±√size·e_i. That average has a closed form: (r − b)² + ‖c·ξ_t − h‖², with h the derivative of doubt and prior by ζ.
- `Epinet` (`doubt_layers` not empty): doubt = g([φ, x, ζ])ᵀζ with g a small network, prior = Σ_i ζ_i·p_i(x) with small
  random networks p_i; `index_samples` normal indices are drawn for each batch.

Reference: Li et al., "Ensemble++", 2024; Osband et al., "Epistemic Neural Networks", NeurIPS 2023. Differences from
them: docs/policies/indexed-network.md.

Cost per refit that of the network, one more forward pass, and num_actions·width·index_size per row; per decision one
forward pass. Memory num_actions·width·index_size floats beside the network's; a row's ξ is hashed, not stored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.network_features import Drawn, NetworkState
from showdown.config import between, config, integers, linear, log, non_negative, param, positive, sizes
from showdown.policies.registry import policies
from showdown.policies.shared.network_policy import PLAIN, NetworkPolicy, row_normals
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import network
from showdown.posteriors.network import Network
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.tricks.threefry import key_of

PRIOR_LAYERS = (5, 5)  # of each of the epinet's prior functions
INITIAL_SCALE = 0.3  # of the epinet's learned part: weights uniform on ± this


class Parameters(NamedTuple):
    """All that is trained."""

    network: Network
    doubt: Any  # (num_outputs, width, index_size) of Ensemble++, or the epinet's Network


class IndexedState(NamedTuple):
    network: NetworkState  # of `Parameters`
    prior: Any  # (num_outputs, width, index_size) Ã, or a Network with a leading axis of `index_size`
    noise_key: jax.Array  # (2,) words of the key that gives each row its ξ


@config
class IndexedNetwork(NetworkPolicy):
    reference = "Li et al. 2024, https://arxiv.org/abs/2407.13195; Osband et al. 2023, https://arxiv.org/abs/2107.08924"
    index_size: int = param(8, "M: numbers of an index", between(1, 1000), integers(2, 32), small=2)
    prior_scale: float = param(
        1.0, "β: deviation of the prior part, in root mean square rewards", non_negative, log(0.03, 10)
    )
    learned_scale: float = param(1.0, "p: factor of the learned part: how fast it learns", positive, log(0.1, 10))
    target_noise: float = param(
        0.1, "c: deviation of perturbed targets, in root mean square rewards", non_negative, linear(0, 1)
    )
    doubt_layers: tuple[int, ...] = param((), "hidden layers of the epinet; none makes Ensemble++", sizes, small=(3,))
    index_samples: int = param(5, "indices drawn for a batch of the epinet", between(1, 1000), integers(1, 16), small=2)
    exploration: float = param(1.0, "factor of the index in decisions; 0 is greedy", non_negative, linear(0, 2))

    def init(self, key: jax.Array, spec: ProblemSpec) -> IndexedState:
        start = self.features.new_network(role_key(key, "network"), spec)
        width, size = self.features.last_units, self.index_size
        prior_key = role_key(key, "prior")
        doubt: Any = jnp.zeros((spec.num_outputs, width, size))
        prior: Any = jax.random.normal(prior_key, doubt.shape)
        prior = prior / jnp.linalg.norm(prior, axis=-1, keepdims=True)
        if self.doubt_layers:
            seen = width + spec.input_dim + 1 + size
            layers = network.layer_sizes(seen, self.doubt_layers, spec.num_outputs * size)
            doubt = network.init(role_key(key, "doubt"), layers, INITIAL_SCALE)
            small = network.layer_sizes(spec.input_dim + 1, PRIOR_LAYERS, spec.num_outputs)
            prior = jax.vmap(lambda each: network.init(each, small, 1.0))(jax.random.split(prior_key, size))
        words = jax.random.key_data(role_key(key, "targets"))
        return IndexedState(self.features.begin(Parameters(start, doubt)), prior, words)

    def moves(self, doubt: Any, prior: Any, features: jax.Array, inputs: jax.Array, index: jax.Array) -> jax.Array:
        """What an index (index_size,) adds to the outputs of rows, (rows, num_outputs)."""
        if not self.doubt_layers:
            return self.members(doubt, prior, features) @ index
        seen = jnp.concatenate([features, inputs, jnp.broadcast_to(index, (len(inputs), len(index)))], axis=-1)
        learned = network.predict(doubt, seen).reshape(len(inputs), -1, len(index)) @ index
        before = jnp.einsum("m,mro->ro", index, jax.vmap(lambda each: network.predict(each, inputs))(prior))
        return self.learned_scale * learned + self.prior_scale * before

    def members(self, doubt: jax.Array, prior: jax.Array, features: jax.Array) -> jax.Array:
        """h of rows: what each number of an index adds to their outputs, (rows, num_outputs, index_size)."""
        return jnp.einsum("rw,owm->rom", features, self.learned_scale * doubt + self.prior_scale * prior)

    def last_layer(self, parameters: Parameters, inputs: jax.Array) -> jax.Array:
        """φ of rows, (rows, width), through which no gradient goes back."""
        features = network.features(parameters.network, inputs)
        return jax.lax.stop_gradient(features / jnp.sqrt(jnp.float32(features.shape[-1])))

    def scores(self, key: jax.Array, state: IndexedState, situation: Situation) -> jax.Array:
        """In units of the root mean square reward."""
        index = jax.random.normal(key, (self.index_size,))
        if not self.doubt_layers:  # on a sphere
            index = index / jnp.linalg.norm(index) * jnp.sqrt(jnp.float32(self.index_size))
        return self.valued(state, situation, self.exploration * index)

    def means(self, key: jax.Array, state: IndexedState, situation: Situation) -> jax.Array:
        return self.valued(state, situation, jnp.zeros(self.index_size))

    def valued(self, state: IndexedState, situation: Situation, index: jax.Array) -> jax.Array:
        """The value of each action under one index, (num_actions,)."""
        learned: Parameters = state.network.averaged
        inputs = jnp.atleast_2d(self.inputs(state.network, situation.inputs))
        values = network.predict(learned.network, inputs)
        values += self.moves(learned.doubt, state.prior, self.last_layer(learned, inputs), inputs, index)
        return values[0] if situation.features is None else situation.by_action(values)

    def loss(
        self, key: jax.Array, state: IndexedState, parameters: Parameters, drawn: Drawn, history: History
    ) -> jax.Array:
        batch, features = drawn.batch, self.last_layer(parameters, drawn.inputs)
        base = batch.played(self.features.predict(role_key(key, "base"), parameters.network, drawn.inputs))
        own = self.target_noise * sphere(
            row_normals(key_of(state.noise_key), history.first + drawn.rows, self.index_size)
        )  # c·ξ
        if not self.doubt_layers:
            members = self.members(parameters.doubt, state.prior, features)  # (rows, num_outputs, index_size)
            played = batch.played(jnp.moveaxis(members, -1, 0)).T  # (rows, index_size)
            return jnp.mean((base - batch.rewards) ** 2) + jnp.mean(jnp.sum((played - own) ** 2, axis=-1))
        indices = jax.random.normal(role_key(key, "indices"), (self.index_samples, self.index_size))

        def error(index: jax.Array) -> jax.Array:
            moved = batch.played(self.moves(parameters.doubt, state.prior, features, drawn.inputs, index))
            return jnp.mean((base + moved - batch.rewards - own @ index) ** 2)

        return jnp.mean(jax.vmap(error)(indices))


def sphere(normals: jax.Array) -> jax.Array:
    """Each row divided by its length: uniform on the unit sphere."""
    return normals / jnp.linalg.norm(normals, axis=-1, keepdims=True)


_published = replace(PLAIN, hidden_layers=(64, 64))
policies.add(
    "Ensemble++",
    WarmUp(inner=IndexedNetwork(features=_published, prior_scale=0.2, learned_scale=0.1, target_noise=0.01)),
)
policies.add("Ensemble++-Net", WarmUp(inner=IndexedNetwork()), base="Ensemble++")
policies.add(
    "Epinet-Net",
    WarmUp(
        inner=IndexedNetwork(doubt_layers=(15, 15), prior_scale=0.3, target_noise=0.0),
    ),
    base="Ensemble++",
)
