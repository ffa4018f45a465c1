"""A linear problem whose contexts are correlated: X ~ N(0, AᵀA) for a random A with columns of unit length.

With independent contexts Diag and the exact posterior explore alike (the variance of xᵀβ is the same on average), so
what the paper shows needs correlation. A is drawn anew in every trial; each coordinate has variance 1.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from showdown.config import config
from showdown.problems.linear import Linear, LinearEpisode
from showdown.protocol.keys import role_key
from showdown.protocol.problem import Tables


@config
class MixedLinear(Linear):
    def begin(self, key: jax.Array, tables: Tables) -> LinearEpisode:
        episode = super().begin(key, tables)
        mixing = jax.random.normal(role_key(key, "mixing"), (self.context_dim, self.context_dim))
        mixing /= jnp.linalg.norm(mixing, axis=0)
        return episode._replace(contexts=jnp.matmul(episode.contexts, mixing, precision="highest"))
