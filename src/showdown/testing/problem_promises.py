"""What every problem promises, checked on the first steps of short trials."""

from __future__ import annotations

import json
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from showdown.config import from_json, to_json
from showdown.play.compile_once import compiled_once
from showdown.play.prepared import prepare
from showdown.play.programs import jobs
from showdown.policies.uniform import Uniform
from showdown.protocol.keys import named_key
from showdown.protocol.problem import Problem, Round, Tables
from showdown.testing.promise import Promise, calling, require

SHORT = 40  # steps
MANY, SEGMENT = 3, 7  # trials, and steps of a segment, where more than one is played

B = TypeVar("B", bound=Problem)


class Seen(NamedTuple):
    """What `context` and `action_features` give for the steps of an episode, which training on past steps looks up."""

    context: jax.Array  # (steps, context_dim)
    features: jax.Array | None  # (steps, num_actions, action_dim)


def shortened(problem: B) -> B:
    """The problem with a horizon that is played in an instant."""
    return problem.with_horizon(min(SHORT, problem.horizon))


def survives_json(problem: Problem) -> None:
    with calling("writing the problem as JSON and reading it back"):
        back = from_json(json.loads(json.dumps(to_json(problem))))
    require(back == problem, f"a field changes on the way through JSON: {problem} becomes {back}")


def gives_rounds_of_its_shape(problem: Problem) -> None:
    tables = _tables(problem)
    with calling("spec"):
        spec = problem.spec(tables)
    require(spec.num_actions >= 2, f"spec gives {spec.num_actions} action: there is nothing to choose")
    rounds, seen = _rounds(problem, tables, 0)
    by_action = (spec.num_actions,)
    wanted = {
        "context": ((spec.context_dim,), jnp.float32),
        "rewards": (by_action, jnp.float32),
        "means": (by_action, jnp.float32),
        "available": (by_action, jnp.bool),
        "features": ((*by_action, spec.action_dim), jnp.float32),
    }
    require(
        (rounds.features is not None) == bool(spec.action_dim),
        f"round must give features of actions where spec says that they have some, and spec says {spec.action_dim}",
    )
    for name, array in _given(rounds).items():
        shape, dtype = wanted[name]
        found = array.shape[1:]
        require(found == shape, f"round gives {name} of shape {found} where spec says {shape}")
        require(array.dtype == dtype, f"round gives {name} in {array.dtype}, not {jnp.dtype(dtype)}")
        finite = np.isfinite(array.reshape(len(array), -1)).all(axis=1)
        require(finite.all(), f"round gives {name} that are not finite at step {finite.argmin()}")
    if rounds.available is not None:
        some = rounds.available.any(axis=1)
        require(some.all(), f"round says that no action is available at step {some.argmin()}")
    same = np.allclose(seen.context, rounds.context, rtol=1e-6)
    require(same, "`context` gives another context than `round` does for the same step")
    if rounds.features is not None:
        same = seen.features is not None and np.allclose(seen.features, rounds.features, rtol=1e-6)
        require(same, "`action_features` gives other features than `round` does for the same step")


def follows_its_key(problem: Problem) -> None:
    tables = _tables(problem)
    first, again, other = (_rounds(problem, tables, seed)[0] for seed in (1, 1, 2))
    for name, array in _given(first).items():
        same = np.array_equal(array, getattr(again, name), equal_nan=True)
        require(same, f"two episodes begun with one key have different {name}: draw random numbers from the key only")
    differs = any((array != getattr(other, name)).any() for name, array in _given(first).items())
    require(differs, "episodes begun with different keys are equal: every trial would be the same")


def keeps_trials_apart(problem: Problem) -> None:
    """What happens in trial i is a fact of the problem: it must not move with the number of trials or of segments.

    The problem's own programs of the simulator, for several trials and short segments, against each trial by itself.
    """
    setting = prepare(Uniform(), problem, trials=MANY, segment_steps=SEGMENT, tables=_tables(problem))
    keys, _ = setting.keys(3, range(MANY))
    with calling("playing several trials at once"):
        begin, rounds = (compiled_once(jobs(setting, MANY)[name])[0] for name in ("begin", "rounds"))
        episodes = begin(problem, setting.tables, keys)
        firsts = [np.int32(segment * setting.steps) for segment in range(setting.segments)]
        together = jax.device_get([rounds(problem, setting.tables, episodes, first) for first in firsts])
    for trial in (0, MANY - 1):
        with calling("begin, round or context"):
            alone, _ = jax.device_get(_unrolled(problem, setting.tables, keys[trial]))
        for name, array in _given(alone).items():
            many = np.concatenate([getattr(part, name)[trial] for part in together])[: problem.horizon]
            same = np.allclose(array, many, rtol=1e-5, atol=1e-6, equal_nan=True)
            require(same, f"the {name} of a trial change when more trials are played or other segments are cut")


PROBLEM_PROMISES = (
    Promise("survives a trip through JSON", survives_json),
    Promise("gives finite contexts and rewards of the shapes in its spec", gives_rounds_of_its_shape),
    Promise("draws each episode from its key alone", follows_its_key),
    Promise("plays a trial the same however many are played", keeps_trials_apart),
)


def check_problem(problem: Problem) -> None:
    """Raise BrokenPromiseError at the first promise that is broken; MissingDataError where its data is missing."""
    for promise in PROBLEM_PROMISES:
        promise.check(problem)


def _tables(problem: Problem) -> Tables:
    with calling("load"):
        return jax.device_put(problem.load())


def _given(rounds: Round) -> dict[str, np.ndarray]:
    """The arrays of rounds by name; a problem need not say what is available, nor give features of actions."""
    return {name: array for name, array in rounds._asdict().items() if array is not None}


def _rounds(problem: Problem, tables: Tables, seed: int) -> tuple[Round, Seen]:
    """All rounds of an episode, and what is seen of them."""
    with calling("begin, round or context"):
        return jax.device_get(_unrolled(problem, tables, named_key(seed, "check")))


@jax.jit
def _unrolled(problem: Problem, tables: Tables, key: jax.Array) -> tuple[Round, Seen]:
    episode = problem.begin(key, tables)

    def at(step: jax.Array) -> tuple[Round, Seen]:
        when = step, episode, tables
        return problem.round(*when), Seen(problem.context(*when), problem.action_features(*when))

    return jax.vmap(at)(jnp.arange(problem.horizon))
