"""A Gaussian process over the unit cube and expected improvement, in NumPy: needs no further package.

Values are replaced by normal scores of their ranks, so that a few terrible candidates do not decide the scale. The
process has a Matérn 5/2 kernel with a length per dimension and noise, fitted by their posterior mode. A batch is chosen
greedily: each choice is taken to measure what the process expects there, which leaves the mean and shrinks variances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from showdown.tuning.samplers.sobol import spread
from showdown.tuning.space import Space

POOL = 2048  # evenly spread places among which to choose
NEAR = 128  # places around each of the best
LEADERS = 5
MOST = 400  # measured candidates that the process is given: the newest, and the best of all


def propose(space: Space, places: np.ndarray, values: np.ndarray, count: int, seed: int) -> np.ndarray:
    places, values = _kept(places, values)
    process = fit(places, normal_scores(values))
    generator = np.random.default_rng(seed)
    pool = spread(POOL, places.shape[1], seed)
    expected, _ = process.predict(places)
    leaders = places[np.argsort(expected, kind="stable")[:LEADERS]]
    widths = generator.choice([0.02, 0.05, 0.15], size=(LEADERS * NEAR, 1))
    around = np.repeat(leaders, NEAR, axis=0)[: LEADERS * NEAR]
    around = np.clip(around + widths[: len(around)] * generator.standard_normal(around.shape), 0.0, 1.0)
    pool = np.concatenate([pool, around])
    # where a dimension has few values, the process must judge those and not the places between them
    pool = np.unique(space.places([space.candidate(place) for place in pool]), axis=0)
    new = pool[~(np.abs(pool[:, None, :] - places[None]).max(axis=2) < 1e-9).any(axis=1)]
    return _choose(process, new if len(new) >= count else pool, count, float(expected.min()))


def _kept(places: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if len(values) <= MOST:
        return places, values
    best = np.argsort(values, kind="stable")[: MOST // 4]
    kept = np.union1d(best, np.arange(len(values) - (MOST - MOST // 4), len(values)))
    return places[kept], values[kept]


def normal_scores(values: np.ndarray) -> np.ndarray:
    from scipy.special import ndtri
    from scipy.stats import rankdata

    return np.asarray(ndtri((rankdata(values) - 0.5) / len(values)), float)


def _kernel(first: np.ndarray, second: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Matérn 5/2 with variance 1."""
    difference = (first[:, None, :] - second[None]) / lengths
    distance = np.sqrt(5.0 * (difference**2).sum(axis=2))
    return (1.0 + distance + distance**2 / 3.0) * np.exp(-distance)


@dataclass(frozen=True)
class Process:
    """A Gaussian process fitted to values with mean 0."""

    places: np.ndarray
    lengths: np.ndarray
    scale: float  # variance of the function
    noise: float  # variance of a measurement
    factor: np.ndarray  # Cholesky factor of the covariance of the measurements
    weights: np.ndarray  # factor⁻¹ · values

    def halfway(self, places: np.ndarray) -> np.ndarray:
        """factor⁻¹ · covariance with these places."""
        from scipy.linalg import solve_triangular

        covariance = self.scale * _kernel(self.places, places, self.lengths)
        return np.asarray(solve_triangular(self.factor, covariance, lower=True))

    def predict(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the function itself."""
        half = self.halfway(places)
        return half.T @ self.weights, np.maximum(self.scale - (half**2).sum(axis=0), 1e-12)


def fit(places: np.ndarray, values: np.ndarray) -> Process:
    """The process with the posterior mode of lengths, scale and noise; their logarithms have broad normal priors."""
    from scipy.linalg import solve_triangular
    from scipy.optimize import minimize

    dimensions = places.shape[1]
    center = np.log(np.array([*[0.5 * np.sqrt(dimensions)] * dimensions, 1.0, 0.05]))
    spread_of = np.array([*[1.0] * dimensions, 0.7, 1.5])

    def process(logs: np.ndarray) -> Process:
        lengths, (scale, noise) = np.exp(logs[:dimensions]), np.exp(logs[dimensions:])
        covariance = scale * _kernel(places, places, lengths) + (noise + 1e-6) * np.eye(len(places))
        factor = np.linalg.cholesky(covariance)
        weights = solve_triangular(factor, values, lower=True)
        return Process(places, lengths, float(scale), float(noise), factor, np.asarray(weights))

    def cost(logs: np.ndarray) -> float:
        fitted = process(logs)
        misfit = 0.5 * float((fitted.weights**2).sum()) + float(np.log(np.diag(fitted.factor)).sum())
        return misfit + 0.5 * float((((logs - center) / spread_of) ** 2).sum())

    bounds = [*[(np.log(0.02), np.log(20.0))] * dimensions, (np.log(0.05), np.log(20.0)), (np.log(1e-5), np.log(2.0))]
    starts = [center, center + np.array([*[-1.0] * dimensions, 0.0, 1.0])]
    found = [minimize(cost, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 60}) for start in starts]
    return process(min(found, key=lambda result: float(result.fun)).x)


def _choose(process: Process, pool: np.ndarray, count: int, best: float) -> np.ndarray:
    """The greedy batch: `half` gets a row per choice, as if it had been measured."""
    from scipy.special import log_ndtr, ndtr

    half = process.halfway(pool)
    mean = half.T @ process.weights
    variance = np.maximum(process.scale - (half**2).sum(axis=0), 1e-12)
    chosen: list[int] = []
    for _ in range(count):
        deviation = np.sqrt(variance)
        score = (best - mean) / deviation
        density = np.exp(-0.5 * score**2) / np.sqrt(2 * np.pi)
        improvement = deviation * (score * ndtr(score) + density)
        # far below what double precision can add up, the order of the probabilities is that of the improvements
        ranked = np.where(improvement > 1e-12, np.log(np.maximum(improvement, 1e-300)), log_ndtr(score) - 30.0)
        ranked[chosen] = -np.inf
        place = int(np.argmax(ranked))
        chosen.append(place)
        own = half[:, place]
        covariance = process.scale * _kernel(pool[place : place + 1], pool, process.lengths)[0] - own @ half
        row = covariance / np.sqrt(variance[place] + process.noise + 1e-6)
        half = np.concatenate([half, row[None]])
        variance = np.maximum(variance - row**2, 1e-12)
    return pool[chosen]
