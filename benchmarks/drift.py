"""Does float32 hold? The square-root posterior after 200,000 updates at dimension 55, against a float64 batch solution.

For several kinds of contexts and two prior precisions, prints the relative error of the mean (in norm), of the
predictive variance xᵀΣx (the worst of 200 fresh contexts) and of the noise rate b, as updates accumulate. The goal is
1e-3 for the mean and the variance. Contexts, rewards and prior are the same float32 numbers on both sides.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from showdown.posteriors import regression

DIM = 55
CHECKPOINTS = (1_000, 10_000, 100_000, 200_000)
PRIOR_PRECISIONS = (0.25, 20.0)
GOAL = 1e-3
NOISE = 0.5  # standard deviation of the targets
FRESH = 200  # contexts on which predictive variances are compared
NOISE_PRIOR = 6.0  # a and b before data, as in LinFullPost


class Belief(NamedTuple):
    regressions: regression.Regressions
    lost: jax.Array  # (1, DIM, DIM) what rounding took from the root
    rate: jax.Array  # () b


class Errors(NamedTuple):
    mean: float
    variance: float
    rate: float


def standard_normal(generator: np.random.Generator, rows: int) -> np.ndarray:
    return generator.normal(size=(rows, DIM))


def correlated(generator: np.random.Generator, rows: int) -> np.ndarray:
    """Normal with a covariance of condition number 10⁴ whose axes are not those of the coordinates."""
    axes, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(DIM, DIM)))
    return generator.normal(size=(rows, DIM)) * np.logspace(0, -2, DIM) @ axes.T


def one_hot(generator: np.random.Generator, rows: int) -> np.ndarray:
    return np.eye(DIM)[generator.integers(DIM, size=rows)]


def one_hot_with_intercept(generator: np.random.Generator, rows: int) -> np.ndarray:
    """The indicators sum to the constant: in that direction only the prior ever speaks."""
    return np.append(np.eye(DIM - 1)[generator.integers(DIM - 1, size=rows)], np.ones((rows, 1)), axis=1)


def categorical(generator: np.random.Generator, rows: int) -> np.ndarray:
    """Shaped as covertype: 10 measurements, groups of 4 and 40 indicators with rare ones, standardised, a constant.

    Each group sums to a constant, so two directions are known from the prior alone.
    """
    shares = np.random.default_rng(2).dirichlet(np.full(40, 0.3))
    mixing = np.random.default_rng(3).normal(size=(10, 10))
    columns = [
        generator.normal(size=(rows, 10)) @ mixing,
        np.eye(4)[generator.choice(4, size=rows, p=(0.45, 0.05, 0.44, 0.06))],
        np.eye(40)[generator.choice(40, size=rows, p=shares)],
    ]
    features = np.concatenate(columns, axis=1)
    scale = features.std(axis=0)
    return np.append((features - features.mean(axis=0)) / np.where(scale > 0, scale, 1), np.ones((rows, 1)), axis=1)


CASES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "standard normal": standard_normal,
    "correlated, condition 1e4": correlated,
    "one-hot": one_hot,
    "one-hot and intercept": one_hot_with_intercept,
    "shaped as covertype": categorical,
}


@jax.jit
def absorb_all(belief: Belief, contexts: jax.Array, targets: jax.Array) -> Belief:
    def step(belief: Belief, row: tuple[jax.Array, jax.Array]) -> tuple[Belief, None]:
        regressions, lost, surprise = regression.absorb_compensated(belief.regressions, belief.lost, jnp.int32(0), *row)
        return Belief(regressions, lost, belief.rate + surprise / 2), None

    return jax.lax.scan(step, belief, (contexts, targets))[0]


def compare(belief: Belief, contexts: np.ndarray, targets: np.ndarray, fresh: np.ndarray, precision: float) -> Errors:
    """Relative errors of a float32 belief against the posterior of the same rows, solved at once in float64."""
    design, rewards = contexts.astype(np.float64), targets.astype(np.float64)
    posterior_precision = design.T @ design + precision * np.eye(DIM)
    mean = np.linalg.solve(posterior_precision, design.T @ rewards)
    rate = NOISE_PRIOR + (rewards @ rewards - mean @ posterior_precision @ mean) / 2
    variances = np.sum(fresh.T * np.linalg.solve(posterior_precision, fresh.T.astype(np.float64)), axis=0)
    ours = np.asarray(jax.vmap(regression.variance, in_axes=(None, 0))(belief.regressions, fresh))[:, 0]
    return Errors(
        float(np.linalg.norm(belief.regressions.mean[0] - mean) / np.linalg.norm(mean)),
        float(np.max(np.abs(ours / variances - 1))),
        float(abs(belief.rate / rate - 1)),
    )


def drift(case: str, precision: float) -> dict[int, Errors]:
    """The errors at every checkpoint."""
    generator = np.random.default_rng(0)
    drawn = CASES[case](generator, CHECKPOINTS[-1] + FRESH).astype(np.float32)
    contexts, fresh = drawn[:-FRESH], drawn[-FRESH:]
    coefficients = generator.normal(size=DIM)
    targets = (contexts @ coefficients + NOISE * generator.normal(size=len(contexts))).astype(np.float32)
    prior = regression.prior(1, DIM, precision)
    belief = Belief(prior, jnp.zeros_like(prior.root), jnp.float32(NOISE_PRIOR))
    errors, done = {}, 0
    for count in CHECKPOINTS:
        belief = absorb_all(belief, contexts[done:count], targets[done:count])
        errors[count] = compare(belief, contexts[:count], targets[:count], fresh, precision)
        done = count
    return errors


def main() -> None:
    parser = argparse.ArgumentParser(description="Float32 drift of the square-root posterior against float64.")
    parser.add_argument("--json", action="store_true", help="write the errors as JSON instead of a table")
    arguments = parser.parse_args()
    rows = []
    if not arguments.json:
        print(f"Relative error of float32 against a float64 batch solution, dimension {DIM} (goal {GOAL:g})")
        print(f"{'contexts':26} {'prior':>6} {'updates':>8} {'mean':>9} {'variance':>9} {'rate b':>9}")
    for case in CASES:
        for precision in PRIOR_PRECISIONS:
            for count, errors in drift(case, precision).items():
                met = max(errors.mean, errors.variance) <= GOAL
                rows.append(
                    {"contexts": case, "prior_precision": precision, "updates": count, **errors._asdict(), "met": met}
                )
                if not arguments.json:
                    figures = " ".join(f"{error:9.1e}" for error in errors)
                    print(f"{case:26} {precision:6} {count:8} {figures} {'' if met else 'MISSED'}".rstrip(), flush=True)
    missed = sum(not row["met"] for row in rows)
    if arguments.json:
        print(json.dumps({"dim": DIM, "goal": GOAL, "missed": missed, "rows": rows}, indent=2))
    else:
        print("every case meets the goal" if not missed else f"{missed} of {len(rows)} checks miss the goal")


if __name__ == "__main__":
    main()
