"""Policies around a policy: what many methods share, said once instead of in sixty configurations."""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.config import between, config, integers, linear, log, non_negative, param, probability, required
from showdown.policies.shared.duel import duel, duel_among, duel_law
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Greedy, History, Policy, State, Thompson
from showdown.protocol.problem import ProblemSpec


class WrappedState(NamedTuple):
    inner: State
    num_actions: jax.Array  # ()


class Wrapper(Policy):
    """Changes how `inner` acts and leaves its learning alone."""

    inner: Policy

    @property
    def reference(self) -> str:
        return self.inner.reference

    @property
    def refit_every(self) -> int:
        return self.inner.refit_every

    @property
    def learns_only_at_refits(self) -> bool:
        return self.inner.learns_only_at_refits

    def init(self, key: jax.Array, spec: ProblemSpec) -> WrappedState:
        return WrappedState(self.inner.init(key, spec), jnp.int32(spec.num_actions))

    def update(
        self, key: jax.Array, state: WrappedState, context: jax.Array, action: jax.Array, reward: jax.Array
    ) -> WrappedState:
        return state._replace(inner=self.inner.update(key, state.inner, context, action, reward))

    def refit(self, key: jax.Array, state: WrappedState, history: History) -> WrappedState:
        return state._replace(inner=self.inner.refit(key, state.inner, history))

    def diagnostics(self, state: WrappedState) -> dict[str, jax.Array]:
        return self.inner.diagnostics(state.inner)


@config
class WarmUp(Wrapper):
    """Play every action `pulls` times in turn, whatever the context, then hand over; `inner` learns from the start."""

    inner: Policy = param(required, "the policy that plays afterwards")
    pulls: int = param(3, "s: pulls of each action before the policy decides", non_negative, integers(0, 10))

    def act(self, key: jax.Array, state: WrappedState, context: jax.Array, step: jax.Array) -> jax.Array:
        chosen = self.inner.act(key, state.inner, context, step)
        return jnp.where(step < self.pulls * state.num_actions, step % state.num_actions, chosen)

    def act_among(
        self, key: jax.Array, state: WrappedState, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array:
        """An action whose turn comes while it is not available is not made up for."""
        chosen = self.inner.act_among(key, state.inner, context, step, available)
        return jnp.where(self._has_turn(state, step, available), step % state.num_actions, chosen)

    def probabilities(
        self, state: WrappedState, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array | None:
        inner = self.inner.probabilities(state.inner, context, step, available)
        if inner is None:
            return None
        turn = jax.nn.one_hot(step % state.num_actions, len(available))
        return jnp.where(self._has_turn(state, step, available), turn, inner)

    def _has_turn(self, state: WrappedState, step: jax.Array, available: jax.Array) -> jax.Array:
        return (step < self.pulls * state.num_actions) & available[step % state.num_actions]


@config
class EpsilonGreedy(Wrapper):
    """With probability `epsilon` play an action at random (all equally likely), otherwise what `inner` says."""

    inner: Policy = param(required, "the policy that plays otherwise")
    epsilon: float = param(0.01, "ε: probability of a random action, at first", probability, log(1e-3, 0.5))
    decay: float = param(1.0, "ε is multiplied by this as time passes; 1 keeps it", between(0, 1), linear(0.9, 1.0))
    decay_per: Literal["context", "training"] = param("context", "how often: every step, or every refit of `inner`")

    def check(self) -> None:
        super().check()
        if self.decay_per == "training" and not self.refit_every:
            raise UsageError("decay_per=training needs a policy that trains every so many steps, and this one does not")

    def probability(self, step: jax.Array) -> jax.Array:
        """ε at `step`."""
        times = step // self.refit_every if self.decay_per == "training" else step
        return self.epsilon * jnp.asarray(self.decay, jnp.float32) ** times.astype(jnp.float32)

    def act(self, key: jax.Array, state: WrappedState, context: jax.Array, step: jax.Array) -> jax.Array:
        chosen = self.inner.act(role_key(key, "inner"), state.inner, context, step)
        explore = jax.random.uniform(role_key(key, "coin")) < self.probability(step)
        random = jax.random.randint(role_key(key, "random action"), (), 0, state.num_actions)
        return jnp.where(explore, random, chosen)

    def act_among(
        self, key: jax.Array, state: WrappedState, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array:
        chosen = self.inner.act_among(role_key(key, "inner"), state.inner, context, step, available)
        explore = jax.random.uniform(role_key(key, "coin")) < self.probability(step)
        random = jax.random.categorical(role_key(key, "random action"), jnp.where(available, 0.0, -jnp.inf))
        return jnp.where(explore, random.astype(jnp.int32), chosen)

    def probabilities(
        self, state: WrappedState, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array | None:
        inner = self.inner.probabilities(state.inner, context, step, available)
        if inner is None:
            return None
        explore, among = self.probability(step), available.astype(jnp.float32)
        return explore * among / among.sum() + (1 - explore) * inner


@config
class Duel(Wrapper):
    """Play the larger of two draws: that of the action with the best mean, the leader, and that of a random rival.

    Thompson sampling over k actions compares the leader with k − 1 others at every step, and any of them may win by
    luck, so it explores about k − 1 times as often as with two actions. With two actions a duel is Thompson sampling.
    Related: top-two Thompson sampling (Russo 2016), which draws leader and rival from the belief itself.
    """

    inner: Policy = param(required, "the Thompson policy whose values are drawn")

    def check(self) -> None:
        super().check()
        if not isinstance(self.inner, Thompson):
            kind = type(self.inner).__name__
            raise UsageError(f"a duel needs a policy that draws a value for every action, and {kind} does not")

    def act(self, key: jax.Array, state: WrappedState, context: jax.Array, step: jax.Array) -> jax.Array:
        assert isinstance(self.inner, Thompson)
        means = self.inner.means(role_key(key, "means"), state.inner, context)
        draws = self.inner.scores(role_key(key, "draws"), state.inner, context)
        return duel(role_key(key, "rival"), means, draws)

    def act_among(
        self, key: jax.Array, state: WrappedState, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array:
        assert isinstance(self.inner, Thompson)
        means = self.inner.means(role_key(key, "means"), state.inner, context)
        draws = self.inner.scores(role_key(key, "draws"), state.inner, context)
        return duel_among(role_key(key, "rival"), means, draws, available)

    def probabilities(
        self, state: WrappedState, context: jax.Array, step: jax.Array, available: jax.Array
    ) -> jax.Array | None:
        if isinstance(self.inner, Greedy):  # its draws are its means, so the leader always wins
            return self.inner.probabilities(state.inner, context, step, available)
        return (
            duel_law(self.inner.values(state.inner, context), available)
            if isinstance(self.inner, ValueThompson)
            else None
        )
