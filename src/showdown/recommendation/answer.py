"""What a recommendation says: which method to use and why, what it costs in use, and the file that makes the agent."""

from __future__ import annotations

import dataclasses
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from showdown.agent import Agent
from showdown.agent.offer import check_policy
from showdown.analysis.summary import BASELINE
from showdown.analysis.verdict import Rival, Verdict
from showdown.basics.errors import UsageError
from showdown.basics.text import wrapped
from showdown.config import to_json
from showdown.data.encoder import Encoder
from showdown.metrics import BEST_FIXED
from showdown.policies import policies
from showdown.problems.own_table import Table
from showdown.protocol.problem import ProblemSpec
from showdown.recommendation.board import BEHIND, NO_ROOM, OUT_OF_TIME, Standing
from showdown.recommendation.cost import Cost
from showdown.report import write_file

AGENT_FILE = "agent.json"
LEARNED_FILE = "agent-learned.npz"  # beside it; a server saves elsewhere
SHOWN = 5  # columns that are named
WORTH_SAYING = 0.01  # of a share: what the choice of the rows alone makes uncertain


@dataclass(frozen=True, kw_only=True, repr=False)
class Recommendation:
    policy: str | None  # to use; None: no method is clearly better than a fixed action or chance
    verdict: Verdict
    metric: str  # accuracy or reward
    rows: int
    horizon: int  # steps of a trial
    best_fixed_action: str  # that pays most if it is always taken
    costs: dict[str, Cost]  # of the best method and those tied with it
    standings: tuple[Standing, ...]  # the best first
    seconds: float  # that it took
    folder: Path  # the store
    cells: frozenset[str] = frozenset()  # of the store, by their hashes, that were played or found for this answer
    page: Path | None = None
    agent_file: Path | None = None
    table_warnings: tuple[str, ...] = ()  # what is likely to mislead in the data
    after_learning: float | None = None  # the metric of `policy` in the last quarter of the steps
    dropped: tuple[tuple[str, str], ...] = ()  # columns that were left out unasked, and why
    hint: str = ""  # what the person could say about the table for a better answer
    learned: LearnedFrom | None = None  # what the agent's file knows already
    is_served: bool = True  # whether an agent can decide by this policy

    def __repr__(self) -> str:
        return wrapped(self.lines)

    @property
    def sentence(self) -> str:
        return f"{self._advice()} {self.verdict.sentence}"

    @property
    def lines(self) -> list[str]:
        """All lines of the answer, for a terminal."""
        files = [f"page: {self.page}"] if self.page else []
        if self.agent_file:
            files += [f"agent: {self.agent_file}", f"serve it: showdown serve {shlex.quote(str(self.agent_file))}"]
        return [
            *self._said(),
            *(f"warning: {warning}" for warning in self._warnings()),
            *self._not_judged(),
            *files,
        ]

    def _said(self) -> list[str]:
        """What to use, what it earns and costs, how sure that is, and what was done to the table."""
        hint = [self.hint] if self.hint else []
        if self.policy and not self.is_served:
            hint.append(f"No agent's file is written: {self.policy} cannot decide online among actions with features.")
        if self.learned is not None:
            hint.append(self.learned.sentence)
        sure = [self.verdict.sentence, *self._same_rows()]
        return [self._advice(), *self._after(), *self._cost(), *sure, *hint, *self._dropped()]

    def _warnings(self) -> tuple[str, ...]:
        return (*self.table_warnings, *self.verdict.warnings)

    def for_page(self) -> dict[str, Any]:
        """What the page opens with: the lines of the terminal, without paths of this machine."""
        served = self.policy and self.is_served
        serve = [f"serve it, in the folder of this page: showdown serve {AGENT_FILE}"] if served else []
        return {
            "policy": self.policy,
            "metric": self.metric,
            "lines": [*self._said(), *self._not_judged(), *serve],
            "warnings": list(self._warnings()),
            "decide_seconds": {name: cost.decide_seconds for name, cost in self.costs.items()},
        }

    def _after(self) -> list[str]:
        if self.policy is None or self.after_learning is None:
            return []
        return [f"After learning, in the last quarter of the steps, it earns {self._number(self.after_learning)}."]

    def _same_rows(self) -> list[str]:
        """How far the share may be from that of other rows: the intervals above are over orders of these."""
        value = self._own(self.policy)[0] if self.policy is not None else None
        if self.metric != "accuracy" or value is None or self.horizon < self.rows:
            return []
        error = 1.96 * np.sqrt(value * (1 - value) / self.rows)
        if error < WORTH_SAYING:
            return []
        return [
            f"Every trial plays the same {self.rows:,} rows in another order. With {self.rows:,} other rows of the "
            f"same kind the share could differ by {100 * error:.1f} points (95 %), and a smaller lead might not hold."
        ]

    def _dropped(self) -> list[str]:
        if not self.dropped:
            return []
        each = [f"{name!r} ({why})" for name, why in self.dropped[:SHOWN]]
        more = f" and {len(self.dropped) - SHOWN} more (see `showdown inspect`)" if len(self.dropped) > SHOWN else ""
        return [f"Columns left out: {'; '.join(each)}{more}."]

    def _advice(self) -> str:
        fixed, chance = self._reference(BEST_FIXED), self._reference(BASELINE)
        always = (
            f"{self._number(fixed.value)} for always taking {self.best_fixed_action!r} (the best fixed action)"
            if fixed
            else ""
        )
        random = f"{self._number(chance.value)} at random" if chance else ""
        against = " and ".join(filter(None, [always, random]))
        best = self.verdict.best
        if best is None:
            return f"No recommendation: {self.verdict.reason}."
        missed, methods = (sum(one.policy != BASELINE for one in some) for some in (self._unplayed(), self.standings))
        of = f" (no result of {missed} of {methods} methods)" if missed else ""
        if self.policy is None:
            return f"Use no method{of}: none is clearly better than {against}."
        value, low, high = self._own(self.policy)
        number = f"{self._number(value)} (95 % interval {self._number(low)} to {self._number(high)})"
        why = "got stuck in a trial" if self.verdict.fails(best) else "is slower"
        other = f" It cannot be told from {best}, which {why}." if self.policy != best else ""
        return f"Use {self.policy}{of}: {self._what()} {number}{f', against {against}' if against else ''}.{other}"

    def _unplayed(self) -> list[Standing]:
        return [one for one in self.standings if not one.trials]

    def _not_judged(self) -> list[str]:
        """Lines that name every method without a result and why, and those with fewer trials than the others."""
        lines = [f"no result: {one.policy} {_why(one)}" for one in self._unplayed()]
        most = max((one.trials for one in self.standings if one.policy != BASELINE), default=0)
        cut = [
            f"{one.policy} ({one.trials} of {most})"
            for one in self.standings
            if one.status in (OUT_OF_TIME, NO_ROOM) and 0 < one.trials < most
        ]
        short = [one for one in self.standings if one.status == BEHIND and 0 < one.steps < self.horizon]
        lines += [f"clearly behind after {one.steps:,} steps, and not played on: {one.policy}" for one in short]
        lines += [f"fewer trials for lack of time: {', '.join(cut)}"] if cut else []
        late = any(one.status in (OUT_OF_TIME, NO_ROOM) for one in self.standings)
        return [*lines, "the same command with a longer --budget continues from here"] if lines and late else lines

    def _own(self, policy: str) -> tuple[float | None, float | None, float | None]:
        one = next(one for one in self.standings if one.policy == policy)
        return one.value, one.low, one.high

    def _cost(self) -> list[str]:
        cost = self.costs.get(self.policy or "")
        if cost is None:
            return []
        return [f"It decides in {_duration(cost.decide_seconds)} and keeps {_size(cost.state_bytes)} of state."]

    def _reference(self, name: str) -> Rival | None:
        return next((one for one in self.verdict.references if one.policy == name), None)

    def _what(self) -> str:
        return "share of right answers" if self.metric == "accuracy" else "mean reward per decision"

    def _number(self, value: float | None) -> str:
        if value is None:
            return "?"
        return f"{100 * value:.1f} %" if self.metric == "accuracy" else f"{value:.4g}"

    def to_json(self) -> dict[str, Any]:
        plain = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in ("verdict", "costs", "standings", "folder", "cells", "page", "agent_file", "learned")
        }
        return {
            "sentence": self.sentence,
            "lines": self.lines,
            **plain,
            "verdict": self.verdict.to_json(),
            "learned": None if self.learned is None else dataclasses.asdict(self.learned),
            "costs": {name: dataclasses.asdict(cost) for name, cost in self.costs.items()},
            "standings": [dataclasses.asdict(one) for one in self.standings],
            "folder": str(self.folder),
            "page": str(self.page) if self.page else None,
            "agent_file": str(self.agent_file) if self.agent_file else None,
        }


