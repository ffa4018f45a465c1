"""What a belief is: a law of every action's value, given a design, that learns from one reward at a time.

A belief is a configuration; what it has learned is a state, a NamedTuple of arrays of fixed shape. It knows nothing of
bandits: a policy asks for `values` or a `draw` and decides, then hands back the reward through `observe`.

A design is what `Features` makes of a situation: of the context and a constant, the last layer of a network, or both.
Usually all actions share one design vector, (dim,), and each has a set of coefficients of its own. Where actions have
features each has its own design, (num_actions, dim), and one set of coefficients serves them all. Sets of coefficients
are called owners: `ProblemSpec.num_outputs` says how many there are, `ProblemSpec.owner` whose an action is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import Configuration
from showdown.posteriors.moments import Moments
from showdown.posteriors.regression import joint_student_t, student_t

BeliefState = Any  # a PyTree of arrays; its structure, shapes and dtypes never change


class Values(NamedTuple):
    """The law of each action's value: mean + spread · T, with T Student-t (normal where `freedom` is infinite)."""

    mean: jax.Array  # (num_actions,)
    spread: jax.Array  # (num_actions,)
    freedom: jax.Array  # (num_actions,) degrees of freedom
    noise: jax.Array | None = None  # (num_actions,) the noise variance that `spread` is computed with; None: not known

    @property
    def law(self) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Mean, spread and freedom."""
        return self.mean, self.spread, self.freedom


class Belief(Configuration, ABC):
    """Base of every belief; subclasses are decorated with `@config`."""

    reference: ClassVar[str] = ""  # where it comes from

    @abstractmethod
    def init(self, owners: int, dim: int) -> BeliefState:
        """The state before anything was seen, for so many sets of coefficients and design vectors of `dim` numbers."""

    @abstractmethod
    def values(self, state: BeliefState, design: jax.Array) -> Values:
        """The law of every action's value; `design` is (dim,) or, with one owner, (num_actions, dim)."""

    def draw(self, key: jax.Array, state: BeliefState, design: jax.Array) -> jax.Array:
        """One draw of every action's value, (num_actions,)."""
        values = self.values(state, design)
        return values.mean + values.spread * student_t(key, values.freedom)

    @abstractmethod
    def observe(
        self, state: BeliefState, design: jax.Array, owner: jax.Array, reward: jax.Array
    ) -> tuple[BeliefState, jax.Array]:
        """Learn from one reward of a design vector, (dim,).

        Also returns its log density under the belief held before, (): the log evidence.
        """


class LinearBelief(Belief):
    """A belief about coefficients, that all of the data can be put into at once, through their Gram matrices."""

    def draw(self, key: jax.Array, state: BeliefState, design: jax.Array) -> jax.Array:
        """One draw of every action's value; where all share coefficients, correlated as such values are."""
        if design.ndim == 1:
            return super().draw(key, state, design)
        values = self.values(state, design)
        return values.mean + values.spread * joint_student_t(key, self.directions(state, design), values.freedom)

    @abstractmethod
    def directions(self, state: BeliefState, designs: jax.Array) -> jax.Array:
        """Vectors whose inner products are, but for a factor, covariances of values with shared coefficients."""

    @abstractmethod
    def precision(self, moments: Moments) -> jax.Array | None:
        """The precision matrix of each owner's coefficients given all of the data, (owners, dim, dim).

        None where it depends on more than the data; `rebuild` then factors for itself.
        """

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
