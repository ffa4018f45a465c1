"""The same policy online: choose, learn, save, load.

    agent = Agent(policies.get("LinFullPost"), context_dim=9, num_actions=7, seed=0)
    action = agent.choose(context)
    agent.learn(context, action, reward)

Choosing and learning alternate exactly as in the compiled loop, so an agent fed a trial's contexts and rewards plays
the trial's actions. Rewards may also come late or not at all: `learn` takes whatever is known, when it is known.
"""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from showdown.config import from_json, to_json
from showdown.errors import DivergedError, UsageError
from showdown.files import write_atomically
from showdown.keys import named_key
from showdown.play import block
from showdown.play.block import RoleKeys
from showdown.policy import History, Policy, State, all_finite
from showdown.problem import ProblemSpec

FORMAT = 1
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
        self.policy, self.spec = policy, ProblemSpec(context_dim, num_actions)
        self._key = named_key(seed, "agent", "policy") if key is None else key
        self._state = block.init(policy, self._key, self.spec)
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
            told = context, np.int32(action), paid, np.int32(self.observations)
            self._state, self._finite = _update(self.policy, self._key, self._state, *told)
        self.observations += 1
        if self.policy.refit_every:
            self._remember(context, action, paid)
            if self.observations % self.policy.refit_every == 0:
                kept = self._contexts, self._actions, self._rewards
                count = np.int32(self.observations)
                self._state, self._finite = _refit(self.policy, self._key, self._state, *kept, count)

    def diagnostics(self) -> dict[str, float]:
        """What the policy tells of its state, such as the jitter its matrices needed; 0 means all is well."""
        return {name: float(value) for name, value in self.policy.diagnostics(self._state).items()}

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
        path = Path(path)
        about = {
            "format": FORMAT,
            "policy": to_json(self.policy),
            "spec": self.spec._asdict(),
            "decisions": self.decisions,
            "observations": self.observations,
        }
        arrays = {
            "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
            "key": np.asarray(jax.random.key_data(self._key)),
            "contexts": self._contexts[: self.observations],
            "actions": self._actions[: self.observations],
            "rewards": self._rewards[: self.observations],
        }
        for number, leaf in enumerate(jax.tree.leaves(self._state)):
            arrays[f"state{number}"] = np.asarray(leaf)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        try:
            write_atomically(path, lambda temporary: Path(temporary).write_bytes(buffer.getvalue()))
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None

    @classmethod
    def load(cls, path: str | Path) -> Agent:
        """The agent that `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                arrays = dict(stored)
            about = json.loads(arrays["about"].tobytes())
            known = about["format"] == FORMAT
        except FileNotFoundError:
            raise UsageError(f"there is no file {path}") from None
        except Exception as error:  # zip, NumPy and JSON each have their own
            raise UsageError(f"{path} does not hold a saved agent ({type(error).__name__})") from None
        if not known:
            raise UsageError(f"{path} holds an agent saved in another format")
        import showdown.policies  # noqa: F401  (the policies a saved agent may be made of)

        key = jax.random.wrap_key_data(arrays["key"], impl="threefry2x32")
        agent = cls(from_json(about["policy"]), **about["spec"], key=key)
        leaves, structure = jax.tree.flatten(agent._state)
        saved = [arrays.get(f"state{number}") for number in range(len(leaves))]
        shapes = [None if array is None else (array.shape, array.dtype) for array in saved]
        if shapes != [(leaf.shape, leaf.dtype) for leaf in leaves]:
            raise UsageError(f"{path} was saved by a version whose {type(agent.policy).__name__} keeps another state")
        agent._state = jax.tree.unflatten(structure, [jnp.asarray(array) for array in saved])
        agent._finite = all_finite(agent._state)
        agent.decisions, agent.observations = about["decisions"], about["observations"]
        if agent.policy.refit_every:
            for name in ("contexts", "actions", "rewards"):
                room = getattr(agent, f"_{name}")
                size = max(len(room), 1 << (max(1, agent.observations) - 1).bit_length())
                grown = np.zeros((size, *room.shape[1:]), room.dtype)
                grown[: agent.observations] = arrays[name]
                setattr(agent, f"_{name}", grown)
        return agent
