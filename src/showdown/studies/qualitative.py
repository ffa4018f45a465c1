"""What every non-linear method believes about three functions of one variable: the paper's appendix figure.

Each method learns from the same points on its own schedule, as if it had played them; then 100 draws of its belief are
taken at every x. The first two functions are equal, but the second is only seen on the left, so that a method which
shares strength between actions shows it. The third is another.

A method that draws nothing by itself (RMS, the gradient samplers) shows its draws over 100 further trainings: the noise
of its training is all the exploration it has. Parameter noise goes without layer norm here: normalising a layer whose
only input is x leaves nothing of x but its sign. The paper gives neither functions nor points nor noise. By default
networks are smaller (two layers of 50) and BBB's long first trainings shorter than in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from showdown.config import all_fields, core, override
from showdown.play import block as loop
from showdown.policies import policies
from showdown.protocol.keys import named_key, role_key
from showdown.protocol.policy import History, Policy, State, Thompson
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.studies.shared import Settings

WANTED = (
    *("GP", "SparseGP", "RMS", "ConstSGD", "SGFS", "BBB"),
    *("AlphaDivergence", "NeuralLinear", "BootstrappedNN", "Dropout", "ParamNoise"),
)
SMALL = {  # fields that a policy may have
    "hidden_layers": (50, 50),
    "batch_size": 64,
    "initial_training_steps": 400,
    "max_points": 300,
    "num_inducing": 40,
}
SPEC = ProblemSpec(context_dim=1, num_actions=3)
DRAWS = 100
NOISE = 0.1


class TrainingPoints(NamedTuple):
    contexts: jax.Array  # (points, 1)
    actions: jax.Array  # (points,)
    rewards: jax.Array  # (points,)

    def at(self, step: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        return self.contexts[step], self.actions[step], self.rewards[step]


class DrawnValues(NamedTuple):
    mean: np.ndarray  # (grid, num_actions)
    deviation: np.ndarray  # (grid, num_actions)


@dataclass(frozen=True)
class LearnedFunctions:
    grid: np.ndarray  # (grid,) the inputs at which beliefs were drawn
    truth: np.ndarray  # (grid, num_actions)
    points: TrainingPoints  # what every method learned from
    beliefs: dict[str, DrawnValues]  # by policy


def run(settings: Settings) -> LearnedFunctions:
    names = [name for name in WANTED if name in policies]
    points = some_points(settings.seed, 1000 if settings.full else 300)
    grid = np.linspace(-3, 3, 121, dtype=np.float32)
    beliefs = {}
    with settings.bar(len(names), "compiling") as advance:
        for name in names:
            advance(0, name)
            beliefs[name] = believe(sized(policies.get(name), settings.full), points, grid, settings.seed)
            advance(1)
    return LearnedFunctions(grid, truth(grid), points, beliefs)


def truth(inputs: np.ndarray) -> np.ndarray:
    """Two equal functions and another, (points, 3)."""
    same = np.sin(2 * inputs) + 0.3 * inputs
    return np.stack([same, same, np.cos(1.5 * inputs) - 0.2 * inputs**2 / 2], axis=-1)


def some_points(seed: int, count: int) -> TrainingPoints:
    """Points on [−2, −0.3] and [0.7, 2] in random order; the second action's on the left only."""
    generator = np.random.default_rng(seed)
    actions = np.arange(count) % SPEC.num_actions
    left = generator.uniform(-2.0, -0.3, count)
    inputs = np.where((generator.uniform(size=count) < 0.57) | (actions == 1), left, generator.uniform(0.7, 2.0, count))
    rewards = truth(inputs)[np.arange(count), actions] + NOISE * generator.normal(size=count)
    return TrainingPoints(
        jnp.asarray(inputs[:, None], jnp.float32), jnp.asarray(actions, jnp.int32), jnp.asarray(rewards, jnp.float32)
    )


def sized(policy: Policy, full: bool) -> Policy:
    """The policy itself, without warm-up or layer norm, made smaller unless the full size was asked for."""
    policy = core(policy)
    changes = {"layer_norm": False} if full else {"layer_norm": False, **SMALL}
    fields = all_fields(policy)
    return override(policy, {name: value for name, value in changes.items() if name in fields})


def believe(policy: Policy, points: TrainingPoints, grid: np.ndarray, seed: int) -> DrawnValues:
    """Let the policy learn from the points, then draw from its belief at every x of the grid."""
    assert isinstance(policy, Thompson)
    key = named_key(seed, "qualitative")
    state = learn(policy, points, role_key(key, "learn"))
    contexts = jnp.asarray(grid)[:, None]

    @jax.jit
    def draws(policy: Thompson, state: State, keys: jax.Array) -> jax.Array:  # (draws, grid, num_actions)
        def one(key: jax.Array) -> jax.Array:
            situations = Situation(contexts, jnp.zeros(len(grid), jnp.int32), SPEC)
            return jax.vmap(policy.scores, in_axes=(0, None, 0))(jax.random.split(key, len(grid)), state, situations)

        return jax.vmap(one)(keys)

    keys = jax.random.split(role_key(key, "draws"), DRAWS)
    values = np.asarray(draws(policy, state, keys))
    if np.ptp(values, axis=0).max() == 0:  # nothing random in it: let training move it
        retrain = jax.jit(lambda policy, key, state: policy.refit(key, state, _history(points, len(points.actions))))
        moved = []
        for number, draw_key in enumerate(keys):
            state = retrain(policy, jax.random.fold_in(role_key(key, "retrain"), number), state)
            moved.append(np.asarray(draws(policy, state, draw_key[None]))[0])
        values = np.stack(moved)
    return DrawnValues(values.mean(axis=0), values.std(axis=0))


def learn(policy: Policy, points: TrainingPoints, key: jax.Array) -> State:
    """The state after all points, updated at each and refitted every `refit_every`, as the loop would."""
    state = jax.jit(lambda policy, key: loop.init(policy, key, SPEC))(policy, key)
    block = policy.refit_every or len(points.actions)

    @jax.jit
    def play(policy: Policy, state: State, first: jax.Array) -> State:
        keys = loop.RoleKeys.of(key)

        def one(step: jax.Array, state: State) -> State:
            context, action, reward = points.at(step)
            return loop.update(policy, keys, state, Situation(context, step, SPEC), action, reward)

        state = jax.lax.fori_loop(first, first + block, one, state)
        return loop.refit(policy, keys, state, _history(points, first + block)) if policy.refit_every else state

    for first in range(0, len(points.actions) - block + 1, block):
        state = play(policy, state, jnp.int32(first))
    return state


def _history(points: TrainingPoints, count: jax.Array | int) -> History:
    filled = jnp.asarray(count, jnp.int32)
    return History(SPEC, filled, points.actions, points.rewards, lambda steps: points.contexts[steps])
