"""From a file or a frame to a method to use: what `sd.recommend` and `showdown recommend` call."""

from __future__ import annotations

import dataclasses
import os
import shlex
import time
from pathlib import Path
from typing import Any

import numpy as np

from showdown.analysis.ranks import REFERENCES
from showdown.analysis.summary import BASELINE
from showdown.analysis.verdict import Verdict
from showdown.basics.errors import ShowdownError
from showdown.bench.store import Store
from showdown.config import core
from showdown.machine.resources import cores
from showdown.policies import policies
from showdown.policies import policies as known
from showdown.problems.own_table import Table, table
from showdown.recommendation.answer import (
    AGENT_FILE,
    LEARNED_FILE,
    Recommendation,
    is_servable,
    taught,
    write_agent_file,
)
from showdown.recommendation.board import Board, Show
from showdown.recommendation.budget import DEFAULT, TimeBudget, seconds_of, slowdown
from showdown.recommendation.cost import Cost, cost_of
from showdown.recommendation.successive_halving import ROUNDS, SuccessiveHalving
from showdown.report.page.answer import write_answer

# Linear models are the cheapest and hard to beat on many tables; networks are worth it where the answer is not linear.
USUAL = (
    *("LinFullPost", "LinGreedy", "LinIDS", "Evidence-Linear"),
    *("NeuralLinear", "EpsGreedyRMS", "Council", "Council-fast"),
)
WIDE = 256  # numbers of a context, from which on regressions with covariances take long: as their square
DIAGONAL = ("LinDiagFast", "LinDiagFast-eps0.05")  # they have none
WITH_FEATURES = ("LinUCB", "LinHybrid/UCB")  # where actions have features; see docs/beyond-the-paper.md


def candidates(names: list[str] | None = None, width: int = 0, action_features: bool = False) -> list[str]:
    """The names to play: Uniform as a reference, then the methods asked for, or the usual ones for such a table."""
    usual = (*DIAGONAL, *USUAL) if width >= WIDE else USUAL
    chosen = [name for name in usual if name in policies] if names is None else names
    if names is None and action_features:
        chosen = [*WITH_FEATURES, *(name for name in chosen if core(policies.get(name)).sees_action_features)]
    for name in chosen:
        policies.get(name)  # a wrong name is said before anything is played
    return [BASELINE, *(name for name in dict.fromkeys(chosen) if name != BASELINE)]


OUT = Path("recommendation")
NEXT_TO_NOTHING = 0.005  # of what the best gains over the references
MUCH_FASTER = 0.5  # of the best one's time to decide


def recommend(
    data: Any,
    *,
    label: Any = "",
    rewards: Any = "",
    budget: str = DEFAULT,
    out: str | Path = OUT,
    policies: list[str] | None = None,
    seed: int = 0,
    rounds: tuple[int, ...] = ROUNDS,
    page: bool = True,
    show: Show | None = None,
    load: tuple[Path, ...] = (),
    began: float | None = None,
    learn: bool = True,
    **options: Any,
) -> Recommendation:
    """Play a sensible set of methods on a table and say which to use.

    `data`, `label`, `rewards` and the other options are those of `showdown.problems.table`, or `data` is such a table.
    `budget` is how long it may take (`90s`, `2m`, `1h`); `policies` plays these instead of the usual set; `show` is
    called as things change. `load` names files that register policies of your own, for other processes to load. The
    budget counts from `began`, a time of `time.monotonic`, or from now. With `learn` the agent's file has learned from
    the table, after the budget.
    """
    problem = data if isinstance(data, Table) else table(data, label=label, rewards=rewards, **options)
    available = cores()
    limit = TimeBudget(seconds_of(budget), slowdown(available), time.monotonic() if began is None else began)
    name = problem.called
    spec = problem.spec(problem.load())
    names = candidates(policies, spec.context_dim, spec.action_dim > 0)
    folder = Path(out)
    halving = SuccessiveHalving(
        Store(folder), problem, name, _metric(problem), limit, show or _unseen, seed, rounds, available, load
    )
    halving.shorten(names)
    board = halving.play(names, REFERENCES)
    if not halving.cells:
        raise ShowdownError(f"nothing could be played within {budget}{_why_slow()}: a larger --budget may help")
    answer = _answer(halving, board)
    files: dict[str, Any] = {}
    if answer.policy is not None and is_servable(answer.policy, spec):
        learned = taught(answer.policy, problem, folder / LEARNED_FILE) if learn else None
        files["agent_file"] = write_agent_file(answer.policy, problem, folder / AGENT_FILE, learned)
        answer = dataclasses.replace(answer, learned=learned)
    elif answer.policy is not None:
        answer = dataclasses.replace(answer, is_served=False)
    write_answer(folder, answer.for_page())
    files["page"] = _page(folder, name) if page else None
    return dataclasses.replace(answer, **files, seconds=limit.elapsed)


