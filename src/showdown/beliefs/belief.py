"""What a belief is: a law of every action's value, given a design vector, that learns from one reward at a time.

A belief is a configuration; what it has learned is a state, a NamedTuple of arrays of fixed shape. It knows nothing of
bandits: a policy asks for `moments` or a `draw` and decides, then hands back the reward through `observe`. A design
vector is whatever `Features` makes of a context: the context and a constant, the last layer of a network, or both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import Configuration
from showdown.posteriors.moments import Moments
from showdown.posteriors.regression import student_t

BeliefState = Any  # a PyTree of arrays; its structure, shapes and dtypes never change


class Values(NamedTuple):
    """The law of each action's value: mean + spread · T, with T Student-t (normal where `freedom` is infinite)."""

    mean: jax.Array  # (num_actions,)
    spread: jax.Array  # (num_actions,)
    freedom: jax.Array  # (num_actions,) degrees of freedom


class Belief(Configuration, ABC):
    """Base of every belief; subclasses are decorated with `@config`."""

    @abstractmethod
    def init(self, num_actions: int, dim: int) -> BeliefState:
        """The state before anything was seen, for design vectors of `dim` numbers."""

    @abstractmethod
    def moments(self, state: BeliefState, design: jax.Array) -> Values:
        """The law of every action's value."""

    def draw(self, key: jax.Array, state: BeliefState, design: jax.Array) -> jax.Array:
        """One draw of every action's value, (num_actions,)."""
        values = self.moments(state, design)
        return values.mean + values.spread * student_t(key, values.freedom)

    @abstractmethod
    def observe(
        self, state: BeliefState, design: jax.Array, action: jax.Array, reward: jax.Array
    ) -> tuple[BeliefState, jax.Array]:
        """Learn from one reward; also returns its log density under the belief held before, (): the log evidence."""

    @abstractmethod
    def precision(self, moments: Moments) -> jax.Array:
        """The precision matrix of each action's coefficients given all of the data, (num_actions, dim, dim)."""

    @abstractmethod
    def rebuild(self, state: BeliefState, moments: Moments, root: jax.Array | None = None) -> BeliefState:
        """The belief after all of the data in `moments`: for designs that changed, as a network's do in training.

        `root` is the inverse root of `precision`, where the caller has it already (see `moments.inverse_root`).
        """


def log_normal(value: jax.Array, mean: jax.Array, variance: jax.Array) -> jax.Array:
    """The log density of a normal variable."""
    return -0.5 * (jnp.log(2 * jnp.pi * variance) + (value - mean) ** 2 / variance)


def log_student_t(value: jax.Array, mean: jax.Array, square_scale: jax.Array, freedom: jax.Array) -> jax.Array:
    """The log density of mean + scale · T, with T Student-t."""
    half = freedom / 2
    constant = jax.lax.lgamma(half + 0.5) - jax.lax.lgamma(half) - 0.5 * jnp.log(jnp.pi * freedom * square_scale)
    return constant - (half + 0.5) * jnp.log1p((value - mean) ** 2 / (freedom * square_scale))