def _why(one: Standing) -> str:
    words = {NO_ROOM: f"{NO_ROOM} ", OUT_OF_TIME: "did not finish "}.get(one.status, "failed ")
    return f"{words}({one.reason or one.status})"


def _duration(seconds: float) -> str:
    return f"{1e6 * seconds:.0f} µs" if seconds < 1e-3 else f"{1e3 * seconds:.3g} ms"


def _size(count: int) -> str:
    return f"{count / 1000:.3g} kB" if count < 1_000_000 else f"{count / 1e6:.3g} MB"


FORMAT = 1


def is_servable(policy: str, spec: ProblemSpec) -> bool:
    """Whether an agent can decide by this policy: some that play such a problem learn from more than an agent keeps."""
    try:
        check_policy(policies.get(policy), spec)
    except UsageError:
        return False
    return True


@dataclass(frozen=True)
class LearnedFrom:
    """What the agent of a recommendation has learned from before it decides."""

    file: str  # the saved agent, beside the agent's file
    table: str  # what it is called
    rows: int
    rewards: int  # of the table: each row tells what every action would have paid

    @property
    def sentence(self) -> str:
        return (
            f"The agent has learned from {self.table}: {self.rewards:,} rewards of {self.rows:,} rows "
            "(--no-learn leaves that out)."
        )


def taught(policy: str, problem: Table, path: Path) -> LearnedFrom:
    """Write an agent that has learned from the table."""
    with Agent.for_table(problem, policies.get(policy)) as agent:
        rewards = agent.learn_table(problem)
        agent.save(path)
    return LearnedFrom(path.name, problem.called, problem.bandit_table().rows, rewards)


def agent_description(policy: str, problem: Table, learned: LearnedFrom | None = None) -> dict[str, Any]:
    """Everything that `Agent` and `Encoder.from_json` need, as plain data, and where it comes from."""
    encoder = Encoder.for_problem(problem)
    spec = problem.spec(problem.load())
    options = {name: value for name, value in to_json(problem).items() if name not in ("kind", "horizon") and value}
    return {
        "format": FORMAT,
        "policy": policy,
        "configuration": to_json(policies.get(policy)),
        "context_dim": spec.context_dim,
        "num_actions": spec.num_actions,
        "action_dim": spec.action_dim,
        "data": options,
        "learned": None if learned is None else dataclasses.asdict(learned),
        "encoder": encoder.to_json(),
    }


def write_agent_file(policy: str, problem: Table, path: Path, learned: LearnedFrom | None = None) -> Path:
    write_file(path, json.dumps(agent_description(policy, problem, learned), indent=2, ensure_ascii=False).encode())
    return path
