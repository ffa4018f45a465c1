"""What a problem is: something that begins an episode and, at every step, gives a context and a reward per action.

A problem is a configuration (see `config/`). Its data, if it has any, is loaded once and shared by all trials; what
varies by trial (an order of rows, coefficients, noise) is an episode. Everything is drawn before play, so all policies
of a trial see the same contexts and the same noise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import jax

from showdown.config import Configuration

Tables = Any  # a PyTree of arrays shared by all trials
Episode = Any  # a PyTree of arrays that belongs to one trial


class ProblemSpec(NamedTuple):
    """All a policy may know of a problem before it plays."""

    context_dim: int
    num_actions: int


class Round(NamedTuple):
    """One step: what the policy sees, and what each action would pay."""

    context: jax.Array  # (context_dim,)
    rewards: jax.Array  # (num_actions,) realised
    means: jax.Array  # (num_actions,) expected


class Problem(Configuration, ABC):
    """Base of every problem; subclasses are decorated with `@config`."""

    horizon: int  # steps of one trial

    @property
    def has_labels(self) -> bool:
        """Whether each step has a right action, a label, so that accuracy means something."""
        return False

    def load(self) -> Tables:
        """Read the data, on the host. Called once, outside any compiled program."""
        return ()

    @abstractmethod
    def spec(self, tables: Tables) -> ProblemSpec:
        """The context dimension and the number of actions."""

    def longest(self, tables: Tables) -> int | None:
        """The most steps a trial can have: the rows of its data, where rows are played once; None: no limit."""
        return None

    @abstractmethod
    def begin(self, key: jax.Array, tables: Tables) -> Episode:
        """Draw what varies by trial. A longer horizon must begin with the same steps as a shorter one."""

    @abstractmethod
    def round(self, step: jax.Array, episode: Episode, tables: Tables) -> Round:
        """The context and the rewards of one step; a pure function, so any step can be asked for again."""

    def context(self, step: jax.Array, episode: Episode, tables: Tables) -> jax.Array:
        """The context alone, for training on past steps."""
        return self.round(step, episode, tables).context
