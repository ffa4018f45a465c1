"""Which action the wheel problem pays best for each context of a grid, at five values of δ."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from showdown.problems import problems
from showdown.problems.wheel import WheelEpisode
from showdown.protocol.keys import named_key
from showdown.studies.settings import Settings

DELTAS = (0.5, 0.7, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class BestActions:
    by_delta: dict[float, np.ndarray]  # (size, size) actions counted from 0; −1 outside the disk


def run(settings: Settings) -> BestActions:
    size = 2400 if settings.full else 600
    return BestActions({delta: best_actions(delta, size) for delta in DELTAS})


def best_actions(delta: float, size: int) -> np.ndarray:
    """The best action, counted from 0, for each context of a square grid, (size, size); −1 outside the disk."""
    problem = problems.get(f"wheel[delta={delta}]")
    axis = (np.arange(size) + 0.5) / size * 2 - 1
    contexts = np.stack(np.meshgrid(axis, axis[::-1]), axis=-1).reshape(-1, 2).astype(np.float32)
    episode = WheelEpisode(jnp.asarray(contexts), named_key(0, "wheel figure"))
    means = jax.vmap(lambda step: problem.round(step, episode, ()).means)(jnp.arange(len(contexts)))
    best = np.asarray(means.argmax(axis=-1))
    return np.where(np.linalg.norm(contexts, axis=-1) <= 1, best, -1).reshape(size, size)
