"""A policy that lives through a log in one compiled scan: it learns from rows of it, and from no others.

Two ways. In `replay` (Li et al. 2011) the policy chooses at every row, and learns only where it chose what the log did:
those rows are then what it would have met online. In `learn` it takes in every row as it stands.

`replay_value` is what a policy earns while it learns, with an interval. A replay follows one path: an early mistake
costs all later rewards, so rewards of one replay say too little about how far another would come out. The log is
therefore resampled with replacement and replayed several times, with new draws of the policy (bootstrapped replay, Mary
et al. 2014); the interval is Student's, from the spread of these values.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import t as student

from showdown.basics.errors import DivergedError
from showdown.logged.estimators import Estimate
from showdown.logged.log import Log
from showdown.play import block
from showdown.play.block import RoleKeys
from showdown.protocol.policy import History, Policy, State, all_finite
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation


class Learned(NamedTuple):
    """A policy that has taken in a log."""

    state: State
    step: np.int32  # observations it has learned from


class _Rows(NamedTuple):
    contexts: jax.Array | np.ndarray  # (rows, context_dim)
    actions: jax.Array | np.ndarray  # (rows,)
    rewards: jax.Array | np.ndarray  # (rows,)
    allowed: jax.Array | np.ndarray | None  # (rows, num_actions)
    items: jax.Array | np.ndarray | None  # (num_actions, dims) features of actions that never change
    offered: jax.Array | np.ndarray | None  # (rows, num_actions, dims) those of each decision

    def spec(self, num_actions: int) -> ProblemSpec:
        dims = [array.shape[-1] for array in (self.items, self.offered) if array is not None]
        return ProblemSpec(self.contexts.shape[1], num_actions, sum(dims))

    def features(self, row: jax.Array) -> jax.Array | None:
        """The features of all actions in one row, (num_actions, action_dim); None where actions have none."""
        return features_at(self.items, self.offered, row)


def features_at(items: Any, offered: Any, row: jax.Array) -> jax.Array | None:
    """The features of all actions in one row, (num_actions, action_dim); None where actions have none."""
    parts = [] if items is None else [jnp.asarray(items)]
    parts += [] if offered is None else [jnp.asarray(offered)[row]]
    return jnp.concatenate(parts, axis=-1) if parts else None


def replay(
    policy: Policy, log: Log, keys: jax.Array, usable: np.ndarray, orders: np.ndarray | None = None
) -> np.ndarray:
    """Play the log once for each key; which rows were learned from, (keys, rows) bool.

    Rows that are not `usable` are skipped even where the choices agree. `orders`, (keys, rows), says which rows to play
    in what order; the default is the log's own. The answer is in the order of play.
    """
    policy.check()
    policy.check_problem(log.spec)
    if orders is None:
        orders = np.broadcast_to(np.arange(log.rows), (len(keys), log.rows))
    one = partial(_scan, num_actions=log.num_actions, chooses=True)
    fixed = policy, _rows_of(log), usable
    if policy.refit_every:  # played together, every step would pay for a refit
        played = [one(*fixed, key, order.astype(np.int32))[1:] for key, order in zip(keys, orders, strict=True)]
        learned, finite = (np.stack(parts) for parts in zip(*played, strict=True))
    else:
        _, learned, finite = _scan_many(*fixed, keys, orders.astype(np.int32), num_actions=log.num_actions)
    _check_finite(policy, finite)
    return np.asarray(learned)


def learn(policy: Policy, log: Log, key: jax.Array) -> Learned:
    """Take in every row of the log, whatever the policy would have done."""
    policy.check()
    policy.check_problem(log.spec)
    order = np.arange(log.rows, dtype=np.int32)
    everything = np.ones(log.rows, bool)
    state, _, finite = _scan(policy, _rows_of(log), everything, key, order, num_actions=log.num_actions, chooses=False)
    _check_finite(policy, finite)
    return Learned(state, np.int32(log.rows))


def _rows_of(log: Log) -> _Rows:
    return _Rows(log.contexts, log.actions, log.rewards.astype(np.float32), log.available, log.items, log.offered)


def _check_finite(policy: Policy, finite: object) -> None:
    if not np.all(np.asarray(finite)):
        raise DivergedError(f"the state of {type(policy).__name__} was not finite after the log")


@partial(jax.jit, static_argnames="num_actions")
def _scan_many(
    policy: Policy, rows: _Rows, usable: jax.Array, keys: jax.Array, orders: jax.Array, *, num_actions: int
) -> tuple[State, jax.Array, jax.Array]:
    one = partial(_scan, policy, rows, usable, num_actions=num_actions, chooses=True)
    return jax.vmap(lambda key, order: one(key, order))(keys, orders)


@partial(jax.jit, static_argnames=("num_actions", "chooses"))
def _scan(
    policy: Policy,
    rows: _Rows,
    usable: jax.Array,
    key: jax.Array,
    order: jax.Array,
    *,
    num_actions: int,
    chooses: bool,
) -> tuple[State, jax.Array, jax.Array]:
    """The state after the log, which rows were learned from, and whether the state is finite."""
    keys = RoleKeys.of(key)
    contexts, actions, rewards = (jnp.asarray(array) for array in rows[:3])
    spec = rows.spec(num_actions)

    def situation(row: jax.Array, count: jax.Array, allowed: jax.Array | None = None) -> Situation:
        return Situation(contexts[row], count, spec, allowed, rows.features(row))

    def take_in(carried: tuple[State, jax.Array, jax.Array], row: jax.Array) -> tuple[State, jax.Array, jax.Array]:
        state, count, kept = carried
        state = block.update(policy, keys, state, situation(row, count), actions[row], rewards[row])
        count = count + 1
        if policy.refit_every:
            kept = kept.at[count - 1].set(row)
            state = jax.lax.cond(count % policy.refit_every == 0, refit, lambda state, *_: state, state, count, kept)
        return state, count, kept

    def refit(state: State, count: jax.Array, kept: jax.Array) -> State:
        def features_of_played(steps: jax.Array) -> jax.Array:
            return jax.vmap(lambda row: rows.features(row)[actions[row]])(kept[steps])  # type: ignore[index]

        features_at = features_of_played if spec.action_dim else None
        history = History(spec, count, actions[kept], rewards[kept], lambda steps: contexts[kept[steps]], features_at)
        return block.refit(policy, keys, state, history)

    def one_row(carried: tuple[State, jax.Array, jax.Array], place: jax.Array) -> tuple[tuple, jax.Array]:
        row = jnp.asarray(order)[place]
        if not chooses:
            return take_in(carried, row), jnp.bool_(True)
        state, count, _ = carried
        # the draw belongs to the row and the step to what was learned: a rejected row must not repeat its draw
        draw = jax.random.fold_in(keys.act, place)
        allowed = None if rows.allowed is None else jnp.asarray(rows.allowed)[row]
        chosen = policy.act(draw, state, situation(row, count, allowed))
        agree = (chosen == actions[row]) & jnp.asarray(usable)[row]
        return jax.lax.cond(agree, take_in, lambda carried, _: carried, carried, row), agree

    size = order.shape[0]
    begun = block.init(policy, key, spec), jnp.int32(0), jnp.zeros(size if policy.refit_every else 0, jnp.int32)
    (state, _, _), learned = jax.lax.scan(one_row, begun, jnp.arange(size, dtype=jnp.int32))
    return state, learned, all_finite(state)


RESAMPLES = 20
RESAMPLES_IF_REFIT = 8  # these cost a training each


class ReplayValue(NamedTuple):
    estimate: Estimate
    matches: int  # rows it was made from


def replay_value(policy: Policy, log: Log, key: jax.Array, seed: int, level: float = 0.95) -> ReplayValue:
    """The mean reward of the rows where the policy's choice agrees with the log's; NaN where none does."""
    draw, resamples = np.random.default_rng(seed), RESAMPLES_IF_REFIT if policy.refit_every else RESAMPLES
    usable = usable_rows(log, draw)
    orders = np.stack([np.arange(log.rows), *draw.integers(log.rows, size=(resamples, log.rows))])
    learned = replay(policy, log, jax.random.split(key, resamples + 1), usable, orders)
    matches = learned.sum(axis=1)
    values = (log.rewards[orders] * learned).sum(axis=1) / np.where(matches > 0, matches, np.nan)
    value, spread = float(values[0]), float(np.std(values[1:], ddof=1))
    reach = float(student.ppf(0.5 + level / 2, resamples - 1)) * spread
    count = int(matches[0])
    return ReplayValue(Estimate(value, spread, value - reach, value + reach, "bootstrap", float(count)), count)


def usable_rows(log: Log, draw: np.random.Generator) -> np.ndarray:
    """Rows that replay may use, (rows,) bool: kept at random so that every action is equally likely among them."""
    if log.propensities is None:
        return np.ones(log.rows, bool)
    return draw.random(log.rows) * log.propensities <= log.propensities.min()
