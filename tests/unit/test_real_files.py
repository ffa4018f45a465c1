"""The real problems on their real files: every figure that is known of them.

The files are looked for in SHOWDOWN_TEST_DATA, or next to the repository; tests without their files are skipped.
"""

from __future__ import annotations

import os
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.basics.errors import MissingDataError
from showdown.problems import census, problems
from showdown.protocol.keys import trial_keys
from showdown.protocol.problem import Problem

REAL = Path(os.environ.get("SHOWDOWN_TEST_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data")


@pytest.fixture
def real(monkeypatch, tmp_path_factory):
    """A problem on its real files, or a skip that says which are missing."""

    def make(name: str) -> Problem:
        monkeypatch.setenv("SHOWDOWN_DATA", str(REAL))
        monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path_factory.getbasetemp() / "real"))  # parsed once a session
        problem = problems.get(name)
        try:
            problem.load()
        except MissingDataError as error:
            pytest.skip(str(error))
        return problem

    return make


@pytest.mark.parametrize(
    ("name", "rows", "context_dim", "num_actions", "horizon"),
    [
        ("mushroom", 8124, 117, 2, 50_000),
        ("statlog", 43_500, 9, 7, 43_500),
        ("covertype", 581_011, 54, 7, 150_000),
        ("financial", 3713, 21, 8, 3713),
        ("jester", 19_181, 32, 8, 19_181),
        ("adult", 45_222, 94, 14, 45_222),
        ("census", 2_458_285, None, 9, 250_000),
        ("song", 463_715, 90, 10, 250_000),
    ],
)
def test_figures_of_the_real_files(name, rows, context_dim, num_actions, horizon, real):
    problem = real(name)
    tables = problem.load()
    assert tables[0].shape[0] == rows
    assert problem.spec(tables).num_actions == num_actions
    assert problem.horizon == horizon
    if context_dim is None:
        assert 380 <= problem.spec(tables).context_dim <= 400
    else:
        assert problem.spec(tables).context_dim == context_dim


def test_class_counts_of_the_real_files(real):
    assert int(real("mushroom").load().edible.sum()) == 4208
    np.testing.assert_array_equal(np.bincount(real("statlog").load().labels), [34108, 37, 132, 6748, 2458, 6, 11])
    assert len(np.unique(real("adult").load().labels)) == 14


def test_sd_of_the_real_stocks(real):
    spread = real("financial").load().contexts.std(axis=0)
    assert round(float(spread.min()), 2) == 0.19
    assert round(float(spread.max()), 2) == 4.35


def test_first_rows_of_the_real_census():
    fixture = REAL / "census" / "USCensus1990.data.first100.txt"
    if not fixture.is_file():
        pytest.skip(f"{fixture} is not here")
    with fixture.open("rb") as stream:
        parsed = census.parse(stream)
    assert parsed["codes"].shape == (99, 67)
    assert parsed["attributes"].shape == (281,)  # values that occur in these rows; the whole file has more
    assert parsed["labels"].min() >= 0
    assert parsed["labels"].max() < 9


# what the paper's table of linear models gives for Uniform: cumulative regret, standard error over 50 trials
PUBLISHED = {
    "mushroom": (244_893, 412),
    "statlog": (37_289, 9),
    "covertype": (128_544, 19),
    "financial": (4_673, 58),
    "jester": (95_647, 1_146),
    "adult": (41_989, 8),
}


@pytest.mark.parametrize("name", ["mushroom", "statlog", "covertype", "adult"])
def test_uniform_regret_expected_of_the_tables_is_the_published_one(name, real):
    problem = real(name)
    tables = problem.load()
    if name == "mushroom":
        per_step = np.where(tables.edible, 5, 15).mean() / 2
    else:
        per_step = 1 - 1 / tables.payoffs.shape[1]
    published, error = PUBLISHED[name]
    assert abs(problem.horizon * per_step - published) < 3 * error


@pytest.mark.parametrize("name", ["financial", "jester"])
def test_uniform_regret_of_redrawn_problems_is_the_published_one(name, real):
    """Regret of a uniform choice, in expectation over the choice, in 50 trials: within 3 combined standard errors."""
    problem = real(name)
    tables = jax.device_put(problem.load())

    @jax.jit
    def regret(key):
        episode = problem.begin(key, tables)
        means = jax.vmap(lambda step: problem.round(step, episode, tables).means)(jnp.arange(problem.horizon))
        return (means.max(axis=1) - means.mean(axis=1)).sum()

    regrets = np.array([regret(key) for key in trial_keys(0, name, range(50), "problem")])
    published, error = PUBLISHED[name]
    assert abs(regrets.mean() - published) < 3 * np.hypot(error, regrets.std(ddof=1) / np.sqrt(50))
    # redrawn whole: with fixed portfolios or fixed roles the spread between trials would be several times smaller
    assert 0.6 < regrets.std(ddof=1) / np.sqrt(50) / error < 1.6
