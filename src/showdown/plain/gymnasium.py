"""A Gymnasium environment with discrete actions, as an object with `reset` and `step`.

It is seeded once, at the beginning of a trial. Where an episode ends, the next one begins: with episodes of one step
that is a contextual bandit as it stands. Longer episodes are played as well, one decision per step, as long as choices
do not change which observation comes next; where they do, `simulators.py` refuses the environment.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from showdown.basics.errors import UsageError


class Environment:
    """The environment as a simulator whose contexts are its observations, flattened."""

    def __init__(self, env: Any) -> None:
        from gymnasium import spaces

        if not isinstance(env.action_space, spaces.Discrete):
            raise UsageError(f"{env} needs a Discrete space of actions to be played here, not {env.action_space}")
        if not spaces.utils.is_space_dtype_shape_equiv(env.observation_space, env.observation_space):
            raise UsageError(f"the observations of {env} cannot be made numbers: {env.observation_space}")
        self.env = env
        self.actions = [int(env.action_space.start) + action for action in range(int(env.action_space.n))]
        self.__name__ = type(env.unwrapped).__name__

    def reset(self, rng: np.random.Generator) -> np.ndarray:
        observation, _ = self.env.reset(seed=int(rng.integers(2**31)))
        return self._context(observation)

    def step(self, action: int) -> tuple[np.ndarray, float]:
        observation, reward, terminated, truncated, _ = self.env.step(action)
        if terminated or truncated:
            observation, _ = self.env.reset()
        return self._context(observation), float(reward)

    def _context(self, observation: Any) -> np.ndarray:
        from gymnasium.spaces.utils import flatten

        return np.asarray(flatten(self.env.observation_space, observation))
