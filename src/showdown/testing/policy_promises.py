"""What every policy promises. All checks play one small shape, so a structure of policy is compiled once."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from showdown.agent import Agent
from showdown.config import all_fields, core, from_json, override, to_json
from showdown.play.prepared import prepare
from showdown.play.programs import compiled
from showdown.play.simulate import problem_identity
from showdown.protocol.history import History
from showdown.protocol.keys import trial_keys
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import ADVICE, Situation
from showdown.testing.promise import Promise, calling, first_difference, leaves, require, strictly
from showdown.testing.trajectory import TRIALS, play, scripted

STEPS, DIM, ACTIONS = 24, 3, 3
MASKED_DRAWS = 8  # keys with which each set of available actions is tried
SPEC = ProblemSpec(DIM, ACTIONS)


def random_script(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Contexts (STEPS, DIM) and rewards (STEPS, ACTIONS)."""
    generator = np.random.default_rng(seed)
    return generator.normal(size=(STEPS, DIM)), generator.normal(size=(STEPS, ACTIONS))


def survives_json(policy: Policy) -> None:
    with calling("writing the policy as JSON and reading it back"):
        back = from_json(json.loads(json.dumps(to_json(policy))))
    require(back == policy, f"a field changes on the way through JSON: {policy} becomes {back}")


def keeps_its_state_in_shape(policy: Policy) -> None:
    key, situation = jax.random.key(0), Situation(jnp.zeros(DIM), jnp.int32(0), SPEC)
    past = jnp.zeros(STEPS, jnp.int32), jnp.zeros(STEPS)
    history = History(SPEC, jnp.int32(4), *past, lambda rows: jnp.zeros((len(rows), DIM)))
    with strictly(), calling("init"):
        state = jax.eval_shape(lambda: policy.init(key, SPEC))
    with strictly(), calling("update"):
        updated = jax.eval_shape(
            lambda state: policy.update(key, state, situation, jnp.int32(1), jnp.float32(0)), state
        )
    with strictly(), calling("refit"):
        refitted = jax.eval_shape(lambda state: policy.refit(key, state, history), state)
    for method, after in (("update", updated), ("refit", refitted)):
        before, later = leaves(state), leaves(after)
        same = str(jax.tree.structure(after)) == str(jax.tree.structure(state))
        require(same, f"{method} must return a state with the arrays of init, {list(before)}, not {list(later)}")
        for name, old in before.items():
            new = later[name]
            require(
                (old.shape, old.dtype) == (new.shape, new.dtype),
                f"{method} changes state{name} from {old.dtype}{old.shape} to {new.dtype}{new.shape}",
            )
    with strictly(), calling("act"):
        chosen = jax.eval_shape(lambda state: policy.act(key, state, situation), state)
    shape, dtype = getattr(chosen, "shape", None), getattr(chosen, "dtype", None)
    require((shape, dtype) == ((), jnp.int32), f"act must return one int32 action, not {dtype} of shape {shape}")
    with strictly(), calling("probabilities"):
        jax.eval_shape(lambda state: policy.probabilities(state, situation), state)
    with strictly(), calling("diagnostics"):
        jax.eval_shape(policy.diagnostics, state)


def plays_actions_in_range_and_repeats_them(policy: Policy) -> None:
    problem = scripted(*random_script())
    with calling("playing a trial"):
        first, again = (play(policy, problem, seed=1).actions for _ in range(2))
    bad = first[(first < 0) | (first >= ACTIONS)]
    require(not bad.size, f"act chooses action {bad[:1]} of a problem with {ACTIONS} actions")
    if (first != again).any():
        where = first_difference(first, again)
        require(False, f"two runs with one seed differ {where}: draw random numbers from the key that is given only")


def chooses_available_actions(policy: Policy) -> None:
    """Each action missing in turn, and each alone; in the first steps, where a warm-up plays, and after learning."""
    contexts, rewards = random_script()
    one = np.eye(ACTIONS, dtype=bool)
    masks, steps = np.concatenate([~one, one]), np.array([0, 1, 2, STEPS], np.int32)
    keys = jax.random.split(jax.random.key(0), MASKED_DRAWS)
    with calling("playing a trial"):
        state = jax.tree.map(lambda leaf: leaf[0], play(policy, scripted(contexts, rewards)).players.state)
    with calling("act"):
        actions = np.asarray(_masked_actions(policy, keys, state, jnp.float32(contexts[0]), steps, masks))
    wrong = np.argwhere(~masks[np.arange(len(masks)), np.clip(actions, 0, ACTIONS - 1)])
    if wrong.size:
        *where, mask = wrong[0]
        only = ", ".join(map(str, np.flatnonzero(masks[mask])))
        require(
            False,
            f"act chooses action {actions[(*where, mask)]} where only {only} can be chosen: {ADVICE}",
        )


@partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})  # which actions: not a matter of speed
def _masked_actions(
    policy: Policy, keys: jax.Array, state: State, context: jax.Array, steps: jax.Array, masks: jax.Array
) -> jax.Array:
    """What `act` chooses by key, step and mask, (keys, steps, masks)."""

    def act(key: jax.Array, step: jax.Array, available: jax.Array) -> jax.Array:
        return policy.act(key, state, Situation(context, step, SPEC, available))

    by_mask = jax.vmap(act, (None, None, 0))
    return jax.vmap(jax.vmap(by_mask, (None, 0, None)), (0, None, None))(keys, steps, masks)


