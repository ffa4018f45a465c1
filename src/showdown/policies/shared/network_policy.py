"""A policy on the network of `NetworkFeatures`, trained by its recipe: the base of families that differ in doubt.

What is trained is a PyTree that the family chooses (a network, several, a network with more heads), by the loss that
the family writes; optimiser, batches, averaging of weights, schedule, and the units of contexts and rewards are those
of `features`. Values are in units of the root mean square reward, so the unit of rewards decides nothing.

Between refits nothing is noted: the scales of contexts and rewards are summed from all of history at each training, so
that a family that learns only at refits is scored a block of contexts at once.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from showdown.beliefs.dropout_features import DropoutFeatures
from showdown.beliefs.features import ContextScale, root_or_one
from showdown.beliefs.network_features import Drawn, NetworkFeatures, NetworkState, check_one_network, network_inputs
from showdown.config import config, param
from showdown.posteriors import training
from showdown.posteriors.training import precision_scope
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.policy import State, Thompson
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work

CHUNK = 256  # rows of history whose scale is summed at once
PLAIN = DropoutFeatures(  # as most papers train: no layer norm, no dropout, hardly any decay, no average of weights
    layer_norm=False, keep_probability=1.0, early_training=0.0, averaging=0.0, weight_decay=1e-3
)


@config
class NetworkPolicy(Thompson):
    """What families on the common network share; `State` holds a `NetworkState` as its field `network`."""

    features: NetworkFeatures = param(DropoutFeatures(), "the network and how it is trained")

    sees_action_features = True  # as inputs, beside the context; the network then has one output

    @property
    def refit_every(self) -> int:
        return self.features.refit_every

    def check(self) -> None:
        super().check()
        check_one_network(self.features, type(self).__name__)

    def loss(self, key: jax.Array, state: State, parameters: Any, drawn: Drawn, history: History) -> jax.Array:
        """What training minimises, on one mini-batch."""
        return self.features.error(key, parameters, drawn)

    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        with precision_scope(self.features.training_precision):  # decisions as exact as training
            return super().act(key, state, situation)

    def inputs(self, state: NetworkState, inputs: jax.Array) -> jax.Array:
        """What the network sees of inputs; before the first training each is divided by its own length."""
        own = root_or_one(jnp.mean(inputs**2, axis=-1, keepdims=True))
        used = jnp.where(state.contexts.seen == 0, own, state.contexts.used)
        return network_inputs(state.contexts._replace(used=used), inputs)

    def refit(self, key: jax.Array, state: State, history: History) -> State:
        # `count` is the same for all trials, so this is a real branch, not both sides with a choice between them
        due = self.features.is_due(history)
        return jax.lax.cond(due, lambda: self.retrained(key, state, history), lambda: state)

    def retrained(self, key: jax.Array, state: State, history: History) -> State:
        """The state after one training."""
        before = measured(state.network, history)

        def loss(key: jax.Array, parameters: Any, drawn: Drawn) -> jax.Array:
            return self.loss(key, state, parameters, drawn, history)

        after = self.features.trained(role_key(key, "fit"), before, history, loss)
        return state._replace(network=or_nan(key, self.features, after, history, loss))

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return self.features.work(spec, horizon, posteriors=0)


def measured(state: NetworkState, history: History) -> NetworkState:
    """The state with the sums of squared contexts and rewards of all of history."""

    def add(number: jax.Array, sums: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        rows = number * CHUNK + jnp.arange(CHUNK, dtype=jnp.int32)
        known, capacity = rows < history.count, history.actions.shape[0]
        batch = history.at(jnp.minimum(rows, capacity - 1))
        contexts = jnp.sum(jnp.where(known, jnp.mean(batch.inputs**2, axis=-1), 0.0))
        return sums[0] + contexts, sums[1] + jnp.sum(jnp.where(known, batch.rewards**2, 0.0))

    zero = jnp.float32(0.0), jnp.float32(0.0)
    contexts, rewards = jax.lax.fori_loop(0, (history.count + CHUNK - 1) // CHUNK, add, zero)
    scale = ContextScale(contexts, history.count.astype(jnp.float32), state.contexts.used)
    return state._replace(contexts=scale, squares=rewards)


def or_nan(key: jax.Array, features: NetworkFeatures, state: NetworkState, history: History, loss: Any) -> NetworkState:
    """The state, or NaN for its weights where its loss on another batch is absurd (see `or_nan_if_diverged`)."""
    rows = jax.random.randint(role_key(key, "check rows"), (features.batch_size,), 0, jnp.maximum(history.count, 1))
    batch = history.at(rows)
    batch = batch._replace(rewards=batch.rewards / state.unit)
    drawn = Drawn(rows, network_inputs(state.contexts, batch.inputs), batch)
    error = loss(role_key(key, "check"), state.fit.parameters, drawn)
    return state._replace(averaged=training.or_nan_if_diverged(state.averaged, error, batch.rewards))


def row_normals(key: jax.Array, rows: jax.Array, number: int) -> jax.Array:
    """Standard normals that belong to rows of history, (rows, number): the same whenever the key is."""
    return jax.vmap(lambda row: jax.random.normal(jax.random.fold_in(key, row), (number,)))(rows)
