"""The wheel at five values of δ: every context coloured by the action which the problem itself pays best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from showdown.problems import problems
from showdown.problems.wheel import WheelEpisode
from showdown.protocol.keys import named_key
from showdown.report.drawing import Figure, FigureRequest, style

if TYPE_CHECKING:
    import matplotlib.figure

DELTAS = (0.5, 0.7, 0.9, 0.95, 0.99)
COLORS = (style.BLUE, style.RED, style.GREEN, style.BLACK, style.YELLOW)  # of actions 1 to 5, as in the paper


def draw(request: FigureRequest) -> matplotlib.figure.Figure:
    size = 2400 if request.full else 600
    best = {delta: best_actions(delta, size) for delta in DELTAS}
    figure = style.new_figure(7.0, 2.2)
    panels = figure.subplots(1, len(best), sharey=True)
    for axes, (delta, actions) in zip(panels, best.items(), strict=True):
        axes.imshow(picture(actions), extent=(-1, 1, -1, 1), interpolation="antialiased")
        axes.set(title=f"δ = {delta}", xticks=[-1, 0, 1], yticks=[-1, 0, 1], xlabel="first coordinate")
        axes.tick_params(length=0)
        axes.label_outer()
        axes.spines[:].set_visible(False)
    panels[0].set_ylabel("second coordinate")
    handles = [
        panels[0].plot([], [], "o", color=color, markersize=4, label=f"action {number}")[0]
        for number, color in enumerate(COLORS, 1)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(COLORS), handletextpad=0.2)
    return figure


def best_actions(delta: float, size: int) -> np.ndarray:
    """The best action, counted from 0, for each context of a square grid, (size, size); −1 outside the disk."""
    problem = problems.get(f"wheel[delta={delta}]")
    axis = (np.arange(size) + 0.5) / size * 2 - 1
    contexts = np.stack(np.meshgrid(axis, axis[::-1]), axis=-1).reshape(-1, 2).astype(np.float32)
    episode = WheelEpisode(jnp.asarray(contexts), named_key(0, "wheel figure"))
    means = jax.vmap(lambda step: problem.round(step, episode, ()).means)(jnp.arange(len(contexts)))
    best = np.asarray(means.argmax(axis=-1))
    return np.where(np.linalg.norm(contexts, axis=-1) <= 1, best, -1).reshape(size, size)


def picture(best: np.ndarray) -> np.ndarray:
    """Colours, (size, size, 4); transparent outside the disk."""
    from matplotlib.colors import to_rgba_array

    return np.concatenate([to_rgba_array(COLORS), np.zeros((1, 4))])[best]


FIGURE = Figure(
    summary="the wheel problem at five values of δ: which action is best where", draw=draw, options=("full",), place=3
)
