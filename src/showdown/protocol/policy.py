"""What a policy is: a value with four pure methods.

A policy is a configuration (see `config/`) and remembers nothing: all it learns lives in a state, a NamedTuple of
arrays of fixed shape, which the loop passes in and gets back. It sees the reward of the action it chose and no
other, so peeking is impossible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.config import Configuration, shrunk
from showdown.protocol.history import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Batch as Batch  # for policies that train on batches
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work, counted_work

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
    sees_action_features: ClassVar[bool] = False  # whether it can play problems whose actions have features
    learns_from_all_offered: ClassVar[bool] = False  # whether `update` needs features of actions that were not played
    reads_history: ClassVar[bool] = True  # whether `refit` learns from the history that it is given
    in_python: ClassVar[bool] = False  # whether it is no program, and decides step by step in Python
    relearns_at_refits: ClassVar[bool] = False  # whether a shorter history makes it forget: `refit` leaves nothing else

    @property
    def learns_only_at_refits(self) -> bool:
        """Whether the belief does not change between refits; the loop then scores a whole block of contexts at once."""
        return type(self).update is Policy.update

    @abstractmethod
    def init(self, key: jax.Array, spec: ProblemSpec) -> State:
        """The state before anything was seen."""

    @abstractmethod
    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        """The action to take, an int32 scalar. It must be one of those that are available.

        `situation.best` and `situation.uniform` see to that.
        """

    def probabilities(self, state: State, situation: Situation) -> jax.Array | None:
        """The law of `act`, (num_actions,), where it has a closed form; None where it must be estimated."""
        return None

    def update(self, key: jax.Array, state: State, situation: Situation, action: jax.Array, reward: jax.Array) -> State:
        """Learn from one step, at constant cost.

        `situation.step` is how many rewards were learned before, and which actions were available is no longer said.
        """
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

    def learned_features(self, state: State, inputs: jax.Array) -> jax.Array | None:
        """The features that it has learned to see in inputs, (rows, features); None where it learns none.

        A service counts those that are zero for every context: a network whose units have died decides nothing.
        """
        return None

    def check_problem(self, spec: ProblemSpec) -> None:
        """Raise UsageError, in one sentence, where this policy cannot play problems of such sizes."""
        if spec.action_dim and not self.sees_action_features:
            raise UsageError(
                f"{type(self).__name__} tells actions apart by their numbers and cannot use features of actions, "
                f"of which this problem has {spec.action_dim} (a policy that uses situation.inputs says so by "
                "sees_action_features = True)"
            )

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        """What one trial costs. Unless a policy says it, its operations are counted from its programs."""
        return counted_work(self, spec, horizon)

    def small(self) -> Self:
        """The same policy at sizes that play in an instant: every field that has one takes its `small` value."""
        return shrunk(self)

    def brief(self) -> Self:
        """The same policy with less to do before its steps cost what they usually cost, to measure that."""
        return self

    def warm_up_steps(self, spec: ProblemSpec) -> int:
        """In how many steps, from the first on, actions are played in turn whatever the context."""
        return 0


class Thompson(Policy):
    """A policy that draws a value for each action from its belief and plays the largest (the first, on a tie)."""

    @abstractmethod
    def scores(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        """One draw of every action's value, (num_actions,)."""

    def means(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        """Every action's expected value, (num_actions,); unless overridden, the average of `MEAN_DRAWS` draws."""
        draws = jax.vmap(self.scores, in_axes=(0, None, None))(jax.random.split(key, MEAN_DRAWS), state, situation)
        return draws.mean(axis=0)

    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        return situation.best(self.scores(key, state, situation))


class Greedy(Thompson):
    """A policy whose scores do not depend on the key: it has no chance of its own."""

    def probabilities(self, state: State, situation: Situation) -> jax.Array:
        return jax.nn.one_hot(self.act(jax.random.key(0), state, situation), situation.num_actions)
