"""What every registered policy promises."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.bench.cell import Cell
from showdown.bench.engine import RunLimits
from showdown.bench.engines.local import Local
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.config import all_fields, core, override
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.policies.linear import LinearGreedy
from showdown.protocol.situation import Situation
from showdown.testing import POLICY_PROMISES, play, scripted
from showdown.testing.policy_promises import DIM, SPEC, random_script

PLAYED = [promise for promise in POLICY_PROMISES if promise.plays]


def test_policy_keeps(policy):
    for promise in POLICY_PROMISES:
        if not promise.plays:
            promise.check(policy)


@pytest.mark.parametrize("promise", PLAYED, ids=lambda promise: promise.sentence)
def test_policy_keeps_in_play(promise, played_policy):
    promise.check(played_policy)


def resized(policy, wanted):
    """The policy with those of the wanted fields that it has; a linear model (no hidden layers) stays one."""
    fields = all_fields(policy)
    return override(policy, {name: value for name, value in wanted.items() if fields.get(name, ()) != ()})


def test_another_seed_plays_other_actions(played_policy):
    policy, problem = played_policy, scripted(*random_script())
    one, other = (play(policy, problem, seed=seed).actions for seed in (1, 2))
    inside = core(policy)
    if isinstance(inside, LinearGreedy):
        return  # knows no chance: the same data give the same actions whatever the seed
    assert (one != other).any() or _scores_follow_the_key(inside)


def _scores_follow_the_key(policy) -> bool:
    """For a posterior too narrow to change an action in a few steps: its draws must differ all the same."""
    state, situation = policy.init(jax.random.key(0), SPEC), Situation(jnp.ones(DIM), jnp.int32(0), SPEC)
    one, other = (policy.scores(jax.random.key(seed), state, situation) for seed in (1, 2))
    return bool((one != other).any())


# Enough training for a toy in seconds.
TRAINED = {
    "hidden_layers": (10,),
    "training_steps": 40,
    "initial_training_steps": 200,
    "decaying_trainings": 3,
    "batch_size": 32,
    "refit_every": 10,
    "num_networks": 2,
    "burn_in": 20,
    "distance_samples": 16,
    "num_inducing": 8,
    "max_points": 64,
}

FASTER = {  # the rates of presets are for thousands of steps
    "LU-Gauss": {"learning_rate": 0.01},
    **{key: {"learning_rate": 0.03} for key in ("Ensemble+-Net", "NeuralTS", "Ensemble++", "NPR")},
}


def toy() -> tuple[np.ndarray, np.ndarray]:
    """Two actions, the sign of one feature decides; 200 steps. Uniform loses 1 per step."""
    contexts = np.random.default_rng(5).normal(size=(200, 1))
    good = (contexts[:, 0] > 0).astype(int)
    return contexts, np.where(np.arange(2) == good[:, None], 1.0, -1.0)


def learners() -> list[str]:
    """All presets of policies that need no training, and one of each kind of those that do."""
    first: dict[object, str] = {}
    for name in policies.names():
        policy = policies.get(name)
        fields = all_fields(policy)
        trains = "refit_every" in fields or "hidden_layers" in fields
        first.setdefault(type(core(policy)) if trains else name, name)
    return [name for name in first.values() if name != "Uniform"]


def on_one_worker(names: list[str]) -> list:
    """Presets of one structure share a program, so one worker takes them all."""
    first: dict[str, str] = {}
    structures = {name: str(jax.tree.structure(resized(policies.get(name), TRAINED))) for name in learners()}
    for name, structure in structures.items():
        first.setdefault(structure, "toy-" + name.replace("@", "-"))  # xdist splits at an @
    return [pytest.param(name, marks=pytest.mark.xdist_group(first[structures[name]])) for name in names]


@pytest.mark.parametrize("name", on_one_worker(learners()))
def test_learners_beat_uniform_on_a_toy(name, script):
    outcome = simulate(resized(policies.get(name), {**TRAINED, **FASTER.get(name, {})}), script(*toy()), trials=5)
    assert outcome.cumulative.mean() < 0.4 * 200


def networks_with_a_step_size() -> list[str]:
    """Not the linear models of `step_cap`: their gradients always vary, and the step that allows is never capped."""
    fields = {name: all_fields(policies.get(name)) for name in learners()}
    networks = [
        name for name in fields if "hidden_layers" in fields[name] and {"learning_rate", "step_cap"} & {*fields[name]}
    ]
    return [name for name in networks if "step_cap" not in fields[name] or fields[name]["hidden_layers"] != ()]


@pytest.mark.parametrize("name", on_one_worker(networks_with_a_step_size()))
def test_hopeless_steps_end_as_a_diverged_cell(name, script, tmp_path):
    policy = resized(policies.get(name), {**TRAINED, "learning_rate": 1e6, "step_cap": 1e6})
    cell = Cell(name, "toy", policy, script(*toy()), 5, 0)
    store = Store(tmp_path)
    (result,) = Local(store).run([Planned(cell, [(name, "toy")], False)], RunLimits())
    assert result.status == "diverged"
    assert "not finite" in result.reason
    (record,) = store.cells()
    assert (record.status, record.reason) == (result.status, result.reason)
    assert store.frame().empty
