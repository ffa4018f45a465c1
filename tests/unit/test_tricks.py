"""Without the tricks that make programs faster the numbers are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.tricks import PLAIN_VARIABLE, plain

PLAY = """
import json
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.tricks import plain

curve = simulate(policies.get("LinFullPost"), problems.get("wheel-0.5"), trials=2, horizon=60).curve
print(json.dumps([plain(), [[value.hex() for value in row] for row in curve.tolist()]]))
"""


@pytest.mark.usefixtures("compiled_as_for_users")
def test_without_tricks_the_numbers_are_the_same():
    """In a process of its own: programs that are compiled already would be used again."""
    environment = {**os.environ, PLAIN_VARIABLE: "1", "JAX_PLATFORMS": "cpu", "XLA_FLAGS": ""}
    done = subprocess.run([sys.executable, "-c", PLAY], env=environment, capture_output=True, text=True, check=True)
    was_plain, numbers = json.loads(done.stdout.splitlines()[-1])
    assert was_plain
    assert not plain()
    curve = simulate(policies.get("LinFullPost"), problems.get("wheel-0.5"), trials=2, horizon=60).curve
    assert numbers == [[value.hex() for value in row] for row in curve.tolist()]
