"""The adapters in examples/: scikit-learn's own checks, Gymnasium's environments, coba's learners."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

# Estimator checks that do not apply, each with its reason. None at present: all that run must pass.
NOT_APPLICABLE: dict[str, str] = {}


def module(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def sklearn_wrapper():
    pytest.importorskip("sklearn.utils.estimator_checks", reason="scikit-learn is not installed")
    name = "sklearn_wrapper"
    sys.path.insert(0, str(ROOT / "examples"))  # pickle finds classes by importing their module
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "examples"))
        sys.modules.pop(name, None)


def test_estimator_checks(sklearn_wrapper):
    """With a greedy policy, whose programs compile fastest: the checks use a dozen shapes of data."""
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some checks warn about the data that they make up
        estimator = sklearn_wrapper.BanditClassifier(policy="LinGreedy")
        results = check_estimator(estimator, expected_failed_checks=NOT_APPLICABLE, on_fail=None, on_skip=None)
    failed = [f"{result['check_name']}: {result['exception']}" for result in results if result["status"] == "failed"]
    assert not failed
    assert sum(result["status"] == "passed" for result in results) > 40


def test_online_it_chooses_and_learns(sklearn_wrapper):
    draw = np.random.default_rng(0)
    contexts = draw.normal(size=(60, 4))
    answers = np.where(contexts[:, 0] > 0, "yes", "no")
    bandit = sklearn_wrapper.BanditClassifier(policy="LinGreedy").partial_fit(contexts[:4], answers[:4], ["no", "yes"])
    for row, answer in zip(contexts, answers, strict=True):
        action = bandit.choose(row)
        assert bandit.learn(row, action, float(action == answer))
    assert (bandit.predict(contexts[-20:]) == answers[-20:]).mean() > 0.8


def test_models_are_played_beside_compiled_methods_on_a_gymnasium_environment():
    env_checker = pytest.importorskip("gymnasium.utils.env_checker", reason="Gymnasium is not installed")
    example = module("own_simulator")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it advises bounds of the contexts
        env_checker.check_env(example.Doors(), skip_render_check=True)
    table = example.main(steps=60, trials=2).table().set_index("policy")
    assert {"LinFullPost", "SGD, ε-greedy", "SGD, bootstrap"} <= set(table.index)


def test_learners_of_coba_are_played_beside_compiled_methods():
    pytest.importorskip("coba", reason="coba is not installed")
    table = module("against_coba").main(interactions=200, trials=2).table().set_index("policy")
    assert table.loc["LinFullPost", "mean"] < table.loc["coba random", "mean"]
