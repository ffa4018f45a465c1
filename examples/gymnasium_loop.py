"""The loop that Gymnasium users know, `observation → action → reward`, with an agent in the place of an RL algorithm.

`ContextEnv` is a contextual bandit as a Gymnasium environment: each step shows a new context, and nothing that is done
changes the next one. The loop asks for `reset` and `step` only, so it plays any environment with a box of numbers to
see and a discrete set of actions. Runs without Gymnasium too, which then cannot check the environment.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from showdown.agent import Agent
from showdown.policies import policies

try:
    import gymnasium

    Base: Any = gymnasium.Env
except ImportError:
    gymnasium = None
    Base = object


class ContextEnv(Base):
    """What each of three actions pays depends linearly on four features."""

    metadata = {"render_modes": []}  # noqa: RUF012  (as Gymnasium declares it)
    render_mode = None
    features, actions = 4, 3

    def __init__(self, steps: int = 500) -> None:
        self.steps = steps
        self._draw = np.random.default_rng(0)
        self._weights = np.random.default_rng(1).normal(size=(self.actions, self.features))
        if gymnasium is not None:
            self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (self.features,), np.float32)
            self.action_space = gymnasium.spaces.Discrete(self.actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        if gymnasium is not None:
            super().reset(seed=seed)
        if seed is not None:
            self._draw = np.random.default_rng(seed)
        self._left = self.steps
        return self._next(), {}

    def _next(self) -> np.ndarray:
        self._context = self._draw.normal(size=self.features).astype(np.float32)
        return self._context

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, float]]:
        means = self._weights @ self._context
        reward = float(means[action] + 0.1 * self._draw.normal())
        self._left -= 1
        return self._next(), reward, False, self._left == 0, {"regret": float(means.max() - means[action])}


def play(env: Any, agent: Agent, seed: int = 0) -> list[float]:
    """One episode; what each step lost, where the environment says it."""
    context, _ = env.reset(seed=seed)
    lost, ended = [], False
    while not ended:
        decision = agent.decide(context)
        following, reward, terminated, truncated, info = env.step(decision.action)
        agent.reward(decision.id, reward)
        lost.append(info.get("regret", float("nan")))
        context, ended = following, terminated or truncated
    return lost


def main(steps: int = 500) -> float:
    """The mean regret of the last 50 steps."""
    env = ContextEnv(steps)
    agent = Agent(policies.get("LinFullPost"), context_dim=env.features, num_actions=env.actions)
    late = float(np.mean(play(env, agent)[-50:]))
    print(f"regret per step at the end: {late:.3f}")
    return late


if __name__ == "__main__":
    main()
