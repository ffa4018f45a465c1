"""Contexts that say nothing: finite beliefs, laws that sum to one, and a word where a policy is stuck by a tie.

benchmarks/attacks/degenerate.py does the same for every family and more kinds of contexts.
"""

from __future__ import annotations

import jax
import numpy as np
import pytest

from attacks import Score, degenerate
from showdown.policies import policies
from showdown.policies.neural_linear import COLLAPSED
from showdown.testing import play, scripted


@pytest.mark.parametrize("kind", ["zero", "constant and large", "collinear"])
@pytest.mark.parametrize("name", ["LinFullPost", "LinGreedy", "NeuralLinear"])
def test_contexts_that_say_nothing(name, kind):
    score = Score("a few")
    degenerate.one(name, kind, 1e-6, score)
    assert score.withstood


@pytest.mark.parametrize(("kind", "collapsed"), [("zero", 1.0), ("ordinary", 0.0)])
def test_neural_linear_says_that_its_features_have_collapsed(kind, collapsed):
    policy = policies.get("NeuralLinear").small()
    seen = degenerate.contexts(kind).astype(np.float32)
    played = play(policy, scripted(seen, degenerate.rewards(0.1)), seed=1)
    found = jax.vmap(policy.diagnostics)(played.players.state)[COLLAPSED]
    assert float(found.max()) == collapsed
