"""Whether the world has changed, and since when: those who forget predict better than those who remember.

Page's test (1954) on squared errors. Let d be the squared error of the best belief that remembers all minus that of the
best one with a short memory, and s² the mean squared error of late. Were rewards normal with this variance, d/(2s²)
would be the log of a likelihood ratio: that the short memory is right against that all of it is. Its sum falls as long
as nothing changes, since a short memory knows less. So it is kept at 0 or above, and

    evidence ← max(0, evidence + d/(2s²)),  a change is found where it is above `threshold`,

and took place when the evidence was last 0. If normal rewards never change, this is found wrongly at most once in
e^threshold steps on average (Lorden 1971). One step counts at most 1, so that a single odd reward proves nothing.

References: Page, "Continuous inspection schemes", Biometrika 1954; Lorden, "Procedures for reacting to a change in
distribution", Annals of Mathematical Statistics 1971.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

TINY = 1e-30  # keeps errors of zero from dividing
NOISE_MEMORY = 200.0  # steps that the mean squared error is taken over


class ChangeTest(NamedTuple):
    """What is known about a change, by each short memory."""

    evidence: jax.Array  # (memories,)
    since: jax.Array  # (memories,) int32: rewards learned when the evidence was last 0
    noise: jax.Array  # () s²
    seen: jax.Array  # () int32 rewards so far

    @classmethod
    def start(cls, memories: int) -> ChangeTest:
        return cls(jnp.zeros(memories), jnp.zeros(memories, jnp.int32), jnp.float32(0.0), jnp.int32(0))

    def observe(self, all_remembered: jax.Array, short: jax.Array) -> ChangeTest:
        """After one more reward; squared errors of the best belief with all memory, (), and of each short one."""
        seen = self.seen + 1
        latest = jnp.minimum(all_remembered, short.min())
        noise = self.noise + (latest - self.noise) / jnp.minimum(seen.astype(jnp.float32), NOISE_MEMORY)
        gain = jnp.clip((all_remembered - short) / (2 * noise + TINY), -1.0, 1.0)
        evidence = jnp.maximum(self.evidence + gain, 0.0)
        return ChangeTest(evidence, jnp.where(evidence > 0, self.since, seen), noise, seen)

    def found(self, threshold: jax.Array | float) -> tuple[jax.Array, jax.Array]:
        """Whether there was a change, (), and which memory says it most clearly, ()."""
        return self.evidence.max() > threshold, jnp.argmax(self.evidence)

    def restarted(self, where: jax.Array) -> ChangeTest:
        """With no evidence, where a change was found."""
        return self._replace(
            evidence=jnp.where(where, 0.0, self.evidence), since=jnp.where(where, self.seen, self.since)
        )
