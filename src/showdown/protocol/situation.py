"""What a decision sees, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from showdown.protocol.problem import ProblemSpec, Round

ADVICE = "let `act` choose with situation.best or situation.uniform"  # to a policy that ignores what is available


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Situation:
    """The context, the step, which actions are available and the features of each, where actions have any."""

    context: jax.Array  # (context_dim,)
    step: jax.Array  # () from 0: of the decision; in `update`, how many rewards were learned before
    spec: ProblemSpec = field(metadata={"static": True})
    available: jax.Array | None = None  # (num_actions,) bool; None: all
    features: jax.Array | None = None  # (num_actions, action_dim); None: actions have no features

    @classmethod
    def of(cls, round: Round, step: jax.Array, spec: ProblemSpec) -> Situation:
        """What a policy sees of a round."""
        return cls(round.context, step, spec, round.available, round.features)

    @classmethod
    def at(cls, context: Any, step: Any, spec: ProblemSpec, available: Any = None) -> Situation:
        """The situation of these arrays, whichever library they are of."""
        return cls(context, step, spec, available)

    @property
    def num_actions(self) -> int:
        return self.spec.num_actions

    @property
    def mask(self) -> jax.Array:
        """Which actions are available, (num_actions,) bool."""
        return jnp.ones(self.num_actions, bool) if self.available is None else self.available

    @property
    def inputs(self) -> jax.Array:
        """What a model sees: the context or, where actions have features, a row [context, features] per action."""
        return joined(self.context, self.features)

    def inputs_of(self, action: jax.Array) -> jax.Array:
        """What a model sees of one action, (input_dim,)."""
        return joined(self.context, None if self.features is None else self.features[action])

    def by_action(self, outputs: jax.Array) -> jax.Array:
        """The value of each action, (num_actions,), from a model's outputs for `inputs`."""
        return outputs if self.features is None else outputs[..., 0]

    def best(self, values: jax.Array) -> jax.Array:
        """The available action with the largest value (the first, on a tie), as an int32 scalar."""
        return jnp.argmax(self.among(values, -jnp.inf)).astype(jnp.int32)

    def among(self, values: jax.Array, otherwise: float) -> jax.Array:
        """Values of the actions with another one in place of each that is not available."""
        return values if self.available is None else jnp.where(self.available, values, otherwise)

    def uniform(self, key: jax.Array) -> jax.Array:
        """One of the available actions, all equally likely, as an int32 scalar."""
        if self.available is None:
            return jax.random.randint(key, (), 0, self.num_actions)
        return jax.random.categorical(key, jnp.where(self.available, 0.0, -jnp.inf)).astype(jnp.int32)

    def learned(self, number: jax.Array) -> Situation:
        """What `update` sees: `number` rewards were learned before, and what was available no longer matters."""
        return replace(self, step=number, available=None)


class Batch(NamedTuple):
    """Some of the past: what was seen, done and earned."""

    contexts: jax.Array  # (size, context_dim)
    actions: jax.Array  # (size,)
    rewards: jax.Array  # (size,)
    features: jax.Array | None = None  # (size, action_dim) of the actions that were played

    @classmethod
    def at(cls, contexts: Any, actions: Any, rewards: Any) -> Batch:
        """The batch of these arrays, whichever library they are of."""
        return cls(contexts, actions, rewards)

    @property
    def inputs(self) -> jax.Array:
        """What a model sees, (size, input_dim)."""
        return joined(self.contexts, self.features)

    def played(self, outputs: jax.Array) -> jax.Array:
        """A model's value of the action that was played, (…, size), from its outputs for `inputs`."""
        if self.features is not None:
            return outputs[..., 0]
        # a masked sum, whose gradient needs no scatter
        return jnp.sum(outputs * jax.nn.one_hot(self.actions, outputs.shape[-1]), axis=-1)


def joined(contexts: jax.Array, features: jax.Array | None) -> jax.Array:
    """[contexts, features], one row for each row of features."""
    if features is None:
        return contexts
    contexts = jnp.broadcast_to(contexts, (*features.shape[:-1], contexts.shape[-1]))
    return jnp.concatenate([contexts, features], axis=-1)
