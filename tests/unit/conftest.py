"""Frames as `Store.frame` gives them, written by hand."""

from __future__ import annotations

import pandas as pd
import pytest


@pytest.fixture
def frame_of():
    """Call with {(policy, problem): cumulative regret of each trial}; every cell of one call shares the keywords."""

    def make(cells, *, horizon=100, seed=0, seconds=1.0, made="", data="") -> pd.DataFrame:
        rows = []
        for (policy, problem), regrets in cells.items():
            for trial, regret in enumerate(regrets):
                rows.append(
                    {
                        "cell": f"{policy}|{problem}|{horizon}|{seed}|{len(regrets)}|{made}",
                        "policy": policy,
                        "problem": problem,
                        "data": data,
                        "horizon": horizon,
                        "seed": seed,
                        "trials": len(regrets),
                        "compile_seconds": 2.0,
                        "run_seconds": seconds[policy] if isinstance(seconds, dict) else seconds,
                        "trial": trial,
                        "cumulative": float(regret),
                        "cumulative_expected": regret + 1.0,
                        "simple": regret / 10,
                        "simple_expected": regret / 20,
                        "reward": 1000.0 - regret,
                        "reward_fixed": 900.0 + trial,
                    }
                )
        return pd.DataFrame(rows)

    return make
