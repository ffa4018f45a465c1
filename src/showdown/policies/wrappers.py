"""Policies around a policy: what many methods share, said once instead of in sixty configurations."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal, Self

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.config import between, config, integers, linear, log, non_negative, param, probability, required, shrunk
from showdown.policies.shared.value_thompson import ValueThompson, duel, duel_law
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Greedy, History, Policy, State, Thompson
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work


class Wrapper(Policy):
    """Changes how `inner` acts and leaves its learning alone: its state is that of `inner`."""

    inner: Policy
    goes_around_rules: ClassVar[bool] = False  # whether NAME/RULE puts the rule inside it

    @property
    def reference(self) -> str:
        return self.inner.reference

    @property
    def refit_every(self) -> int:
        return self.inner.refit_every

    @property
    def learns_only_at_refits(self) -> bool:
        return self.inner.learns_only_at_refits

    def init(self, key: jax.Array, spec: ProblemSpec) -> State:
        return self.inner.init(key, spec)

    def update(self, key: jax.Array, state: State, situation: Situation, action: jax.Array, reward: jax.Array) -> State:
        return self.inner.update(key, state, situation, action, reward)

    def refit(self, key: jax.Array, state: State, history: History) -> State:
        return self.inner.refit(key, state, history)

    def diagnostics(self, state: State) -> dict[str, jax.Array]:
        return self.inner.diagnostics(state)

    def learned_features(self, state: State, inputs: jax.Array) -> jax.Array | None:
        return self.inner.learned_features(state, inputs)

    def check_problem(self, spec: ProblemSpec) -> None:
        self.inner.check_problem(spec)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return self.inner.work(spec, horizon)

    def small(self) -> Self:
        return replace(shrunk(self), inner=self.inner.small())  # type: ignore[type-var]

    def brief(self) -> Self:
        return replace(self, inner=self.inner.brief())  # type: ignore[type-var]

    def warm_up_steps(self, spec: ProblemSpec) -> int:
        return self.inner.warm_up_steps(spec)


MOST_IN_TURN = 20  # actions with features that a warm-up plays: what is learned of some holds for all


@config
class WarmUp(Wrapper):
    """Play every action `pulls` times in turn, whatever the context, then hand over; `inner` learns from the start.

    Where actions have features, it is over after as many steps as 20 actions take.
    """

    goes_around_rules = True
    inner: Policy = param(required, "the policy that plays afterwards")
    pulls: int = param(3, "s: pulls of each action before the policy decides", non_negative, integers(0, 10))

    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        """An action whose turn comes while it is not available is not made up for."""
        chosen = self.inner.act(key, state, situation)
        return jnp.where(self._has_turn(situation), situation.step % situation.num_actions, chosen)

    def probabilities(self, state: State, situation: Situation) -> jax.Array | None:
        inner = self.inner.probabilities(state, situation)
        if inner is None:
            return None
        turn = jax.nn.one_hot(situation.step % situation.num_actions, situation.num_actions)
        return jnp.where(self._has_turn(situation), turn, inner)

    def warm_up_steps(self, spec: ProblemSpec) -> int:
        return max(self._turns(spec), self.inner.warm_up_steps(spec))

    def _turns(self, spec: ProblemSpec) -> int:
        return self.pulls * (min(spec.num_actions, MOST_IN_TURN) if spec.action_dim else spec.num_actions)

    def _has_turn(self, situation: Situation) -> jax.Array:
        in_turn = situation.step < self._turns(situation.spec)
        if situation.available is None:
            return in_turn
        return in_turn & situation.available[situation.step % situation.num_actions]


@config
class EpsilonGreedy(Wrapper):
    """Play an action at random with probability `epsilon`, all equally likely, and otherwise what `inner` says."""

    inner: Policy = param(required, "the policy that plays otherwise")
    epsilon: float = param(0.01, "ε: probability of a random action, at first", probability, log(1e-3, 0.5))
    decay: float = param(1.0, "ε is multiplied by this as time passes; 1 keeps it", between(0, 1), linear(0.9, 1.0))
    decay_per: Literal["context", "training"] = param(
        "context", "how often: every step, or every `refit_every` steps of `inner`"
    )

    def check(self) -> None:
        super().check()
        if self.decay_per == "training" and not self.refit_every:
            raise UsageError("decay_per=training needs a policy that trains every so many steps, and this one does not")

    def probability(self, step: jax.Array) -> jax.Array:
        """ε at `step`."""
        times = step // self.refit_every if self.decay_per == "training" else step
        return self.epsilon * jnp.asarray(self.decay, jnp.float32) ** times.astype(jnp.float32)

    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        chosen = self.inner.act(role_key(key, "inner"), state, situation)
        explore = jax.random.uniform(role_key(key, "coin")) < self.probability(situation.step)
        return jnp.where(explore, situation.uniform(role_key(key, "random action")), chosen)

    def probabilities(self, state: State, situation: Situation) -> jax.Array | None:
        inner = self.inner.probabilities(state, situation)
        if inner is None:
            return None
        explore, among = self.probability(situation.step), situation.mask.astype(jnp.float32)
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

    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        assert isinstance(self.inner, Thompson)
        means = self.inner.means(role_key(key, "means"), state, situation)
        draws = self.inner.scores(role_key(key, "draws"), state, situation)
        return duel(role_key(key, "rival"), situation, means, draws)

    def probabilities(self, state: State, situation: Situation) -> jax.Array | None:
        if isinstance(self.inner, Greedy):  # its draws are its means, so the leader always wins
            return self.inner.probabilities(state, situation)
        if not isinstance(self.inner, ValueThompson) or situation.features is not None:
            return None
        return duel_law(self.inner.values(state, situation), situation)
