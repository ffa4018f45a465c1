"""What a policy is: a value with four pure methods.

A policy is a configuration (see `config/`) and remembers nothing: all it learns lives in a state, a NamedTuple of
arrays of fixed shape, which the loop passes in and gets back. It sees the reward of the action it chose and no
other, so peeking is impossible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from showdown.config import Configuration
from showdown.protocol.history import Batch as Batch  # for policies that train on batches
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec

TRIES = 8  # draws of a policy that may not play what it drew, before an available action is taken at random

State = Any  # a PyTree of arrays; its structure, shapes and dtypes never change

MEAN_DRAWS = 16  # draws whose average stands in for a mean that has no formula


def all_finite(state: State) -> jax.Array:
    """Whether every float in it is a finite number, ()."""
    floats = [leaf for leaf in jax.tree.leaves(state) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    return jnp.array([jnp.isfinite(leaf).all() for leaf in floats]).all()


class Policy(Configuration, ABC):
    """Base of every policy; subclasses are decorated with `@config`."""

    reference: ClassVar[str] = ""  # where the method comes from
    refit_every: int = 0  # steps between refits; 0 means never

    @property
    def learns_only_at_refits(self) -> bool:
        """Whether the belief does not change between refits; the loop then scores a whole block of contexts at once."""
        return type(self).update is Policy.update

    @abstractmethod
    def init(self, key: jax.Array, spec: ProblemSpec) -> State:
        """The state before anything was seen."""

    @abstractmethod
    def act(self, key: jax.Array, state: State, context: jax.Array, step: jax.Array) -> jax.Array:
        """The action for a context, as an int32 scalar. `step` counts from 0."""

    def act_among(
        self, key: jax.Array, state: State, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array:
        """The action where only some are available, (num_actions,) bool.

        Unless overridden the policy draws until an available action comes up, `TRIES` times at most, and then takes one
        of those available at random.
        """
        keys = jax.random.split(role_key(key, "among"), TRIES)
        drawn = jax.vmap(self.act, in_axes=(0, None, None, None))(keys, state, context, step)
        fits = available[drawn]
        at_random = jax.random.categorical(role_key(key, "at random"), jnp.where(available, 0.0, -jnp.inf))
        return jnp.where(fits.any(), drawn[jnp.argmax(fits)], at_random.astype(jnp.int32))

    def probabilities(
        self, state: State, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array | None:
        """The law of `act_among`, (num_actions,), where it has a closed form; None where it must be estimated."""
        return None

    def update(self, key: jax.Array, state: State, context: jax.Array, action: jax.Array, reward: jax.Array) -> State:
        """Learn from one step, at constant cost."""
        return state

    def refit(self, key: jax.Array, state: State, history: History) -> State:
        """The expensive part, every `refit_every` steps: train the network, recompute a posterior."""
        return state

    def diagnostics(self, state: State) -> dict[str, jax.Array]:
        """What to keep with the results, by name.

        A scalar, such as how much jitter a matrix needed, where 0 means all is well: the largest of all trials is kept.
        Or a timeline, one number for each doubling of steps (entry b is about steps 2^b to 2^(b+1) − 1), such as the
        share of decisions that one of several beliefs made: the mean over trials is kept.
        """
        return {}


class Thompson(Policy):
    """A policy that draws a value for each action from its belief and plays the largest (the first, on a tie)."""

    @abstractmethod
    def scores(self, key: jax.Array, state: State, context: jax.Array) -> jax.Array:
        """One draw of every action's value, (num_actions,)."""

    def means(self, key: jax.Array, state: State, context: jax.Array) -> jax.Array:
        """Every action's expected value, (num_actions,); unless overridden, the average of `MEAN_DRAWS` draws."""
        draws = jax.vmap(self.scores, in_axes=(0, None, None))(jax.random.split(key, MEAN_DRAWS), state, context)
        return draws.mean(axis=0)

    def act(self, key: jax.Array, state: State, context: jax.Array, step: jax.Array) -> jax.Array:
        return jnp.argmax(self.scores(key, state, context)).astype(jnp.int32)

    def act_among(
        self, key: jax.Array, state: State, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array:
        """The available action with the largest draw."""
        return jnp.argmax(jnp.where(available, self.scores(key, state, context), -jnp.inf)).astype(jnp.int32)


class Greedy(Thompson):
    """A policy whose scores do not depend on the key: it has no chance of its own."""

    def probabilities(self, state: State, context: jax.Array, step: jax.Array, available: jax.Array) -> jax.Array:
        best = self.act_among(jax.random.key(0), state, context, step, available)
        return jax.nn.one_hot(best, len(available))
