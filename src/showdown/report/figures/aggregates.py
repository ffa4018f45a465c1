"""Ratio to the best over many problems: the mean of each policy with its intervals, and performance profiles.

Left: thick lines are 95 % intervals over trials (these problems), thin ones over problems (problems like these). Right:
the share of problems on which a policy's ratio to the best of the problem is at most so large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from showdown.analysis.aggregates import Aggregates, aggregates
from showdown.report.drawing import Figure, FigureRequest, selected, style

if TYPE_CHECKING:
    import matplotlib.figure

MOST = 6  # profiles that can still be told apart


def draw(request: FigureRequest) -> matplotlib.figure.Figure:
    frame = selected(request).frame
    if request.policies is not None:
        frame = frame[frame["policy"].isin(request.policies)]
    return drawn(aggregates(frame))


def drawn(found: Aggregates) -> matplotlib.figure.Figure:
    """The figure of aggregates that were computed before."""
    figure = style.new_figure(8.0, max(3.0, 0.9 + 0.16 * len(found.methods)))
    left, right = figure.subplots(1, 2)
    for place, method in enumerate(reversed(found.methods)):
        number = method.mean_ratio
        if number.problems is not None:
            left.plot(number.problems, (place, place), color=style.GREY, linewidth=0.7)
        if number.trials is not None:
            left.plot(number.trials, (place, place), color=style.BLUE, linewidth=2.6, solid_capstyle="butt")
        left.plot(number.value, place, "o", color=style.BLACK, markersize=3)
    left.set_yticks(range(len(found.methods)), [method.policy for method in reversed(found.methods)])
    left.set_ylim(-0.7, len(found.methods) - 0.3)
    count = len(found.problems)
    left.set_xlabel(f"mean ratio to the best over {count} problem{'s' if count > 1 else ''}")
    lines = []
    for place, method in enumerate(found.methods[:MOST]):
        color, dash = style.line(place)
        lines += right.step(found.levels, method.profile, where="post", color=color, linestyle=dash)
    right.set_xscale("log")
    right.set_xlabel("ratio to the best (logarithmic)")
    right.set_ylabel("share of problems")
    right.set_ylim(0, 1.02)
    ticks = [tick for tick in (1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50) if tick <= found.levels[-1]]
    right.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    right.minorticks_off()
    right.legend(lines, [method.policy for method in found.methods[:MOST]], loc="lower right", handlelength=2.4)
    return figure


FIGURE = Figure(
    summary="mean ratio to the best over many problems with intervals, and performance profiles",
    draw=draw,
    options=("policies",),
)
