"""The policies that can be evaluated on a log: fixed ones, given by probabilities, and those that learn.

A policy that no longer learns is a fixed one: `act_probabilities` draws its actions row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from showdown.basics.errors import UsageError
from showdown.config.registry import split_outside_brackets
from showdown.logged.live_through import features_at
from showdown.logged.log import Log
from showdown.play.propensity import at_once
from showdown.policies import policies
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

ALWAYS = "always "  # what the name of a policy that takes one action begins with


@dataclass(frozen=True, eq=False)
class Target:
    """One of the two is given."""

    name: str
    probabilities: np.ndarray | None = None  # (rows, num_actions) of a fixed policy
    policy: Policy | None = None  # one that learns


def targets_of(asked: Any, log: Log) -> list[Target]:
    """What is asked for: a name, a policy, probabilities or a function of contexts; a list or mapping of them."""
    if isinstance(asked, Mapping):
        return [_target(item, log, str(name)) for name, item in asked.items()]
    if isinstance(asked, str) and asked.removeprefix(ALWAYS).strip() not in log.action_names:
        asked = split_outside_brackets(asked)
    if isinstance(asked, list | tuple):
        return [_target(item, log) for item in asked]
    return [_target(asked, log)]


def default_names(log: Log, most: int = 5) -> list[str]:
    """What to compare where nothing is asked for: chance, the commonest actions alone, and a policy that learns."""
    commonest = np.argsort(-np.bincount(log.actions, minlength=log.num_actions), kind="stable")[:most]
    return ["uniform", *(ALWAYS + log.action_names[action] for action in sorted(commonest)), "LinFullPost"]


def uniform(log: Log) -> np.ndarray:
    """Every available action with equal probability."""
    return log.allowed / log.allowed.sum(axis=1, keepdims=True)


def always(log: Log, name: str) -> np.ndarray:
    """One action, or chance among the others where it is not available."""
    if name not in log.action_names:
        raise UsageError(f"the log has no action {name!r}; its actions are {', '.join(log.action_names[:20])}")
    action = log.action_names.index(name)
    alone = np.zeros((log.rows, log.num_actions))
    alone[:, action] = 1
    return np.where(log.allowed[:, action, None], alone, uniform(log))


def _target(item: Any, log: Log, name: str = "") -> Target:
    if isinstance(item, str):
        if item == "uniform":
            return Target(name or item, uniform(log))
        if item.startswith(ALWAYS):
            return Target(name or item, always(log, item.removeprefix(ALWAYS).strip()))
        return Target(name or item, policy=policies.get(item))
    if isinstance(item, Policy):
        item.check()
        return Target(name or policies.name_of(item) or type(item).__name__, policy=item)
    if isinstance(item, Callable):  # type: ignore[arg-type]
        name, item = name or getattr(item, "__name__", "function"), item(log.contexts)
    return Target(name or "given", _checked(np.asarray(item, np.float64), log))


def _checked(probabilities: np.ndarray, log: Log) -> np.ndarray:
    wanted = (log.rows, log.num_actions)
    if probabilities.shape != wanted:
        raise UsageError(f"a policy's probabilities must have the shape {wanted}, not {probabilities.shape}")
    if not np.isfinite(probabilities).all() or (probabilities < 0).any():
        raise UsageError("a policy's probabilities must be numbers from 0 up")
    if not np.allclose(probabilities.sum(axis=1), 1, atol=1e-6):
        row = int(np.argmax(np.abs(probabilities.sum(axis=1) - 1)))
        raise UsageError(f"a policy's probabilities must add up to 1 in every row, and do not in row {row + 1}")
    if (probabilities[~log.allowed] > 0).any():
        raise UsageError("a policy's probabilities must be 0 for actions that are not available")
    return probabilities


def act_probabilities(policy: Policy, key: jax.Array, state: State, log: Log, step: np.int32, draws: int) -> np.ndarray:
    """The share of `draws` draws in which the policy takes each action in each row of the log, (rows, num_actions).

    Where not all are available it decides as an online agent would.
    """
    masks = None if log.allowed.all() else log.allowed
    seen = log.contexts, masks, log.items, log.offered
    actions = np.asarray(_drawn(policy, key, state, step, *seen, draws=draws, num_actions=log.num_actions))
    places = np.arange(log.rows)[:, None] * log.num_actions + actions
    return np.bincount(places.ravel(), minlength=log.rows * log.num_actions).reshape(log.rows, -1) / draws


@partial(jax.jit, static_argnames=("draws", "num_actions"))
def _drawn(
    policy: Policy,
    key: jax.Array,
    state: State,
    step: jax.Array,
    contexts: jax.Array,
    masks: jax.Array | None,
    items: jax.Array | None,
    offered: jax.Array | None,
    *,
    draws: int,
    num_actions: int,
) -> jax.Array:
    """(rows, draws) actions."""

    def one_row(inputs: tuple[jax.Array, jax.Array, jax.Array | None]) -> jax.Array:
        row, context, mask = inputs
        keys = jax.random.split(jax.random.fold_in(key, row), draws)
        situation = Situation(context, step, spec, mask, features_at(items, offered, row))
        return jax.vmap(lambda each: policy.act(each, state, situation))(keys)

    dims = [array.shape[-1] for array in (items, offered) if array is not None]
    spec = ProblemSpec(contexts.shape[1], num_actions, sum(dims))
    rows = jnp.arange(contexts.shape[0], dtype=jnp.int32)
    return jax.lax.map(one_row, (rows, contexts, masks), batch_size=at_once(draws * num_actions))
