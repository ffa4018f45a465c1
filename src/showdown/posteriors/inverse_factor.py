"""The inverse W = L⁻¹ of the Cholesky factor of a covariance K = L Lᵀ: made once, then grown row by row.

Keeping W instead of L turns every solve into a product: K⁻¹y = Wᵀ(Wy), and −2 Σ ln W_ii is the log determinant. XLA's
triangular solve inside a loop is very slow on CPU, and on a GPU products of matrices are what runs well.

K is factored by halves, [[A, Bᵀ], [B, C]]: W_A of A, the panel P = B W_Aᵀ, W_C of C − P Pᵀ, and −W_C P W_A below the
diagonal. Blocks of at most `BLOCK` rows go to the library's Cholesky, everything else is products.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from showdown.posteriors.cholesky import cholesky, inverse_of_lower

BLOCK = 64  # rows factored by the library's own routine; above this LAPACK starts threads, which on a busy CPU stall
MOST_IN_LOOP = 128  # rows of a half in `_by_equal_halves`, whose two unused products are cheap up to here
FIRST_JITTER, TRIES = 1e-12, 12  # relative to the largest diagonal entry; each try after that ten times the last


def inverse_of_factor(matrix: jax.Array) -> jax.Array:
    """W of a positive definite matrix, (size, size); not finite where the matrix is not positive."""
    size = matrix.shape[-1]
    if size <= BLOCK:
        return inverse_of_lower(cholesky(matrix)[None])[0]
    half = BLOCK * -(-size // (2 * BLOCK))
    if size == 2 * half and half <= MOST_IN_LOOP:
        first, second, panel = _by_equal_halves(matrix, half)
    else:
        first = inverse_of_factor(matrix[:half, :half])
        panel = matrix[half:, :half] @ first.T
        second = inverse_of_factor(matrix[half:, half:] - panel @ panel.T)
    above = jnp.concatenate([first, jnp.zeros((half, size - half), matrix.dtype)], axis=1)
    return jnp.concatenate([above, jnp.concatenate([-second @ (panel @ first), second], axis=1)])


def _by_equal_halves(matrix: jax.Array, half: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """W_A, W_C and P, with one piece of code for both halves: a loop of two passes.

    Compile time grows with the number of blocks in a program, each some 40 kernels; this keeps 6 of the 16 that 1,000
    rows have. The price is two products: the first pass subtracts a panel of zeros, the second makes one for nothing.
    """

    def one_half(panel: jax.Array, block: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        inverse = inverse_of_factor(block - panel @ panel.T)
        panel = below @ inverse.T
        return panel, (inverse, panel)

    below = matrix[half:, :half]
    blocks = jnp.stack([matrix[:half, :half], matrix[half:, half:]])
    _, (inverses, panels) = jax.lax.scan(one_half, jnp.zeros_like(below), blocks)
    return inverses[0], inverses[1], panels[0]


@jax.custom_vjp
def factorise(matrix: jax.Array) -> tuple[jax.Array, jax.Array]:
    """W of `matrix` + jitter·I, and that jitter: zero, or the first that is enough.

    Enough means that no pivot is as small as the rounding errors in it. Where no jitter helps, as with a matrix that is
    not finite, neither is W.
    """
    size = matrix.shape[-1]
    # not the mean: a buffer's empty rows, with ones, would weigh it down
    level = jnp.max(jnp.diagonal(matrix), initial=0.0)
    least = size * jnp.finfo(matrix.dtype).eps * level

    def failed(carry: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
        tries, _, factor = carry
        pivots = 1 / jnp.diagonal(factor) ** 2
        return ~(jnp.isfinite(factor).all() & (pivots > least).all()) & (tries < TRIES)

    def attempt(carry: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        tries, _, _ = carry
        jitter = jnp.where(tries == 0, 0.0, level * FIRST_JITTER * 10.0 ** (tries - 1).astype(matrix.dtype))
        return tries + 1, jitter, inverse_of_factor(matrix + jitter * jnp.eye(size, dtype=matrix.dtype))

    start = jnp.int32(0), jnp.zeros((), matrix.dtype), jnp.full_like(matrix, jnp.nan)
    _, jitter, factor = jax.lax.while_loop(failed, attempt, start)
    return factor, jitter


def _forward(matrix: jax.Array) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
    factor, jitter = factorise(matrix)
    return (factor, jitter), factor


def _backward(factor: jax.Array, slopes: tuple[jax.Array, jax.Array]) -> tuple[jax.Array]:
    """From dW = −Φ(W dK Wᵀ) W, where Φ keeps the lower triangle and half the diagonal."""
    inner = jnp.tril(slopes[0] @ factor.T)
    inner = inner - 0.5 * jnp.diag(jnp.diagonal(inner))
    slope = -factor.T @ inner @ factor
    return (0.5 * (slope + slope.T),)


factorise.defvjp(_forward, _backward)


def new_row(
    factor: jax.Array, index: jax.Array, cross: jax.Array, variance: jax.Array, floor: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Row `index` of W, (size,), when K grows by a row with these covariances `cross` (zero from `index` on).

    `variance` is the new diagonal entry less the `floor` that noise or jitter guarantees: what is left of it after
    conditioning cannot be negative, and is kept from being so by rounding. A floor below the rounding errors is raised
    to them, as `factorise` would; by how much is the second value. Two products with W, no solve.
    """
    projected = factor @ cross
    jitter = jnp.maximum(cross.shape[0] * jnp.finfo(cross.dtype).eps * variance - floor, 0.0)
    pivot = jnp.sqrt(jnp.maximum(variance - projected @ projected, 0.0) + floor + jitter)
    return (-(projected @ factor) / pivot).at[index].set(1 / pivot), jitter


def semidefinite_root(covariance: jax.Array) -> jax.Array:
    """Lower R with R Rᵀ = `covariance`, for a small matrix that may be singular; no library call.

    Where what is left of a variance is nothing but rounding, the column is zero: that value follows from the others.
    """
    size = covariance.shape[-1]
    least = size * jnp.finfo(covariance.dtype).eps * jnp.max(jnp.diagonal(covariance))

    def one_column(index: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        left, root = carry
        pivot = left[index, index]
        column = jnp.where(pivot > least, left[:, index] / jnp.sqrt(jnp.maximum(pivot, least)), 0.0)
        column = jnp.where(jnp.arange(size) < index, 0.0, column)
        return left - jnp.outer(column, column), root.at[:, index].set(column)

    return jax.lax.fori_loop(0, size, one_column, (covariance, jnp.zeros_like(covariance)))[1]
