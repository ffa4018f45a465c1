"""An agent as a coba learner, to compare it with coba's own in coba's experiments (`pip install coba`).

    import coba as cb
    from coba_learner import AgentLearner

    environments = cb.Environments.from_linear_synthetic(1000, n_actions=5, n_action_features=0).scale()
    cb.Experiment(environments, [AgentLearner("LinFullPost"), cb.RandomLearner()]).run()

Contexts must be numbers, in the same number of columns, and the actions always the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coba.primitives import Learner

from showdown.agent import Agent
from showdown.policies import policies


class AgentLearner(Learner):
    def __init__(self, policy: str = "LinFullPost", seed: int = 0) -> None:
        self._policy, self._seed = policy, seed
        self._agent: Agent | None = None
        self._actions: list[Any] = []

    @property
    def params(self) -> Mapping[str, Any]:
        return {"family": "showdown", "policy": self._policy, "seed": self._seed}

    def _numbers(self, context: Any, actions: Sequence[Any]) -> list[float]:
        """The context; the agent is made for the first one."""
        row = list(context) if isinstance(context, Sequence) else [1.0] if context is None else [context]
        if self._agent is None:
            self._actions = list(actions)
            sizes = {"context_dim": len(row), "num_actions": len(self._actions)}
            self._agent = Agent(policies.get(self._policy), **sizes, seed=self._seed)
        return [float(value) for value in row]

    def _available(self, actions: Sequence[Any]) -> list[int] | None:
        if list(actions) == self._actions:
            return None
        if not all(action in self._actions for action in actions):
            raise ValueError("the actions must always be the same ones; features of actions are not used")
        return [self._actions.index(action) for action in actions]

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float, dict[str, str]]:
        row = self._numbers(context, actions)
        decision = self._agent.decide(row, available=self._available(actions))
        return self._actions[decision.action], decision.propensity, {"id": decision.id}

    def score(self, context: Any, actions: Sequence[Any], action: Any) -> float:
        row = self._numbers(context, actions)
        chances = self._agent.probabilities(row, available=self._available(actions))
        return float(chances.values[self._actions.index(action)])

    def learn(self, context: Any, action: Any, reward: float, probability: float, id: str | None = None) -> None:
        if id is not None:
            self._agent.reward(id, float(reward))
        else:  # logged by another learner
            self._agent.learn(self._numbers(context, [action]), self._actions.index(action), float(reward))
