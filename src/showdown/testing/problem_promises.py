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


class Past(NamedTuple):
    """What training looks up of a step."""

    context: jax.Array
    features: jax.Array | None


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
    rounds, past = _rounds(problem, tables, 0)
    actions: tuple[int, ...] = (spec.num_actions,)
    shapes = {"context": (spec.context_dim,), "rewards": actions, "means": actions}
    if spec.action_dim:
        shapes["features"] = (spec.num_actions, spec.action_dim)
    elif rounds.features is not None:
        require(False, "round gives features of actions, and spec has no action_dim for them")
    for name, shape in shapes.items():
        array = getattr(rounds, name)
        require(array is not None, f"round gives no {name}, and spec says that they have the shape {shape}")
        found = array.shape[1:]
        require(found == shape, f"round gives {name} of shape {found} where spec says {shape}")
        require(array.dtype == jnp.float32, f"round gives {name} in {array.dtype}, not float32")
        finite = np.isfinite(array).reshape(len(array), -1).all(axis=1)
        require(finite.all(), f"round gives {name} that are not finite at step {finite.argmin()}")
    if rounds.available is not None:
        found, kind = rounds.available.shape[1:], rounds.available.dtype
        require((found, kind) == (actions, bool), f"round gives available as {kind}{found}, not bool{actions}")
        some = rounds.available.any(axis=1)
        require(some.all(), f"no action is available at step {some.argmin()}")
    same = np.allclose(past.context, rounds.context, rtol=1e-6)
    require(same, "`context` gives another context than `round` does for the same step")
    if past.features is not None and rounds.features is not None:
        same = np.allclose(past.features, rounds.features, rtol=1e-6)
        require(same, "`action_features` gives other features than `round` does for the same step")


def follows_its_key(problem: Problem) -> None:
    tables = _tables(problem)
    first, again, other = (_rounds(problem, tables, seed)[0] for seed in (1, 1, 2))
    for name in _given(first):
        same = np.array_equal(getattr(first, name), getattr(again, name), equal_nan=name != "available")
        require(same, f"two episodes begun with one key have different {name}: draw random numbers from the key only")
    differs = any((getattr(first, name) != getattr(other, name)).any() for name in _given(first))
    require(differs, "episodes begun with different keys are equal: every trial would be the same")


def keeps_trials_apart(problem: Problem) -> None:
    """What happens in trial i is a fact of the problem: it must not move with the number of trials or of segments.

    The problem's own programs of the simulator, for several trials and short segments, against each trial by itself.
    """
    prepared = prepare(Uniform(), problem, trials=MANY, segment_steps=SEGMENT, tables=_tables(problem))
    keys, _ = prepared.keys(3, range(MANY))
    with calling("playing several trials at once"):
        begin, rounds = (compiled_once(jobs(prepared, MANY)[name])[0] for name in ("begin", "rounds"))
        episodes = begin(problem, prepared.tables, keys)
        firsts = [np.int32(segment * prepared.steps) for segment in range(prepared.segments)]
        together = jax.device_get([rounds(problem, prepared.tables, episodes, first) for first in firsts])
    for trial in (0, MANY - 1):
        alone, _ = jax.device_get(_unrolled(problem, prepared.tables, keys[trial]))
        for name in _given(alone):
            many = np.concatenate([getattr(part, name)[trial] for part in together])[: problem.horizon]
            same = np.allclose(getattr(alone, name), many, rtol=1e-5, atol=1e-6, equal_nan=True)
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


def _given(rounds: Round) -> list[str]:
    """The fields of a round that a problem has."""
    return [name for name in Round._fields if getattr(rounds, name) is not None]


def _rounds(problem: Problem, tables: Tables, seed: int) -> tuple[Round, Past]:
    """All rounds of an episode, and what is looked up of its past."""
    with calling("begin, round, context or action_features"):
        return jax.device_get(_unrolled(problem, tables, named_key(seed, "check")))


@jax.jit
def _unrolled(problem: Problem, tables: Tables, key: jax.Array) -> tuple[Round, Past]:
    episode = problem.begin(key, tables)

    def one(step: jax.Array) -> tuple[Round, Past]:
        past = Past(problem.context(step, episode, tables), problem.action_features(step, episode, tables))
        return problem.round(step, episode, tables), past

    return jax.vmap(one)(jnp.arange(problem.horizon))
