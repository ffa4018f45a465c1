"""Successive halving over trials: all methods play a few trials, what is clearly behind is dropped, the rest play on.

Trial i is the same in every round, so a method's larger cell contains its smaller one. A method is dropped when the
verdict's own test (`analysis/with_best.py`) puts it behind, at a level that is divided by the number of rounds. Cells
that would not end within the budget are not begun. Cheap cells are played here; several expensive ones in processes, as
many as there are cores.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from showdown.analysis.facts import facts_of
from showdown.analysis.judge import judge
from showdown.analysis.selection import select
from showdown.analysis.verdict import Verdict
from showdown.analysis.with_best import ALPHA, interval
from showdown.bench.cell import Cell
from showdown.bench.engine import Limits, Result, make_engine
from showdown.bench.estimate import COMPILE_SECONDS, estimate_seconds
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.metrics import metric_named
from showdown.policies import policies
from showdown.problem import Problem
from showdown.recommendation import board as words
from showdown.recommendation.board import Board, Show, Standing
from showdown.recommendation.budget import Budget

ROUNDS = (2, 4, 8, 16, 32)  # trials
ENOUGH = 16  # trials after which a clear verdict needs no more
CHEAP_SECONDS = 8.0  # a cell that takes less is not worth a process of its own


@dataclass
class Contest:
    store: Store
    problem: Problem
    problem_name: str
    metric: str
    budget: Budget
    show: Show
    seed: int = 0
    rounds: tuple[int, ...] = ROUNDS
    processes: int = field(default_factory=lambda: os.cpu_count() or 1)
    cells: dict[str, str] = field(default_factory=dict)  # finished, hash to policy
    pace: dict[str, float] = field(default_factory=dict)  # policy to seconds per trial

    def play(self, names: list[str], references: frozenset[str]) -> Board:
        larger = not metric_named(self.metric).smaller_is_better
        board = Board(self.metric, self.budget.seconds, larger, standings={name: Standing(name) for name in names})
        self.store.prepare()
        alive = list(names)
        for trials in self.rounds:
            board.trials = trials
            played = self._round(alive, trials, board, references)
            board.verdict = self.verdict()
            self._settle(board, alive, references)
            methods = [name for name in alive if name not in references]
            if not played or (trials >= ENOUGH and len(methods) == 1):
                break
        return board

    def _round(self, alive: list[str], trials: int, board: Board, references: frozenset[str]) -> bool:
        """Play the methods that are left; whether any of them could be played."""
        cells = {name: self._cell(name, trials) for name in alive}
        fitting = self._fitting(cells, board)
        if not set(fitting) - references:
            return False
        self.show(board, f"{trials} trials of {', '.join(fitting)}")
        cheap = [name for name in fitting if self.processes == 1 or self._is_cheap(cells[name])]
        self._run([cells[name] for name in cheap], "local", board)
        rest = [name for name in fitting if name not in cheap and self._seconds(cells[name]) < self.budget.left]
        self._run([cells[name] for name in rest], "processes" if len(rest) > 1 else "local", board)
        return any(cells[name].hash in self.cells for name in fitting if name not in references)

    def _fitting(self, cells: dict[str, Cell], board: Board) -> list[str]:
        """The methods whose cells should end in time, the best first, as their sum is what the budget must hold."""
        order = [one.policy for one in board.best_first() if one.policy in cells]
        chosen, used = [], 0.0
        for name in order:
            seconds = 0.0 if self.store.is_done(cells[name].hash) else self._seconds(cells[name])
            if used + seconds / self.processes <= self.budget.left or not self.cells:
                chosen.append(name)
                used += seconds / self.processes
            else:
                board.standings[name].status = words.OUT_OF_TIME
        return chosen

    def _cell(self, name: str, trials: int) -> Cell:
        return Cell(name, self.problem_name, policies.get(name), self.problem, trials, self.seed)

    def _is_cheap(self, cell: Cell) -> bool:
        """By what was measured; before that, whatever trains is expensive, as its rough estimate may be far off."""
        known = cell.policy_name in self.pace or not cell.policy.refit_every
        return known and self._seconds(cell) < CHEAP_SECONDS

    def _seconds(self, cell: Cell) -> float:
        if cell.policy_name in self.pace:
            return COMPILE_SECONDS + self.pace[cell.policy_name] * cell.trials
        return estimate_seconds([cell], self.store)[0]

    def _run(self, cells: list[Cell], engine: str, board: Board) -> None:
        planned = [
            Planned(cell, [(cell.policy_name, cell.problem_name)], self.store.is_done(cell.hash)) for cell in cells
        ]
        steps: dict[str, int] = {}

        def progress(cell: Cell, played: int) -> None:
            steps[cell.hash] = steps.get(cell.hash, 0) + played
            standing = board.standings[cell.policy_name]
            standing.status = words.PLAYING if played else words.COMPILING
            standing.share = steps[cell.hash] / (cell.trials * cell.problem.horizon)
            self.show(board, "")

        limits = Limits(
            batch_trials=self.rounds[0],  # one program for all rounds: compiling again would take longer than playing
            cell_seconds=max(1.0, round(self.budget.left)),  # whole, as messages name it
            processes=min(self.processes, max(1, len(cells))) if engine == "processes" else 1,
            progress=progress,
        )
        for result in make_engine(engine, self.store).run(planned, limits) if planned else ():
            self._finished(result, board)

    def _finished(self, result: Result, board: Board) -> None:
        cell, standing = result.cell, board.standings[result.cell.policy_name]
        if result.status == "done":
            self.cells[cell.hash] = cell.policy_name
            standing.trials, standing.status = cell.trials, words.WAITING
            if result.new:
                self.pace[cell.policy_name] = result.run_seconds / cell.trials
            self._measure(standing, cell)
        elif result.status == "timeout":
            standing.status = words.OUT_OF_TIME
        else:
            standing.status, standing.reason = words.FAILED, result.reason
        self.show(board, _line(standing, result, self.metric))

    def _measure(self, standing: Standing, cell: Cell) -> None:
        record = next((one for one in self.store.cells() if one.cell == cell.hash), None)
        table = self.store.trials(record) if record is not None else None
        if table is not None:
            values = table[self.metric]
            low, high = interval(values, metric_named(self.metric).is_share)
            standing.value, standing.low, standing.high = float(values.mean()), low, high

    def _settle(self, board: Board, alive: list[str], references: frozenset[str]) -> None:
        """Drop what the verdict puts behind, and what did not finish."""
        found = board.verdict
        limit = ALPHA / len(self.rounds)  # each round is another chance to drop the best by bad luck
        behind = {
            rival.policy
            for rival in (found.rivals if found is not None else ())
            if rival.behind and rival.p_value is not None and rival.p_value < limit
        }
        dropped = [name for name in alive if name in behind]
        for name in list(alive):
            standing = board.standings[name]
            if name in references:
                standing.status = words.REFERENCE
                continue
            if name in behind:
                standing.status = words.BEHIND
            elif standing.status not in (words.FAILED, words.OUT_OF_TIME):
                standing.status = words.IN_FRONT
            if standing.status != words.IN_FRONT:
                alive.remove(name)
        self.show(board, f"clearly behind, dropped: {', '.join(dropped)}" if dropped else "")

    def verdict(self, decide_seconds: dict[str, float] | None = None) -> Verdict | None:
        """Of what is finished; with the time of a decision by policy the cheapest is named by that."""
        if not self.cells:
            return None
        everything = self.store.frame()
        own = everything["cell"].isin(self.cells) & (everything["problem"] == self.problem_name)
        frame = select(everything[own]).frame
        facts = facts_of(self.store, self.store.cells(), frame["cell"])
        return judge(frame, facts, self.metric, decide_seconds=decide_seconds)


def _line(standing: Standing, result: Result, metric: str) -> str:
    if result.status != "done":
        return f"{standing.policy}: {standing.status}{f' ({result.reason})' if result.reason else ''}"
    found = "" if result.new else ", already stored"
    return f"{standing.policy}: {metric} {standing.value:.4f} in {standing.trials} trials{found}"
