"""How figures look: colours that the colour-blind can tell apart, sizes that read well in print, files that repeat.

Figures are built without pyplot, so nothing global is opened and no display is needed. Regret over time has everything
in sight, and leaders that are not squeezed into the bottom line.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from showdown.analysis.summary import Curve
from showdown.basics.errors import UsageError
from showdown.report import write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


NOTEBOOK_DPI = 110
SUFFIXES = (".png", ".svg", ".pdf")

# Okabe and Ito's colours
BLACK, GREY = "#000000", "#777777"
BLUE, SKY, GREEN, YELLOW = "#0072B2", "#56B4E9", "#009E73", "#F0E442"
ORANGE, RED, PURPLE = "#E69F00", "#D55E00", "#CC79A7"
_COLORS, _DASHES = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, BLACK), ("-", "--", "-.", ":")


def line(number: int) -> tuple[str, str]:
    """The colour and the dash of a curve: 28 different pairs, so that neighbours also differ in black and white."""
    return _COLORS[number % len(_COLORS)], _DASHES[number % len(_DASHES)]


_SETTINGS = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "legend.fontsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "text.parse_math": False,  # a name with dollar signs is a name
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "pdf.fonttype": 42,  # letters stay letters
    "svg.hashsalt": "showdown",  # the same figure is the same file
}


def for_print() -> AbstractContextManager[Any]:
    return _matplotlib().rc_context(_SETTINGS)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches; 7 is the width of a page's text."""
    _matplotlib()
    from matplotlib.figure import Figure

    class Drawing(Figure):
        """A figure that a notebook shows as it is, without pyplot."""

        def _repr_png_(self) -> bytes:
            return _encoded(self, "png", NOTEBOOK_DPI)

    with for_print():
        return Drawing(figsize=(width, height), layout="constrained")


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise UsageError("figures need matplotlib: pip install 'bandit-showdown[figures]'") from None
    return matplotlib


def draw_curve(axes: Axes, curve: Curve, label: str, color: str, dash: str = "-") -> Line2D:
    """Draw a mean and a band of one standard error, from the origin. Returns the line, for the legend."""
    steps = np.concatenate([[0], curve.steps])
    mean = np.concatenate([[0.0], curve.mean])
    sem = np.concatenate([[0.0], np.nan_to_num(curve.sem)])
    (line,) = axes.plot(steps, mean, color=color, linestyle=dash, label=label)
    axes.fill_between(steps, mean - sem, mean + sem, color=color, alpha=0.2, linewidth=0)
    return line


def check_suffix(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"a figure is written to a .png, .svg or .pdf file, not to {path.name!r}")


def save(figure: Figure, path: Path) -> None:
    check_suffix(path)
    write_file(path, _encoded(figure, path.suffix.lower()[1:]))


def _encoded(figure: Figure, kind: str, dpi: float | None = None) -> bytes:
    undated: dict[str, Any] = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    drawn = io.BytesIO()
    with for_print(), warnings.catch_warnings():
        # letters that no font here has are drawn as boxes, which the picture shows well enough
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure.savefig(drawn, format=kind, metadata=undated, dpi=dpi)
    if kind != "png":
        return drawn.getvalue()
    from PIL import Image

    few_colors = io.BytesIO()  # 256 of them look the same and make a third of the file
    Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(few_colors, "png", optimize=True)
    return few_colors.getvalue()


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
    """Make the axis of regret logarithmic: ticks at 1, 2 and 5 of every power, as plain numbers.

    Names may hold dollar signs, so nothing is set as mathematics.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def trials_of(counts: Sequence[int]) -> str:
    """The number of trials in words, `20 trials` or `10 to 50 trials`; nothing where none is known."""
    known = sorted({int(count) for count in counts if count})
    if not known:
        return ""
    text = " to ".join(map(str, dict.fromkeys((known[0], known[-1]))))
    return f"{text} trial{'s' if known[-1] > 1 else ''}"


def with_trials(title: str, curves: Collection[Curve]) -> str:
    counted = trials_of([curve.trials for curve in curves])
    return f"{title}, {counted}" if counted else title


def draw_ellipse(
    axes: Axes, mean: np.ndarray, covariance: np.ndarray, color: str, dash: str = "-", label: str | None = None
) -> None:
    """Draw the lines at one and two standard deviations of N(mean, covariance), mean (2,), covariance (2, 2)."""
    values, vectors = np.linalg.eigh(covariance)
    angle = np.linspace(0, 2 * np.pi, 181)
    circle = np.stack([np.cos(angle), np.sin(angle)])  # (2, points)
    for deviations in (1, 2):
        line = mean[:, None] + deviations * vectors @ (np.sqrt(values)[:, None] * circle)
        axes.plot(
            *line,
            color=color,
            linestyle=dash,
            linewidth=1.2 if deviations == 1 else 0.8,
            label=label if deviations == 1 else None,
        )
    axes.plot(*mean, ".", color=color, markersize=3)
