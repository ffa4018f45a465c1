"""Contexts that say nothing, or nearly so, for every family of policies, made small.

python benchmarks/attacks/degenerate.py              # all families, with a line for each; minutes
python benchmarks/attacks/degenerate.py LinFullPost  # some
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.append(str(Path(__file__).parents[1]))

import jax
import jax.numpy as jnp
import numpy as np

from attacks import Score
from showdown.config import core
from showdown.play.propensity import law
from showdown.policies import policies
from showdown.protocol.policy import Policy, all_finite
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.testing import play, scripted

STEPS, ACTIONS, DIM, DRAWS = 48, 3, 3, 32
PAYS = 1  # the action that pays; the others pay nothing


def contexts(kind: str) -> np.ndarray:
    plain = np.random.default_rng(0).normal(size=(STEPS, DIM))
    return {
        "zero": np.zeros((STEPS, DIM)),
        "constant": np.ones((STEPS, DIM)),
        "constant and large": np.full((STEPS, DIM), 1e4),
        "collinear": plain[:, :1] * [1.0, 1.0, -2.0],
        "tiny": 1e-20 * plain,
        "far from 0": 1e4 + plain,
        "ordinary": plain,
        "one feature": plain[:, :1],
        "one feature, zero": np.zeros((STEPS, 1)),
    }[kind]


KINDS = ("zero", "constant", "constant and large", "collinear", "tiny", "far from 0", "ordinary")
ONE_FEATURE = ("one feature", "one feature, zero")  # another shape: compiled apart


def rewards(noise: float) -> np.ndarray:
    return np.eye(ACTIONS)[PAYS] + noise * np.random.default_rng(1).normal(size=(STEPS, ACTIONS))


def families() -> list[str]:
    """The first preset of each family."""
    first: dict[type, str] = {}
    for name in policies.names():
        first.setdefault(type(core(policies.get(name))), name)
    return list(first.values())


@partial(jax.jit, static_argnames="spec")
def _looked_at(policy: Policy, inside: Policy, state: Any, context: jax.Array, spec: ProblemSpec):
    """Whether the state is finite, the law of the next action, and the largest difference of scores in some draws."""
    situation = Situation.at(context, jnp.int32(STEPS), spec)
    chances, _ = law(policy, jax.random.key(0), state, situation, DRAWS)
    keys = jax.random.split(jax.random.key(1), 4)
    if hasattr(inside, "scores"):
        scores = jax.vmap(lambda key: inside.scores(key, state, situation))(keys)
        spread = jnp.max(jnp.max(scores, axis=1) - jnp.min(scores, axis=1))
    else:
        spread = jnp.float32(jnp.inf)
    return all_finite(state), chances, spread


def one(name: str, kind: str, noise: float, score: Score) -> None:
    """Play a family on contexts of one kind, and count what is wrong."""
    policy, seen = policies.get(name).small(), contexts(kind).astype(np.float32)
    spec = ProblemSpec(seen.shape[1], ACTIONS)
    with score.attempt():
        played = play(policy, scripted(seen, rewards(noise)), seed=1)
        for trial in range(len(played.actions)):
            state = jax.tree.map(lambda leaf, trial=trial: leaf[trial], played.players.state)
            finite, chances, spread = _looked_at(policy, core(policy), state, seen[-1], spec)
            chances = np.asarray(chances, np.float64)
            if not finite:  # a run ends such a cell as diverged, and an agent refuses such a state: both say so
                print(f"{name}, {kind}, noise {noise:g}: diverged", file=sys.stderr)
                continue
            wrong = not np.isfinite(chances).all() or abs(chances.sum() - 1) > 1e-5
            tied = float(spread) == 0 and chances[0] > 0.99 and (played.actions[trial, STEPS // 2 :] == 0).all()
            said = any(float(np.max(value)) != 0 for value in policy.diagnostics(state).values())
            if wrong or (tied and not said):
                score.silent += 1
                what = "no law" if wrong else "stuck by a tie, unsaid"
                print(f"{name}, {kind}, noise {noise:g}: {what} {chances}", file=sys.stderr)


def sweep(_: object = None, names: list[str] | None = None, kinds: tuple[str, ...] = KINDS + ONE_FEATURE) -> Score:
    """Every family on every kind of contexts: finite, a law that sums to one, and no tie that nobody tells of."""
    score = Score("degenerate contexts, every family of policies")
    for name in names or families():
        began = time.monotonic()
        for kind in kinds:
            for noise in (0.1, 1e-6):
                one(name, kind, noise, score)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return score


if __name__ == "__main__":
    print(sweep(names=sys.argv[1:] or None))
