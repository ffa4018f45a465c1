"""What an agent learns with: the state, the kept observations, and refits, here or in the background.

Nothing here locks: the agent calls it with its lock held.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property
from typing import Literal, NamedTuple

import jax
import numpy as np

from showdown.agent import batch_programs, programs
from showdown.agent.background import Background, Fitted, Observation
from showdown.agent.batch_programs import ROOM
from showdown.agent.programs import Kept, Seen
from showdown.agent.replay_buffer import Bound, ReplayBuffer, Rows, Window
from showdown.agent.step_counter import as_int32
from showdown.basics.errors import UsageError
from showdown.config import core
from showdown.play import block
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec

ROWS_AT_ONCE = 4096  # of a history, in one program
Refits = int | Literal["all"]


def _no_rows(count: int, spec: ProblemSpec) -> Seen:
    """Room for so many observations."""
    return Seen(np.zeros((count, spec.input_dim), np.float32), np.zeros(count, np.int32), np.zeros(count, np.float32))


class Tally(NamedTuple):
    """What did not go as usual."""

    refused_updates: int = 0  # observations that would have left a state that is not finite
    refused_refits: int = 0  # the same for refits
    forgotten_rows: int = (
        0  # observations taken out of the history: a refit to them was refused, or their action is gone
    )
    failed_refits: int = 0  # refits in the background that raised an error


def takes_bound(policy: Policy) -> bool:
    """Whether a bound on the history changes what a policy learns."""
    return bool(policy.refit_every and core(policy).reads_history)


class Learner:
    def __init__(
        self,
        policy: Policy,
        spec: ProblemSpec,
        key: jax.Array,
        bound: Bound,
        lock: AbstractContextManager,
        *,
        background: bool,
    ) -> None:
        self.policy, self.spec, self.key = policy, spec, key
        self.observations = 0
        self.tally = Tally()
        seed = int(np.asarray(jax.random.key_data(key)).astype(np.uint64) @ np.array([1, 1 << 32], np.uint64))
        if bound is not None and not takes_bound(policy):
            raise UsageError(
                f"{type(core(policy)).__name__} never learns from its history again, so history={bound} would change "
                "nothing; LinDiscounted and LinWindow forget"
            )
        self.history = ReplayBuffer(spec.input_dim, bound, seed, keeps=takes_bound(policy) or policy.in_python)
        self._fitted_rows = 0  # of the history, at the last refit that was not refused
        self._ready: set[int] = set()  # capacities that the refit is compiled for; empty until `warm`
        self.background = Background(self._fit, self._catch_up, self._swap, lock)
        self._behind_the_scenes = background

    @cached_property
    def state(self) -> State:
        """The state before anything was learned, until it is set: an agent that is loaded never makes one."""
        # a policy may start two parts of its state with one array; only distinct ones can be given to an update
        return programs.copied(block.init(self.policy, self.key, self.spec))

    def learn(self, inputs: np.ndarray, action: int, reward: np.float32, *, wait: bool = False) -> bool:
        """Whether it was taken in; an update that would leave a state that is not finite is not."""
        seen = Observation(inputs, np.int32(action), reward, as_int32(self.observations))
        if not self._update(seen):
            return False
        self.history.append(inputs, action, reward)
        self._refit_if_due(wait=wait)
        return True

    def learn_rows(self, inputs: np.ndarray, actions: np.ndarray, rewards: np.ndarray) -> list[bool]:
        """Take in rows as `learn` would, one after the other, in few calls; whether each was taken in."""
        taken: list[bool] = []
        while len(taken) < len(actions):
            every = self.policy.refit_every
            most = min(ROOM, every - self.observations % every) if every else ROOM
            part = slice(len(taken), len(taken) + most)
            taken += self._learn_at_once(inputs[part], actions[part], rewards[part])
        return taken

    def _learn_at_once(self, inputs: np.ndarray, actions: np.ndarray, rewards: np.ndarray) -> list[bool]:
        """Take in rows among which no refit falls due, but perhaps after the last."""
        count = len(actions)
        if not self.policy.learns_only_at_refits:  # else an update changes nothing
            first = as_int32(self.observations)
            self.state, fine = self._update_rows(self.state, inputs, actions, rewards, first)
            if not fine:  # find out which
                rows = zip(inputs, actions.tolist(), rewards, strict=True)
                return [self.learn(each, action, reward) for each, action, reward in rows]
            if self.background.busy:
                for place in range(count):
                    row = inputs[place], actions[place], rewards[place]
                    self.background.note(Observation(*row, as_int32(self.observations + place)))
        self.observations += count
        self.history.extend(inputs, actions, rewards)
        self._refit_if_due(wait=False)
        return [True] * count

    def _update_rows(
        self, state: State, inputs: np.ndarray, actions: np.ndarray, rewards: np.ndarray, first: np.int32
    ) -> tuple[State, jax.Array]:
        """The state after at most `ROOM` observations that follow each other; it gives `state` away."""
        count = len(actions)
        rows = _no_rows(ROOM, self.spec)
        rows.inputs[:count], rows.actions[:count], rows.rewards[:count] = inputs, actions, rewards
        return batch_programs.update_rows(self.policy, self.key, state, rows, first, np.int32(count), spec=self.spec)

    def _refit_if_due(self, *, wait: bool) -> None:
        self._get_ready()
        if self.policy.refit_every and self.observations % self.policy.refit_every == 0:
            if wait or not self._behind_the_scenes:
                self._refit_now(self.observations - 1)
            elif not self.background.busy:
                self.background.start(programs.copied(self.state), self.history.rows(), self.observations - 1)

    def _update(self, seen: Observation) -> bool:
        if not self.policy.learns_only_at_refits:  # else an update changes nothing
            self.state, fine = self._updated(self.state, seen)
            if not fine:
                self._count(refused_updates=1)
                return False
            self.background.note(seen)
        self.observations += 1
        return True

    def learn_many(self, inputs: np.ndarray, actions: np.ndarray, rewards: np.ndarray, refits: Refits) -> int:
        """Take in a history; how many of its rows were taken."""
        self.background.cancel()
        if refits == "all":
            return sum([self.learn(*row, wait=True) for row in zip(inputs, actions.tolist(), rewards, strict=True)])
        before = self.observations
        for first in range(0, len(actions), ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            self._learn_part(inputs[part], actions[part], rewards[part])
        count = min(refits, self.observations) if self.policy.refit_every else 0
        forgotten = self.tally.forgotten_rows
        for place in range(count):
            if not self._refit_now(self.observations - count + place, forced=True):
                break
        return self.observations - before - (self.tally.forgotten_rows - forgotten)

    def _learn_part(self, inputs: np.ndarray, actions: np.ndarray, rewards: np.ndarray) -> None:
        count = len(actions)
        if not self.policy.learns_only_at_refits:
            room = ROWS_AT_ONCE - count
            flat = (0, room)
            padded = Seen(np.pad(inputs, (flat, (0, 0))), np.pad(actions, flat), np.pad(rewards, flat))
            numbers = as_int32(self.observations), np.int32(count)
            state, fine = programs.update_many(self.policy, self.key, self.state, padded, *numbers, spec=self.spec)
            if not fine:  # find out which rows
                steps = zip(inputs, actions, rewards, strict=True)
                taken = [self._update(Observation(*row, as_int32(self.observations))) for row in steps]
                self.history.extend(inputs[taken], actions[taken], rewards[taken])
                return
            self.state = state
        self.observations += count
        self.history.extend(inputs, actions, rewards)

    def forget_action(self, action: int) -> None:
        """Take the rows of an action out of the history: its slot gets another one."""
        rows = self.history.rows()
        kept = int((rows.actions[: min(self._fitted_rows, rows.filled)] != action).sum())
        gone = self.history.drop(action)
        if self.history.bound is None:
            self._count(forgotten_rows=gone)
            self._fitted_rows = kept  # those that came later are still to be fitted

    def restore(self, state: State, observations: int, tally: Tally) -> None:
        """Go on from a file, after its history is filled."""
        self.state, self.observations, self.tally = state, observations, tally
        if self.policy.refit_every:  # the last refit is supposed to have been fine
            self._fitted_rows = max(0, self.history.count - observations % self.policy.refit_every)

    def _refit_now(self, step: int, *, forced: bool = False) -> bool:
        self.state, fine = self._fit(self.state, self.history.rows(), step, forced)
        self._account(bool(fine), self.history.count)
        return bool(fine)

    def _fit(self, state: State, rows: Rows, step: int, forced: bool = False) -> tuple[State, jax.Array]:
        """The state after a refit; with `forced` a policy trains even where its own schedule has none."""
        seen, last = Seen(*rows[:3]), as_int32(step)
        count = rows.filled if self.history.keeps else int(last) + 1
        before = max(0, int(last) + 1 - count)
        first, others = (before, 0) if isinstance(self.history.bound, Window) else (0, before)
        kept = Kept(np.int32(count), np.int32(first), np.int32(others), np.bool_(forced))
        return programs.refit(self.policy, self.key, state, seen, kept, last, spec=self.spec)

    def _updated(self, state: State, seen: Observation) -> tuple[State, jax.Array]:
        """The state after one observation, and whether it is finite."""
        return programs.update(
            self.policy, self.key, state, seen.inputs, seen.step, seen.action, seen.reward, spec=self.spec
        )

    def _account(self, fine: bool, rows: int) -> None:
        """Rows that came since the last good refit are taken out of the history when one of them spoils the next."""
        if not fine:
            forgotten = self.history.forget(self._fitted_rows, rows) if rows > self._fitted_rows else 0
            self._count(refused_refits=1, forgotten_rows=forgotten)
        elif self.history.bound is None:
            self._fitted_rows = rows

    def _swap(self, fitted: Fitted) -> None:
        """Put a state that was fitted in the background in place of the live one."""
        if fitted.error is not None:
            self._count(failed_refits=1)
            return
        if fitted.fine:
            self.state = fitted.state
        self._account(fitted.fine, fitted.rows)

    def _catch_up(self, state: State, missed: list[Observation]) -> State:
        """A fitted state after what was observed while it was being fitted."""
        for first in range(0, len(missed), ROOM):
            part = missed[first : first + ROOM]
            inputs, actions, rewards, steps = zip(*part, strict=True)
            state, fine = self._update_rows(state, np.stack(inputs), np.array(actions), np.array(rewards), steps[0])
            for seen in part if not fine else ():
                state, _ = self._updated(state, seen)
        return state

    def _count(self, **more: int) -> None:
        self.tally = self.tally._replace(**{name: getattr(self.tally, name) + by for name, by in more.items()})

    def warm(self, rows: int, *, single: bool) -> None:
        """Compile updates and refit, for a history of so many rows, by calling them on copies."""
        self.history.reserve(rows)
        inputs, number, reward = np.zeros(self.spec.input_dim, np.float32), np.int32(0), np.float32(0)
        if not self.policy.learns_only_at_refits:
            copy = programs.copied(self.state)
            one = np.zeros(1, np.int32), np.zeros(1, np.float32)
            jax.block_until_ready(self._update_rows(copy, inputs[None], *one, number))
            if single:
                nothing = Observation(inputs, number, reward, number)
                jax.block_until_ready(self._updated(programs.copied(self.state), nothing))
        if self.policy.refit_every:
            self._compile_refit(programs.copied(self.state), self.history.capacity)
            self._get_ready()

    def _get_ready(self) -> None:
        """Compile the refit for the next size of the history in the background, while there is room left."""
        history = self.history
        after = 2 * history.capacity
        if self._ready and history.bound is None and history.nearly_full and after not in self._ready:
            self._ready.add(after)
            self.background.submit(self._compile_refit, programs.copied(self.state), after)

    def _compile_refit(self, copy: State, capacity: int) -> None:
        jax.block_until_ready(self._fit(copy, Rows(*_no_rows(capacity, self.spec), 1), 0))
        self._ready.add(capacity)
