"""One small table and one run on it, which all tests of a worker share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import showdown as sd


@pytest.fixture(scope="session")
def frame():
    draw, rows = np.random.default_rng(0), 60
    age, region = draw.integers(18, 80, rows), draw.choice(["north", "south"], rows)
    return pd.DataFrame({"age": age, "region": region, "plan": np.where(age > 45, "plus", "basic")})


@pytest.fixture(scope="session")
def results(frame):
    return sd.run(["LinGreedy", "LinPost"], frame, label="plan", trials=4, progress=False)
