"""The wheel: a problem whose need for exploration is one number, δ.

Contexts are uniform in the unit ball. Action 0 is safe: its mean reward is 1.2 everywhere. Inside radius δ all others
pay 1.0; outside it, the one action that belongs to the context's orthant pays 50. The closer δ is to 1, the rarer the
prize, and the easier it is to settle on the safe action forever. Uniform's mean regret per step is
p·39.16 + (1 − p)·0.16 with p = 1 − δ² in two dimensions.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, section 5.4.

Differences from the paper
1. The horizon is not given there; 20,000 reproduces the published standard errors and linear rows.
2. "The problem can be easily generalized for d > 2": here to the unit ball of R^d, with one action for each of the 2^d
   orthants (the probability of the prize is then 1 − δ^d).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import at_least, between, config, non_negative, param, strictly_between
from showdown.problems.registry import problems
from showdown.protocol.keys import role_key
from showdown.protocol.problem import Problem, ProblemSpec, Round, Tables


class WheelEpisode(NamedTuple):
    contexts: jax.Array  # (horizon, context_dim)
    noise_key: jax.Array


@config
class Wheel(Problem):
    delta: float = param(0.5, "δ: radius inside which only the safe action is good, in (0, 1)", strictly_between(0, 1))
    context_dim: int = param(2, "d: the number of actions is 1 + 2^d", between(1, 10, "there are 1 + 2^d actions"))
    safe_mean: float = param(1.2, "μ1: mean reward of action 0, everywhere")
    other_mean: float = param(1.0, "μ2: mean reward of the others where they are not the best")
    prize_mean: float = param(50.0, "μ3: mean reward of the orthant's action outside δ")
    noise: float = param(0.01, "σ: standard deviation of every reward", non_negative)
    horizon: int = param(20_000, "steps of one trial", at_least(1))

    def spec(self, tables: Tables) -> ProblemSpec:
        return ProblemSpec(self.context_dim, 1 + 2**self.context_dim)

    def begin(self, key: jax.Array, tables: Tables) -> WheelEpisode:
        directions = jax.random.normal(role_key(key, "direction"), (self.horizon, self.context_dim))
        directions /= jnp.linalg.norm(directions, axis=-1, keepdims=True)
        # 1 - uniform lies in (0, 1]: the volume inside a radius grows as its d-th power
        radius = (1 - jax.random.uniform(role_key(key, "radius"), (self.horizon, 1))) ** (1 / self.context_dim)
        return WheelEpisode(directions * radius, role_key(key, "noise"))

    def round(self, step: jax.Array, episode: WheelEpisode, tables: Tables) -> Round:
        context = episode.contexts[step]
        num_actions = 1 + 2**self.context_dim
        # (+,+) is action 1, (+,−) 2, (−,+) 3, (−,−) 4: the first sign counts most, plus before minus
        digits = 2 ** jnp.arange(self.context_dim - 1, -1, -1)
        winner = 1 + jnp.sum(jnp.where(context <= 0, digits, 0))
        outside = jnp.linalg.norm(context) > self.delta
        actions = jnp.arange(num_actions)
        means = jnp.where(actions == 0, self.safe_mean, self.other_mean)
        means = jnp.where(outside & (actions == winner), self.prize_mean, means)
        noise = jax.random.normal(jax.random.fold_in(episode.noise_key, step), (num_actions,))
        return Round(context, means + self.noise * noise, means)

    def context(self, step: jax.Array, episode: WheelEpisode, tables: Tables) -> jax.Array:
        return episode.contexts[step]


problems.add("wheel", Wheel())
for _delta in (0.5, 0.7, 0.9, 0.95, 0.99):
    problems.add(f"wheel-{_delta}", Wheel(delta=_delta), base="wheel")
