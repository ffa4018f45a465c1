"""What a trial of a policy costs, in steps and floating-point operations, the same on every machine.

A policy says it (`Policy.work`); for one that does not, the operations of its programs are counted.
`bench/cost_model.py` makes seconds of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr

from showdown.protocol.history import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

if TYPE_CHECKING:
    from showdown.protocol.policy import Policy

FACTORED_BY = 256  # columns of a posterior that are compiled as fast as any fewer
COUNT_SECONDS = 3.0  # to trace a policy's programs for its operations
_slow: set[type[Policy]] = set()  # kinds of policy that took longer

Kind = Literal["linear", "network", "process"]  # small products in every step; mini-batches; float64 kernels


class Work(NamedTuple):
    """What one trial does, once its episode has begun."""

    kind: Kind  # which costs of a step and of an operation apply
    steps: float  # of the loop; of training, where a policy trains: they cost far more
    operations: float
    posteriors: int = (
        0  # regressions that are refitted on features of a network, wide ones as several: they compile long
    )

    def times(self, trials: int) -> Work:
        return self._replace(steps=self.steps * trials, operations=self.operations * trials)


def linear_work(spec: ProblemSpec, horizon: int) -> Work:
    """A product with the root of each action's posterior in every step."""
    return Work("linear", horizon, 4 * horizon * spec.num_actions * (spec.input_dim + 1) ** 2)


def network_work(
    spec: ProblemSpec,
    horizon: int,
    *,
    layers: Sequence[int],
    training_steps: int,
    batch_size: int,
    networks: int = 1,
    draws: int = 1,
    trainings: int = 0,
    posteriors: int = 0,
    width: int | None = None,
) -> Work:
    """Training in all; and for posteriors, the features and products of all the past and a factor at each refit.

    `draws` networks are drawn for each step of a training. `width` is that of the posteriors' designs, if it is not
    that of the last layer.
    """
    sizes = (spec.input_dim, *layers, spec.num_outputs)
    weights = sum(math.prod(pair) for pair in itertools.pairwise(sizes))
    operations: float = training_steps * networks * draws * 6 * batch_size * weights
    if posteriors:
        width = networks * (spec.input_dim, *layers)[-1] if width is None else width
        operations += (
            trainings * horizon / 2 * (2 * networks * weights + 2 * width**2)
            + horizon * 4 * spec.num_actions * width**2
            + trainings * posteriors * spec.num_outputs * width**3
        )
        posteriors *= -(-width // FACTORED_BY)
    return Work("network", float(training_steps * networks), float(operations), posteriors)


@lru_cache(maxsize=256)
def counted_work(policy: Policy, spec: ProblemSpec, horizon: int) -> Work:
    """The operations that the programs of a policy show; loops whose length only the data know count once.

    An estimate must not fail or wait where the policy does: where tracing its programs raises or takes too long, only
    steps are counted. It is done in a thread, since it cannot be interrupted.
    """
    found: list[Work] = []

    def count() -> None:
        with suppress(Exception):  # its cell will say what is wrong
            found.append(_counted(policy, spec, horizon))

    if type(policy) not in _slow:
        thread = Thread(target=count, daemon=True)
        thread.start()
        thread.join(COUNT_SECONDS)
        if thread.is_alive():
            _slow.add(type(policy))
    return found[0] if found else Work("network" if policy.refit_every else "linear", float(horizon), 0.0)


def _counted(policy: Policy, spec: ProblemSpec, horizon: int) -> Work:
    key, scalar = jax.eval_shape(lambda: jax.random.key(0)), jax.ShapeDtypeStruct((), jnp.float32)
    number = jax.ShapeDtypeStruct((), jnp.int32)
    state = jax.eval_shape(lambda key: policy.init(key, spec), key)
    features: Any = jax.ShapeDtypeStruct((spec.num_actions, spec.action_dim), jnp.float32) if spec.action_dim else None
    context: Any = jax.ShapeDtypeStruct((spec.context_dim,), jnp.float32)
    situation = Situation.at(context, number, spec, None, features)
    each_step = _operations(policy.act, key, state, situation)
    each_step += _operations(policy.update, key, state, situation, number, scalar)
    if not policy.refit_every:
        return Work("linear", float(horizon), float(horizon * each_step))

    def refit(key: jax.Array, state: Any, count: jax.Array, rows: jax.Array) -> Any:
        contexts, features = jnp.zeros((1, spec.context_dim)), jnp.zeros((1, spec.action_dim))
        history = History(
            spec,
            count,
            rows.astype(jnp.int32),
            rows,
            lambda at: jnp.broadcast_to(contexts, (len(at), spec.context_dim)),
            (lambda at: jnp.broadcast_to(features, (len(at), spec.action_dim))) if spec.action_dim else None,
        )
        return policy.refit(key, state, history)

    rows = jax.ShapeDtypeStruct((horizon,), jnp.float32)
    refits = max(1, horizon // policy.refit_every)
    program = jax.make_jaxpr(refit)(key, state, number, rows).jaxpr
    operations = horizon * each_step + refits * _count(program)
    return Work("network", float(max(horizon, refits * _passes(program))), float(operations))


def _operations(function: Any, *shapes: Any) -> float:
    return _count(jax.make_jaxpr(function)(*shapes).jaxpr)


def _count(jaxpr: Jaxpr) -> float:
    """A product counts two operations a term, everything else one for each number that it makes."""
    total = 0.0
    for equation in jaxpr.eqns:
        size = sum(math.prod(getattr(variable.aval, "shape", ())) for variable in equation.outvars)
        shape: tuple[int, ...] = getattr(equation.invars[0].aval, "shape", ()) if equation.invars else ()
        inner = [_count(each) for value in equation.params.values() for each in _jaxprs(value)]
        if equation.primitive.name == "dot_general":
            (contracted, _), _ = equation.params["dimension_numbers"]
            total += 2.0 * size * math.prod(shape[axis] for axis in contracted)
        elif inner:
            total += max(inner) if equation.primitive.name == "cond" else equation.params.get("length", 1) * sum(inner)
        elif equation.primitive.name in ("cholesky", "triangular_solve"):
            total += size * shape[-1]
        else:
            total += size
    return total


def _passes(jaxpr: Jaxpr) -> float:
    """How often the longest loops of a program go round, those inside each other multiplied: training steps, mostly."""
    found = [0.0]
    for equation in jaxpr.eqns:
        inner = max((_passes(each) for value in equation.params.values() for each in _jaxprs(value)), default=0.0)
        length = equation.params.get("length")
        found.append(length * max(1.0, inner) if isinstance(length, int) else inner)
    return max(found)


def _jaxprs(value: Any) -> list[Jaxpr]:
    if isinstance(value, ClosedJaxpr):
        return [value.jaxpr]
    if isinstance(value, Jaxpr):
        return [value]
    return [each for item in value for each in _jaxprs(item)] if isinstance(value, tuple | list) else []
