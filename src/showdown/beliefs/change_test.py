"""Whether the world has changed, and since when: by errors that have grown, and by those who forget predicting better.

Page's tests (1954) on squared errors e. Each adds up the log of a likelihood ratio, kept at 0 or above:

    evidence ← max(0, evidence + gain),  a change is found where it is above `threshold`,

and took place when the evidence was last 0. The gain is negative on average as long as nothing changes, and were
rewards normal, a change would be found wrongly at most once in e^threshold steps (Lorden 1971).

- Surprise: the belief that decides errs more than it used to. With its mean squared error s² since the last change, the
  gain is e/(4s²) − log(2)/2: that the variance has doubled, against that it is s².
- Forgetting helps: the gain is (e of the best belief with all memory − e of the best one with a short memory)/(2s²).
  It finds changes that are small beside the noise, since a short memory knows less where nothing has changed.

One step counts at most 1, so that a single odd reward proves nothing.

References: Page, "Continuous inspection schemes", Biometrika 1954; Lorden, "Procedures for reacting to a change in
distribution", Annals of Mathematical Statistics 1971.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

TINY = 1e-30  # keeps errors of zero from dividing
MEMORY = 500.0  # rewards that the mean squared error is taken over, about, at most
FIRST = 50  # rewards without which no change is looked for: the mean squared error must be known first


class ChangeTest(NamedTuple):
    """What is known about a change: by surprise, and by each short memory."""

    evidence: jax.Array  # (1 + memories,)
    since: jax.Array  # (1 + memories,) int32: rewards learned when the evidence was last 0
    noise: jax.Array  # () s²
    judged: jax.Array  # () rewards in s²
    seen: jax.Array  # () int32 rewards so far

    @classmethod
    def start(cls, memories: int, seen: jax.Array | int = 0) -> ChangeTest:
        """Nothing is known, after so many rewards."""
        since = jnp.full(1 + memories, seen, jnp.int32)
        return cls(jnp.zeros(1 + memories), since, jnp.float32(0.0), jnp.float32(0.0), jnp.asarray(seen, jnp.int32))

    def observe(self, decided: jax.Array, errors: jax.Array) -> ChangeTest:
        """After one more reward.

        Squared errors of the belief that decides, (), and of the best one of each memory, (1 + memories,), all first.
        """
        seen, judged = self.seen + 1, self.judged + 1
        surprise = decided / (4 * self.noise + TINY) - math.log(2) / 2
        forgetting = (errors[0] - errors[1:]) / (2 * self.noise + TINY)
        gain = jnp.clip(jnp.concatenate([surprise[None], forgetting]), -1.0, 1.0)
        evidence = jnp.where(judged > FIRST, jnp.maximum(self.evidence + gain, 0.0), 0.0)
        # weights m/n as in a contest, so that errors made while learning count less
        noise = self.noise + (decided - self.noise) / jnp.minimum((judged + 1) / 2, MEMORY)
        return ChangeTest(evidence, jnp.where(evidence > 0, self.since, seen), noise, judged, seen)

    def found(self, threshold: jax.Array | float) -> tuple[jax.Array, jax.Array]:
        """Whether there was a change, (), and how many rewards came before it, ()."""
        return self.evidence.max() > threshold, self.since[jnp.argmax(self.evidence)]
