"""The wheel at five values of δ: every context coloured by the action which the problem itself pays best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from showdown.keys import named_key
from showdown.problems import problems
from showdown.problems.wheel import WheelEpisode
from showdown.report.figures import style
from showdown.report.figures.order import Order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELTAS = (0.5, 0.7, 0.9, 0.95, 0.99)
COLORS = (style.BLUE, style.RED, style.GREEN, style.BLACK, style.YELLOW)  # of actions 1 to 5, as in the paper


def draw(order: Order) -> Figure:
    figure = style.new_figure(7.0, 1.9)
    panels = figure.subplots(1, len(DELTAS))
    for axes, delta in zip(panels, DELTAS, strict=True):
        pixels = picture(best_actions(delta, 2400 if order.full else 600))
        axes.imshow(pixels, extent=(-1, 1, -1, 1), interpolation="antialiased")
        axes.set(title=f"δ = {delta}", xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
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
