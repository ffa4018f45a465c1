"""The same policy online: choose, learn, save, load.

    agent = Agent(policies.get("LinFullPost"), context_dim=9, num_actions=7, seed=0)
    action = agent.choose(context)
    agent.learn(context, action, reward)

Choosing and learning alternate exactly as in the compiled loop, so an agent fed a trial's contexts and rewards plays
the trial's actions. Rewards may also come late or not at all: `learn` takes whatever is known, when it is known.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from showdown.errors import DivergedError, UsageError
from showdown.keys import named_key
from showdown.memory import check_state
from showdown.play import block, saved
from showdown.play.block import RoleKeys
from showdown.policy import History, Policy, State, all_finite
from showdown.problem import ProblemSpec

FIRST_CAPACITY = 1024  # steps of history; doubled when full, so compilation is rare


@jax.jit
def _act(policy: Policy, key: jax.Array, state: State, context: jax.Array, step: jax.Array) -> jax.Array:
    return block.act(policy, RoleKeys.of(key), state, context, step)


@partial(jax.jit, donate_argnums=2)
def _update(
    policy: Policy,
    key: jax.Array,
    state: State,
    context: jax.Array,
    action: jax.Array,
    reward: jax.Array,
    step: jax.Array,
) -> tuple[State, jax.Array]:
    state = block.update(policy, RoleKeys.of(key), state, context, action, reward, step)
    return state, all_finite(state)


@partial(jax.jit, donate_argnums=2)
def _refit(
    policy: Policy,
    key: jax.Array,
    state: State,
    contexts: jax.Array,
    actions: jax.Array,
    rewards: jax.Array,
    count: jax.Array,
) -> tuple[State, jax.Array]:
    history = History(count, actions, rewards, lambda steps: contexts[steps])
    state = block.refit(policy, RoleKeys.of(key), state, history)
    return state, all_finite(state)


class Agent:
    """A policy with its state, for one stream of decisions."""

    def __init__(
        self, policy: Policy, *, context_dim: int, num_actions: int, seed: int = 0, key: jax.Array | None = None
    ) -> None:
        if context_dim < 1 or num_actions < 2:
            raise UsageError(
                f"an agent needs a context and a choice, not {context_dim} features, {num_actions} actions"
            )
        policy.check()
        check_state(policy, ProblemSpec(context_dim, num_actions))
        self.policy, self.spec = policy, ProblemSpec(context_dim, num_actions)
        self._key = named_key(seed, "agent", "policy") if key is None else key
        # a policy may start two parts of its state with one array; only distinct ones can be donated to an update
        self._state = jax.tree.map(jnp.copy, block.init(policy, self._key, self.spec))
        self._finite: Any = True  # whether the state is; on the device, and looked at when the next action is asked for
        self.decisions = 0  # how often it chose
        self.observations = 0  # how often it learned
        kept = FIRST_CAPACITY if policy.refit_every else 0
        self._contexts = np.zeros((kept, context_dim), np.float32)
        self._actions = np.zeros(kept, np.int32)
        self._rewards = np.zeros(kept, np.float32)

    def choose(self, context: Any) -> int:
        """The action to take for a context. Raises DivergedError where what was learned is no longer finite."""
        if not self._finite:
            raise DivergedError(f"the policy's state was not finite after {self.observations} observations")
        action = _act(self.policy, self._key, self._state, self._checked(context), np.int32(self.decisions))
        self.decisions += 1
        return int(action)

    def learn(self, context: Any, action: int, reward: float) -> None:
        """Take in what an action paid."""
        context = self._checked(context)
        if not 0 <= action < self.spec.num_actions:
            raise UsageError(f"action must lie between 0 and {self.spec.num_actions - 1}, not {action}")
        if not np.isfinite(reward):
            raise UsageError(f"a reward must be a finite number, not {reward}")
        paid = np.float32(reward)
        if not self.policy.frozen:  # else an update changes nothing, and there is nothing new to check
            observed = context, np.int32(action), paid, np.int32(self.observations)
            self._state, self._finite = _update(self.policy, self._key, self._state, *observed)
        self.observations += 1
        if self.policy.refit_every:
            self._remember(context, action, paid)
            if self.observations % self.policy.refit_every == 0:
                kept = self._contexts, self._actions, self._rewards
                count = np.int32(self.observations)
                self._state, self._finite = _refit(self.policy, self._key, self._state, *kept, count)

    def diagnostics(self) -> dict[str, float | list[float]]:
        """What the policy says of its state: scalars such as the jitter its matrices needed, and timelines."""
        return {name: np.asarray(value).tolist() for name, value in self.policy.diagnostics(self._state).items()}

    def _checked(self, context: Any) -> np.ndarray:
        array = np.asarray(context, np.float32)
        if array.shape != (self.spec.context_dim,):
            raise UsageError(f"a context has {self.spec.context_dim} numbers here, not the shape {array.shape}")
        if not np.isfinite(array).all():
            raise UsageError("a context must hold finite numbers")
        return array

    def _remember(self, context: np.ndarray, action: int, reward: np.float32) -> None:
        position = self.observations - 1
        if position == len(self._actions):
            self._contexts = np.concatenate([self._contexts, np.zeros_like(self._contexts)])
            self._actions = np.concatenate([self._actions, np.zeros_like(self._actions)])
            self._rewards = np.concatenate([self._rewards, np.zeros_like(self._rewards)])
        self._contexts[position], self._actions[position], self._rewards[position] = context, action, reward

    def save(self, path: str | Path) -> None:
        """Write everything to one file, whole or not at all."""
        kept = slice(self.observations)
        history = self._contexts[kept], self._actions[kept], self._rewards[kept]
        counts = self.decisions, self.observations
        saved.write(Path(path), saved.Saved(self.policy, self.spec, self._key, self._state, *counts, *history))

    @classmethod
    def load(cls, path: str | Path) -> Agent:
        """The agent that `save` wrote; raises UsageError, in one sentence, for a file that holds none."""
        stored = saved.read(Path(path))
        agent = cls(stored.policy, **stored.spec._asdict(), key=stored.key)
        agent._state, agent._finite = stored.state, all_finite(stored.state)
        agent.decisions, agent.observations = stored.decisions, stored.observations
        agent._contexts, agent._actions, agent._rewards = (
            _with_room(history) if stored.policy.refit_every else history
            for history in (stored.contexts, stored.actions, stored.rewards)
        )
        return agent


def _with_room(history: np.ndarray) -> np.ndarray:
    """In an array of the size it would have grown to."""
    size = max(FIRST_CAPACITY, 1 << (max(1, len(history)) - 1).bit_length())
    grown = np.zeros((size, *history.shape[1:]), history.dtype)
    grown[: len(history)] = history
    return grown
