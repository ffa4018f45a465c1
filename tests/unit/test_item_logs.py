"""Logs over items with features, in the form of the Open Bandit data; estimators; reward models of one's own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from showdown.basics.errors import UsageError
from showdown.data.choose_columns import looks_like_log
from showdown.logged.estimators import direct_method, doubly_robust, ips, snips
from showdown.logged.evaluate import evaluate
from showdown.logged.own_model import predicted_by
from showdown.logged.read_log import read_log

REAL = Path(os.environ.get("SHOWDOWN_TEST_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data")
REAL /= "open-bandit"
ROWS, ITEMS = 240, 5


@pytest.fixture(scope="module")
def items() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    return pd.DataFrame(
        {"item_id": range(ITEMS), "item_feature_0": draw.normal(size=ITEMS), "item_feature_1": list("aabbc")}
    )


@pytest.fixture(scope="module")
def frame(items) -> pd.DataFrame:
    """Item 4 is never shown; cheap items (a small feature) are clicked."""
    draw = np.random.default_rng(1)
    shown = draw.integers(ITEMS - 1, size=ROWS)
    liked = 1 / (1 + np.exp(3 * items["item_feature_0"].to_numpy()[shown]))
    affinity = {f"affinity_{item}": draw.normal(size=ROWS) for item in range(ITEMS)}
    return pd.DataFrame(
        {
            "item_id": shown,
            "position": draw.integers(1, 4, ROWS),
            "click": (draw.random(ROWS) < liked).astype(int),
            "propensity_score": 1 / (ITEMS - 1),
            "user_feature_0": draw.choice(["x", "y"], ROWS),
            **affinity,
        }
    )


def test_the_form_of_the_open_bandit_data_is_recognised_as_a_log(frame, items):
    mixed = frame.assign(propensity_score=np.where(frame["position"] == 1, 0.2, 0.25))
    assert looks_like_log(mixed) == ("item_id", "click", "propensity_score")
    log = read_log(frame, items=items, features="affinity", where="position=2", propensity="propensity_score")
    assert log.rows == (frame["position"] == 2).sum()
    assert log.action_names == ("0", "1", "2", "3", "4")
    assert log.spec == (1, ITEMS, 1 + 3 + 1)  # the user; two features of items, one of them in three values; affinity
    both = log.features_of(np.array([0, 3]), np.array([4, 1]))
    np.testing.assert_array_equal(both[:, :4], log.items[[4, 1]])
    np.testing.assert_array_equal(both[:, 4], log.offered[[0, 3], [4, 1], 0])
    np.testing.assert_array_equal(log.take(np.array([5])).offered, log.offered[[5]])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"where": "position"}, "COLUMN=VALUE"),
        ({"where": "position=9"}, "no row has '9' in 'position'; there are 1, 2, 3"),
        ({"items": pd.DataFrame({"item_id": [0, 1], "x": [1.0, 2.0]})}, "no row for '2'"),
        ({"items": pd.DataFrame({"item_id": [0, 0], "x": [1.0, 2.0]})}, "'0' more than once"),
    ],
)
def test_what_is_wrong_with_items_is_said(frame, options, why):
    with pytest.raises(UsageError, match=why):
        read_log(frame, **options)


def test_policies_learn_from_the_features_of_items(frame, items):
    """With features the second half is judged by what similar items paid; the log alone has four of five items."""
    found = evaluate(["uniform", "LinGreedy"], frame, items=items, propensity="propensity_score", draws=8)
    assert found.of("LinGreedy", "SNIPS").value > found.of("uniform", "SNIPS").value
    with pytest.raises(UsageError, match="cannot use features"):
        evaluate("GP", frame, items=items, propensity="propensity_score")


@pytest.mark.parametrize("model", [Ridge(), LogisticRegression()], ids=["regressor", "classifier"])
def test_a_reward_model_of_ones_own_never_sees_the_row_it_predicts(frame, items, model):
    log = read_log(frame, items=items, propensity="propensity_score")
    predicted = predicted_by(model, log)
    assert predicted.shape == (ROWS, ITEMS)
    cheap, dear = items["item_feature_0"].argmin(), items["item_feature_0"].argmax()
    assert predicted[:, cheap].mean() > predicted[:, dear].mean() + 0.2
    spoilt = read_log(frame.assign(click=frame["click"].where(frame.index != 7, 1 - frame["click"])), items=items)
    np.testing.assert_allclose(predicted_by(model, spoilt)[7], predicted[7], atol=1e-6)
    found = evaluate("uniform", log, reward_model=model)
    weight = (1 / ITEMS) / log.propensities
    wrong = log.rewards - predicted[np.arange(ROWS), log.actions]
    assert found.of("uniform", "doubly robust").value == pytest.approx((predicted.mean(axis=1) + weight * wrong).mean())
    with pytest.raises(UsageError, match="fit and predict"):
        evaluate("uniform", log, reward_model=3)
    with pytest.raises(UsageError, match=r"an object, not a class: Ridge\(\)"):
        evaluate("uniform", log, reward_model=Ridge)


# What obp 0.5.7 itself says of these two files, by benchmarks/obp_worker.py: IPW, SNIPW, DM and DR.
BY_OBP = {
    "random-all.csv.gz": (0.0033480974851532773, 0.0033284337156528803, 0.00500487913322015, 0.0034056487098342546),
    "bts-all.csv.gz": (0.002886965420962243, 0.0023469903486529253, 0.005006802992333894, 0.0016091795077799679),
}


@pytest.mark.skipif(not REAL.exists(), reason="the Open Bandit sample is not here")
@pytest.mark.parametrize("name", BY_OBP)
def test_estimates_are_those_of_open_bandit_pipeline(name):
    log = read_log(REAL / name, items=REAL / "items.csv", where="position=1", ignore="user-item_affinity_*+timestamp")
    assert log.num_actions == 80
    draw = np.random.default_rng(0)
    target, predicted = draw.dirichlet(np.ones(80), log.rows), 0.01 * draw.random((log.rows, 80))
    data = log.rewards, log.actions, log.propensities, target
    found = ips(*data), snips(*data), direct_method(target, predicted), doubly_robust(*data, predicted)
    assert [one.value for one in found] == pytest.approx(BY_OBP[name], rel=1e-9)
