"""Your own simulator and model beside showdown's methods, on the same trials: a Gymnasium environment, three models.

    pip install gymnasium scikit-learn

`sd.run` also takes a function, or any object with `reset` and `step`, in the place of the environment, and any object
with `choose` and `learn` in the place of a model: docs/your-own-code.md.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from sklearn.linear_model import SGDRegressor

import showdown as sd
from showdown.plain import as_policy


class Doors(gymnasium.Env):
    """What each of three doors pays depends linearly on four numbers; every episode is one step."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float32)
    action_space = gymnasium.spaces.Discrete(3)
    weights = np.random.default_rng(1).normal(size=(3, 4))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.context = self.np_random.normal(size=4).astype(np.float32)
        return self.context.copy(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        reward = float(self.weights[action] @ self.context + 0.1 * self.np_random.normal())
        return self.context.copy(), reward, True, False, {}


def main(steps: int = 500, trials: int = 20) -> sd.Results:
    policies = {
        "LinFullPost": "LinFullPost",
        "SGD, ε-greedy": as_policy(SGDRegressor(), epsilon=0.05),
        "SGD, bootstrap": as_policy(SGDRegressor(), explore="bootstrap", members=5),
    }
    return sd.run(policies, Doors(), trials=trials, horizon=steps)


if __name__ == "__main__":
    print(main())
