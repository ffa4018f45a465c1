"""The probability to be the largest: against SciPy's integrals in float64, with spreads and freedoms of all sizes."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from showdown.posteriors.probability_of_best import largest, second_larger

N = 6
EACH = np.linspace(-32, 32, 8001)  # log odds: the tails of every law, evenly


def exact(mean, spread, freedom, available) -> np.ndarray:
    """∫ Π F_j dF_i by the trapezoidal rule over the log odds of F_i, which is smooth and ends in both tails."""
    laws = [
        stats.norm(m, s) if np.isinf(v) else stats.t(v, m, s) for m, s, v in zip(mean, spread, freedom, strict=True)
    ]
    found = np.zeros(len(laws))
    for i in np.flatnonzero(available):
        x = np.where(EACH < 0, laws[i].ppf(1 / (1 + np.exp(-EACH))), laws[i].isf(1 / (1 + np.exp(EACH))))
        others = np.prod([laws[j].cdf(x) for j in np.flatnonzero(available) if j != i], axis=0)
        odds = np.exp(-np.abs(EACH))
        found[i] = np.trapezoid(odds / (1 + odds) ** 2 * others, EACH)
    return found


@pytest.fixture(scope="module")
def law():
    return jax.jit(largest)


def of(law, *arrays) -> np.ndarray:
    *numbers, available = arrays
    return np.asarray(law(*(jnp.asarray(array, jnp.float32) for array in numbers), jnp.asarray(available)))


def test_against_integrals_in_float64(law):
    draw = np.random.default_rng(0)
    for _ in range(15):
        mean = np.float32(draw.normal(size=N) * draw.choice([0.1, 1, 5]))
        spread = 10 ** draw.uniform(-2, 1, size=N)
        freedom = np.where(draw.random(N) < 0.3, np.inf, 2 + 10 ** draw.uniform(-1, 4, size=N))
        available = draw.random(N) < 0.8
        available[draw.integers(N)] = True
        found, truth = of(law, mean, spread, freedom, available), exact(mean, spread, freedom, available)
        assert found.sum() == pytest.approx(1, abs=1e-5)
        assert not found[~available].any()
        assert (np.abs(found - truth) <= 5e-4 * np.maximum(truth, 1e-4)).all(), (found, truth)


def test_units_do_not_matter_and_limits_are_right(law):
    mean, spread, freedom = np.array([0, 1, 2, 0, 0, 0.5]), np.array([1, 2, 0.5, 1, 1, 3]), np.full(N, 7.0)
    every = np.ones(N, bool)
    plain = of(law, mean, spread, freedom, every)
    for unit in (1e-15, 1e12):
        np.testing.assert_allclose(of(law, unit * mean, unit * spread, freedom, every), plain, rtol=1e-3)
    np.testing.assert_allclose(of(law, np.zeros(N), spread * 0 + 1, freedom, every), 1 / N, rtol=1e-4)
    assert of(law, [0, 3, 3, 1, 2, 0], np.zeros(N), freedom, every).tolist() == [0, 1, 0, 0, 0, 0]
    for broken in ((mean * np.nan, spread), (mean, spread * [1, np.nan, 1, 1, 1, 1])):
        assert not abs(of(law, *broken, freedom, every).sum() - 1) < 0.1
    only = np.arange(N) == 4
    np.testing.assert_allclose(of(law, mean, spread, freedom, only), only, atol=1e-6)


@pytest.mark.parametrize("contenders", [1, 2, 4, 5])
def test_values_that_cannot_win_change_nothing(law, contenders):
    """Whether few or many can win, which are computed apart."""
    mean, spread = np.linspace(0, 0.1, N), np.full(N, 0.05)
    mean[contenders:] -= 5
    found, truth = (of_one(mean, spread, np.full(N, 50.0), np.ones(N, bool)) for of_one in (partial(of, law), exact))
    np.testing.assert_allclose(found, truth, rtol=5e-4, atol=1e-7)
    assert not found[contenders:].any()


def test_two_normals_have_a_closed_form():
    mean, spread = np.array([0.3, 1.0, -2.0]), np.array([1.0, 0.01, 2.0])
    wins = jax.jit(second_larger)(
        *(jnp.asarray(a, jnp.float32) for a in (mean, spread, np.full(3, np.inf))), jnp.int32(1)
    )
    truth = stats.norm.cdf((mean - mean[1]) / np.hypot(spread, spread[1]))
    np.testing.assert_allclose(np.asarray(wins), [truth[0], 0, truth[2]], rtol=3e-4)
