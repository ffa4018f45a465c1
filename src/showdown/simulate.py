"""Many trials of a policy on a problem as one compiled program: trials by `vmap`, time by a nested `scan`.

A segment is a few hundred to a few thousand steps. Its contexts and rewards are produced in one batched call, then the
steps are scanned: `refit_every` interactions, one refit, again. The state is donated from segment to segment, so memory
does not grow with the horizon (beyond the history that refitting policies read), a progress bar can move, and Ctrl-C
falls between segments. Segments all have one length; what the last one plays beyond the horizon is thrown away.

Regret is summed on the host in float64 from the per-step values.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from showdown.config import canonical, to_json
from showdown.errors import DivergedError, InvalidProblemError, UsageError
from showdown.keys import role_key, trial_keys
from showdown.memory import excess, trials_that_fit
from showdown.policy import History, Policy, State, all_finite
from showdown.problem import Episode, Problem, ProblemSpec, Round, Tables

NUMERICS = 1  # version of this loop's arithmetic, part of every cell's identity
CHECKPOINTS = 200  # points kept of each regret curve
LONGEST = 2**31 - 2  # steps are counted in int32
LAST_STEPS = 500  # simple regret is the mean over this many final steps, as in the paper
SEGMENT_STEPS = 1000  # for policies that never refit
SEGMENT_REFITS = 10  # for policies that do

Progress = Callable[[int], None]  # called with the number of trial-steps just played


class Trial(NamedTuple):
    """All that one trial carries from segment to segment."""

    key: jax.Array
    episode: Episode
    state: State
    actions: jax.Array  # (capacity,) history, empty for policies that never refit
    rewards: jax.Array  # (capacity,)


class Played(NamedTuple):
    """What a segment reports of one trial."""

    actions: jax.Array  # (steps,)
    regret: jax.Array  # (steps,) best mean minus realised reward
    expected_regret: jax.Array  # (steps,) best mean minus the chosen action's mean
    valid: jax.Array  # (steps,) whether context, rewards and means were finite
    finite: jax.Array  # () whether the state still is


@dataclass(frozen=True)
class Outcome:
    """What a simulation measured; the first axis is the trial."""

    cumulative: np.ndarray  # (trials,) regret over the horizon: best expected minus realised
    cumulative_expected: np.ndarray  # (trials,) regret over the horizon: best expected minus expected
    simple: np.ndarray  # (trials,) mean regret per step over the last 500 steps
    simple_expected: np.ndarray  # (trials,)
    steps: np.ndarray  # (checkpoints,) number of steps at each point of the curve
    curve: np.ndarray  # (trials, checkpoints) cumulative regret
    curve_expected: np.ndarray  # (trials, checkpoints)
    action_counts: np.ndarray  # (trials, num_actions)
    spec: ProblemSpec
    compile_seconds: float  # 0 when the program was compiled before, in this process
    run_seconds: float
    batch_trials: int  # how many trials ran side by side
    diagnostics: dict[str, np.ndarray] = field(default_factory=dict)  # (trials,) each: what the policy tells of itself

    def largest_diagnostics(self) -> dict[str, float]:
        """Over all trials."""
        return {name: float(values.max()) for name, values in self.diagnostics.items()}


def simulate(
    policy: Policy,
    problem: Problem,
    *,
    trials: int,
    seed: int = 0,
    horizon: int | None = None,
    segment_steps: int | None = None,
    batch_trials: int | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Play `trials` independent trials and measure regret. The same arguments give the same numbers."""
    if horizon is not None:
        problem = replace(problem, horizon=horizon)  # type: ignore[type-var]
    policy.check()
    problem.check()
    for name, count in (("trials", trials), ("horizon", problem.horizon)):
        if count < 1:
            raise UsageError(f"{name} must be at least 1, not {count}")
    if problem.horizon > LONGEST:
        raise UsageError(f"a horizon of {problem.horizon} steps is longer than the {LONGEST} that can be counted")
    if batch_trials is not None and batch_trials < 1:
        raise UsageError(f"batch_trials must be at least 1, not {batch_trials}")
    tables = jax.device_put(problem.load())
    spec = problem.spec(tables)
    if spec.num_actions < 2:
        raise UsageError(f"there is nothing to choose between: the problem has {spec.num_actions} action")

    steps = _segment_length(policy, problem.horizon, segment_steps)
    segments = math.ceil(problem.horizon / steps)
    build = partial(_programs, policy, problem, tables, steps, segments)
    batch = batch_trials or trials_that_fit(partial(_trial_bytes, policy, problem, tables, steps, segments))
    batch = _equal(trials, batch)
    (start, play), compile_seconds = build(batch)
    here = sum(leaf.nbytes for leaf in jax.tree.leaves(tables))
    while batch_trials is None and batch > 1 and (times := excess(play, here)) > 1:  # what a refit needs only XLA knows
        batch = _equal(trials, min(batch // 2, math.floor(batch / times)))  # at least halved: compilations are dear
        (start, play), seconds = build(batch)
        compile_seconds += seconds

    identity = problem_identity(problem)
    books, diagnostics, run_seconds = [], [], 0.0
    for first in range(0, trials, batch):
        keys = [trial_keys(seed, identity, range(first, first + batch), role) for role in ("problem", "policy")]
        began = time.perf_counter()
        wanted = min(batch, trials - first)  # the last batch may hold trials nobody asked for
        book = _Book(wanted, problem.horizon, spec.num_actions)
        trial, pending = start(policy, problem, tables, *keys), None
        for segment in range(segments):
            trial, played = play(policy, problem, tables, trial, np.int32(segment * steps))
            if pending is not None:  # read the last segment while the device works on this one
                _record(book, *pending, progress)
            pending = segment * steps, played
        assert pending is not None
        _record(book, *pending, progress)
        books.append(book)
        told = jax.device_get(jax.vmap(policy.diagnostics, axis_size=batch)(trial.state))
        diagnostics.append({name: values[:wanted] for name, values in told.items()})
        run_seconds += time.perf_counter() - began

    return Outcome(
        **{name: np.concatenate([getattr(book, name) for book in books]) for name in _Book.PER_TRIAL},
        steps=books[0].steps,
        spec=spec,
        compile_seconds=compile_seconds,
        run_seconds=run_seconds,
        batch_trials=batch,
        diagnostics={name: np.concatenate([each[name] for each in diagnostics]) for name in diagnostics[0]},
    )


def problem_identity(problem: Problem) -> str:
    """What a problem's randomness may depend on: all its fields but the horizon, so that longer runs extend shorter."""
    fields = to_json(problem, numerics=True)
    return canonical({name: item for name, item in fields.items() if name not in ("horizon", "numerics", "source")})


def _segment_length(policy: Policy, horizon: int, wanted: int | None) -> int:
    """Steps of one segment: a multiple of `refit_every`, and as little beyond the horizon as can be."""
    unit = policy.refit_every or 1
    target = wanted or (SEGMENT_REFITS * unit if policy.refit_every else SEGMENT_STEPS)
    if target < 1:
        raise UsageError(f"segment_steps must be at least 1, not {target}")
    segments = max(1, round(horizon / target))
    return unit * math.ceil(horizon / segments / unit)


def _equal(trials: int, batch: int) -> int:
    """The size of equal batches, so that one program serves them all; at most `batch`, at least one trial."""
    return math.ceil(trials / math.ceil(trials / max(1, min(trials, batch))))


def _begin(
    policy: Policy, problem: Problem, tables: Tables, capacity: int, problem_key: jax.Array, policy_key: jax.Array
) -> Trial:
    kept = capacity if policy.refit_every else 0
    return Trial(
        key=policy_key,
        episode=problem.begin(problem_key, tables),
        state=policy.init(role_key(policy_key, "init"), problem.spec(tables)),
        actions=jnp.zeros(kept, jnp.int32),
        rewards=jnp.zeros(kept, jnp.float32),
    )


def _play(
    policy: Policy, problem: Problem, tables: Tables, steps: int, trial: Trial, first_step: jax.Array
) -> tuple[Trial, Played]:
    """One segment of one trial."""
    horizon = problem.horizon
    block = policy.refit_every or steps
    times = first_step + jnp.arange(steps, dtype=jnp.int32)
    rounds = jax.vmap(lambda step: problem.round(jnp.minimum(step, horizon - 1), trial.episode, tables))(times)
    act_key, update_key, refit_key = (role_key(trial.key, role) for role in ("act", "update", "refit"))

    def act(state: State, step: jax.Array, context: jax.Array) -> jax.Array:
        return policy.act(jax.random.fold_in(act_key, step), state, context, step)

    def one_step(state: State, inputs: tuple[jax.Array, Round]) -> tuple[State, tuple[jax.Array, jax.Array]]:
        step, (context, rewards, _) = inputs
        action = act(state, step, context)
        reward = rewards[action]
        state = policy.update(jax.random.fold_in(update_key, step), state, context, action, reward)
        return state, (action, reward)

    def one_block(trial: Trial, inputs: tuple[jax.Array, Round]) -> tuple[Trial, jax.Array]:
        block_times, block_rounds = inputs
        state = trial.state
        if policy.frozen:
            actions = jax.vmap(act, in_axes=(None, 0, 0))(state, block_times, block_rounds.context)
            rewards = jnp.take_along_axis(block_rounds.rewards, actions[:, None], axis=1)[:, 0]
        else:
            state, (actions, rewards) = jax.lax.scan(one_step, state, inputs)
        if policy.refit_every:
            history = History(
                count=block_times[-1] + 1,
                actions=jax.lax.dynamic_update_slice(trial.actions, actions, block_times[:1]),
                rewards=jax.lax.dynamic_update_slice(trial.rewards, rewards, block_times[:1]),
                contexts_at=jax.vmap(lambda step: problem.context(step, trial.episode, tables)),
            )
            state = policy.refit(jax.random.fold_in(refit_key, block_times[-1]), state, history)
            trial = trial._replace(actions=history.actions, rewards=history.rewards)
        return trial._replace(state=state), actions

    by_block = jax.tree.map(lambda array: array.reshape(steps // block, block, *array.shape[1:]), (times, rounds))
    if block == steps:
        trial, actions = one_block(trial, jax.tree.map(lambda array: array[0], by_block))
    else:
        trial, actions = jax.lax.scan(one_block, trial, by_block)
    actions = actions.reshape(steps)

    best = rounds.means.max(axis=-1)
    chosen = partial(jnp.take_along_axis, indices=actions[:, None], axis=1)
    played = Played(
        actions=actions,
        regret=best - chosen(rounds.rewards)[:, 0],
        expected_regret=best - chosen(rounds.means)[:, 0],
        valid=jnp.stack([jnp.isfinite(array).all(axis=-1) for array in rounds]).all(axis=0),
        finite=all_finite(trial.state),
    )
    return trial, played


_compiled: dict[Any, tuple[Any, Any]] = {}


def _programs(
    policy: Policy, problem: Problem, tables: Tables, steps: int, segments: int, batch: int
) -> tuple[tuple[Any, Any], float]:
    """The two compiled programs of a batch of trials, and the seconds it took to compile them.

    Floats are arguments, so every preset of one structure is served by the same programs.
    """
    shapes = jax.tree.map(lambda array: (array.shape, str(array.dtype)), tables)
    key = (*map(jax.tree.structure, (policy, problem)), str(shapes), steps, segments, batch, jax.default_backend())
    if key in _compiled:
        return _compiled[key], 0.0
    began = time.perf_counter()

    def start(policy, problem, tables, problem_keys, policy_keys):
        # one trial after another: beginning an episode may need far more memory than keeping it (a permutation's sort)
        return jax.lax.map(
            lambda keys: _begin(policy, problem, tables, steps * segments, *keys), (problem_keys, policy_keys)
        )

    def play(policy, problem, tables, trial, first_step):
        return jax.vmap(partial(_play, policy, problem, tables, steps), in_axes=(0, None))(trial, first_step)

    keys = trial_keys(0, "", range(batch), "")
    started = jax.jit(start).lower(policy, problem, tables, keys, keys)
    trial = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), started.out_info)
    playing = jax.jit(play, donate_argnums=3).lower(policy, problem, tables, trial, np.int32(0))
    _compiled[key] = started.compile(), playing.compile()
    return _compiled[key], time.perf_counter() - began


def _trial_bytes(policy: Policy, problem: Problem, tables: Tables, steps: int, segments: int) -> int:
    """Device memory one trial needs: what it carries (twice, for what is being replaced) and a segment's rounds."""
    key = jax.ShapeDtypeStruct((), jax.random.key(0).dtype)
    capacity = steps * segments  # a shape, so it must not be traced
    trial = jax.eval_shape(lambda tables, *keys: _begin(policy, problem, tables, capacity, *keys), tables, key, key)
    carried = sum(math.prod(leaf.shape) * 4 for leaf in jax.tree.leaves(trial))
    spec = problem.spec(tables)
    return 2 * carried + 2 * 4 * steps * (spec.context_dim + 3 * spec.num_actions)


class _Book:
    """The regret of one batch of trials, added up in float64 as segments come in."""

    PER_TRIAL = (
        "cumulative",
        "cumulative_expected",
        "simple",
        "simple_expected",
        "curve",
        "curve_expected",
        "action_counts",
    )

    def __init__(self, trials: int, horizon: int, num_actions: int) -> None:
        self.trials, self.horizon, self.num_actions = trials, horizon, num_actions
        self.steps = np.unique(np.ceil(np.linspace(0, horizon, CHECKPOINTS + 1)[1:]).astype(np.int64))
        self.tail = min(LAST_STEPS, horizon)
        for name in ("cumulative", "cumulative_expected", "simple", "simple_expected"):
            setattr(self, name, np.zeros(trials))
        self.curve = np.zeros((trials, len(self.steps)))
        self.curve_expected = np.zeros((trials, len(self.steps)))
        self.action_counts = np.zeros((trials, num_actions), np.int64)

    def add(self, first_step: int, played: Played) -> int:
        """Add a segment; returns how many of its steps lie within the horizon."""
        steps = min(played.regret.shape[1], self.horizon - first_step)
        inside = np.flatnonzero((self.steps > first_step) & (self.steps <= first_step + steps))
        tail = slice(max(0, self.horizon - self.tail - first_step), steps)
        for regret, suffix in ((played.regret, ""), (played.expected_regret, "_expected")):
            paid = np.asarray(regret, np.float64)[: self.trials, :steps]
            total = getattr(self, "cumulative" + suffix)
            running = np.cumsum(paid, axis=1)
            getattr(self, "curve" + suffix)[:, inside] = (
                total[:, None] + running[:, self.steps[inside] - first_step - 1]
            )
            total += running[:, -1]
            getattr(self, "simple" + suffix)[:] += paid[:, tail].sum(axis=1) / self.tail
        actions = np.asarray(played.actions)[: self.trials, :steps]
        rows = np.repeat(np.arange(self.trials), steps)
        np.add.at(self.action_counts, (rows, actions.ravel()), 1)
        return steps


def _record(book: _Book, first_step: int, played: Played, progress: Progress | None) -> None:
    played = jax.device_get(played)
    steps = min(played.regret.shape[1], book.horizon - first_step)
    bad = ~played.valid[: book.trials, :steps]
    if bad.any():
        trial, step = np.argwhere(bad)[0]
        raise InvalidProblemError(
            f"the problem gave a context or reward that is not finite at step {first_step + step} of trial {trial}"
        )
    lost = np.flatnonzero(~played.finite[: book.trials])
    if lost.size:
        raise DivergedError(
            f"the policy's state was not finite after step {first_step + steps} in {lost.size} of {book.trials} trials"
        )
    book.add(first_step, played)
    if progress is not None:
        progress(steps * book.trials)
