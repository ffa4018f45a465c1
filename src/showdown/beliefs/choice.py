"""Which of several beliefs to follow: the one that earns more where they disagree, with evidence as a prior.

Each belief has a leader, the action with its best mean. Where all leaders are the same there is nothing to choose.
Where they differ, the reward is credited to every belief whose leader was played. A belief is then chosen by Thompson
sampling on these mean rewards, with `pseudo_rewards` imagined ones at the mean of all, raised by `lean` root mean
square rewards for the belief under which rewards had the greatest density so far.

Why not by evidence alone: a network fitted to the very history it is judged on is too sure of itself, so its density is
often the lower one although its decisions are better; and densities are measured only on actions that were played.

Older rewards count less: after n disagreements the one at m has weight (m/n)^`forgetting`, so that a belief that
improves late is noticed, without a window to set.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import Configuration, config, linear, log, non_negative, param, positive
from showdown.posteriors.probability_of_best import largest

TINY = 1e-30  # keeps a scale of zero from dividing


class ChoiceState(NamedTuple):
    evidence: jax.Array  # (members,) log density of all rewards
    earned: jax.Array  # (members,) weighted sum of rewards where leaders differed
    times: jax.Array  # (members,) weighted number of those
    disagreements: jax.Array  # () so far
    squares: jax.Array  # () sum of squared rewards
    seen: jax.Array  # () rewards so far


@config
class EarnedChoice(Configuration):
    """Thompson sampling on what members earned where they disagreed."""

    pseudo_rewards: float = param(30.0, "imagined rewards of each member", positive, log(1, 1000))
    lean: float = param(
        1.0,
        "how much more the best-supported member is imagined to earn, in root mean square rewards",
        non_negative,
        linear(0.0, 2.0),
    )
    spread: float = param(
        0.5, "deviation of one reward in the draw, in root mean square rewards", non_negative, linear(0.0, 2.0)
    )
    forgetting: float = param(1.0, "power of m/n in the weight of disagreement m of n", non_negative, linear(0.0, 4.0))

    def init(self, members: int) -> ChoiceState:
        zeros, zero = jnp.zeros(members), jnp.float32(0.0)
        return ChoiceState(zeros, zeros, zeros, zero, zero, zero)

    def draw(self, key: jax.Array, state: ChoiceState) -> jax.Array:
        """The member to follow, ()."""
        mean, spread = self._standing(state)
        return jnp.argmax(mean + spread * jax.random.normal(key, mean.shape))

    def law(self, state: ChoiceState) -> jax.Array:
        """The probability that `draw` gives each member, (members,)."""
        mean, spread = self._standing(state)
        return largest(mean, spread, jnp.full_like(mean, jnp.inf), jnp.ones(mean.shape, bool))

    def _standing(self, state: ChoiceState) -> tuple[jax.Array, jax.Array]:
        """Mean and deviation of what each member is believed to earn."""
        unit = jnp.sqrt(state.squares / jnp.maximum(state.seen, 1.0))
        pooled = state.earned.sum() / jnp.maximum(state.times.sum(), TINY)
        best = (state.evidence == state.evidence.max()) & (state.evidence > state.evidence.min())
        imagined = pooled + self.lean * unit * best.astype(jnp.float32)
        weight = state.times + self.pseudo_rewards
        mean = (state.earned + self.pseudo_rewards * imagined) / weight
        return mean, self.spread * unit / jnp.sqrt(weight)

    def observe(
        self, state: ChoiceState, evidence: jax.Array, leaders: jax.Array, action: jax.Array, reward: jax.Array
    ) -> ChoiceState:
        """Learn from one reward; `evidence` and `leaders` are each member's, (members,)."""
        differ = (leaders != leaders[0]).any()
        number = state.disagreements + differ.astype(jnp.float32)
        keep = jnp.where(differ, ((number - 1) / jnp.maximum(number, 1.0)) ** self.forgetting, 1.0)
        credited = differ & (leaders == action)
        return ChoiceState(
            evidence=state.evidence + evidence,
            earned=keep * state.earned + jnp.where(credited, reward, 0.0),
            times=keep * state.times + credited.astype(jnp.float32),
            disagreements=number,
            squares=state.squares + reward**2,
            seen=state.seen + 1,
        )
