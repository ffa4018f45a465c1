"""Calls that wait for an agent at the same time, answered together: changes of actions, rewards, then decisions.

All of them are under way at once, so any order is right, and this one lets decisions know most. Their records are one
write to the journal, and each kind is one call of a compiled program for up to 64 rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from showdown.agent import records
from showdown.agent.codec import reward_number
from showdown.agent.decision import Chances, Decision, Waiting
from showdown.agent.offer import Offer
from showdown.basics.errors import ShowdownError, UsageError

if TYPE_CHECKING:
    from showdown.agent.agent import Agent


class DecideCall(NamedTuple):
    context: Any
    available: Iterable[Any] | None = None
    actions: Any = None  # with their features, where they have any


class ProbabilitiesCall(NamedTuple):
    """With what probability each action would be taken; nothing is decided."""

    context: Any
    available: Iterable[Any] | None = None
    actions: Any = None


class RewardCall(NamedTuple):
    """The reward of a decision."""

    id: str
    reward: float


class LearnCall(NamedTuple):
    """What an action paid that others took."""

    context: Any
    action: Any
    reward: float
    features: Any = None  # of the action


class AddCall(NamedTuple):
    """Let another action be taken, where there are fewer than so many."""

    name: Any
    most: int


class RemoveCall(NamedTuple):
    """Never take an action again."""

    name: Any


Call = AddCall | RemoveCall | DecideCall | ProbabilitiesCall | RewardCall | LearnCall
Answer = Decision | Chances | bool | ShowdownError  # an error stands in the place of the call that it is about


class _Asked(NamedTuple):
    """A decision whose arguments are as they should be."""

    place: int
    context: np.ndarray
    offer: Offer


class _Told(NamedTuple):
    """A reward whose arguments are as they should be."""

    place: int
    inputs: np.ndarray
    action: int
    reward: np.float32
    id: str | None = None  # of the decision that is rewarded

    @property
    def record(self) -> dict[str, Any]:
        if self.id is not None:
            return records.reward(self.id, self.reward)
        return records.learned(self.inputs, self.action, self.reward)


def answer(agent: Agent, calls: Sequence[Call], draws: int) -> list[Answer]:
    """The answer of each call, in its place: a decision, whether a reward was learned, or an error."""
    answers: list[Any] = [None] * len(calls)

    def each(kind: Any, prepare: Callable[[int, Any], Any]) -> list[Any]:
        rows = []
        for place, call in enumerate(calls):
            if isinstance(call, kind):
                try:
                    rows.append(prepare(place, call))
                except ShowdownError as error:
                    answers[place] = error
        return rows

    def asked(place: int, call: DecideCall | ProbabilitiesCall) -> _Asked:
        return _Asked(place, agent._codec.context(call.context), agent._codec.offer(call.available, call.actions))

    def outcome(place: int, call: LearnCall) -> _Told:
        inputs, action = agent._codec.outcome(call.context, call.action, call.features)
        return _Told(place, inputs, action, reward_number(call.reward))

    with agent._lock:
        _change(agent, calls, answers)
        decisions, questions, told = each(DecideCall, asked), each(ProbabilitiesCall, asked), each(LearnCall, outcome)
        rewarded: set[str] = set()

        def reward(place: int, call: RewardCall) -> _Told:
            paid = reward_number(call.reward)
            waiting = agent._pending.find(call.id, but=rewarded)
            rewarded.add(call.id)
            return _Told(place, waiting.inputs, waiting.action, paid, call.id)

        _learn(agent, sorted([*told, *each(RewardCall, reward)], key=lambda row: row.place), answers)
        for rows in _in_groups(agent, decisions):
            _decide(agent, rows, answers, draws)
        for row in questions:
            try:
                _, _, (law,) = agent._decider.decide([row.context], [row.offer], draws)
                answers[row.place] = Chances(agent._codec.names(row.offer), law)
            except ShowdownError as error:
                answers[row.place] = error
    return answers


def _change(agent: Agent, calls: Sequence[Call], answers: list[Any]) -> None:
    """Add and remove actions, each for itself."""
    for place, call in enumerate(calls):
        try:
            if isinstance(call, AddCall):
                agent.add_action(call.name, most=call.most)
                answers[place] = True
            elif isinstance(call, RemoveCall):
                agent.remove_action(call.name)
                answers[place] = True
        except ShowdownError as error:
            answers[place] = error


def _in_groups(agent: Agent, rows: list[_Asked]) -> Iterator[list[_Asked]]:
    """Decisions that one program makes: as many as it has room for, with as many places each."""
    left = rows
    while left:
        places = agent._decider.places(left[0].offer)
        alike = [row for row in left if agent._decider.places(row.offer) == places]
        left = [row for row in left if agent._decider.places(row.offer) != places]
        room = agent._decider.room(places)
        for first in range(0, len(alike), room):
            yield alike[first : first + room]


def _learn(agent: Agent, rows: list[_Told], answers: list[Any]) -> None:
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
        np.stack([row.inputs for row in rows]),
        np.array([row.action for row in rows], np.int32),
        np.array([row.reward for row in rows], np.float32),
    )
    for row, fine in zip(rows, taken, strict=True):
        answers[row.place] = fine


def _decide(agent: Agent, rows: list[_Asked], answers: list[Any], draws: int) -> None:
    """Decide about rows, as many as one program holds. A row without a usable law is refused and takes no step."""
    while rows:
        try:
            actions, ties, laws = agent._decider.decide(
                [row.context for row in rows], [row.offer for row in rows], draws
            )
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
    made, codec = list(zip(actions, laws, rows, strict=True)), agent._codec
    decisions = [
        Decision(agent._pending.new_id(), action, str(name), *law.taken(action), known_as=name)
        for action, law, row in made
        for name in [codec.name(action, row.offer)]
    ]
    try:
        agent._keeper.write(
            *(
                records.decision(decision, row.context, row.offer, codec.slot(decision.action))
                for decision, row in zip(decisions, rows, strict=True)
            )
        )
    except ShowdownError as error:
        for row in rows:
            answers[row.place] = error
        return
    inputs = [row.offer.inputs_of(row.context, action) for action, _, row in made]
    if not agent._decider.clock.is_warming_up:
        agent._watch.see(inputs, ties, laws)
    agent._decider.clock.advance(len(rows))
    for decision, row, seen in zip(decisions, rows, inputs, strict=True):
        agent._pending.add(decision.id, Waiting(seen, codec.slot(decision.action)))
        answers[row.place] = decision