def _answer(halving: SuccessiveHalving, board: Board) -> Recommendation:
    """What follows from all that was played, without the files that are made of it."""
    problem = halving.problem
    costs = _costs(board.verdict, problem, halving.budget)
    found = halving.verdict({name: cost.decide_seconds for name, cost in costs.items()})
    assert found is not None  # there are cells
    chosen = _chosen(found, costs)
    if found.cheapest != chosen:  # two pieces of advice would be one too many
        found = dataclasses.replace(found, cheapest=None, cheapest_reason="the cheapest is too far behind the best")
    return Recommendation(
        policy=chosen,
        verdict=found,
        metric=halving.metric,
        rows=halving.rows,
        horizon=max(cell.horizon for cell in halving.cells.values()),  # longer trials may have been cut off
        best_fixed_action=_best_fixed(problem),
        costs=costs,
        standings=tuple(board.best_first()),
        seconds=0.0,
        folder=Path(halving.store.directory),
        cells=frozenset(halving.cells),
        table_warnings=problem.bandit_table().warnings,
        after_learning=halving.after_learning(chosen) if chosen is not None else None,
        dropped=_dropped(problem),
        hint=_hint_at_costs(problem, halving.metric),
    )


def _why_slow() -> str:
    """That other programs want the cores, where many do."""
    waiting = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return f" (about {waiting:.0f} programs share the {cores()} cores of this machine)" if waiting > 2 * cores() else ""


def _metric(problem: Table) -> str:
    """The metric to judge by: accuracy where an answer is right or wrong, else the reward."""
    plain = problem.label and not problem.costs and not problem.reward_matrix
    found = problem.bandit_table()
    square = found.payoffs.shape[0] == found.payoffs.shape[1]
    return "accuracy" if plain and square and np.array_equal(found.payoffs, np.eye(len(found.payoffs))) else "reward"


def _costs(found: Verdict | None, problem: Table, limit: TimeBudget) -> dict[str, Cost]:
    """The costs of the best method and those tied with it, as long as the budget lasts: each needs a compiled agent."""
    spec = problem.spec(problem.load())
    costs: dict[str, Cost] = {}
    longest = 0.0
    for name in found.ties if found is not None else ():
        began = limit.elapsed
        if began + longest < limit.seconds and is_servable(name, spec):
            costs[name] = cost_of(known.get(name), spec)
            longest = max(longest, limit.elapsed - began)
    return costs


def _chosen(found: Verdict, costs: dict[str, Cost]) -> str | None:
    """The best or, of those tied with it, a much faster one that loses next to nothing of the gain over the references.

    Not just any of the tie: after two trials a method that is five points behind cannot be told from the best either.
    """
    if found.best is None or not found.beats_references:
        return None
    gain = min((abs(one.difference) for one in found.references), default=0.0)
    if found.fails(found.best):  # a few good trials do not make up for one that got stuck
        sound = [one for one in found.rivals if one.is_tied and not found.fails(one.policy)]
        return min(sound, key=lambda one: abs(one.difference)).policy if sound else found.best
    if found.best not in costs:  # there was no time to measure
        return found.best
    fast = MUCH_FASTER * costs[found.best].decide_seconds
    near = [
        one.policy
        for one in found.rivals
        if one.is_tied and one.difference <= NEXT_TO_NOTHING * gain and one.policy in costs
    ]
    near = [name for name in near if costs[name].decide_seconds <= fast and not found.fails(name)]
    return min([found.best, *near], key=lambda name: costs[name].decide_seconds)


def _best_fixed(problem: Table) -> str:
    found = problem.bandit_table()
    means = np.bincount(found.labels, minlength=len(found.payoffs)) @ found.payoffs.astype(float)
    return str(found.actions[int(means.argmax())])


def _dropped(problem: Table) -> tuple[tuple[str, str], ...]:
    """The columns that were left out though nobody asked for it, and why."""
    columns = problem.bandit_table().columns
    left_out = (column for column in columns if column.treatment == "dropped" and column.note != "ignored, as asked")
    return tuple((column.name, column.note) for column in left_out)


RARE = 0.1  # share of rows below which a class is rare


def _hint_at_costs(problem: Table, metric: str) -> str:
    """What to say where a class is so rare that the share of right answers says little about it; empty elsewhere."""
    classes = problem.bandit_table().classes
    rows = sum(classes.values())
    rare = min(classes, key=lambda name: classes[name], default="")
    if metric != "accuracy" or not rare or classes[rare] >= RARE * rows:
        return ""
    return (
        f"Only {classes[rare] / rows:.1%} of the rows are {rare!r}: if missing one costs more than a false alarm, "
        f"say so, for example with --costs {shlex.quote(f'{rare}:10')}."
    )


def _page(folder: Path, name: str) -> Path:
    from showdown.report.page.collect import collect
    from showdown.report.page.render import render, write

    path = folder / "report.html"
    write(render(collect(folder, command=shlex.join(["showdown", "report", folder.name]), title=name)), path)
    return path


def _unseen(board: Board, line: str) -> None:
    pass
