"""The adapters in examples/: scikit-learn's own checks, coba's experiment, Gymnasium's loop."""

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


def test_a_gymnasium_loop_learns():
    example = module("gymnasium_loop")
    assert example.main(steps=300) < 0.1
    env_checker = pytest.importorskip("gymnasium.utils.env_checker", reason="Gymnasium is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it advises bounds of the contexts
        env_checker.check_env(example.ContextEnv(), skip_render_check=True)


def test_a_coba_experiment_prefers_the_agent_to_chance():
    coba = pytest.importorskip("coba", reason="coba is not installed")
    learner = module("coba_learner").AgentLearner
    environments = coba.Environments.from_linear_synthetic(
        200, n_actions=3, n_context_features=4, n_action_features=0, seed=1
    ).scale()
    result = coba.Experiment(environments, [learner("LinFullPost"), coba.RandomLearner()]).run(quiet=True)
    rewards = result.interactions.to_pandas().groupby("learner_id")["reward"].mean()
    assert rewards[0] > rewards[1] + 0.03
