"""What Diag and PrecisionDiag do to a posterior and to regret: the experiment of the paper's figure 2.

Diag keeps the marginal variances of the coefficients, so it is wide in every direction; PrecisionDiag keeps the
conditional ones and is narrow in every direction. Regret is that of Thompson sampling with each, k = 20 actions, d = 15
and d = 30: Diag suffers badly as d grows, PrecisionDiag does at least as well as the exact posterior.

The paper does not give the contexts' law, the number of steps, the noise or the prior: see `shared.MixedLinear`; the
policies are LinPost, LinDiagPost and LinDiagPrecPost without an intercept (λ = σ² = 0.25).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from showdown.analysis.summary import Curve
from showdown.bench.cell import Cell
from showdown.policies import policies
from showdown.studies.shared import MixedLinear, Settings, regret_curves

PRESETS = {"exact": "LinPost", "Diag": "LinDiagPost", "PrecisionDiag": "LinDiagPrecPost"}  # name in the paper: preset
DIMENSIONS = (15, 30)


@dataclass(frozen=True)
class Approximations:
    covariances: dict[str, np.ndarray]  # by name: (2, 2) about two correlated coefficients
    curves: dict[tuple[str, int], Curve]  # by (name, dimension): cumulative regret


def run(settings: Settings) -> Approximations:
    curves = regrets(settings, trials=50 if settings.full else 10, horizon=4000 if settings.full else 1500)
    exact = np.array([[1.0, 0.8], [0.8, 1.0]])
    covariances = {
        "exact": exact,
        "Diag": np.diag(np.diag(exact)),
        "PrecisionDiag": np.diag(1 / np.diag(np.linalg.inv(exact))),
    }
    return Approximations(covariances, curves)


def regrets(
    settings: Settings, *, trials: int, horizon: int, dimensions: Sequence[int] = DIMENSIONS
) -> dict[tuple[str, int], Curve]:
    """The regret of each posterior at each dimension."""
    keys, cells = [], []
    for dimension in dimensions:
        problem = MixedLinear(context_dim=dimension, num_actions=20, horizon=horizon)
        problem_name = f"mixed-linear[context_dim={dimension}]"
        for name, preset in PRESETS.items():
            keys.append((name, dimension))
            policy_name = f"{preset}[intercept=False]"
            cells.append(Cell(policy_name, problem_name, policies.get(policy_name), problem, trials, settings.seed))
    return dict(zip(keys, regret_curves(cells, settings), strict=True))
