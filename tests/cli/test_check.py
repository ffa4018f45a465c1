"""`showdown check FILE.py`: good files pass, and each thing that can be wrong is a sentence."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import jax
import pytest

from showdown.config import at_least, config, param
from showdown.policies import policies, uniform
from showdown.problems import problems

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_policy.py"

POLICY = """
import jax
import jax.numpy as jnp
from showdown.config import config
from showdown.policies import policies
from showdown.protocol.policy import Policy

@config
class {name}(Policy):
    def init(self, key, spec):
        return jnp.zeros(spec.num_actions)

    def act(self, key, state, situation):
        return {act}

    def update(self, key, state, situation, action, reward):
        return {update}

policies.add("{name}", {name}())
"""
BEST, KEEP = "situation.best(state)", "state.at[action].add(reward)"

PROBLEM = """
import itertools
import jax
import jax.numpy as jnp
from showdown.config import config
from showdown.protocol.problem import Problem, ProblemSpec, Round
from showdown.problems import problems

COUNTER = itertools.count()

@config
class {name}(Problem):
    horizon: int = 1000

    def spec(self, tables):
        return ProblemSpec(2, 3)

    def begin(self, key, tables):
        return {episode}

    def round(self, step, episode, tables):
        context = jax.random.normal(jax.random.fold_in(episode, step), (2,))
        return Round(context, means=jnp.zeros(3), rewards={rewards})

