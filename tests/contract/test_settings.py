"""Every kind of policy in the settings beyond the paper: it plays them, or says in a sentence why it cannot.

Programs are traced and not compiled: shapes, masks and late rewards go through all of a policy's code.
"""

from __future__ import annotations

import warnings
from functools import partial

import jax
import numpy as np
import pytest

from showdown.basics.errors import UsageError
from showdown.config import core
from showdown.play.over_trials import begin_episodes, begin_players, make_keys, make_rounds, play_rounds
from showdown.play.prepared import Prepared, prepare
from showdown.problems import problems
from showdown.protocol.keys import trial_keys

STEPS = 12
WITHOUT_FEATURES = f"linear[context_dim=2,num_actions=3,horizon={STEPS}]/turnover[every=4]/delay[steps=3]"
WITH_FEATURES = f"items[num_items=3,action_dim=2,horizon={STEPS}]/available/drift[at=5]/batched[size=4]"


def traced(prepared: Prepared) -> tuple[int, ...]:
    """The shape of the actions of a segment."""
    policy, world, first = prepared.policy, (prepared.problem, prepared.tables), np.int32(0)
    trial = jax.eval_shape(lambda: trial_keys(0, "", range(1), ""))
    episodes = jax.eval_shape(begin_episodes, *world, trial)
    players = jax.eval_shape(partial(begin_players, *prepared.about_players), policy, trial)
    rounds = jax.eval_shape(partial(make_rounds, prepared.steps, 1), *world, episodes, first)
    keys = jax.eval_shape(partial(make_keys, prepared.steps, None), players.key, first)
    play = partial(play_rounds, prepared.way, None)
    return jax.eval_shape(play, policy, players, keys, rounds, first, *world, episodes)[1].actions.shape


@pytest.mark.parametrize("text", [WITHOUT_FEATURES, WITH_FEATURES], ids=["without features", "with features"])
def test_a_policy_plays_where_it_can(played_policy, text):
    problem = problems.get(text)
    if "items" in text and not core(played_policy).sees_action_features:
        with pytest.raises(UsageError) as refusal:
            prepare(played_policy, problem, trials=1)
        said = str(refusal.value)
        assert "cannot use features of actions, of which this problem has 2" in said
        assert "\n" not in said
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared = prepare(played_policy, problem, trials=1)
        assert traced(prepared) == (1, prepared.steps)
