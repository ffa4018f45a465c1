"""What is played, by whom and in what steps: everything but the number of trials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from showdown.basics.errors import UsageError
from showdown.config import canonical, to_json
from showdown.play.devices import everywhere, usable
from showdown.play.segment import Way, segment_length
from showdown.protocol.feedback import AT_ONCE
from showdown.protocol.keys import trial_keys
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem, ProblemSpec, Tables
from showdown.tricks.threefry import shape_of_keys

LONGEST = 2**31 - 2  # steps are counted in int32


@dataclass(frozen=True)
class Prepared:
    policy: Policy  # or several of one structure, stacked: see `population`
    problem: Problem
    tables: Tables  # on each device
    spec: ProblemSpec
    steps: int  # of one segment
    segments: int
    population: int | None = None  # how many policies `policy` stacks along the first axis of its leaves; None: not one
    devices: int = 1  # that a batch of trials is spread over
    propensities: bool = False  # whether those of the actions are kept

    @property
    def capacity(self) -> int:
        """Steps that all segments play together: the horizon, and a little more where the last one overshoots."""
        return self.steps * self.segments

    @property
    def way(self) -> Way:
        """How each segment is played."""
        return Way(self.steps, self.spec, self.problem.feedback, self.propensities)

    @property
    def about_players(self) -> tuple[ProblemSpec, int, bool, int | None]:
        """What `over_trials.begin_players` must know."""
        return self.spec, self.capacity, self.problem.feedback != AT_ONCE, self.population

    def keys(self, seed: int, trials: range) -> tuple[jax.Array, jax.Array]:
        """The problem's and the policy's key of each trial. Stacked policies share theirs, so each plays as alone."""
        identity = problem_identity(self.problem)
        return trial_keys(seed, identity, trials, "problem"), trial_keys(seed, identity, trials, "policy")


def prepare(
    policy: Policy,
    problem: Problem,
    *,
    trials: int,
    horizon: int | None = None,
    segment_steps: int | None = None,
    batch_trials: int | None = None,
    tables: Tables | None = None,
    propensities: bool = False,
) -> Prepared:
    """Check everything that can be wrong before a program is compiled, and load the problem's data if not given."""
    if horizon is not None:
        problem = problem.with_horizon(horizon)
    policy.check()
    problem.check()
    for name, count in (("trials", trials), ("horizon", problem.horizon)):
        if count < 1:
            raise UsageError(f"{name} must be at least 1, not {count}")
    if problem.horizon > LONGEST:
        raise UsageError(f"a horizon of {problem.horizon} steps is longer than the {LONGEST} that can be counted")
    if batch_trials is not None and batch_trials < 1:
        raise UsageError(f"batch_trials must be at least 1, not {batch_trials}")
    devices = 1 if policy.in_python else usable(batch_trials or trials)
    tables = everywhere(problem.load() if tables is None else tables, devices)
    spec = problem.spec(tables)
    if spec.num_actions < 2:
        raise UsageError(f"there is nothing to choose between: the problem has {spec.num_actions} action")
    policy.check_problem(spec)
    _check_features(problem, tables, spec)
    steps = segment_length(policy, problem.horizon, segment_steps)
    segments = math.ceil(problem.horizon / steps)
    return Prepared(policy, problem, tables, spec, steps, segments, propensities=propensities, devices=devices)


def _check_features(problem: Problem, tables: Tables, spec: ProblemSpec) -> None:
    """Raise UsageError where a problem does not give the features of actions that its spec announces."""
    key = shape_of_keys()
    step = jax.ShapeDtypeStruct((), np.int32)
    given = jax.eval_shape(
        lambda key, step: problem.round(step, problem.begin(key, tables), tables), key, step
    ).features
    found = None if given is None else given.shape
    wanted = (spec.num_actions, spec.action_dim) if spec.action_dim else None
    if found != wanted:
        raise UsageError(f"its spec announces features of actions of the shape {wanted}, and its rounds give {found}")


def problem_identity(problem: Problem) -> str:
    """What a problem's randomness may depend on: all its fields but the horizon, so that longer runs extend shorter."""
    return canonical(_without(to_json(problem.randomness, numerics=True), ("horizon", "numerics", "source")))


def _without(data: Any, names: tuple[str, ...]) -> Any:
    """Plain data without what goes by these names, in nested data too."""
    if not isinstance(data, dict):
        return data
    return {name: _without(item, names) for name, item in data.items() if name not in names}
