"""Play a plan through an engine, with progress: what `sd.run` and `showdown run` share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from showdown.api.progress import Bar
from showdown.basics.errors import UsageError
from showdown.bench.cell import Cell
from showdown.bench.engine import CellResult, Engine, RunLimits
from showdown.bench.estimate import seconds_of_each
from showdown.bench.plan import Planned
from showdown.bench.remote import Mirror, is_url, local_store
from showdown.bench.store import Store
from showdown.machine.resources import cores

Say = Callable[[str], None]


def opened_store(out: str, say: Say) -> tuple[Store, Mirror | None]:
    """The folder that results go to; for a URL its copy on this machine, and what keeps both equal."""
    if is_url(out):
        mirror = Mirror.of(out)
        for cell, reason in mirror.left_out.items():
            say(f"{out}: {cell} cannot be used and is played again: {reason}")
        return mirror.store, mirror
    return local_store(out), None


def chosen_engine(engine: str | None, processes: int | None) -> tuple[str, int]:
    """The engine's name and the number of processes, from the options given."""
    if engine is None:
        engine = "local" if processes in (None, 1) else "processes"
    if engine == "local" and (processes or 1) > 1:
        raise UsageError(f"the engine local plays in one process: leave out --processes {processes}, or the engine")
    if processes is None:
        processes = 1 if engine == "local" else max(2, cores())
    return engine, processes


def warn_of_plan(planned: Sequence[Planned], notes: Sequence[str], store: Store, say: Say) -> None:
    """Say which horizons were shortened, and which stored cells are damaged and played again."""
    for note in notes:
        say(note)
    for item in planned:
        if item.cell.hash in store.damaged:
            say(f"{item.cell.label}: the stored cell {item.cell.hash} is damaged, and is played again")


def warn_of_tables(planned: Sequence[Planned], say: Say) -> None:
    """Say what is likely to mislead in the user's own tables that are to be played."""
    problems = {item.cell.problem_name: item.cell.problem for item in planned if not item.done}
    for name, problem in problems.items():
        table = problem.bandit_table()
        for sentence in table.warnings if table is not None else ():
            say(f"{name}: {sentence}")


def play(
    planned: list[Planned],
    player: Engine,
    limits: RunLimits,
    store: Store,
    bar: Bar,
    say: Say,
    each: Callable[[CellResult], None],
) -> list[CellResult]:
    """Play what is not stored yet. `each` is called with every result at once; they come back in the plan's order."""
    todo = [item.cell for item in planned if not item.done]
    seconds = seconds_of_each(todo, store)
    position = {cell.hash: number for number, cell in enumerate(todo, 1)}
    results = []
    with bar(sum(seconds.values()), "starting") as advance:

        def progress(cell: Cell, steps: int) -> None:
            phase = "playing" if steps else "compiling"
            part = seconds.get(cell.hash, 0.0) * steps / (cell.trials * cell.problem.horizon)
            advance(part, f"{position.get(cell.hash, 0)}/{len(todo)} {cell.label}: {phase}")

        for result in player.run(planned, dataclasses.replace(limits, progress=progress, say=say)):
            results.append(result)
            each(result)
            if result.status != "done":
                say(f"{result.cell.label}: {result.status}: {result.reason}")
            for name, value in result.diagnostics.items():
                if value:  # zero is how it should be, and no news
                    say(f"{result.cell.label}: {name} up to {value:.1e}")
    order = {item.cell.hash: number for number, item in enumerate(planned)}
    return sorted(results, key=lambda result: order[result.cell.hash])
