"""What a problem is: something that begins an episode and, at every step, gives a context and a reward per action.

A step may also say which actions are available and give the features of each action.

A problem is a configuration (see `config/`). Its data, if it has any, is loaded once and shared by all trials; what
varies by trial (an order of rows, coefficients, noise) is an episode. Everything is drawn before play, so all policies
of a trial see the same contexts and the same noise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import jax
import jax.numpy as jnp

from showdown.config import Configuration
from showdown.protocol.feedback import AT_ONCE, Feedback

Tables = Any  # a PyTree of arrays shared by all trials
Episode = Any  # a PyTree of arrays that belongs to one trial

MOST_NAMED = 100  # actions of a table whose names are features of theirs, a 0/1 for each


class ProblemSpec(NamedTuple):
    """All a policy may know of a problem before it plays."""

    context_dim: int
    num_actions: int
    action_dim: int = 0  # features of each action; 0: actions are told apart by their numbers alone

    @property
    def input_dim(self) -> int:
        """The numbers that a model sees: the context, and the features of one action where there are any."""
        return self.context_dim + self.action_dim

    @property
    def num_outputs(self) -> int:
        """How many values a model gives for its inputs: one per action, or one where the action is among the inputs.

        It is also the number of sets of coefficients that a linear belief has.
        """
        return 1 if self.action_dim else self.num_actions

    def owner(self, actions: jax.Array) -> jax.Array:
        """The output, or the set of coefficients, that speaks about each action."""
        return jnp.zeros_like(actions) if self.action_dim else actions


class Round(NamedTuple):
    """One step: what the policy sees, and what each action would pay."""

    context: jax.Array  # (context_dim,)
    rewards: jax.Array  # (num_actions,) realised
    means: jax.Array  # (num_actions,) expected
    available: jax.Array | None = None  # (num_actions,) bool, at least one true; None: all of them, always
    features: jax.Array | None = None  # (num_actions, action_dim) of each action; None where `action_dim` is 0


class Problem(Configuration, ABC):
    """Base of every problem; subclasses are decorated with `@config`."""

    in_python: ClassVar[bool] = False  # whether its trials are drawn by code of the user's, in Python
    horizon: int  # steps of one trial
    feedback: Feedback = AT_ONCE  # when rewards become known

    @property
    def has_labels(self) -> bool:
        """Whether each step has a right action, a label, so that accuracy means something."""
        return False

    def with_horizon(self, horizon: int) -> Self:
        """The same problem with trials of so many steps."""
        return replace(self, horizon=horizon)  # type: ignore[type-var]

    def bandit_table(self) -> Any:
        """The user's table that it was made of (`data.bandit_table.BanditTable`); None for every other problem."""
        return None

    def load(self) -> Tables:
        """Read the data, on the host. Called once, outside any compiled program."""
        return ()

    @abstractmethod
    def spec(self, tables: Tables) -> ProblemSpec:
        """The sizes of a context, of the set of actions and of an action's features."""

    def longest(self, tables: Tables) -> int | None:
        """The most steps a trial can have: the rows of its data, where rows are played once; None: no limit."""
        return None

    def draw_ahead(self, keys: jax.Array) -> None:
        """Draw the trials of these keys, (trials,), on the host, where that is not for a compiled program to do."""

    @abstractmethod
    def begin(self, key: jax.Array, tables: Tables) -> Episode:
        """Draw what varies by trial. A longer horizon must begin with the same steps as a shorter one."""

    @abstractmethod
    def round(self, step: jax.Array, episode: Episode, tables: Tables) -> Round:
        """The context and the rewards of one step; a pure function, so any step can be asked for again."""

    def context(self, step: jax.Array, episode: Episode, tables: Tables) -> jax.Array:
        """The context alone, for training on past steps."""
        return self.round(step, episode, tables).context

    def action_features(self, step: jax.Array, episode: Episode, tables: Tables) -> jax.Array | None:
        """The features of the actions alone, (num_actions, action_dim), for training on past steps."""
        return self.round(step, episode, tables).features

    @property
    def randomness(self) -> Problem:
        """The problem whose contexts and rewards these are: another one for a wrapper that changes none of them.

        Trials are drawn by its fields, so that a problem and its wrapper play the same trials.
        """
        return self
