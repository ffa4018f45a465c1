"""Decision rules around any belief: what to play, given the law of every action's value.

Thompson sampling is one rule, a duel another (`wrappers.py`). These are the others. A rule changes how a policy acts
and leaves its learning alone, so rules and beliefs are compared apart. `NAME/UCB` is the policy NAME that decides by
UCB, `NAME/UCB[width=2]` with another width; `/SquareCB`, `/IDS`, `/SampledIDS` and `/Greedy` are spelled alike.

Let μ and σ be mean and spread of each action's value, k the number of actions (in SquareCB, of those that are
available), t the steps so far.

- UCB: the largest μ + α_t·σ, α_t² = width² + c₀·log(1 + k·t). c₀ = 0 is LinUCB, width = 0 is RegCB's optimistic rule.
- SquareCB: b has the largest μ; any other action has probability 1 / (k + γ₀·√t·(μ_b − μ_a)/ρ), b the rest. ρ is the
  range of the rewards seen, 1 before two of them differ.
- IDS: the law that minimises (expected regret)² / (expected information), over mixtures of two actions, which suffice.
  Here regret is max(μ + βσ) − (μ − βσ) and information log(1 + σ²/noise variance). SampledIDS takes both from draws:
  regret is E[max] − E[value], information the variance of E[value | which action is best].
- Greedy: the largest μ.

References: Li et al. 2010 (LinUCB), Foster et al. 2018 (RegCB), Foster and Rakhlin 2020 (SquareCB), Russo and Van Roy
2018, Kirschner and Krause 2018 (IDS). Differences from them: docs/policies/rules.md.

Cost per step O(k) on top of the belief, O(k²) for IDS, `samples` draws of all values for SampledIDS; no refit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.beliefs.belief import Values
from showdown.config import at_least, config, core, integers, linear, log, non_negative, param, required
from showdown.policies.registry import policies
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.policies.wrappers import Duel, Wrapper
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Greedy, History, Policy, State, Thompson
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

TINY = 1e-30  # keeps what is known for sure from dividing


class Rule(Wrapper):
    """A law of actions computed from the law of values, and a draw from it."""

    def check(self) -> None:
        super().check()
        if not isinstance(self.inner, ValueThompson):
            kind, own = type(self.inner).__name__, type(self).__name__
            order = f"; name the rule first, as NAME/{own}/{kind.lower()}" if isinstance(self.inner, Wrapper) else ""
            raise UsageError(
                f"{own} needs a policy that knows mean and spread of every value, and {kind} does not{order}"
            )

    def values(self, state: State, situation: Situation) -> Values:
        assert isinstance(self.inner, ValueThompson)
        return self.inner.values(state, situation)

    @abstractmethod
    def probabilities(self, state: State, situation: Situation) -> jax.Array:
        """The law of `act`, (num_actions,)."""

    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        return drawn(key, self.probabilities(state, situation))


@config
class UCB(Rule):
    """Play the action whose value may be the largest: the mean plus some spreads."""

    inner: Policy = param(required, "the policy whose belief is used")
    width: float = param(1.0, "α: spreads that are added to the mean", non_negative, linear(0.0, 4.0))
    confidence: float = param(0.0, "c₀: α² grows by c₀·log(1 + k·t)", non_negative, linear(0.0, 1.0))

    def bounds(self, state: State, situation: Situation) -> jax.Array:
        """The upper confidence bound of each action, (num_actions,)."""
        mean, spread, _ = self.values(state, situation).law
        grown = jnp.log1p(situation.num_actions * situation.step.astype(jnp.float32))
        return mean + jnp.sqrt(self.width**2 + self.confidence * grown) * spread

    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        return situation.best(self.bounds(state, situation))

    def probabilities(self, state: State, situation: Situation) -> jax.Array:
        return jax.nn.one_hot(situation.best(self.bounds(state, situation)), situation.num_actions)


class Ranged(NamedTuple):
    """The state of a policy and the range of the rewards that it has seen."""

    inner: State
    low: jax.Array  # ()
    high: jax.Array  # ()
    seen: jax.Array  # () bool, whether there was any


@config
class SquareCB(Rule):
    """Play an action with a probability that falls as its mean falls behind the best (inverse gap weighting)."""

    inner: Policy = param(required, "the policy whose belief is used")
    sharpness: float = param(10.0, "γ₀: gaps count γ₀·√t", non_negative, log(0.1, 1000))

    @property
    def learns_only_at_refits(self) -> bool:
        return False  # the range may change at every step

    def init(self, key: jax.Array, spec: ProblemSpec) -> Ranged:
        return Ranged(self.inner.init(key, spec), jnp.float32(0), jnp.float32(0), jnp.array(False))

    def probabilities(self, state: Ranged, situation: Situation) -> jax.Array:
        mean, mask = self.values(state.inner, situation).mean, situation.mask
        best = situation.best(mean)
        width = state.high - state.low
        gap = jnp.maximum(mean[best] - mean, 0.0) / jnp.where(width > 0, width, 1.0)
        weight = self.sharpness * jnp.sqrt(situation.step.astype(jnp.float32))
        others = mask.at[best].set(False)
        law = jnp.where(others, 1 / (mask.sum().astype(jnp.float32) + weight * gap), 0.0)
        return law.at[best].set(1 - law.sum())

    def update(
        self, key: jax.Array, state: Ranged, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> Ranged:
        low, high = (
            jnp.where(state.seen, further(old, reward), reward)
            for further, old in ((jnp.minimum, state.low), (jnp.maximum, state.high))
        )
        return Ranged(
            self.inner.update(key, state.inner, situation, action, reward), low, high, jnp.ones_like(state.seen)
        )

    def refit(self, key: jax.Array, state: Ranged, history: History) -> Ranged:
        return state._replace(inner=self.inner.refit(key, state.inner, history))

    def diagnostics(self, state: Ranged) -> dict[str, jax.Array]:
        return self.inner.diagnostics(state.inner)

    def learned_features(self, state: Ranged, inputs: jax.Array) -> jax.Array | None:
        return self.inner.learned_features(state.inner, inputs)


@config
class IDS(Rule):
    """Play the mixture of two actions with the least squared regret per information, both from confidence bounds."""

    inner: Policy = param(required, "the policy whose belief is used")
    width: float = param(1.0, "β: spreads between a mean and its bounds", non_negative, linear(0.0, 4.0))

    def probabilities(self, state: State, situation: Situation) -> jax.Array:
        mean, spread, _, noise = self.values(state, situation)
        if noise is None:
            kind = type(self.inner).__name__
            raise UsageError(f"IDS needs to know how noisy rewards are, and {kind} does not say; SampledIDS does not")
        highest = situation.among(mean + self.width * spread, -jnp.inf).max()
        information = jnp.log1p(spread**2 / jnp.maximum(noise, TINY))
        return least_ratio(highest - (mean - self.width * spread), information, situation.mask)


@config
class SampledIDS(Wrapper):
    """Play the mixture of two actions with the least squared regret per information, both from draws of all values."""

    inner: Policy = param(required, "the Thompson policy whose values are drawn")
    samples: int = param(64, "draws of all values for one decision", at_least(2), integers(16, 256), small=8)

    def check(self) -> None:
        super().check()
        if not isinstance(self.inner, Thompson):
            kind = type(self.inner).__name__
            raise UsageError(f"SampledIDS needs a policy that draws a value for every action, and {kind} does not")

    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        assert isinstance(self.inner, Thompson)
        keys = jax.random.split(role_key(key, "draws"), self.samples)
        draws = jax.vmap(self.inner.scores, in_axes=(0, None, None))(keys, state, situation)
        return drawn(role_key(key, "mixture"), self.law(draws, situation))

    def law(self, draws: jax.Array, situation: Situation) -> jax.Array:
        """The law of actions given draws of all values, (samples, num_actions)."""
        among = jnp.where(situation.mask, draws, -jnp.inf)
        best = jax.nn.one_hot(jnp.argmax(among, axis=1), situation.num_actions)  # (samples, num_actions)
        times, mean = best.sum(axis=0), draws.mean(axis=0)
        given_best = jnp.einsum("sj,sa->ja", best, draws - mean, precision="highest") / jnp.maximum(times, 1)[:, None]
        information = jnp.sum(times[:, None] * given_best**2, axis=0) / self.samples
        return least_ratio(among.max(axis=1).mean() - mean, information, situation.mask)


@config
class BestMean(Wrapper):
    """Play the action with the best mean: the belief of `inner` without its exploration."""

    inner: Policy = param(required, "the Thompson policy whose means are used")

    def check(self) -> None:
        super().check()
        if not isinstance(self.inner, Thompson):
            kind = type(self.inner).__name__
            raise UsageError(f"Greedy needs a policy that draws a value for every action, and {kind} does not")
        if isinstance(core(self.inner), Greedy):
            kind = type(core(self.inner)).__name__
            raise UsageError(
                f"{kind} plays the best of its values already, so Greedy would change nothing; NPR[scale=0] and "
                "LMC-TS[temperature=0] are the twins that do not explore"
            )

    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        assert isinstance(self.inner, Thompson)
        return situation.best(self.inner.means(key, state, situation))

    def probabilities(self, state: State, situation: Situation) -> jax.Array | None:
        if not isinstance(self.inner, ValueThompson):
            return None  # means are averages of draws
        return jax.nn.one_hot(self.act(jax.random.key(0), state, situation), situation.num_actions)


def drawn(key: jax.Array, law: jax.Array) -> jax.Array:
    """An action with these probabilities, as an int32 scalar."""
    return jax.random.categorical(key, jnp.log(law)).astype(jnp.int32)


def least_ratio(regret: jax.Array, information: jax.Array, available: jax.Array) -> jax.Array:
    """The law with the least (expected regret)² / (expected information); all are (num_actions,).

    Two actions suffice (Russo and Van Roy 2018). With a share q of one and 1 − q of another the ratio is convex in q,
    and its derivative vanishes where q = Δ₂/(Δ₁ − Δ₂) − 2·I₂/(I₁ − I₂), so the best mixture of each pair has a formula.
    """
    regret, information = (jnp.where(available, each, 0.0) for each in (regret, information))
    one, other = regret[:, None], regret[None, :]
    slope, gain = one - other, information[:, None] - information[None, :]
    level, known = jnp.broadcast_to(other, slope.shape), jnp.broadcast_to(information[None, :], slope.shape)
    turning = level / jnp.where(slope == 0, 1.0, slope) - 2 * known / jnp.where(gain == 0, 1.0, gain)
    inside = jnp.where((slope == 0) | (gain == 0), 0.0, jnp.clip(turning, 0.0, 1.0))
    shares = jnp.stack([jnp.ones_like(inside), inside])  # q = 0 is q = 1 of the reversed pair
    ratio = (level + shares * slope) ** 2 / jnp.maximum(known + shares * gain, TINY)
    finite = jnp.minimum(ratio, jnp.finfo(ratio.dtype).max)  # an overflow must not look like what is not available
    ratio = jnp.where(available[:, None] & available[None, :], finite, jnp.inf)
    place = jnp.argmin(ratio)
    share = shares.ravel()[place]
    count = len(regret)
    first, second = place % (count * count) // count, place % count
    return share * jax.nn.one_hot(first, count) + (1 - share) * jax.nn.one_hot(second, count)


def _around(rule: Callable[..., Policy]) -> Callable[[Policy], Policy]:
    """What puts a rule around a policy, inside its warm-up and inside what makes it forget."""

    def wrap(policy: Policy) -> Policy:
        if isinstance(policy, Wrapper) and policy.goes_around_rules:
            return replace(policy, inner=wrap(policy.inner))  # type: ignore[type-var]
        return rule(inner=policy)

    return wrap


for _name, _rule, _summary in (
    ("UCB", UCB, "plays the largest mean plus some spreads"),
    ("SquareCB", SquareCB, "plays an action the less often, the more its mean is behind the best"),
    ("IDS", IDS, "plays what costs the least regret per information, by confidence bounds"),
    ("SampledIDS", SampledIDS, "the same, by draws of all values"),
    ("Greedy", BestMean, "plays the best mean"),
    ("Duel", Duel, "plays the larger of two draws, the leader's and a random rival's"),
):
    policies.add_wrapper(_name, _around(_rule), _summary)
