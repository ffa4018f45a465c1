"""Calls that wait for an agent at the same time, answered together: rewards first, then decisions.

All of them are under way at once, so any order is right, and this one lets decisions know most. Their records are one
write to the journal, and each kind is one call of a compiled program for up to 64 rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from showdown.agent.codec import reward_number
from showdown.agent.decision import Decision, Waiting
from showdown.basics.errors import ShowdownError, UsageError

if TYPE_CHECKING:
    from showdown.agent.agent import Agent


class DecideCall(NamedTuple):
    context: Any
    available: Iterable[Any] | None = None


class RewardCall(NamedTuple):
    """The reward of a decision."""

    id: str
    reward: float


class LearnCall(NamedTuple):
    """What an action paid that others took."""

    context: Any
    action: Any
    reward: float


Call = DecideCall | RewardCall | LearnCall
Answer = Decision | bool | ShowdownError  # an error stands in the place of the call that it is about


class _Row(NamedTuple):
    """A call whose arguments are as they should be."""

    place: int
    context: np.ndarray
    mask: np.ndarray | None = None  # of a decision
    id: str | None = None  # of the decision that is rewarded
    action: int = 0
    reward: np.float32 = np.float32(0)

    @property
    def record(self) -> dict[str, Any]:
        if self.id is not None:
            return {"decision": self.id, "reward": float(self.reward)}
        return {"context": self.context.tolist(), "action": self.action, "reward": float(self.reward)}


def answer(agent: Agent, calls: Sequence[Call], draws: int) -> list[Answer]:
    """The answer of each call, in its place: a decision, whether a reward was learned, or an error."""
    answers: list[Any] = [None] * len(calls)

    def each(kind: Any, prepare: Callable[[int, Any], _Row]) -> list[_Row]:
        rows = []
        for place, call in enumerate(calls):
            if isinstance(call, kind):
                try:
                    rows.append(prepare(place, call))
                except ShowdownError as error:
                    answers[place] = error
        return rows

    def decision(place: int, call: DecideCall) -> _Row:
        return _Row(place, agent._codec.context(call.context), agent._codec.mask(call.available))

    def outcome(place: int, call: LearnCall) -> _Row:
        context, action = agent._codec.context(call.context), agent._codec.action(call.action)
        return _Row(place, context, action=action, reward=reward_number(call.reward))

    asked, told = each(DecideCall, decision), each(LearnCall, outcome)
    with agent._lock:
        rewarded: set[str] = set()

        def reward(place: int, call: RewardCall) -> _Row:
            paid = reward_number(call.reward)
            waiting = agent._pending.find(call.id, but=rewarded)
            rewarded.add(call.id)
            return _Row(place, waiting.context, id=call.id, action=waiting.action, reward=paid)

        _learn(agent, sorted([*told, *each(RewardCall, reward)], key=lambda row: row.place), answers)
        for first in range(0, len(asked), agent._decider.most):
            _decide(agent, asked[first : first + agent._decider.most], answers, draws)
    return answers


def _learn(agent: Agent, rows: list[_Row], answers: list[Any]) -> None:
    if not rows:
        return
    try:
        agent._keeper.write(*(row.record for row in rows))
    except ShowdownError as error:
        for row in rows:
            answers[row.place] = error
        return
    for row in rows:
        if row.id is not None:
            agent._pending.remove(row.id)
    taken = agent._learner.learn_rows(
        np.stack([row.context for row in rows]),
        np.array([row.action for row in rows], np.int32),
        np.array([row.reward for row in rows], np.float32),
    )
    for row, fine in zip(rows, taken, strict=True):
        answers[row.place] = fine


def _decide(agent: Agent, rows: list[_Row], answers: list[Any], draws: int) -> None:
    """Decide about rows, as many as one program holds. A row without a usable law is refused and takes no step."""
    while rows:
        try:
            contexts, masks = [row.context for row in rows], [row.mask for row in rows]
            actions, ties, laws = agent._decider.decide(contexts, masks, draws)
        except ShowdownError as error:
            for row in rows:
                answers[row.place] = error
            return
        bad = {place for place, law in enumerate(laws) if not law.sums_to_one}
        if not bad:
            break
        agent._watch.refused_laws += len(bad)
        for place in bad:
            answers[rows[place].place] = UsageError(
                "the policy has no finite law for this context: its numbers are too large beside those seen before"
            )
        rows = [row for place, row in enumerate(rows) if place not in bad]
    if not rows:
        return
    made = [
        Decision(agent._pending.new_id(), action, str(agent._codec.name(action)), *law.taken(action))
        for action, law in zip(actions, laws, strict=True)
    ]
    try:
        agent._keeper.write(*(_decision_record(decision, row) for decision, row in zip(made, rows, strict=True)))
    except ShowdownError as error:
        for row in rows:
            answers[row.place] = error
        return
    if not agent._decider.clock.is_warming_up:
        agent._watch.see(contexts, ties, laws)
    agent._decider.clock.advance(len(rows))
    for decision, row in zip(made, rows, strict=True):
        agent._pending.add(decision.id, Waiting(row.context, decision.action))
        answers[row.place] = decision


def _decision_record(decision: Decision, row: _Row) -> dict[str, Any]:
    record = {"decision": decision.id, "context": row.context.tolist()}
    return {**record, "action": decision.action, "propensity": decision.propensity}
