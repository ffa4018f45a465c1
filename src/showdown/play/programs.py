"""The compiled programs of a batch of trials, cut so that most of them serve many cells.

Compiling takes longer than playing in most small studies, and its time grows with what a program holds. So a problem's
part (`begin`, `rounds`) is compiled once for all policies, a policy's part (`players`, `segment`) once for all problems
of one size, and the rest (`keys`, `measure`) once for all of them. Only a policy that refits, or
a problem whose rewards come late, has a segment of its own
for every problem, because it reads past contexts from it. Floats of the policy and the problem are arguments: every
preset of one structure is served by the same programs.

Trials run in parallel by `vmap`, and a batch is spread over the devices of this process; see `devices.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from showdown.play.block import Player
from showdown.play.compile_once import Job, compiled_together
from showdown.play.devices import BY_POLICY, BY_TRIAL, WHOLE, Lead, Spread
from showdown.play.over_trials import begin_episodes, begin_players, make_keys, make_rounds, measure_all, play_rounds
from showdown.play.prepared import Prepared
from showdown.play.segment import Played
from showdown.protocol.feedback import AT_ONCE
from showdown.protocol.keys import trial_keys
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Episode, Problem, Tables


class Programs(NamedTuple):
    begin: Any  # (problem, tables, keys) -> episodes
    rounds: Any  # (problem, tables, episodes, first step) -> rounds of a segment
    players: Any  # (policy, keys) -> players
    keys: Any  # (the players' keys, first step) -> keys of the steps of a segment
    segment: Any  # (policy, players, keys, rounds, first step, *past) -> (players, what they did)
    measure: Any  # (rounds, first step, horizon, actions, finite) -> what was played

    def start(
        self, policy: Policy, problem: Problem, tables: Tables, problem_keys: jax.Array, policy_keys: jax.Array
    ) -> tuple[Episode, Player]:
        return self.begin(problem, tables, problem_keys), self.players(policy, policy_keys)

    def play(
        self,
        policy: Policy,
        problem: Problem,
        tables: Tables,
        episodes: Episode,
        players: Player,
        first_step: np.int32,
    ) -> tuple[Player, Played]:
        """Play a segment of all trials. The players are given away: their memory is used for those that come out."""
        rounds, keys = self.rounds(problem, tables, episodes, first_step), self.keys(players.key, first_step)
        past = _past(policy, problem, tables, episodes)
        players, decided = self.segment(policy, players, keys, rounds, first_step, *past)
        played = self.measure(rounds, first_step, np.int32(problem.horizon), decided.actions, decided.finite)
        return players, played._replace(propensities=decided.propensities)


def compiled(prepared: Prepared, batch: int) -> tuple[Programs, float]:
    """The programs for `batch` trials, and the seconds it took to compile them: 0 if this process had them already."""
    wanted = jobs(prepared, batch)
    parts, seconds = compiled_together(list(wanted.values()))
    return Programs(**dict(zip(wanted, parts, strict=True))), seconds


def jobs(prepared: Prepared, batch: int) -> dict[str, Job]:
    """What is to be compiled for `batch` trials, by the names in `Programs`."""
    policy, world = prepared.policy, (prepared.problem, prepared.tables)
    steps, population = prepared.steps, prepared.population
    first = np.int32(0)
    trial = _trial_keys(batch)
    about = prepared.about_players
    episodes, rounds = _world_shapes(prepared, batch)
    players = _shapes(partial(begin_players, *about), policy, trial)
    keys = _shapes(partial(make_keys, steps, population), players.key, first)
    past, way = _past(policy, *world, episodes), prepared.way
    job = partial(_job, Spread(prepared.devices, population is not None))
    of_players = WHOLE, BY_POLICY, BY_POLICY, BY_TRIAL, WHOLE
    of_problem = problem_jobs(prepared, batch)
    return {
        "begin": of_problem["begin"],
        "rounds": of_problem["rounds"],
        "players": job((WHOLE, BY_TRIAL), BY_POLICY, begin_players, *about)(policy, trial),
        "keys": job((BY_POLICY, WHOLE), BY_POLICY, make_keys, steps, population)(players.key, first),
        "segment": job((*of_players, *_OF_WORLD[: len(past)]), BY_POLICY, play_rounds, way, population, donated=1)(
            policy, players, keys, rounds, first, *past
        ),
        "measure": of_problem["measure"],
    }


_OF_WORLD = WHOLE, WHOLE, BY_TRIAL


def problem_jobs(prepared: Prepared, batch: int) -> dict[str, Job]:
    """What of it does not depend on the policy: the problem's own programs, and measuring."""
    world, population = (prepared.problem, prepared.tables), prepared.population
    first = horizon = np.int32(0)
    episodes, rounds = _world_shapes(prepared, batch)
    each = (batch,) if population is None else (population, batch)
    decided = jax.ShapeDtypeStruct((*each, prepared.steps), np.int32), jax.ShapeDtypeStruct(each, bool)
    job, share = partial(_job, Spread(prepared.devices, population is not None)), batch // prepared.devices
    return {
        "begin": job(_OF_WORLD, BY_TRIAL, begin_episodes)(*world, _trial_keys(batch)),
        "rounds": job((*_OF_WORLD, WHOLE), BY_TRIAL, make_rounds, prepared.steps, share)(*world, episodes, first),
        "measure": job((BY_TRIAL, WHOLE, WHOLE, BY_POLICY, BY_POLICY), BY_POLICY, measure_all, population)(
            rounds, first, horizon, *decided
        ),
    }


def _trial_keys(batch: int) -> Any:
    """The shape of the keys of a batch of trials."""
    return jax.eval_shape(lambda: trial_keys(0, "", range(batch), ""))


def _world_shapes(prepared: Prepared, batch: int) -> tuple[Any, Any]:
    """The shapes of the episodes of a batch, and of the rounds of a segment."""
    world = prepared.problem, prepared.tables
    episodes = _shapes(begin_episodes, *world, _trial_keys(batch))
    return episodes, _shapes(partial(make_rounds, prepared.steps, batch), *world, episodes, np.int32(0))


def _past(policy: Policy, problem: Problem, tables: Tables, episodes: Episode) -> tuple[Any, ...]:
    """What past steps are looked up in, where a refit or a late reward needs that."""
    return (problem, tables, episodes) if looks_back(policy, problem) else ()


def looks_back(policy: Policy, problem: Problem) -> bool:
    """Whether a segment reads past steps: for a refit, or for a reward that comes late."""
    return bool(policy.refit_every) or problem.feedback != AT_ONCE


def _shapes(function: Callable[..., Any], *arguments: Any) -> Any:
    """The shapes of what a function returns."""
    made = jax.eval_shape(function, *arguments)
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), made)


def _job(
    spread: Spread,
    leads: Sequence[Lead],
    gives: Lead,
    function: Callable[..., Any],
    *fixed: Any,
    donated: int | tuple[int, ...] = (),
) -> Callable[..., Job]:
    """To compile a function whose first arguments are `fixed`, for other arguments of the shapes it is called with."""

    def job(*arguments: Any) -> Job:
        leaves, structure = jax.tree.flatten(arguments)
        kinds = tuple(map(jax.typeof, leaves))  # shape, dtype and weak type
        key = function, fixed, structure, kinds, spread, jax.default_backend()
        program = partial(function, *fixed)
        return Job(key, lambda: spread.jit(program, leads, gives, donate_argnums=donated).lower(*arguments))

    return job
