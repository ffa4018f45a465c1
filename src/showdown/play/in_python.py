"""Playing trials of a policy that is plain Python: one step after another, on the trials that compiled policies see.

The rounds of a segment come from the problem's compiled program, and what was played is measured by the same program
and added up in the same book, so every number means the same. Only the seconds do not.
"""

from __future__ import annotations

import operator
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from showdown.basics.errors import UsageError
from showdown.plain.own_policy import stated_law
from showdown.play.accumulator import Accumulator
from showdown.play.batch_size import equal
from showdown.play.batches import Progress
from showdown.play.compile_once import compiled_together
from showdown.play.outcome import Outcome
from showdown.play.prepared import Prepared
from showdown.play.programs import problem_jobs
from showdown.policies.plain import PlainPolicy
from showdown.protocol.feedback import AT_ONCE
from showdown.protocol.in_python import Player, generator, raised
from showdown.protocol.problem import Round

MOST_AT_ONCE = 256 << 20  # bytes of the rounds that are on the host together


def play_in_python(
    prepared: Prepared, *, trials: int, seed: int, batch_trials: int | None, progress: Progress | None
) -> Outcome:
    """Play all trials, some at a time."""
    spec, horizon = prepared.spec, prepared.problem.horizon
    numbers = spec.context_dim + (3 + spec.action_dim) * spec.num_actions
    size = equal(trials, batch_trials or max(1, MOST_AT_ONCE // (4 * prepared.steps * numbers)))
    jobs = problem_jobs(prepared, size)
    parts, compile_seconds = compiled_together(list(jobs.values()))
    programs = dict(zip(jobs, parts, strict=True))
    books, began = [], time.perf_counter()
    with _each_warning_once():
        for first in range(0, trials, size):
            book = Accumulator(min(size, trials - first), horizon, spec.num_actions, keep=prepared.propensities)
            _play_batch(prepared, programs, seed, range(first, first + size), book, progress)
            books.append(book)
    return Outcome.of(
        books,
        [{}] * len(books),
        spec=spec,
        compile_seconds=compile_seconds,
        run_seconds=time.perf_counter() - began,
        batch_trials=size,
        rows=prepared.problem.longest(prepared.tables),
    )


@contextmanager
def _each_warning_once() -> Iterator[None]:
    """A model may warn at every step in the same words, and Python forgets what it has said when sklearn is called."""
    heard: set[tuple[str, type[Warning]]] = set()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_once(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if (str(message), category) not in heard:
                heard.add((str(message), category))
                show(message, category, *where, **more)

        warnings.showwarning = show_once
        yield


def _play_batch(
    prepared: Prepared,
    programs: dict[str, Any],
    seed: int,
    trials: range,
    book: Accumulator,
    progress: Progress | None,
) -> None:
    policy, problem, steps = prepared.policy, prepared.problem, prepared.steps
    assert isinstance(policy, PlainPolicy)
    problem_keys, policy_keys = prepared.keys(seed, trials)
    problem.draw_ahead(problem_keys)
    episodes = programs["begin"](problem, prepared.tables, problem_keys)
    words = np.asarray(jax.random.key_data(policy_keys))
    games = [Game(policy, prepared, generator(words[trial])) for trial in range(book.trials)]
    for segment in range(prepared.segments):
        first = np.int32(segment * steps)
        rounds = programs["rounds"](problem, prepared.tables, episodes, first)
        seen = jax.device_get(rounds)
        actions = np.zeros((len(trials), steps), np.int32)
        chances = np.ones((len(trials), steps), np.float32)
        count = min(steps, problem.horizon - int(first))
        for trial, game in enumerate(games):
            mine = jax.tree.map(lambda array, trial=trial: array[trial], seen)
            actions[trial, :count], chances[trial, :count] = game.play(int(first), count, mine)
            if progress is not None:
                progress(count)
        finite = np.ones(len(trials), bool)
        played = programs["measure"](rounds, first, np.int32(problem.horizon), actions, finite)
        book.record(int(first), jax.device_get(played)._replace(propensities=chances))


class Game:
    """One trial, from its first step to its last."""

    def __init__(self, policy: PlainPolicy, prepared: Prepared, rng: np.random.Generator) -> None:
        self.name, self.spec, self.propensities = policy.name, prepared.spec, prepared.propensities
        try:
            self.player: Player = policy.player(self.spec, rng)
        except Exception as error:
            raise raised(self.name, "before its first step", error) from error
        feedback, horizon = prepared.problem.feedback, prepared.problem.horizon
        self.late = None if feedback == AT_ONCE else feedback.order(horizon)
        self.past: dict[int, tuple[Any, ...]] = {}  # decisions whose rewards have not come

    def play(self, first: int, count: int, rounds: Round) -> tuple[np.ndarray, np.ndarray]:
        """The actions of `count` steps from `first` on, and their propensities (1 where nobody asked)."""
        actions, chances = np.zeros(count, np.int32), np.ones(count, np.float32)
        simple = rounds.available is None and rounds.features is None and self.late is None and not self.propensities
        if rounds.available is not None and not self.player.takes_available:
            raise UsageError(f"{self.name} cannot play where not every action is available: let it take `available`")
        play = self._simply if simple else self._fully
        for step, (action, chance) in enumerate(play(first, count, rounds)):
            actions[step], chances[step] = action, chance
        return actions, chances

    def _simply(self, first: int, count: int, rounds: Round) -> Iterator[tuple[int, float]]:
        """Where there is nothing but a context: as little as can be around the user's code."""
        choose, learn, most = self.player.choose, self.player.learn, self.spec.num_actions
        contexts, rewards, step = list(rounds.context), rounds.rewards.tolist(), 0
        action: Any = 0
        try:
            for step in range(count):
                context = contexts[step]
                action = choose(context)
                if not 0 <= action < most:
                    raise _out_of_range(self.name, action, most)
                learn(context, action, rewards[step][action])
                yield action, 1.0
        except Exception as error:
            _whole(self.name, action)  # where that is why it failed; to look at every action would take time
            raise raised(self.name, f"at step {first + step}", error) from error

    def _fully(self, first: int, count: int, rounds: Round) -> Iterator[tuple[int, float]]:
        """Where more is seen than a context, rewards come late, or propensities are asked for."""
        step = 0
        try:
            for step in range(count):
                yield self._one(first + step, step, rounds)
        except Exception as error:
            raise raised(self.name, f"at step {first + step}", error) from error

    def _one(self, number: int, step: int, rounds: Round) -> tuple[int, float]:
        context, features = rounds.context[step], {} if rounds.features is None else {"features": rounds.features[step]}
        seen = features if rounds.available is None else {"available": rounds.available[step], **features}
        law = None
        if self.propensities:
            law = self.player.probabilities(context, **seen)
            if law is None:
                raise UsageError(f"{self.name} does not say how probable its decisions are: give it `probabilities`")
            law = stated_law(self.name, law, self.spec.num_actions)
        action = _whole(self.name, self.player.choose(context, **seen))
        if not 0 <= action < self.spec.num_actions:
            raise _out_of_range(self.name, action, self.spec.num_actions)
        self.past[number] = context, int(action), float(rounds.rewards[step][action]), features
        for earlier in [number] if self.late is None else self._arrived(*self.late, number):
            *decision, its_features = self.past.pop(int(earlier))
            self.player.learn(*decision, **its_features)
        return int(action), 1.0 if law is None else float(law[action])

    def _arrived(self, order: np.ndarray, known: np.ndarray, number: int) -> np.ndarray:
        """The steps whose rewards come after this decision."""
        return order[known[number - 1] if number else 0 : known[number]]


def _whole(name: str, action: Any) -> int:
    """The action as a number; a float or a text is none."""
    try:
        return operator.index(action)
    except TypeError:
        raise UsageError(f"{name} chose {action!r:.60}, and an action is a whole number from 0 on") from None


def _out_of_range(name: str, action: Any, most: int) -> UsageError:
    return UsageError(f"{name} chose action {action!r}, and there are {most} actions, numbered from 0")
