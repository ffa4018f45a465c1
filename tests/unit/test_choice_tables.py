"""Tables with features of each action: which columns they are, what they become, and playing them."""

from __future__ import annotations

import os
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

from showdown.basics.errors import UsageError
from showdown.data.action_features import find_stems
from showdown.data.bandit_table import as_bandit_table
from showdown.policies import policies
from showdown.problems import problems, table
from showdown.protocol.problem import ProblemSpec
from showdown.recommendation.recommend import candidates

ROWS = 40
REAL = Path(os.environ.get("SHOWDOWN_TEST_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data") / "choice"


@pytest.fixture
def frame() -> pd.DataFrame:
    """Purchases: prices and fuels of three cars, a household's income, and the choice, always the cheapest."""
    draw = np.random.default_rng(4)
    prices = draw.uniform(1, 9, (ROWS, 3)).round(2)
    columns = {f"price{action + 1}": prices[:, action] for action in range(3)}
    columns |= {f"fuel_{action + 1}": draw.choice(["gas", "oil", "sun"], ROWS) for action in range(3)}
    columns |= {"income": draw.normal(size=ROWS)}
    return pd.DataFrame({**columns, "choice": [f"car{action + 1}" for action in prices.argmin(axis=1)]})


@pytest.mark.parametrize(
    ("actions", "names", "stems"),
    [
        (["heinz41", "hunts32"], ["price.heinz41", "price.hunts32", "feat.heinz41", "id"], ["price"]),
        (["choice1", "choice2"], ["price1", "price2", "fuel_1", "fuel_2", "x1", "x2", "x3"], ["price", "fuel"]),
        (["pay_a", "pay_b"], ["cost_a", "cost_b", "data", "b"], ["cost"]),
        (["0", "1"], ["x0", "x1", "y0"], ["x"]),
        ([], ["price1", "price2"], []),
    ],
)
def test_stems_have_a_column_for_every_action(actions, names, stems):
    assert list(find_stems(names, actions)) == stems


def test_features_are_encoded_alike_for_all_actions(frame):
    found = as_bandit_table(frame, label="choice", features="price+fuel")
    assert found.context_names == ("income",)
    assert found.features is not None
    assert found.features.names == ("price", "fuel=gas", "fuel=oil", "fuel=sun")
    prices = frame[["price1", "price2", "price3"]].to_numpy()
    np.testing.assert_allclose(found.features.values[:, :, 0], (prices - prices.mean()) / prices.std(), rtol=1e-5)
    np.testing.assert_array_equal(found.features.values[:, 1, 2], frame["fuel_2"] == "oil")
    assert {column.treatment for column in found.columns if column.name.startswith("fuel")} == {"feature"}
    plain = as_bandit_table(frame, label="choice")
    assert plain.features is None
    assert len({plain.digest, found.digest, as_bandit_table(frame, label="choice", features="price").digest}) == 3
    only = as_bandit_table(frame.drop(columns=["income"]), label="choice", features="all")
    np.testing.assert_array_equal(only.contexts, np.ones((ROWS, 1)))


def test_features_that_are_known_of_the_right_action_alone_are_refused(frame):
    right = frame["choice"].str[-1].astype(int)
    margins = {f"margin{number}": np.where(right == number, 2.5, np.nan) for number in (1, 2, 3)}
    for absent in (frame.assign(**margins), frame.assign(**margins).fillna(0)):
        with pytest.raises(UsageError, match="would give the answer away: leave 'margin' out of the features"):
            as_bandit_table(absent, label="choice", features="price+margin", payoff="margin")
    both = as_bandit_table(frame, label="choice", features="price", payoff="price")  # a price is known of every car
    assert both.features is not None
    (told,) = as_bandit_table(frame.assign(**margins), label="choice", features="all").warnings
    assert told.startswith("the columns 'margin' hold a value for the right action of a row alone")
    assert as_bandit_table(frame, label="choice", features="all").warnings == ()
    never = frame.assign(sale1=0, sale2=[1, *[0] * (ROWS - 1)], sale3=0)  # too few to tell
    assert as_bandit_table(never, label="choice", features="all").warnings == ()


def test_a_payoff_is_paid_by_the_right_action(frame):
    found = as_bandit_table(frame, label="choice", features="fuel", payoff="price")
    prices = frame[["price1", "price2", "price3"]].to_numpy(np.float32)
    cheapest = prices.argmin(axis=1)[:, None] == np.arange(3)
    np.testing.assert_array_equal(found.payoffs[found.labels], np.where(cheapest, prices, 0))
    assert "price1" not in found.context_names
    whole = as_bandit_table(frame, label="choice", features="all", payoff="price")
    assert whole.features.names == found.features.names  # a price of the right action alone would give it away
    with pytest.raises(UsageError, match="payoff goes with a label column alone"):
        as_bandit_table(frame, label="choice", payoff="price", costs="car1:3")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"label": "choice", "features": "prices"}, "did you mean 'price'"),
        (
            {"label": "choice", "payoff": "price+fuel"},
            "one group of columns, and 'price\\+fuel' names price, fuel",
        ),
        ({"label": "fuel_1", "features": "price"}, "no columns hold features of the actions gas, oil, sun"),
        ({"features": "price"}, "name the column of the choice"),
    ],
)
def test_features_that_are_not_there(frame, options, why):
    with pytest.raises(UsageError, match=why):
        as_bandit_table(frame, **options)


def test_a_round_has_the_features_of_its_row_and_which_action_is_which(frame):
    problem = table(frame, label="choice", features="price")
    tables = problem.load()
    assert problem.spec(tables) == (10, 3, 4)  # income and three fuels of three; the price and which car it is
    episode = problem.begin(jax.random.key(0), tables)
    round = problem.round(jax.numpy.int32(7), episode, tables)
    np.testing.assert_array_equal(round.features[:, 1:], np.eye(3))
    assert int(round.features[:, 0].argmin()) == int(round.rewards.argmax())
    with pytest.raises(UsageError, match="cannot use features"):
        policies.get("GP").check_problem(problem.spec(tables))


def test_methods_that_use_features_are_recommended_from():
    chosen = candidates(action_features=True)
    assert {"LinUCB", "LinHybrid/UCB", "LinFullPost"} < set(chosen)
    for name in chosen:
        policies.get(name).check_problem(ProblemSpec(2, 3, 4))
    assert candidates(["GP"], action_features=True) == ["Uniform", "GP"]  # what is asked for is played, or says why not


@pytest.mark.skipif(not REAL.exists(), reason="the choice tables are not here")
@pytest.mark.parametrize(
    ("name", "label", "spec"),
    [
        ("catsup", "choice", (1, 4, 3 + 4)),
        ("cracker", "choice", (1, 4, 3 + 4)),
        ("yogurt", "choice", (1, 4, 2 + 4)),
        ("tuna", "Tuna.choice", (2, 5, 1 + 5)),
        ("car", "choice", (3, 6, 19 + 6)),
    ],
)
def test_real_choices(name, label, spec):
    problem = problems.get(f"table[path={REAL / name}.csv.gz,label={label},features=all]")
    assert problem.spec(problem.load()) == spec
    assert np.isfinite(problem.load().features).all()
