"""Playing a segment where rewards come late: after each decision, what has arrived is learned, in order.

The order is one schedule for all trials (`Feedback.order`), so how many rewards come after a step is a number and not
an array over trials, and a refit stays a real branch. A policy refits after every `refit_every` rewards, as an online
agent does, and `update` and `refit` have the keys of the numbers of their rewards: the agent plays the same.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from showdown.play import block
from showdown.play.block import Past, Player, RoleKeys
from showdown.play.propensity import taken_probability
from showdown.protocol.feedback import Feedback
from showdown.protocol.history import History
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec, Round
from showdown.protocol.situation import Situation


def play_late(
    policy: Policy,
    spec: ProblemSpec,
    feedback: Feedback,
    player: Player,
    times: jax.Array,
    rounds: Round,
    past: Past,
    propensities: bool,
) -> tuple[Player, tuple[jax.Array, jax.Array | None]]:
    """The player after the steps `times` of one trial; their actions, and their propensities where asked for."""
    keys = RoleKeys.of(player.key)
    order, known = (jnp.asarray(array) for array in feedback.order(len(player.actions)))

    def one_step(player: Player, inputs: tuple[jax.Array, Round]) -> tuple[Player, Any]:
        step, round = inputs
        situation = Situation.of(round, step, spec)
        action = block.act(policy, keys, player.state, situation)
        chance = taken_probability(policy, player.key, player.state, situation, action) if propensities else None
        of_one = jax.tree.map(lambda array: array[None], round)
        player = block.remembered(player, of_one, step, action[None], round.rewards[action][None])
        before = jnp.where(step > 0, known[step - 1], 0)
        state = jax.lax.fori_loop(before, known[step], lambda number, state: learn(player, number, state), player.state)
        return player._replace(state=state), (action, chance)

    def learn(player: Player, number: jax.Array, state: State) -> State:
        """Take in reward `number` of those that come."""
        at = order[number]
        context = past.contexts_at(at[None])[0]
        features = past.features_at(at[None])[0] if spec.action_dim else None
        situation = Situation(context, number, spec, None, features)
        state = block.update(policy, keys, state, situation, player.actions[at], player.rewards[at])
        if not policy.refit_every:
            return state
        due = (number + 1) % policy.refit_every == 0
        return jax.lax.cond(due, lambda: block.refit(policy, keys, state, history(player, number + 1)), lambda: state)

    def history(player: Player, count: jax.Array) -> History:
        """The rewards that have come, in the order they came."""
        by_step = past.history(spec, count, player)
        features_at = by_step.features_at
        return History(
            spec,
            count,
            player.actions[order],
            player.rewards[order],
            lambda rows: past.contexts_at(order[rows]),
            None if features_at is None else lambda rows: features_at(order[rows]),
        )

    return jax.lax.scan(one_step, player, (times, rounds))
