"""From names to a request: what `showdown tune` and the protocol are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from showdown.basics.errors import MissingDataError, UsageError
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.problem import Problem
from showdown.tuning.request import Budget, Request
from showdown.tuning.samplers import sampler
from showdown.tuning.space import space_of


def request_for(
    policy: str, on: Sequence[str], fields: Sequence[str] = (), *, horizon: int | None = None, budget: str, **rest: Any
) -> Request:
    sampler(rest["sampler"])  # refuse one that does not exist before anything is played
    return Request(
        space=space_of(policy, policies.get(policy), fields),
        problems={name: playable(name, horizon) for name in on},
        budget=Budget.read(budget),
        **rest,
    )


def playable(name: str, horizon: int | None = None) -> Problem:
    """A problem whose data is at hand, no longer than its rows."""
    problem = problems.get(name)
    if horizon is not None:
        problem = replace(problem, horizon=horizon)  # type: ignore[type-var]
    problem.check()
    try:
        longest = problem.longest(problem.load())
    except MissingDataError as error:
        raise UsageError(f"{name} cannot be played: {error}") from None
    if horizon is not None and longest is not None and longest < horizon:
        problem = replace(problem, horizon=longest)  # type: ignore[type-var]
    return problem


def all_playable(horizon: int | None = None) -> dict[str, Problem]:
    """Every problem whose data is at hand; those made of a user's file are not meant."""
    found = {}
    for name in problems.names():
        try:
            found[name] = playable(name, horizon)
        except (UsageError, MissingDataError):
            continue
    return found
