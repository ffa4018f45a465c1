"""Cholesky factors that several threads of a process may compute at the same time.

On a CPU jaxlib's LAPACK calls (0.10.2: `jax::ParallelBatchMap`) hand the matrices of a batch to XLA's threads and wait
for them, while they occupy such a thread themselves: as many calls at the same time as there are threads wait for ever.
A call for a single matrix waits for nobody, so matrices are factored one after another there.

Inverses of triangular matrices by doubling: log₂ dim rounds of batched products.

XLA's triangular solve inside a loop is a hundred times slower on CPU.
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


def inverse_of_lower(factors: jax.Array) -> jax.Array:
    """The inverse of each lower triangular matrix, (num, dim, dim), by doubling.

    From the inverses A⁻¹ and C⁻¹ of two neighbouring diagonal blocks and the block B below the first, the inverse of
    [[A, 0], [B, C]] is [[A⁻¹, 0], [−C⁻¹ B A⁻¹, C⁻¹]]; blocks start at size one and double until they are the matrix.
    """
    num, dim, _ = factors.shape
    full = 1 << (dim - 1).bit_length()
    padded = jnp.tile(jnp.eye(full), (num, 1, 1)).at[:, :dim, :dim].set(factors)
    inverse = (1 / jnp.diagonal(padded, axis1=-2, axis2=-1)).reshape(num, full, 1, 1)
    size = 1
    while size < full:
        pairs = full // (2 * size)
        grid = padded.reshape(num, pairs, 2 * size, pairs, 2 * size)
        below = jnp.diagonal(grid, axis1=1, axis2=3)[:, size:, :size]  # (num, size, size, pairs)
        first, second = inverse[:, 0::2], inverse[:, 1::2]  # (num, pairs, size, size)
        corner = -jnp.einsum("npij,njkp,npkl->npil", second, below, first, precision="highest")
        upper = jnp.concatenate([first, jnp.zeros_like(first)], axis=-1)
        inverse = jnp.concatenate([upper, jnp.concatenate([corner, second], axis=-1)], axis=-2)
        size *= 2
    return inverse[:, 0, :dim, :dim]
