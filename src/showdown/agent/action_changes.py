"""Actions that are added to an agent and taken out of it while it runs.

What is learned of an action lives in its slot of the state's arrays. There may be more slots than actions, so that most
additions change no shape and compile nothing. Where all slots are taken the arrays grow to twice as many: what was
learned stays where it is, and new slots are as the policy starts them. A slot whose action was removed is started anew
before another action gets it, after those that were never used and those that were free for longer.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from showdown.agent import programs
from showdown.agent.learner import takes_bound
from showdown.agent.offer import check_policy
from showdown.agent.roster import Name, checked_name
from showdown.basics.errors import UsageError
from showdown.config import core
from showdown.play import block
from showdown.play.memory import check_state
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec

if TYPE_CHECKING:
    from showdown.agent.upkeep import Upkeep

MOST_ACTIONS = 10_000
FEWEST_SLOTS = 8


def check_addition(agent: Upkeep, name: Any, most: int = MOST_ACTIONS) -> Name:
    """The name of an action that can be added; raises UsageError, in one sentence, for any other."""
    _check_slots(agent)
    _check_compiled(agent.policy)
    name, roster = checked_name(name), agent._codec.roster
    for known in roster:
        if str(known) == str(name):  # 3 and '3' are one name over HTTP and in a log
            raise UsageError(f"there is an action {known!r} already")
    if agent.encoder is not None and not isinstance(name, str):
        raise UsageError("a name is text here")
    if len(roster) >= most:
        raise UsageError(f"the agent has {len(roster):,} actions, and may have {most:,}: remove one first")
    if roster.next_slot(_can_start_anew(agent.policy)) is None:
        check_growth(agent.policy, agent.spec, _larger(agent.spec))
    return name


def check_removal(agent: Upkeep, name: Any) -> Name:
    """The action that a name stands for, which may be removed."""
    _check_slots(agent)
    roster = agent._codec.roster
    slot = roster.slot(name)
    if len(roster) == 1:
        raise UsageError(f"{roster.names[slot]!r} is the last action: add another one before it is removed")
    player = getattr(agent._learner, "player", None)  # of a policy in plain Python
    if player is not None and not player.takes_available:
        raise UsageError("the policy decides among all actions, so none is removed: let it take `available`")
    found = roster.names[slot]
    assert found is not None
    return found


def _check_slots(agent: Upkeep) -> None:
    if not agent._codec.has_slots:
        raise UsageError(
            "the actions of this agent share what it learns, so none is added or removed: name those that may be taken "
            "in each decision (actions={name: features})"
        )


def _check_compiled(policy: Policy) -> None:
    if policy.in_python:
        raise UsageError(
            "a policy in plain Python is told once how many actions there are, so none can be added: make a new agent "
            "with more actions, and teach it by learn_many"
        )


def slot_of_next(agent: Upkeep) -> int:
    """The slot that the next action will get."""
    roster = agent._codec.roster
    slot = roster.next_slot(_can_start_anew(agent.policy))
    return len(roster.names) if slot is None else slot


def add_again(agent: Upkeep, name: Any, slot: Any) -> None:
    """Do an addition of a journal again; it had this slot, and later records speak of that."""
    names = agent._codec.roster.names
    if type(slot) is not int or not 0 <= slot < 2 * MOST_ACTIONS or (slot < len(names) and names[slot] is not None):
        raise UsageError(f"the action {name!r} cannot have the slot {str(slot)[:40]}")
    add(agent, check_addition(agent, name, 2 * MOST_ACTIONS), slot)  # --max-actions may have been more than usual


def widen(agent: Upkeep, larger: ProblemSpec) -> None:
    """Have more slots, with the lock held."""
    agent._learner.state = grown(agent.policy, agent._learner.key, agent._learner.state, agent.spec, larger)
    agent._set_spec(larger)


def check_room(room: int, *, has_slots: bool) -> None:
    """Raise UsageError where there cannot be so many slots ready."""
    if type(room) is not int or not 0 <= room <= MOST_ACTIONS:
        raise UsageError(f"room is how many actions can be added, from 0 to {MOST_ACTIONS:,}, not {room!r}")
    if room and not has_slots:
        raise UsageError("the actions of this agent share what it learns, so none is added: it needs no room for them")


def make_room(agent: Upkeep, room: int) -> None:
    """Have so many slots that were never used."""
    check_room(room, has_slots=agent._codec.has_slots)
    roster = agent._codec.roster
    unused = sum(name is None for name in roster.names) - len(roster.freed)
    if unused < room:
        widen(agent, agent.spec._replace(num_actions=agent.spec.num_actions + room - unused))


def add(agent: Upkeep, name: Name, slot: int | None = None) -> None:
    """Give an action a slot, with the lock held; it was checked before."""
    roster = agent._codec.roster
    if slot is None:
        slot = slot_of_next(agent)
    agent._learner.background.cancel()
    if slot >= len(roster.names):
        while slot >= len(roster.names):
            widen(agent, _larger(agent.spec))
        if agent._is_warm:
            agent.warm(together_only=True)
    elif slot in roster.freed:
        agent._pending.drop(slot)
        agent._learner.forget_action(slot)
        agent._learner.state = started_anew(
            agent.policy, agent._learner.key, agent._learner.state, agent.spec, jnp.int32(slot)
        )
    roster.put(slot, name)
    agent._decider.clock.owe(slot)
    if agent._is_warm and slot_of_next(agent) == len(roster.names):
        agent._learner.background.submit(_compile_larger, agent)


def _compile_larger(agent: Upkeep) -> None:
    """Compile what the agent will need after the next growth, by an agent that is thrown away."""
    with suppress(UsageError):  # the growth itself will say why it cannot be
        larger = _larger(agent.spec)
        check_growth(agent.policy, agent.spec, larger)
        shadow: Any = type(agent)
        rows = agent._learner.history.count
        shadow(agent.policy, **larger._asdict(), history=agent._learner.history.bound).warm(
            rows=rows, together_only=True
        )


def _larger(spec: ProblemSpec) -> ProblemSpec:
    return spec._replace(num_actions=max(FEWEST_SLOTS, 2 * spec.num_actions))


def _can_start_anew(policy: Policy) -> bool:
    """Whether a slot can forget its action: not where observations are kept in the state."""
    return not policy.refit_every or takes_bound(policy)


# The state's arrays


def check_growth(policy: Policy, old: ProblemSpec, new: ProblemSpec) -> None:
    """Raise UsageError where the state of a policy for more actions does not hold that for fewer."""
    _check_compiled(policy)
    check_policy(policy, new)
    check_state(policy, new)
    for before, after in zip(*(jax.tree.leaves(_shapes(policy, spec)) for spec in (old, new)), strict=True):
        if before.ndim != after.ndim or any(
            size != larger and (size, larger) != (old.num_actions, new.num_actions)
            for size, larger in zip(before.shape, after.shape, strict=True)
        ):
            raise UsageError(
                f"{type(core(policy)).__name__} keeps what it has learned of all actions together, so none can be "
                "added: make a new agent with more actions, and teach it by learn_many"
            )


def grown(policy: Policy, key: jax.Array, state: State, old: ProblemSpec, new: ProblemSpec) -> State:
    """The state with more slots: those that were there keep what was learned."""
    check_growth(policy, old, new)
    start = block.init(policy, key, new)

    def placed(kept: jax.Array, fresh: jax.Array) -> jax.Array:
        if kept.shape == fresh.shape:
            return kept
        return fresh.at[tuple(slice(size) for size in kept.shape)].set(kept)

    return programs.copied(jax.tree.map(placed, state, start))


def started_anew(policy: Policy, key: jax.Array, state: State, spec: ProblemSpec, slot: jax.Array) -> State:
    """The state in which one slot is as the policy starts it."""
    start = block.init(policy, key, spec)
    wider = _shapes(policy, spec._replace(num_actions=spec.num_actions + 1))

    def one(kept: jax.Array, fresh: jax.Array, more: Any) -> jax.Array:
        for axis, (size, larger) in enumerate(zip(kept.shape, more.shape, strict=True)):
            if size != larger:
                mine = jnp.arange(size) == slot
                kept = jnp.where(mine.reshape([-1 if each == axis else 1 for each in range(kept.ndim)]), fresh, kept)
        return kept

    return programs.copied(jax.tree.map(one, state, start, wider))


def _shapes(policy: Policy, spec: ProblemSpec) -> State:
    return jax.eval_shape(lambda: policy.init(jax.random.key(0), spec))
