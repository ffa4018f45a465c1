"""Cholesky factors that several threads of a process may compute at the same time.

On a CPU jaxlib's LAPACK calls (0.10.2: `jax::ParallelBatchMap`) hand the matrices of a batch to XLA's threads and wait
for them, while they occupy such a thread themselves: as many calls at the same time as there are threads wait for ever.
A call for a single matrix waits for nobody, so matrices are factored one after another there.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp


@jax.custom_batching.sequential_vmap
def _of_one(matrix: jax.Array) -> jax.Array:
    return jnp.linalg.cholesky(matrix)


def cholesky(matrices: jax.Array) -> jax.Array:
    """The lower factor of each symmetric matrix, (…, dim, dim); not finite where the matrix is not positive."""
    if jax.default_backend() != "cpu":
        return jnp.linalg.cholesky(matrices)
    of_all = _of_one
    for _ in matrices.shape[:-2]:
        of_all = jax.vmap(of_all)
    return of_all(matrices)
