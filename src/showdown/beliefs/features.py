"""What features are: the design a belief sees in place of a context, and what of it changes with experience.

They are made of inputs (`Situation.inputs`): the context, or a row [context, features] for each action.

`ContextScale` is shared by all that scale contexts: they divide by one number, the root mean square over all features
of all contexts seen, so that a policy does not depend on the unit of its contexts. Features that matter more because
they are larger stay larger. The number moves only when the features are refitted, since every past design depends on
it, and no longer after `SCALE_FROZEN_AFTER` contexts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import Configuration, at_least, config, integers, param
from showdown.protocol.history import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.work import Work, linear_work

FeatureState = Any  # a PyTree of arrays; its structure, shapes and dtypes never change

SCALE_FROZEN_AFTER = 4000  # contexts


class Features(Configuration, ABC):
    """Base of every kind of features; subclasses are decorated with `@config`."""

    refit_every: int = 0  # steps between calls of `refit`; 0 means never

    @abstractmethod
    def dim(self, spec: ProblemSpec) -> int:
        """How many numbers a design vector has; the last `input_dim` + 1 are the inputs and a constant."""

    @abstractmethod
    def init(self, key: jax.Array, spec: ProblemSpec) -> FeatureState:
        """The state before anything was seen."""

    @abstractmethod
    def design(self, state: FeatureState, inputs: jax.Array) -> jax.Array:
        """The design vectors of inputs (…, input_dim): (…, dim)."""

    def observe(self, state: FeatureState, inputs: jax.Array, reward: jax.Array) -> FeatureState:
        """Take note of one step, whose action had these inputs, at constant cost.

        Designs of the past may change only at the very first step.
        """
        return state

    def due(self, count: jax.Array) -> jax.Array | bool:
        """Whether to refit after `count` steps, a multiple of `refit_every`."""
        return True

    def is_due(self, history: History) -> jax.Array | bool:
        """Whether to refit to this history."""
        return history.forced | self.due(history.learned)

    def refit(self, key: jax.Array, state: FeatureState, history: History) -> FeatureState:
        """Change what designs are; the caller rebuilds its beliefs from all of `history` afterwards."""
        return state

    def learned(self, state: FeatureState, inputs: jax.Array) -> jax.Array | None:
        """The part of designs that is learned, (…, features); None where nothing is."""
        return None

    def work(self, spec: ProblemSpec, horizon: int, posteriors: int) -> Work:
        """What a trial costs with so many beliefs on these features."""
        return linear_work(spec, horizon)


class ContextScale(NamedTuple):
    squares: jax.Array  # () sum over contexts of their mean squared feature
    seen: jax.Array  # () contexts
    used: jax.Array  # () what contexts are divided by

    @classmethod
    def start(cls) -> ContextScale:
        return cls(jnp.float32(0.0), jnp.float32(0.0), jnp.float32(1.0))

    def observe(self, context: jax.Array) -> ContextScale:
        """The first context sets the scale, so that not even the first steps depend on the unit."""
        square = jnp.mean(context**2)
        used = jnp.where(self.seen == 0, root_or_one(square), self.used)
        return ContextScale(self.squares + square, self.seen + 1, used)

    def refit(self) -> ContextScale:
        mean = root_or_one(self.squares / jnp.maximum(self.seen, 1.0))
        return self._replace(used=jnp.where(self.seen <= SCALE_FROZEN_AFTER, mean, self.used))


def root_or_one(square: jax.Array) -> jax.Array:
    """The root, or 1 where it is 0."""
    return jnp.where(square > 0, jnp.sqrt(square), 1.0)


def scaled_design(scale: ContextScale, contexts: jax.Array) -> jax.Array:
    """[context / (scale·√context_dim), 1]: both parts have a mean squared length of one."""
    scaled = contexts / (scale.used * jnp.sqrt(jnp.float32(contexts.shape[-1])))
    return jnp.concatenate([scaled, jnp.ones((*scaled.shape[:-1], 1))], axis=-1)


@config
class PlainContexts(Features):
    """The context as it is and, if wanted, a constant."""

    intercept: bool = param(True, "append a constant 1 to the context")

    def dim(self, spec: ProblemSpec) -> int:
        return spec.input_dim + self.intercept

    def init(self, key: jax.Array, spec: ProblemSpec) -> None:
        return None

    def design(self, state: None, inputs: jax.Array) -> jax.Array:
        if not self.intercept:
            return inputs
        return jnp.concatenate([inputs, jnp.ones((*inputs.shape[:-1], 1))], axis=-1)


@config
class ScaledContexts(Features):
    """The context divided by one number that makes its mean square one, and a constant."""

    refit_every: int = param(50, "contexts between changes of the scale", at_least(1), integers(10, 200), small=6)

    def dim(self, spec: ProblemSpec) -> int:
        return spec.input_dim + 1

    def init(self, key: jax.Array, spec: ProblemSpec) -> ContextScale:
        return ContextScale.start()

    def design(self, state: ContextScale, inputs: jax.Array) -> jax.Array:
        return scaled_design(state, inputs)

    def observe(self, state: ContextScale, inputs: jax.Array, reward: jax.Array) -> ContextScale:
        return state.observe(inputs)

    def due(self, count: jax.Array) -> jax.Array:
        return count <= SCALE_FROZEN_AFTER

    def refit(self, key: jax.Array, state: ContextScale, history: History) -> ContextScale:
        return state.refit()
