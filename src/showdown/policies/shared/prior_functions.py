"""Random functions that are added to what networks learn, and never trained (Osband et al. 2018)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.posteriors import network
from showdown.posteriors.network import Network
from showdown.protocol.history import History

MEASURED = 100  # first rows on which prior functions are brought to mean 0 and variance 1


class Priors(NamedTuple):
    """The prior functions of all members, and the affine change that brings them to scale."""

    networks: Network  # every array with a leading axis of members
    mean: jax.Array  # (members,) over rows and outputs
    deviation: jax.Array  # (members,)
    rows: jax.Array  # () on which they were measured
    scale: jax.Array  # () what contexts were divided by then; 0 before

    @classmethod
    def start(cls, networks: Network, members: int) -> Priors:
        return cls(networks, jnp.zeros(members), jnp.ones(members), jnp.int32(0), jnp.float32(0.0))

    def of(self, inputs: jax.Array) -> jax.Array:
        """Every member's prior function, (members, …, num_outputs), of inputs (…, dim)."""
        raw = jax.vmap(lambda each: network.predict(each, inputs))(self.networks)
        shape = (-1, *(1,) * (raw.ndim - 1))
        return (raw - self.mean.reshape(shape)) / self.deviation.reshape(shape)

    def measured(self, inputs: jax.Array, known: jax.Array, count: jax.Array, scale: jax.Array | float = 1.0) -> Priors:
        """Brought to mean 0 and variance 1 on the first rows, (MEASURED, dim), of which some are `known`.

        Later rows change nothing, so that the functions stand still; `scale` is what contexts were divided by.
        """
        raw = jax.vmap(lambda each: network.predict(each, inputs))(self.networks)  # (members, rows, outputs)
        rows = known.astype(jnp.float32)
        weight = rows[None, :, None] / (jnp.maximum(rows.sum(), 1.0) * raw.shape[-1])
        mean = jnp.sum(weight * raw, axis=(1, 2))
        variance = jnp.sum(weight * (raw - mean[:, None, None]) ** 2, axis=(1, 2))
        deviation = jnp.where(variance > 0, jnp.sqrt(variance), 1.0)
        anew = (self.rows == 0) | (count <= MEASURED)
        return Priors(
            self.networks,
            jnp.where(anew, mean, self.mean),
            jnp.where(anew, deviation, self.deviation),
            jnp.where(anew, jnp.minimum(count, MEASURED), self.rows),
            jnp.where(anew, scale, self.scale),
        )


def first_rows(history: History) -> tuple[jax.Array, jax.Array]:
    """The inputs of the first rows, (MEASURED, input_dim), and which of them are known."""
    rows = jnp.arange(MEASURED, dtype=jnp.int32)
    return history.at(jnp.minimum(rows, history.actions.shape[0] - 1)).inputs, rows < history.count