problems.add("{name}", {name}())
"""


@config
class Picky(uniform.Uniform):
    batch_size: int = param(16, "which must be more than it is made small to", at_least(9), small=8)


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """What a checked file registers is gone after the test, and so is the module, or nobody could load it again."""
    for registry in (policies, problems):
        registry.names()
        others = {name: entry for name, entry in registry._entries.items() if name != "GaussianBandit"}  # the example's
        monkeypatch.setattr(registry, "_entries", others)
    loaded = sys.modules.pop(EXAMPLE.stem, None)
    yield
    sys.modules.pop(EXAMPLE.stem, None)
    if loaded is not None:
        sys.modules[EXAMPLE.stem] = loaded


def test_the_example_passes(showdown):
    answer = showdown("check", str(EXAMPLE))
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "GaussianBandit, a policy"
    assert all(line.startswith("  ok ") for line in lines[1:-1])
    assert lines[-1] == "all 12 checks passed"


@pytest.mark.parametrize(
    ("act", "update", "sentence"),
    [
        (BEST, "state.at[action].add(reward).astype(jnp.float16)", "update changes state from float32(3,) to float16"),
        (BEST, "(state, state)", "update must return a state with the arrays of init"),
        ("jnp.argmax(state).astype(jnp.float32)", KEEP, "act must return one int32 action, not float32 of shape ()"),
        ("jnp.int32(3) + " + BEST, KEEP, "act chooses action [3] of a problem with 3 actions"),
        (BEST, "state.at[action].add(jnp.exp(reward))", "state holds NaN or infinity after 24 steps of huge rewards"),
        (BEST, "state.missing", "update raises AttributeError"),
        ("jax.random.randint(jax.random.key(0), (), 0, 3)", KEEP, "act makes a key of its own"),
        (
            "jnp.argmax(state).astype(jnp.int32)",
            KEEP,
            "can be chosen: let `act` choose with situation.best or situation.uniform",
        ),
        ("jnp.int32(1 if state[0] > 0 else 0)", KEEP, "act needs a value while it is compiled, in line 14 of wrong"),
    ],
    ids=["dtype", "structure", "float-action", "range", "infinite", "raises", "own-key", "unavailable", "branch"],
)
def test_a_wrong_policy_is_a_sentence(showdown, tmp_path, request, act, update, sentence):
    name = "Wrong" + request.node.callspec.id.title().replace("-", "")
    path = tmp_path / f"{name.lower()}.py"
    path.write_text(POLICY.format(name=name, act=act, update=update))
    answer = showdown("check", str(path))
    assert answer.code == 1
    assert "  WRONG  " in answer.out
    assert sentence in answer.out
    assert "checks failed" in answer.out


@pytest.mark.parametrize(
    ("act", "update", "method"),
    [
        (BEST, "state.at[action].add(reward * situation.step)", "update"),
        ("situation.best(state + situation.step)", KEEP, "act"),
    ],
    ids=["update", "act"],
)
def test_mixed_dtypes_are_wrong(showdown, tmp_path, request, act, update, method):
    name = "Mixed" + request.node.callspec.id.title()
    path = tmp_path / f"{name.lower()}.py"
    path.write_text(POLICY.format(name=name, act=act, update=update))
    with jax.numpy_dtype_promotion("standard"):  # as users have it; these tests themselves would raise
        answer = showdown("check", str(path))
    assert answer.code == 1
    assert f"{method} mixes arrays of different dtypes, in line " in answer.out
    assert f"of {path.name} (`return " in answer.out


def test_mixed_dtypes_of_a_problem_are_wrong(showdown, tmp_path):
    rewards = "jnp.ones(3) * step"
    (tmp_path / "mixing.py").write_text(PROBLEM.format(name="Mixing", episode="key", rewards=rewards))
    with jax.numpy_dtype_promotion("standard"):
        answer = showdown("check", "mixing.py")
    assert answer.code == 1
    assert "begin, round or context mixes arrays of different dtypes, in line " in answer.out


def test_a_warning_is_wrong(showdown, tmp_path):
    update = '__import__("warnings").warn("numbers are cut off") or state'
    (tmp_path / "warning.py").write_text(POLICY.format(name="Warning", act=BEST, update=update))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as a user may have it; pytest itself would raise
        answer = showdown("check", "warning.py")
    assert "update warns UserWarning: numbers are cut off" in answer.out


def test_one_cause_is_said_once(showdown, tmp_path):
    (tmp_path / "raising.py").write_text(POLICY.format(name="Raising", act=BEST, update="state.missing"))
    answer = showdown("check", "raising.py")
    assert answer.out.count("AttributeError") == 1
    assert answer.out.splitlines()[-2:] == [
        "  skip   the other checks: not run, because an earlier check failed",
        "1 of 12 checks failed",
    ]


def test_a_class_without_the_decorator_is_named(showdown, tmp_path):
    (tmp_path / "plain.py").write_text(POLICY.format(name="Plain", act=BEST, update=KEEP).replace("@config", ""))
    answer = showdown("check", "plain.py")
    assert (answer.code, answer.out) == (2, "")
    assert "Plain lacks @config" in answer.err


@pytest.mark.parametrize(
    ("episode", "rewards", "sentence"),
    [
        ("key", "jnp.zeros(4)", "round gives rewards of shape (4,) where spec says (3,)"),
        ("key", "jnp.full(3, jnp.nan)", "round gives rewards that are not finite at step 0"),
        ("jax.random.key(0)", "jnp.zeros(3)", "episodes begun with different keys are equal"),
        ("key.missing", "jnp.zeros(3)", "begin, round or context raises AttributeError"),
        ("key", "jnp.full(3, 1.0 * next(COUNTER))", "the rewards of a trial change when more trials are played"),
        ("key", "jnp.zeros(3), available=step < jnp.arange(5, 8)", "round says that no action is available at step 7"),
        (
            "key",
            "jnp.zeros(3), features=jnp.zeros((3, 2))",
            "round gives features of actions, and spec.action_dim",
        ),
    ],
    ids=["shape", "nan", "constant", "raises", "counter", "none-available", "unannounced"],
)
def test_a_wrong_problem_is_a_sentence(showdown, tmp_path, request, episode, rewards, sentence):
    name = "Bad" + request.node.callspec.id.title().replace("-", "")
    path = tmp_path / f"{name.lower()}.py"
    path.write_text(PROBLEM.format(name=name, episode=episode, rewards=rewards))
    answer = showdown("check", str(path), "--json")
    assert answer.code == 1
    assert answer.json["wrong"] >= 1
    found = [check["wrong"] for check in answer.json["checks"] if check["wrong"]]
    assert any(sentence in text for text in found), found


def test_a_problem_whose_actions_come_and_go_and_have_features_passes(showdown, tmp_path):
    more = "jnp.zeros(3), available=jnp.arange(3) != step % 3, features=jnp.outer(jnp.arange(3.0), context)"
    code = PROBLEM.format(name="Featured", episode="key", rewards=more)
    (tmp_path / "featured.py").write_text(code.replace("ProblemSpec(2, 3)", "ProblemSpec(2, 3, 2)"))
    answer = showdown("check", "featured.py")
    assert (answer.code, answer.out.splitlines()[-1]) == (0, "all 5 checks passed")


def test_a_file_of_the_project_is_checked_in_place(showdown):
    answer = showdown("check", uniform.__file__)
    assert answer.code == 0
    assert answer.out.startswith("Uniform, a policy\n")


def test_a_policy_that_cannot_be_made_small_is_checked_as_it_is():
    assert Picky().small().batch_size == 16


def test_a_file_with_nothing_to_check_is_refused(showdown, tmp_path):
    (tmp_path / "nothing.py").write_text("")
    answer = showdown("check", "nothing.py")
    assert answer.code == 2
    assert "nothing.py registers nothing: call policies.add(NAME, policy)" in answer.err
