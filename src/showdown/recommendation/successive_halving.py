"""Successive halving over trials: all methods play a few trials, what is clearly behind is dropped, the rest play on.

Trial i is the same in every round, so a method's larger cell contains its smaller one. A method is dropped when the
verdict's own test (`analysis/compare_trials.py`) puts it behind, at a level that is divided by the number of rounds,
after four trials or more; it then stays behind, though the others play trials that it has not. Cells that would not end
within the budget are not begun (`budget.py`). Cheap cells are played here, expensive ones in processes, as many as
there are cores, which are killed when the budget ends: nothing else stops compiling.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from showdown.analysis.compare_trials import ALPHA, interval
from showdown.analysis.judge import judge
from showdown.analysis.play_details import play_details
from showdown.analysis.ranks import REFERENCES
from showdown.analysis.selection import select
from showdown.analysis.verdict import Rival, Verdict, tied_among
from showdown.analysis.verdict_parts import certainty
from showdown.bench.cell import Cell
from showdown.bench.engine import CellResult, RunLimits, make_engine
from showdown.bench.plan import Planned
from showdown.bench.reader import by_names
from showdown.bench.record import Record
from showdown.bench.store import Store
from showdown.machine.resources import cores
from showdown.metrics import metric_named
from showdown.policies import policies
from showdown.policies.neural_linear import COLLAPSED
from showdown.problems.own_table import Table
from showdown.recommendation import board as words
from showdown.recommendation.board import Board, Show, Standing
from showdown.recommendation.budget import START_SECONDS, Forecast, TimeBudget

ROUNDS = (2, 4, 8, 16, 32)  # trials
FEWEST = 4  # trials after which a method may be dropped: of two, the test rests on a distribution nobody has seen
HOPE = 2.5  # times the seconds left: forecasts for a busy machine may be wrong by as much
ENOUGH = 16  # trials after which a clear verdict needs no more


@dataclass
class SuccessiveHalving:
    store: Store
    problem: Table
    problem_name: str
    metric: str
    budget: TimeBudget
    show: Show
    seed: int = 0
    rounds: tuple[int, ...] = ROUNDS
    processes: int = field(default_factory=cores)
    load: tuple[Path, ...] = ()  # files that register policies, for the processes
    cells: dict[str, Record] = field(default_factory=dict)  # finished, by hash
    dropped: dict[str, Rival] = field(default_factory=dict)  # as they were compared when they were dropped
    forecast: Forecast = field(init=False)
    rows: int = field(init=False)  # the most steps a trial can have

    def __post_init__(self) -> None:
        self.rows = self.problem.horizon
        self.forecast = Forecast(self.store, self.processes, self.budget.slowdown)

    def shorten(self, names: list[str]) -> Table:
        """Shorten trials where the first round would not fit the budget; return the problem as it will be played."""
        cells = [self._cell(name, self.rounds[0]) for name in names]
        self.problem = self.forecast.shortened(self.problem, cells, self.budget.left)
        return self.problem

    def play(self, names: list[str], references: frozenset[str]) -> Board:
        larger = not metric_named(self.metric).smaller_is_better
        board = Board(self.metric, self.budget.seconds, larger, standings={name: Standing(name) for name in names})
        self.store.prepare()
        alive, waiting = list(names), list(self.rounds)
        while waiting:
            trials = board.trials = waiting.pop(0)
            played = self._round(alive, trials, board, references)
            board.verdict = self.verdict()
            self._settle(board, alive, references)
            methods = [name for name in alive if name not in references]
            if not played or (trials >= ENOUGH and len(methods) == 1):
                break
            if self._lengthen(methods, board):
                waiting = list(self.rounds)
        self._use_what_is_left(board)
        return board

    def _lengthen(self, methods: list[str], board: Board) -> bool:
        """Give trials that were shortened more steps, if there is time for it; they then begin again with two trials.

        A long table says more in more steps than in more trials. Only where all that is not behind can play on: numbers
        of different lengths are never compared.
        """
        judged = {one.policy for one in board.standings.values() if one.trials and one.status != words.BEHIND}
        cells = [self._cell(name, self.rounds[0]) for name in methods]
        steps = self.forecast.lengthened(cells, self.rows, self.budget.left)
        if not steps or judged - set(methods) - REFERENCES:
            return False
        self.show(board, f"{steps:,} steps instead of {self.problem.horizon:,} for what is in front")
        self.problem = self.problem.with_horizon(steps)
        self.forecast.pace.clear()
        self.forecast.here.clear()
        for name in methods:
            board.standings[name].trials = 0
        return True

    def _use_what_is_left(self, board: Board) -> None:
        """Begin methods that were left out, if a forecast that is too careful by half may be the only reason.

        The others are settled, and what does not end in time is killed: only the time is lost that nobody else wants.
        """
        left = self.budget.left
        unplayed = [one.policy for one in board.standings.values() if one.status == words.NO_ROOM and not one.trials]
        cells = [self._cell(name, self.rounds[0]) for name in unplayed]
        cells = sorted(cells, key=self.forecast.seconds)[: self.processes]
        hopeful = [cell for cell in cells if self.forecast.seconds(cell) <= HOPE * left]
        if hopeful and self.processes > 1 and left > START_SECONDS:
            board.trials = self.rounds[0]
            self.show(board, f"{left:.0f} s are left for what may not finish")
            self._run(hopeful, "processes", board, self.rounds[0])
            for standing in board.standings.values():
                if standing.status == words.WAITING:  # it finished, and will play no further round
                    standing.status = words.NO_ROOM
            board.verdict = self.verdict()

    def _round(self, alive: list[str], trials: int, board: Board, references: frozenset[str]) -> bool:
        """Play the methods that are left, the cheap ones first; return whether any of them could be played."""
        cells = [self._cell(name, trials) for name in self._order(alive, board)]
        # nothing is known in the first round, and what does not train takes a few seconds: it is always played
        cheap = [cell for cell in cells if self.forecast.is_cheap(cell)]
        if not self.cells and not any(cell.policy_name not in references for cell in cheap):
            cheap = self._cheapest(cells, references)  # of a wide table nothing is cheap, and one must be played
        later = [cell for cell in cheap if self.cells and cell.policy_name in references]
        begun = [cell for cell in cheap if cell not in later]
        begun = self._fitting(begun, board, processes=1) if self.cells else begun
        self._run(begun, "local", board, trials)
        rest = self._fitting([cell for cell in cells if cell not in cheap], board, self.processes)
        self._run(rest, "processes" if self.processes > 1 else "local", board, trials)
        played = any(cell.hash in self.cells for cell in [*begun, *rest] if cell.policy_name not in references)
        self._run(later if played else [], "local", board, trials)  # a reference alone says nothing
        return played

    def _cheapest(self, cells: list[Cell], references: frozenset[str]) -> list[Cell]:
        """The references and the method with the shortest forecast, which are played whatever the forecast says."""
        methods = [cell for cell in cells if cell.policy_name not in references]
        first = min(methods, key=self.forecast.seconds, default=None)
        return [cell for cell in cells if cell.policy_name in references or cell is first]

    def _order(self, alive: list[str], board: Board) -> list[str]:
        """The methods in the order of play: the cheapest first in the first round, then the best first."""
        if self.cells:
            return [one.policy for one in board.best_first() if one.policy in alive]
        cells = [self._cell(name, self.rounds[0]) for name in alive]
        self.forecast.parts(cells)  # of all at once: trials may have been shortened since they were forecast
        return [cell.policy_name for cell in sorted(cells, key=self.forecast.seconds)]

    def _fitting(self, cells: list[Cell], board: Board, processes: int) -> list[Cell]:
        """The cells that should end within the budget; the others are marked, and named in one line."""
        left = max(0.0, self.budget.left)
        chosen = self.forecast.fitting(cells, left, processes)
        too_long = []
        for cell in cells:
            if cell not in chosen:
                standing, seconds = board.standings[cell.policy_name], f"about {self.forecast.seconds(cell):.0f} s"
                standing.status = words.NO_ROOM
                standing.reason = f"{seconds}, when {left:.0f} s were left for all"
                too_long.append(f"{cell.policy_name} ({seconds})")
        if too_long:
            self.show(board, f"{board.trials} trials would not fit in the {left:.0f} s left: {', '.join(too_long)}")
        return chosen

    def _cell(self, name: str, trials: int) -> Cell:
        return Cell(name, self.problem_name, policies.get(name), self.problem, trials, self.seed)

    def _run(self, cells: list[Cell], engine: str, board: Board, trials: int) -> None:
        if not cells:
            return
        self.show(board, f"{trials} trials of {', '.join(cell.policy_name for cell in cells)}")
        planned = [
            Planned(cell, [(cell.policy_name, cell.problem_name)], self.forecast.is_done(cell)) for cell in cells
        ]
        steps: dict[str, int] = {}

        def progress(cell: Cell, played: int) -> None:
            steps[cell.hash] = steps.get(cell.hash, 0) + played
            standing = board.standings[cell.policy_name]
            standing.status = words.PLAYING if played else words.COMPILING
            standing.share = steps[cell.hash] / (cell.trials * cell.problem.horizon)
            self.show(board, "")

        limits = RunLimits(
            batch_trials=self.rounds[0],  # one program for all rounds: compiling again would take longer than playing
            all_seconds=max(1.0, round(self.budget.left)),
            processes=self.processes if engine == "processes" else 1,
            load=self.load,
            progress=progress,
        )
        self.forecast.here |= {cell.policy_name for cell in cells if engine == "local"}
        for result in make_engine(engine, self.store).run(planned, limits):
            self._finished(result, board)

    def _finished(self, result: CellResult, board: Board) -> None:
        cell, standing = result.cell, board.standings[result.cell.policy_name]
        if result.status == "done":
            standing.trials, standing.status, standing.steps = cell.trials, words.WAITING, cell.problem.horizon
            if result.new:
                self.forecast.pace[cell.policy_name] = result.run_seconds / cell.trials
            self._measure(standing, cell)
        elif result.status == "timeout":
            standing.reason = _progress_of(standing)
            standing.status = words.OUT_OF_TIME
        else:
            standing.status, standing.reason = words.FAILED, result.reason
        self.show(board, _line(standing, result, self.metric))

    def _measure(self, standing: Standing, cell: Cell) -> None:
        record = self.store.record(cell.hash)
        table = self.store.trials(record) if record is not None else None
        if record is not None and record.diagnostics.get(COLLAPSED):
            standing.trials, standing.status, standing.reason = 0, words.FAILED, words.COLLAPSED
        elif record is not None and table is not None:
            self.cells[cell.hash] = record
            values = table[self.metric]
            low, high = interval(values, metric_named(self.metric).is_share)
            standing.value, standing.low, standing.high = float(values.mean()), low, high

    def _settle(self, board: Board, alive: list[str], references: frozenset[str]) -> None:
        """Drop what the verdict puts behind, and what did not finish."""
        found = board.verdict
        limit = ALPHA / len(self.rounds)  # each round is another chance to drop the best by bad luck
        behind = {
            rival.policy: rival
            for rival in (found.rivals if found is not None and board.trials >= FEWEST else ())
            if rival.behind and rival.p_value is not None and rival.p_value < limit and rival.policy in alive
        }
        self.dropped |= behind
        dropped = [name for name in alive if name in behind]
        for name in list(alive):
            standing = board.standings[name]
            if name in references:
                standing.status = words.REFERENCE
                continue
            if name in behind:
                standing.status = words.BEHIND
            elif standing.status not in (words.FAILED, words.OUT_OF_TIME, words.NO_ROOM):
                standing.status = words.IN_FRONT
            if standing.status != words.IN_FRONT:
                alive.remove(name)
        self.show(board, f"clearly behind, dropped: {', '.join(dropped)}" if dropped else "")

    def verdict(self, decide_seconds: dict[str, float] | None = None) -> Verdict | None:
        """The verdict on what is finished. `decide_seconds`, by policy, says which method is named as the cheapest."""
        if not self.cells:
            return None
        records = by_names(self.cells.values())
        everything = self.store.frame(records)
        frame = select(everything[everything["problem"] == self.problem_name]).frame
        details = play_details(self.store, records, frame["cell"])
        return self._with_dropped(judge(frame, details, self.metric, decide_seconds=decide_seconds))

    def after_learning(self, policy: str) -> float | None:
        """The metric in the last quarter of the steps, from the regret there; None where curves are too short.

        The regret of a step is what the best action would have earned more, so that a quarter with less regret than
        the whole trial earns as much more.
        """
        own = [record for record in by_names(self.cells.values()) if record.policy == policy]
        if not own:
            return None
        record = max(own, key=lambda one: (one.horizon, one.trials))  # as the verdict selects
        table = self.store.trials(record)
        quarters = play_details(self.store, [record], [record.cell])[record.cell].quarters
        if table is None or quarters is None:
            return None
        per_step = table["cumulative"].mean() / record.horizon
        last = quarters[:, -1].mean() / (record.horizon / quarters.shape[1])
        return float(table[self.metric].mean() + per_step - last)

    def _with_dropped(self, found: Verdict) -> Verdict:
        """The verdict with dropped methods still behind: they are not tied for having fewer trials now."""
        rivals = tuple(rival if rival.behind else self.dropped.get(rival.policy, rival) for rival in found.rivals)
        tied = tied_among(rivals)
        if tied == found.tied or found.best is None:
            return found
        return replace(found, rivals=rivals, tied=tied, **certainty(found.best, rivals))


def _progress_of(standing: Standing) -> str:
    """How far a method was when the time was over."""
    if standing.status == words.PLAYING:
        return f"{standing.share:.0%} of the round was played when the budget ended"
    return f"{'still compiling' if standing.status == words.COMPILING else 'not begun'} when the budget ended"


def _line(standing: Standing, result: CellResult, metric: str) -> str:
    if result.status != "done" or standing.status == words.FAILED:
        return f"{standing.policy}: {standing.status}{f' ({standing.reason})' if standing.reason else ''}"
    found = "" if result.new else ", already stored"
    return f"{standing.policy}: {metric} {standing.value:.4f} in {standing.trials} trials{found}"
