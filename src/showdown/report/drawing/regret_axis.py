"""Regret over time on one pair of axes: everything in sight, and the leaders not squeezed into the bottom line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from showdown.analysis.curves import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPREAD = 8  # the largest final regret is this many times the smallest: the leaders would hide
FIRST = (
    0.02  # share of the steps from which a logarithmic axis shows curves: all start at zero, which it has no place for
)


def scale_regret(axes: Axes, curves: Collection[Curve]) -> None:
    """Label both axes and choose their scale for curves that are drawn; logarithmic where leaders would hide."""
    final = [float(curve.mean[-1]) for curve in curves]
    logarithmic = min(final) > 0 and max(final) > SPREAD * min(final)
    axes.set(xlabel="step", xlim=(0, None), ylabel="cumulative regret" + (", logarithmic" if logarithmic else ""))
    if logarithmic:
        _logarithmic(axes)
        early = [curve.mean[np.searchsorted(curve.steps, FIRST * curve.steps[-1])] for curve in curves]
        low = min([float(value) for value in early if value > 0] + final)
        axes.set_ylim(0.9 * low, None)
    else:
        axes.set_ylim(min(0.0, *(float(curve.mean.min()) for curve in curves)), None)


def _logarithmic(axes: Axes) -> None:
    """Ticks at 1, 2 and 5 of every power, as plain numbers: names may hold dollar signs, so there is no mathematics."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def trials_of(counts: Sequence[int]) -> str:
    """`20 trials`, `10 to 50 trials`; nothing where no number is known."""
    known = sorted({int(count) for count in counts if count})
    if not known:
        return ""
    text = " to ".join(map(str, dict.fromkeys((known[0], known[-1]))))
    return f"{text} trial{'s' if known[-1] > 1 else ''}"


def with_trials(title: str, curves: Collection[Curve]) -> str:
    counted = trials_of([curve.trials for curve in curves])
    return f"{title}, {counted}" if counted else title
