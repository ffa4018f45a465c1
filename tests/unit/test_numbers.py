"""Numbers that were recorded before: no change to the code may move them unless it says so.

Bit for bit where the environment is the one they were recorded in, to rounding elsewhere. After a change that moves
numbers on purpose: `python benchmarks/same_numbers.py . --record tests/unit/golden/numbers.json`.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
GOLDEN = json.loads((Path(__file__).parent / "golden" / "numbers.json").read_text())

description = importlib.util.spec_from_file_location("same_numbers", ROOT / "benchmarks" / "same_numbers.py")
same_numbers = importlib.util.module_from_spec(description)
description.loader.exec_module(same_numbers)


@pytest.mark.usefixtures("compiled_as_for_users")
@pytest.mark.parametrize("name", GOLDEN["numbers"])
def test_numbers_are_those_recorded(name):
    problem = same_numbers.GOLDEN_PROBLEM
    measured = same_numbers.play(name, problem, same_numbers.PROBLEMS[problem])
    here = GOLDEN["environment"] == same_numbers.environment()
    for field, texts in GOLDEN["numbers"][name].items():
        recorded = np.array([float.fromhex(text) for text in texts])
        np.testing.assert_allclose(measured[field], recorded, rtol=0 if here else 1e-5, err_msg=field)