def uses_the_key_that_it_is_given(policy: Policy) -> None:
    """A policy that makes a key of its own draws the same numbers in every trial and at every step."""
    state = jax.eval_shape(lambda: policy.init(jax.random.key(0), SPEC))
    with calling("act"):
        program = jax.make_jaxpr(policy.act)(jax.random.key(0), state, Situation(jnp.zeros(DIM), jnp.int32(0), SPEC))
    own = any(jnp.issubdtype(jnp.result_type(constant), jax.dtypes.prng_key) for constant in program.consts)
    require(
        not own and "random_seed" not in str(program),
        "act makes a key of its own, which gives the same draws in every trial: use the key that is given",
    )


def ignores_rewards_of_actions_not_chosen(policy: Policy) -> None:
    contexts, rewards = random_script()
    with calling("playing a trial"):
        before = play(policy, scripted(contexts, rewards)).actions[0]
        changed = rewards + 7.0
        changed[np.arange(STEPS), before] = rewards[np.arange(STEPS), before]
        after = play(policy, scripted(contexts, changed)).actions[0]
    require(
        np.array_equal(before, after),
        "its actions change when rewards of actions that it did not choose change: it remembers something outside "
        "its state",
    )


HELP = {"huge rewards": " (±1000): clip gradients, or scale rewards by what was seen of them"}


def stays_finite(case: str, policy: Policy) -> None:
    contexts, rewards = random_script(1)
    if case == "huge rewards":
        rewards = 1e3 * np.sign(rewards)
    elif case == "constant rewards":
        rewards = np.ones_like(rewards)
    else:
        contexts = np.tile(contexts[:1], (STEPS, 1))
    with calling("playing a trial"):
        state = play(policy, scripted(contexts, rewards)).players.state
    for name, leaf in leaves(state).items():
        if jnp.issubdtype(leaf.dtype, jnp.floating):
            require(
                jnp.isfinite(leaf).all(),
                f"state{name} holds NaN or infinity after {STEPS} steps of {case}{HELP.get(case, '')}",
            )


def plays_the_same_online(policy: Policy) -> None:
    """The online agent, saved and loaded on the way, takes the actions of the simulator."""
    contexts, rewards = random_script()
    problem = scripted(contexts, rewards)
    with calling("playing a trial"):
        expected = play(policy, problem).actions[1]
    key = trial_keys(0, problem_identity(problem), range(TRIALS), "policy")[1]
    chosen = []
    with calling("the online agent"), tempfile.TemporaryDirectory() as folder:
        agent = Agent(policy, context_dim=DIM, num_actions=ACTIONS, key=key)
        for step in range(STEPS):
            if step == STEPS // 2 - 2:  # not where a refit falls
                agent.save(Path(folder) / "agent.npz")
                agent = Agent.load(Path(folder) / "agent.npz")
            chosen.append(agent.choose(contexts[step]))
            agent.learn(contexts[step], chosen[-1], rewards[step, chosen[-1]])
    if list(expected) != chosen:
        step = int(np.argmax(expected != np.array(chosen)))
        require(False, f"the online agent chooses {chosen[step]} at step {step} where the simulator {expected[step]}")


def shares_a_program_with_other_floats(policy: Policy) -> None:
    problem = scripted(*random_script())
    changed = {name: item * 0.5 for name, item in all_fields(policy).items() if isinstance(item, float)}
    with calling("playing a trial"):
        play(policy, problem)
        _, seconds = compiled(prepare(override(policy, changed), problem, trials=TRIALS), TRIALS)
    require(
        seconds == 0,
        f"another value of {', '.join(changed)} is compiled again: a float field must not decide shapes or branches",
    )


def uses_features_of_actions(policy: Policy) -> None:
    """A policy that says it sees features of actions must read them, unless it reads no context either, as Uniform."""
    if not core(policy).sees_action_features:
        return
    spec, key = ProblemSpec(DIM, ACTIONS, 2), jax.random.key(0)

    def act(state: State, context: jax.Array, features: jax.Array) -> jax.Array:
        return policy.act(key, state, Situation(context, jnp.int32(50), spec, None, features))

    with calling("act, with features of actions"):
        state = jax.eval_shape(lambda: policy.init(key, spec))
        program = jax.make_jaxpr(act)(state, jnp.zeros(DIM), jnp.zeros((ACTIONS, 2))).jaxpr
    *_, context, features = program.invars
    read = {variable for equation in program.eqns for variable in equation.invars if hasattr(variable, "count")}
    require(
        features in read or context not in read,
        "act does not look at the features of actions, though the policy says sees_action_features: use "
        "situation.inputs, or leave that out",
    )


POLICY_PROMISES = (
    Promise("survives a trip through JSON", survives_json, needed=True),
    Promise("keeps the structure, shapes and dtypes of its state", keeps_its_state_in_shape, needed=True),
    Promise("draws its actions from the key that it is given", uses_the_key_that_it_is_given),
    Promise(
        "chooses valid actions, the same ones with the same seed", plays_actions_in_range_and_repeats_them, plays=True
    ),
    Promise("chooses only actions that are available", chooses_available_actions, plays=True),
    Promise("uses the features of actions, where it says so", uses_features_of_actions),
    Promise("ignores rewards of actions that it did not choose", ignores_rewards_of_actions_not_chosen, plays=True),
    *(
        Promise(f"keeps a finite state with {case}", partial(stays_finite, case), plays=True)
        for case in ("huge rewards", "constant rewards", "repeated contexts")
    ),
    Promise("plays the same online as in the simulator, across save and load", plays_the_same_online, plays=True),
    Promise(
        "shares a compiled program with other values of its floats", shares_a_program_with_other_floats, plays=True
    ),
)


def check_policy(policy: Policy) -> None:
    """Raise BrokenPromiseError at the first promise that is broken."""
    for promise in POLICY_PROMISES:
        promise.check(policy)
