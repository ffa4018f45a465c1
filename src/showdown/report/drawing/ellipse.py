"""Ellipses of Gaussian beliefs about two coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_ellipse(
    axes: Axes, mean: np.ndarray, covariance: np.ndarray, color: str, dash: str = "-", label: str | None = None
) -> None:
    """The lines at one and two standard deviations of N(mean, covariance), mean (2,), covariance (2, 2)."""
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
