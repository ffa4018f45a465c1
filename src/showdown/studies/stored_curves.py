"""Play the cells of a study through a store, so that a cell that is already stored is not played again."""

from __future__ import annotations

from showdown.analysis.curves import Curve, mean_curve
from showdown.basics.errors import MissingDataError, ShowdownError
from showdown.bench.cell import Cell
from showdown.bench.engine import RunLimits
from showdown.bench.engines.local import Local
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.studies.settings import Settings


def regret_curves(cells: list[Cell], settings: Settings) -> list[Curve]:
    """The mean regret curve of each cell, of expected rewards: the same as of drawn ones, with less noise."""
    store = Store(settings.directory / "figures")
    planned = [Planned(cell, [(cell.policy_name, cell.problem_name)], store.is_done(cell.hash)) for cell in cells]
    total = sum(item.cell.trials * item.cell.problem.horizon for item in planned if not item.done)
    with settings.bar(total, "compiling") as advance:
        limits = RunLimits(progress=lambda cell, steps: advance(steps, cell.label))
        for result in Local(store).run(planned, limits):
            if result.status == "skipped":
                raise MissingDataError(result.reason)
            if result.status != "done":
                raise ShowdownError(f"{result.cell.label}: {result.status}: {result.reason}")
    records = {record.cell: record for record in store.cells()}
    curves = []
    for cell in cells:
        record = records[cell.hash]
        table = store.trials(record)
        if table is None:
            raise ShowdownError(f"{cell.label} was played, but {store.warnings[-1]}: delete the file and draw again")
        curves.append(mean_curve(record.checkpoints, table["curve_expected"].tolist()))
    return curves
