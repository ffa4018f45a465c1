"""What policies and problems in plain Python promise: those that are no programs are not looked at as such."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

from showdown.basics.errors import ShowdownError
from showdown.config import core
from showdown.policies.plain import PlainPolicy
from showdown.problems.plain import PlainProblem
from showdown.protocol.in_python import Drawn, raised
from showdown.protocol.problem import Problem, ProblemSpec
from showdown.testing.problem_promises import (
    begins_alike_whatever_its_horizon,
    follows_its_key,
    gives_rounds_of_its_shape,
    keeps_trials_apart,
)
from showdown.testing.promise import Promise, RaisedError, require

STEPS, DIM, ACTIONS = 40, 3, 3


def crosses_to_another_process(value: PlainPolicy | Problem) -> None:
    plain = core(value)
    try:
        back = pickle.loads(pickle.dumps(plain))
    except ShowdownError:
        raise
    except Exception as error:
        raise RaisedError(f"a copy for another process raises {type(error).__name__}: {error}") from error
    require(back == plain, "a copy for another process is another policy or problem: it holds what changes by itself")


def plays_valid_actions_the_same_ones_with_the_same_seed(policy: PlainPolicy) -> None:
    first, again = _played(policy, 1), _played(policy, 1)
    if first != again:
        step = int(np.argmax(np.array(first) != np.array(again)))
        advice = "draw random numbers from `rng` only, and keep what is learned in `self`"
        require(False, f"two runs with one seed differ at step {step}: {advice}")


def leaves_each_trial_to_itself(policy: PlainPolicy) -> None:
    alone = _played(policy, 2)
    _played(policy, 3)
    require(
        _played(policy, 2) == alone,
        "a trial changes when another one was played before: keep what is learned in `self`, and nothing in the class "
        "or the module",
    )


def states_the_law_of_its_choices(policy: PlainPolicy) -> None:
    """Where it states one: a law at every step, under which what it chooses is possible."""
    _played(policy, 4, laws=True)


def draws_one_trial_from_one_generator(problem: Problem) -> None:
    plain = core(problem)
    assert isinstance(plain, PlainProblem)
    first, again = _drawn(plain), _drawn(copy.deepcopy(plain))
    for name, one, other in zip(Drawn._fields, first, again, strict=True):
        same = other is None if one is None or other is None else np.array_equal(one, other)
        require(same, f"two trials of one generator have different {name}: draw random numbers from `rng` only")


def _drawn(problem: PlainProblem) -> Drawn:
    drawn: Drawn = problem.handed.value.draw(np.random.default_rng(7), problem.horizon)
    return drawn


def _played(policy: PlainPolicy, seed: int, laws: bool = False) -> list[int]:
    """The actions of a trial with rewards of 0 and 1; with `laws` the stated probabilities are looked at."""
    count = _actions_of(policy)
    draw = np.random.default_rng(seed)
    contexts = draw.normal(size=(STEPS, DIM)).astype(np.float32)
    rewards = (draw.random((STEPS, count)) < 0.5).astype(float)
    actions, step = [], 0
    try:
        player = policy.player(ProblemSpec(DIM, count), np.random.default_rng(seed))
        for step in range(STEPS):
            law: Any = player.probabilities(contexts[step]) if laws else None
            action = player.choose(contexts[step])
            require(0 <= action < count, f"it chooses action {action!r} of a problem with {count} actions")
            if law is not None:
                fine = np.shape(law) == (count,) and np.min(law) >= 0 and abs(np.sum(law) - 1) < 1e-4
                require(fine, f"its probabilities must be {count} numbers that sum to 1, and are {law!r}")
                require(
                    law[action] > 0, f"it chooses action {action} at step {step}, of which it says that it never does"
                )
            player.learn(contexts[step], action, float(rewards[step][action]))
            actions.append(int(action))
    except Exception as error:
        found = raised(policy.name, f"at step {step}", error)
        raise (found if found is error else RaisedError(str(found))) from error
    return actions


def _actions_of(policy: PlainPolicy) -> int:
    """How many actions it can be asked about: as many as it says that it was made for."""
    plays: Any = policy.plays
    said = [getattr(each, "num_actions", None) for each in (plays, getattr(plays, "value", None))]
    return next((int(count) for count in said if isinstance(count, int | np.integer)), ACTIONS)


PLAIN_POLICY_PROMISES = (
    Promise(
        "chooses valid actions, the same ones with the same seed",
        plays_valid_actions_the_same_ones_with_the_same_seed,
        needed=True,
    ),
    Promise("leaves each trial to itself", leaves_each_trial_to_itself),
    Promise("states the law of its choices, where it states one", states_the_law_of_its_choices),
    Promise("can be handed to another process", crosses_to_another_process),
)

PLAIN_PROBLEM_PROMISES = (
    Promise("draws one trial from one generator", draws_one_trial_from_one_generator, needed=True),
    Promise("gives finite contexts and rewards of the shapes in its spec", gives_rounds_of_its_shape),
    Promise("draws another trial from another generator", follows_its_key),
    Promise("begins alike whatever its horizon", begins_alike_whatever_its_horizon),
    Promise("plays a trial the same however many are played", keeps_trials_apart),
    Promise("can be handed to another process", crosses_to_another_process),
)
