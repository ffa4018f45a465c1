"""What a tuning is asked for. Everything in it that its numbers depend on is in its key, which names its files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from showdown.basics.errors import MissingDataError, UsageError
from showdown.config import canonical, to_json
from showdown.config.registry import parse_name
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.problem import Problem
from showdown.tuning.samplers import sampler
from showdown.tuning.space import Space, space_of

OBJECTIVES = ("cumulative", "simple", "reward")
COMBINATIONS = ("regret", "rank")


@dataclass(frozen=True)
class TuningBudget:
    """When to stop proposing: after so many candidates, or once playing them has taken so many seconds."""

    candidates: int | None = None
    seconds: float | None = None

    @classmethod
    def read(cls, text: str) -> TuningBudget:
        """The budget that a text means: `200` candidates, or a time such as `90s`, `10m` or `2h`."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
        if found is None or float(found[1]) <= 0 or (not found[2] and "." in found[1]):
            raise UsageError(f"a budget is a number of candidates or a time such as 90s, 10m or 2h, not {text!r}")
        if not found[2]:
            return cls(candidates=int(found[1]))
        return cls(seconds=float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]])


@dataclass(frozen=True, kw_only=True)
class TuningRequest:
    space: Space
    problems: dict[str, Problem]  # by the names that a user gave them; the horizon is each one's own
    objective: str = "cumulative"
    combine: str = "regret"  # how several problems count together: mean regret relative to the default's, or mean rank
    budget: TuningBudget = TuningBudget(candidates=128)
    trials: int = 20
    final_trials: int = 50  # of each of the two comparisons on fresh episodes at the end
    seed: int = 0
    batch: int = 32  # candidates that are proposed and played together
    sampler: str = "gp"
    halving: bool = True  # whether hopeless candidates are given up at a part of the horizon

    def __post_init__(self) -> None:
        for name in ("trials", "final_trials", "batch"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name, known in (("objective", OBJECTIVES), ("combine", COMBINATIONS)):
            if getattr(self, name) not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}")
        if not self.problems:
            raise UsageError("there is no problem to tune on")
        if not 0 <= self.seed < 2**62:
            raise UsageError(f"the seed of a tuning must lie between 0 and 2**62, and is {self.seed}")

    @property
    def preset(self) -> str:
        """`LinPost@mushroom`: what the chosen configuration is called."""
        return f"{parse_name(self.space.name)[0]}@{'+'.join(parse_name(name)[0] for name in self.problems)}"

    @property
    def name(self) -> str:
        """The name of its files: safe letters, and the beginning of the key."""
        words = f"{self.space.name}-on-{'-'.join(self.problems)}"
        return f"{re.sub(r'[^A-Za-z0-9.+-]+', '_', words)[:80]}-{self.key[:8]}"

    @cached_property
    def key(self) -> str:
        """A hash that requests with equal proposals share. The budget is left out: a larger one continues a smaller."""
        return hashlib.sha256(canonical(self.to_json()).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        return {
            "policy": self.space.name,
            "default": to_json(self.space.policy, numerics=True),
            "fields": {row.name: {**asdict(row.search), "default": row.default} for row in self.space.dimensions},
            "problems": {name: to_json(problem, numerics=True) for name, problem in self.problems.items()},
            **{name: getattr(self, name) for name in _PLAIN},
        }


_PLAIN = ("objective", "combine", "trials", "final_trials", "seed", "batch", "sampler", "halving")


def request_for(
    policy: str, on: Sequence[str], fields: Sequence[str] = (), *, horizon: int | None = None, budget: str, **rest: Any
) -> TuningRequest:
    sampler(rest["sampler"])  # refuse one that does not exist before anything is played
    return TuningRequest(
        space=space_of(policy, policies.get(policy), fields),
        problems={name: playable(name, horizon) for name in on},
        budget=TuningBudget.read(budget),
        **rest,
    )


def playable(name: str, horizon: int | None = None) -> Problem:
    """A problem whose data is at hand, no longer than its rows."""
    return fitted(name, problems.get(name), horizon)


def fitted(name: str, problem: Problem, horizon: int | None = None) -> Problem:
    """The problem at that horizon, no longer than its rows; raises UsageError where its data is not at hand."""
    if horizon is not None:
        problem = problem.with_horizon(horizon)
    problem.check()
    try:
        longest = problem.longest(problem.load())
    except MissingDataError as error:
        raise UsageError(f"{name} cannot be played: {error}") from None
    if horizon is not None and longest is not None and longest < horizon:
        problem = problem.with_horizon(longest)
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
