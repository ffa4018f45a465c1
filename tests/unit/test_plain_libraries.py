"""Learners and environments of other libraries as policies and problems, where these are installed."""

from __future__ import annotations

import numpy as np
import pytest

from showdown.basics.errors import UsageError
from showdown.plain import as_policy, as_problem
from showdown.play.simulate import simulate
from showdown.policies import policies

pytestmark = pytest.mark.filterwarnings("ignore")  # of these libraries


def shop(rng):
    """Rewards are 0 and 1, and always one of them for some action."""
    context = rng.choice([-1.0, 1.0], size=2)
    return context, [float(context[0] > 0), float(context[0] < 0)]


def learns(given, **options) -> None:
    """It plays better than chance, and a repetition is the same to the last action."""
    problem = as_problem(shop, horizon=120)
    first, again = (simulate(as_policy(given(), **options), problem, trials=2) for _ in range(2))
    assert first.reward.mean() > 0.65
    assert (first.action_counts == again.action_counts).all()
    assert as_policy(given(), **options).code == as_policy(given(), **options).code


def test_options_and_models_of_vowpal_wabbit_learn_and_state_their_probabilities():
    vw = pytest.importorskip("vowpalwabbit", reason="Vowpal Wabbit is not installed")
    learns(lambda: "--cb_explore_adf --epsilon 0.1")
    learns(lambda: vw.Workspace("--cb_explore 2 --epsilon 0.1 --quiet"))
    kept = simulate(as_policy("--cb_explore_adf --epsilon 0.1"), as_problem(shop, horizon=30), trials=2,
                    keep_propensities=True).decisions  # fmt: skip
    assert kept.propensities.min() >= 0.0499
    with pytest.raises(UsageError, match="needs --cb_explore_adf"):
        as_policy("--oaa 3")


def test_learners_of_coba_learn():
    coba = pytest.importorskip("coba", reason="coba is not installed")
    learns(lambda: coba.LinUCBLearner(features=["a", "ax"]))


def test_an_environment_of_coba_is_played_by_rows_and_with_features():
    coba = pytest.importorskip("coba", reason="coba is not installed")
    rows = coba.Environments.from_supervised([[1.0, 2.0], [2.0, 3.0], [4.0, 5.0]] * 20, ["a", "b", "a"] * 20)
    problem = as_problem(rows)
    assert (problem.context_dim, problem.num_actions, problem.rows, problem.horizon) == (2, 2, 60, 60)
    first = simulate(as_policy(lambda context: 0), problem, trials=2)
    assert np.allclose(first.reward, 2 / 3)
    with pytest.raises(UsageError, match="has 60 rounds, and a trial of 61"):
        simulate(policies.get("Uniform"), problem, trials=1, horizon=61)
    featured = as_problem(coba.Environments.from_linear_synthetic(40, n_actions=3, n_action_features=2, seed=1))
    assert (featured.num_actions, featured.action_dim) == (3, 2)
    assert simulate(as_policy(coba.LinUCBLearner()), featured, trials=1).reward.shape == (1,)
    with pytest.raises(UsageError, match="cannot use features of actions"):
        simulate(as_policy(lambda context: 0), featured, trials=1)


def test_learners_of_mabwiser_learn():
    mab = pytest.importorskip("mabwiser.mab", reason="MABWiser is not installed")
    learns(lambda: mab.MAB(["left", "right"], mab.LearningPolicy.LinUCB(alpha=0.5)))
    too_many = as_policy(mab.MAB([1, 2, 3], mab.LearningPolicy.EpsilonGreedy()))
    with pytest.raises(UsageError, match="made for 3 actions, and the problem has 2"):
        simulate(too_many, as_problem(shop), trials=1)


def test_learners_of_contextualbandits_learn():
    online = pytest.importorskip("contextualbandits.online", reason="contextualbandits is not installed")
    from sklearn.linear_model import LogisticRegression

    learns(lambda: online.LinUCB(nchoices=2))
    learns(lambda: online.EpsilonGreedy(LogisticRegression(), nchoices=2, njobs=1), refit_every=20)
