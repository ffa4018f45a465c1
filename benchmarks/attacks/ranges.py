"""The posterior of a linear policy in float32 against float64, over sizes of contexts, coefficients and noise.

python benchmarks/attacks/ranges.py 1000000    # the table of docs/reliability.md
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.append(str(Path(__file__).parents[1]))

import jax
import jax.numpy as jnp
import numpy as np

from attacks import Score
from showdown.beliefs.linear import StudentLinear
from showdown.posteriors.rounding import NOTICEABLE

DIM = 5
COEFFICIENTS = np.array([0.5, -0.3, 0.8, 0.2, -0.6, 0.4])  # the last of the constant
FRESH = 300  # contexts whose values are compared
BELIEF = StudentLinear()
WRONG = 1.0  # standard deviations: an error that must be reported


class Case(NamedTuple):
    """Contexts offset + scale · normal; rewards from coefficients `size` times the usual ones, and noise."""

    noise: float = 1.0
    offset: float = 0.0
    scale: float = 1.0
    size: float = 1.0
    collinear: float = 1.0  # how much of the second feature is its own; the rest is the first one

    def __str__(self) -> str:
        usual = Case()
        odd = [f"{name} {value:g}" for name, value in self._asdict().items() if value != getattr(usual, name)]
        return ", ".join(odd) or "standard"


CASES = (
    Case(),
    *(Case(noise=noise) for noise in (100.0, 0.1, 1e-2, 1e-4, 1e-6)),
    *(Case(offset=offset) for offset in (10.0, 100.0, 1e3, 1e4)),
    *(Case(scale=scale) for scale in (1e-3, 1e3)),
    *(Case(size=size) for size in (10.0, 1e3)),
    *(Case(collinear=own) for own in (1e-3, 1e-6)),
    Case(noise=0.1, offset=100.0),
)


class Found(NamedTuple):
    error: float  # the worst of coefficients and fresh values, in standard deviations of float64
    said: float  # what the policy's diagnostics say


@jax.jit
def _learned(designs: jax.Array, rewards: jax.Array):
    def step(state, pair):
        return BELIEF.observe(state, pair[0], jnp.int32(0), pair[1])[0], None

    state, _ = jax.lax.scan(step, BELIEF.init(1, designs.shape[1]), (designs, rewards))
    return state.regressions.mean[0], BELIEF.rounding(state)


def measure(case: Case, steps: int) -> Found:
    """One posterior of so many rewards in both precisions, from the same float32 numbers."""
    chance = np.random.default_rng(0)
    contexts = chance.normal(size=(steps, DIM))
    contexts[:, 1] = (1 - case.collinear) * contexts[:, 0] + case.collinear * contexts[:, 1]
    designs = np.append(case.offset + case.scale * contexts, np.ones((steps, 1)), axis=1).astype(np.float32)
    values = designs.astype(np.float64) @ (case.size * COEFFICIENTS)
    rewards = (values + case.noise * chance.normal(size=steps)).astype(np.float32)
    mean, said = _learned(designs, rewards)
    exact, covariance = _float64(designs.astype(np.float64), rewards.astype(np.float64))
    off = np.asarray(mean, np.float64) - exact
    fresh = designs[:FRESH].astype(np.float64)
    deviations = np.sqrt(np.einsum("ij,jk,ik->i", fresh, covariance, fresh))
    errors = [*np.abs(off) / np.sqrt(np.diag(covariance)), *np.abs(fresh @ off) / deviations]
    return Found(float(np.max(errors)), float(said))


def _float64(designs: np.ndarray, rewards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the covariance of the posterior, from all of the data at once."""
    prior = BELIEF.prior_precision
    root = np.linalg.qr(np.vstack([designs, np.sqrt(prior) * np.eye(DIM + 1)]), mode="r")  # better than a Gram matrix
    inverse = np.linalg.inv(root)
    mean = inverse @ (inverse.T @ (designs.T @ rewards))
    rate = BELIEF.noise_rate + 0.5 * (np.square(rewards - designs @ mean).sum() + prior * mean @ mean)
    return mean, rate / (BELIEF.noise_shape + len(rewards) / 2) * inverse @ inverse.T


def unsaid(_: object = None, steps: int = 100_000) -> Score:
    """An error of a standard deviation or more, of which the diagnostics say nothing, is silent."""
    score = Score(f"float32 against float64, {steps:,} steps")
    for case in CASES:
        with score.attempt():
            found = measure(case, steps)
            score.silent += found.error > WRONG and found.said == 0
    return score


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"| {steps:,} steps | worst error | diagnostics say |\n|---|---:|---:|")
    for case in CASES:
        found = measure(case, steps)
        said = f"{found.said:.2g}" if found.said else f"below {NOTICEABLE:g}"
        print(f"| {case} | {found.error:.2g} | {said} |", flush=True)


if __name__ == "__main__":
    main()
