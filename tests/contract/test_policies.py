"""What every registered policy promises."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.agent import Agent
from showdown.bench.cell import Cell
from showdown.bench.engine import Limits
from showdown.bench.engines.local import Local
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.config import all_fields, core, from_json, override, to_json
from showdown.keys import trial_keys
from showdown.play.programs import _compiled
from showdown.policies import policies
from showdown.policies.linear import LinearGreedy
from showdown.policy import History
from showdown.problem import ProblemSpec
from showdown.simulate import problem_identity, simulate

STEPS, DIM, ACTIONS = 24, 3, 3  # one shape and two trials for all scripts: one compilation per kind of policy


def random_script(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return generator.normal(size=(STEPS, DIM)), generator.normal(size=(STEPS, ACTIONS))


def test_config_survives_json(policy):
    assert from_json(json.loads(json.dumps(to_json(policy)))) == policy


def test_state_keeps_structure_shape_and_dtype(policy):
    spec = ProblemSpec(DIM, ACTIONS)
    key = jax.random.key(0)
    context, action, reward = jnp.zeros(DIM), jnp.int32(1), jnp.float32(0.5)
    state = jax.eval_shape(lambda: policy.init(key, spec))
    history = History(
        jnp.int32(4), jnp.zeros(STEPS, jnp.int32), jnp.zeros(STEPS), lambda steps: jnp.zeros((len(steps), DIM))
    )
    updated = jax.eval_shape(lambda state: policy.update(key, state, context, action, reward), state)
    refitted = jax.eval_shape(lambda state: policy.refit(key, state, history), state)
    for after in (updated, refitted):
        assert jax.tree.structure(after) == jax.tree.structure(state)
        for old, new in zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True):
            assert (old.shape, old.dtype) == (new.shape, new.dtype)
    chosen = jax.eval_shape(lambda state: policy.act(key, state, context, jnp.int32(0)), state)
    assert (chosen.shape, chosen.dtype) == ((), jnp.int32)


def test_trajectory_is_in_range_and_follows_its_seed(policy, play, script):
    problem = script(*random_script())
    first, again, other = (play(policy, problem, seed=seed).actions for seed in (1, 1, 2))
    assert first.min() >= 0
    assert first.max() < ACTIONS
    np.testing.assert_array_equal(first, again)
    inside = core(policy)
    if isinstance(inside, LinearGreedy):
        return  # knows no chance: the same data give the same actions whatever the seed
    assert (first != other).any() or _scores_follow_the_key(inside)


def _scores_follow_the_key(policy) -> bool:
    """For a posterior too narrow to change an action in a few steps: its draws must differ all the same."""
    state = policy.init(jax.random.key(0), ProblemSpec(DIM, ACTIONS))
    one, other = (policy.scores(jax.random.key(seed), state, jnp.ones(DIM)) for seed in (1, 2))
    return bool((one != other).any())


def test_unchosen_rewards_change_nothing(policy, play, script):
    contexts, rewards = random_script()
    before = play(policy, script(contexts, rewards)).actions[0]
    changed = rewards + 7.0
    changed[np.arange(STEPS), before] = rewards[np.arange(STEPS), before]
    after = play(policy, script(contexts, changed)).actions[0]
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("case", ["huge rewards", "constant rewards", "duplicated contexts"])
def test_hostile_data_leaves_a_finite_state(policy, play, script, case):
    contexts, rewards = random_script(1)
    if case == "huge rewards":
        rewards = 1e3 * np.sign(rewards)
    elif case == "constant rewards":
        rewards = np.ones_like(rewards)
    else:
        contexts = np.tile(contexts[:1], (STEPS, 1))
    players = play(policy, script(contexts, rewards)).players
    for leaf in jax.tree.leaves(players.state):
        if jnp.issubdtype(leaf.dtype, jnp.floating):
            assert jnp.isfinite(leaf).all()


def test_agent_plays_the_trial_and_survives_a_save(policy, play, script, tmp_path):
    contexts, rewards = random_script()
    problem = script(contexts, rewards)
    expected = play(policy, problem).actions[1]
    key = trial_keys(0, problem_identity(problem), range(2), "policy")[1]
    agent = Agent(policy, context_dim=DIM, num_actions=ACTIONS, key=key)
    chosen = []
    for step in range(STEPS):
        if step == STEPS // 2 - 2:  # not where a refit falls
            agent.save(tmp_path / "agent.npz")
            agent = Agent.load(tmp_path / "agent.npz")
        action = agent.choose(contexts[step])
        chosen.append(action)
        agent.learn(contexts[step], action, rewards[step, action])
    np.testing.assert_array_equal(chosen, expected)


def test_floats_do_not_compile_again(policy, play, script):
    problem = script(*random_script())
    play(policy, problem)
    programs = len(_compiled)
    changed = {name: item * 0.5 for name, item in all_fields(policy).items() if isinstance(item, float)}
    play(override(policy, changed), problem)
    assert len(_compiled) == programs


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


def toy() -> tuple[np.ndarray, np.ndarray]:
    """Two actions, the sign of one feature decides; 200 steps. Uniform loses 1 per step."""
    contexts = np.random.default_rng(5).normal(size=(200, 1))
    good = (contexts[:, 0] > 0).astype(int)
    return contexts, np.where(np.arange(2) == good[:, None], 1.0, -1.0)


def learners() -> list[str]:
    """All presets of policies that need no training, and one of each kind of those that do, deep and linear."""
    first: dict[tuple, str] = {}
    for name in policies.names():
        policy = policies.get(name)
        fields = all_fields(policy)
        trains = "refit_every" in fields
        first.setdefault((type(core(policy)), fields.get("hidden_layers") == ()) if trains else (name,), name)
    return [name for name in first.values() if name != "Uniform"]


def on_one_worker(names: list[str]) -> list:
    """A name's tests share a program, so one worker takes them both."""
    groups = {name: "toy-" + name.replace("@", "-") for name in names}  # xdist splits at an @
    return [pytest.param(name, marks=pytest.mark.xdist_group(group)) for name, group in groups.items()]


@pytest.mark.parametrize("name", on_one_worker(learners()))
def test_learners_beat_uniform_on_a_toy(name, sized, script):
    outcome = simulate(sized(policies.get(name), TRAINED), script(*toy()), trials=5)
    assert outcome.cumulative.mean() < 0.6 * 200


def networks_with_a_step_size() -> list[str]:
    """Not the linear models of `step_cap`: their gradients always vary, and the step that allows is never capped."""
    fields = {name: all_fields(policies.get(name)) for name in learners()}
    networks = [name for name in fields if "hidden_layers" in fields[name]]
    return [name for name in networks if "step_cap" not in fields[name] or fields[name]["hidden_layers"] != ()]


@pytest.mark.parametrize("name", on_one_worker(networks_with_a_step_size()))
def test_hopeless_steps_end_as_a_diverged_cell(name, sized, script, tmp_path):
    policy = sized(policies.get(name), {**TRAINED, "learning_rate": 1e6, "step_cap": 1e6})
    cell = Cell(name, "toy", policy, script(*toy()), 5, 0)
    store = Store(tmp_path)
    (result,) = Local(store).run([Planned(cell, [(name, "toy")], False)], Limits())
    assert result.status == "diverged"
    assert "not finite" in result.reason
    (record,) = store.cells()
    assert (record.status, record.reason) == (result.status, result.reason)
    assert store.frame().empty
