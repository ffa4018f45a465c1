"""How many trials are played at a time: what they need in memory, and refusing what cannot fit.

What a trial carries is known before anything is compiled, so the impossible is refused at once. What a refit needs only
XLA knows, after compiling; a batch that turns out too large is then compiled again for fewer trials.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import jax

from showdown.basics.errors import TooLargeError
from showdown.machine.resources import cores
from showdown.play import memory
from showdown.play.accumulator import Accumulator
from showdown.play.memory import readable, tree_bytes, trials_that_fit
from showdown.play.over_trials import begin_episodes, begin_players
from showdown.play.prepared import Prepared
from showdown.play.programs import Programs, compiled, looks_back
from showdown.protocol.policy import Policy
from showdown.tricks.threads import hangs_in_threads
from showdown.tricks.threefry import shape_of_keys

FEWEST = 10  # trials of a batch, for more batches to be worth it
FEWEST_TRAINING = 4  # the same for policies that refit: a training is work enough


class Needs(NamedTuple):
    """Bytes of one trial on the device, of all stacked policies together."""

    carried: int  # the episode, the state and the history
    rounds: int  # contexts, rewards and means of one segment

    @property
    def in_play(self) -> int:
        """While it is played: twice, for what is being replaced."""
        return 2 * (self.carried + self.rounds)


def needs_of(prepared: Prepared) -> Needs:
    key = shape_of_keys(1)
    spec = prepared.spec
    players = partial(begin_players, *prepared.about_players)
    begun = (
        jax.eval_shape(begin_episodes, prepared.problem, prepared.tables, key),
        jax.eval_shape(players, prepared.policy, key),
    )
    numbers = spec.context_dim + (3 + spec.action_dim) * spec.num_actions  # of a round
    return Needs(tree_bytes(begun), 4 * prepared.steps * numbers)


def fitting(prepared: Prepared, trials: int, batch_trials: int | None) -> tuple[Programs, int, int, float]:
    """The programs of the largest batch that should fit in memory, its size, how many of them are played at the same
    time, and the seconds spent on compiling."""
    batch, at_once = first_batch(prepared, trials, batch_trials)
    programs, compile_seconds = compiled(prepared, batch)
    if at_once > 1 and any(map(hangs_in_threads, programs)):
        at_once = 1
    taken = prepared.tables if looks_back(prepared.policy, prepared.problem) else ()  # as arguments of a segment
    here = sum(leaf.nbytes for leaf in jax.tree.leaves(taken))
    while batch_trials is None and (times := at_once * memory.excess(programs.segment, here)) > 1:
        if batch == prepared.devices and at_once == 1:
            memory.check_program(programs.segment, here)
            break
        if batch == prepared.devices:
            at_once = 1
            continue
        fewer = min(batch // 2, math.floor(batch / times))  # at least halved: compiling is expensive
        batch = equal(trials, fewer, prepared.devices)
        programs, seconds = compiled(prepared, batch)
        compile_seconds += seconds
    return programs, batch, at_once, compile_seconds


def first_batch(prepared: Prepared, trials: int, batch_trials: int | None) -> tuple[int, int]:
    """The largest batch that should fit by what trials carry, and how many of them are played at the same time.

    What else trials need is known after compiling. Several devices have their own shares of trials, and whoever asks
    for batches of a size does so for their memory: then there is one batch at a time.
    """
    needs, devices = needs_of(prepared), prepared.devices
    check_room(prepared, trials, needs)
    at_once = 1
    if batch_trials is None and devices == 1:
        at_once = min(cores_at_play(prepared.policy, trials), trials_that_fit(needs.in_play))
    largest = min(trials_that_fit(at_once * needs.in_play), math.ceil(trials / at_once))
    return equal(trials, batch_trials or devices * largest, devices), at_once


def cores_at_play(policy: Policy, trials: int) -> int:
    """How many cores of a CPU play trials of this policy: all of them, if no other process shares the machine.

    XLA runs most of a program on one core, even most products of a training. The rounding of a network depends on the
    number of trials that are played together.
    """
    if memory.sharers > 1 or jax.default_backend() != "cpu" or policy.in_python:
        return 1
    return max(1, min(cores(), trials // (FEWEST_TRAINING if policy.refit_every else FEWEST)))


def policies_that_fit(prepared: Prepared) -> int:
    """How many of the stacked policies should be played together, so that one trial of them fits in memory."""
    population = prepared.population
    assert population is not None
    return equal(population, trials_that_fit(needs_of(prepared).in_play // population))


def equal(trials: int, batch: int, devices: int = 1) -> int:
    """The size of equal batches, so that one program serves them all; at most `batch`, at least one trial.

    Of several devices each gets as many: up to a multiple of them, with trials that nobody asked for.
    """
    size = math.ceil(trials / math.ceil(trials / max(1, min(trials, batch))))
    return devices * math.ceil(size / devices)


def check_room(prepared: Prepared, trials: int, needs: Needs) -> None:
    """Raise TooLargeError, saying what would fit, if one trial does not fit or the results of all trials do not."""
    free = memory.free_bytes()
    if free is not None and needs.carried > free:
        one = prepared.policy if prepared.population is None else jax.tree.map(lambda leaf: leaf[0], prepared.policy)
        memory.check_state(one, prepared.spec)
        horizon = prepared.problem.horizon  # the state fits, so what does not is what grows with the horizon
        raise TooLargeError(
            f"one trial of {horizon} steps needs {readable(needs.carried)}, and {readable(free)} are free; "
            f"about {horizon * free // needs.carried} steps would fit"
        )
    host = memory.host_free_bytes(memory.sharers)
    row = result_bytes(prepared) * (prepared.population or 1)
    if host is not None and trials * row > host:
        raise TooLargeError(
            f"the results of {trials} trials need {readable(trials * row)}, and {readable(host)} are free; "
            f"at most {host // row} trials would fit"
        )


def result_bytes(prepared: Prepared) -> int:
    """Host memory for the results of one trial: once in the book of its batch, once when batches are joined."""
    book = Accumulator(1, prepared.problem.horizon, prepared.spec.num_actions, keep=prepared.propensities)
    arrays = jax.tree.leaves((book.columns, book.curves, book.fixed, book.action_counts, book.decisions))
    return 2 * sum(array.nbytes for array in arrays)
