"""Logs made from a problem by a known logging policy, where the truth is known: to check estimators, and to try them.

The steps of one long episode are the population, with what every action would have paid. A log draws from it with
replacement, so that a policy's true value is its mean over the population.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from showdown.logged.log import Log
from showdown.protocol.keys import named_key
from showdown.protocol.problem import Problem


@dataclass(frozen=True, eq=False)
class Population:
    contexts: np.ndarray  # (steps, context_dim)
    rewards: np.ndarray  # (steps, num_actions) float64, of every action

    @classmethod
    def of(cls, problem: Problem, steps: int, seed: int = 0) -> Population:
        problem = problem.with_horizon(steps)
        tables = jax.device_put(problem.load())
        episode = problem.begin(named_key(seed, "population"), tables)
        rounds = jax.vmap(lambda step: problem.round(step, episode, tables))(np.arange(steps, dtype=np.int32))
        return cls(np.asarray(rounds.context), np.asarray(rounds.rewards, np.float64))

    def softmax(self, seed: int, sharpness: float = 1.0, exploring: float = 0.2) -> np.ndarray:
        """A policy with random linear preferences, (steps, num_actions); `exploring` of it is uniform."""
        num_actions = self.rewards.shape[1]
        draw = np.random.default_rng(seed).normal(size=(self.contexts.shape[1], num_actions))
        liking = sharpness * self.contexts.astype(np.float64) @ draw / np.sqrt(len(draw))
        chances = np.exp(liking - liking.max(axis=1, keepdims=True))
        return exploring / num_actions + (1 - exploring) * chances / chances.sum(axis=1, keepdims=True)

    def value(self, chances: np.ndarray) -> float:
        """What a policy earns a decision, in truth."""
        return float((chances * self.rewards).sum(axis=1).mean())

    def log(self, rows: int, chances: np.ndarray, seed: int = 0) -> tuple[Log, np.ndarray]:
        """A log of a policy with these chances, and the step of the population that each row is."""
        draw = np.random.default_rng(seed)
        steps = draw.integers(len(self.contexts), size=rows)
        beyond = draw.random((rows, 1)) > chances[steps].cumsum(axis=1)
        actions = np.minimum(beyond.sum(axis=1), chances.shape[1] - 1)  # sums may end just below 1
        log = Log(
            contexts=self.contexts[steps],
            actions=actions.astype(np.int32),
            rewards=self.rewards[steps, actions],
            propensities=chances[steps, actions],
            action_names=tuple(f"action {number}" for number in range(chances.shape[1])),
        )
        return log, steps
