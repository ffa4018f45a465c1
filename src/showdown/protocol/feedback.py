"""When the reward of a step becomes known: at once, late, or in batches.

It is a matter of the loop, not of a problem: `problems/late.py` puts any problem behind a feedback, and an online agent
whose `learn` is called in the same order plays the same actions. When rewards come is one schedule for all trials of a
cell, so that trials still run as one program.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from showdown.config import Configuration, at_least, config, param, positive

FOREVER = 1 << 40  # steps; a longer delay would overflow the sum


class Feedback(Configuration, ABC):
    """Base of every feedback; subclasses are decorated with `@config`."""

    @abstractmethod
    def arrivals(self, steps: int) -> np.ndarray:
        """The step after whose decision each of the first `steps` rewards is known, (steps,) int64.

        It is never before the step itself. Fewer steps have the first arrivals of more steps.
        """

    def order(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """The steps in the order their rewards come, (steps,), and how many have come after each step, (steps,).

        Rewards that come together are in the order of their steps; those that come after the last step are at the end
        of the order.
        """
        arrivals = self.arrivals(steps)
        known = np.searchsorted(np.sort(arrivals), np.arange(steps), side="right")
        return np.argsort(arrivals, kind="stable").astype(np.int32), known.astype(np.int32)


@config
class AtOnce(Feedback):
    """Each reward is known before the next decision."""

    def arrivals(self, steps: int) -> np.ndarray:
        return np.arange(steps)


@config
class Delay(Feedback):
    """Each reward is known a fixed number of decisions later."""

    steps: int = param(100, "decisions that are made before a reward is known", at_least(1))

    def arrivals(self, steps: int) -> np.ndarray:
        return np.arange(steps) + min(self.steps, FOREVER)


@config
class RandomDelay(Feedback):
    """Each reward has a delay of its own, exponential and rounded down, so rewards come in another order."""

    mean: float = param(100.0, "mean delay before rounding, in decisions", positive)
    seed: int = param(0, "of the delays, which are the same in all trials", at_least(0))

    def arrivals(self, steps: int) -> np.ndarray:
        delays = np.random.default_rng(self.seed).exponential(self.mean, steps)
        return np.arange(steps) + np.floor(np.minimum(delays, FOREVER)).astype(np.int64)


@config
class Batched(Feedback):
    """Decisions are made in batches; the rewards of a batch are known when all of its decisions are made."""

    size: int = param(100, "decisions of one batch", at_least(2))

    def arrivals(self, steps: int) -> np.ndarray:
        return (np.arange(steps) // self.size + 1) * self.size - 1


AT_ONCE = AtOnce()
