"""`results.plot`: the pictures of results, in the style of the project's figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from showdown.basics.errors import UsageError
from showdown.metrics import metric_named

if TYPE_CHECKING:
    import matplotlib.figure

    from showdown.api.results import Results


class Plot:
    """Draws results. Each method returns a matplotlib figure, which a notebook shows; `path` also writes it to a file.

    A file ends in .png, .svg or .pdf.
    """

    def __init__(self, results: Results) -> None:
        self._results = results

    def __repr__(self) -> str:
        return "<pictures of results: .curves(), .overview(), .time()>"

    def curves(
        self, policies: str | Iterable[str] | None = None, path: str | Path | None = None
    ) -> matplotlib.figure.Figure:
        """Regret over time, a panel per problem: the mean over trials and a band of one standard error."""
        from showdown.report.drawing.curves import best_first, draw_curves, stored_curves

        cells = self._results._cells
        frame, (store, records) = cells.chosen.frame, cells.part()
        chosen = None if policies is None else self._results._names(policies, "policy")
        shown: set[tuple[str, str]] = set()
        for problem, rows in frame.groupby("problem", sort=False):
            shown |= {(policy, str(problem)) for policy in best_first(rows, chosen)}
        wanted = [pair in shown for pair in zip(frame["policy"], frame["problem"], strict=True)]
        curves = stored_curves(store, records, frame[wanted])
        if not any(float(abs(curve.mean[-1])) == float(abs(curve.mean[-1])) for curve in curves.values()):
            raise UsageError("these cells hold no regret over time: their problem does not know what was best")
        return _drawn(lambda: draw_curves(curves, frame, chosen), path)

    def overview(self, metric: str | None = None, path: str | Path | None = None) -> matplotlib.figure.Figure:
        """Every policy's mean with its 95 % interval, the best first, a panel per problem."""
        from showdown.report.drawing.comparisons import draw_means

        summary = self._results.table(metric)
        return _drawn(lambda: draw_means(summary, self._title(metric)), path)

    def time(self, metric: str | None = None, path: str | Path | None = None) -> matplotlib.figure.Figure:
        """What a step costs, and what it earns: the time of a step across and the mean upwards."""
        from showdown.report.drawing.comparisons import draw_time

        frame = self._results._cells.chosen.frame
        seconds = (frame["run_seconds"] / frame["trials"] / frame["horizon"]).rename("step_seconds")
        each = frame[["policy", "problem"]].assign(step_seconds=seconds).drop_duplicates(["policy", "problem"])
        summary = self._results.table(metric).merge(each, on=["policy", "problem"])
        return _drawn(lambda: draw_time(summary, self._title(metric)), path)

    def _title(self, metric: str | None) -> str:
        return metric_named(metric or self._results.metric).title


def _drawn(draw: Any, path: str | Path | None) -> matplotlib.figure.Figure:
    from showdown.report.drawing import style

    if path is not None:
        style.check_suffix(Path(path))
    with style.for_print():
        figure = draw()
    if path is not None:
        style.save(figure, Path(path))
    return figure
