"""Bayesian linear regression from all data at once: sufficient statistics in chunks, one factorisation each.

For regression k with design rows Z and targets y: G = ZᵀZ, f = Zᵀy, P = G + λI, and then Σ = P⁻¹ = S Sᵀ, μ = Σ f,
a = a0 + n/2, b = b0 + (yᵀy − μᵀPμ)/2: the same posterior as absorbing rows one by one (see `regression.py`).

P is scaled to unit diagonal before it is factored, and where float32 cannot factor it, its diagonal is raised, first by
a millionth. S comes from the inverse of the triangular factor (`triangular.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.posteriors.cholesky import cholesky, inverse_of_lower
from showdown.posteriors.regression import NoiseBelief, Regressions
from showdown.posteriors.training import Precision

FIRST_JITTER, MOST_JITTER = 1e-6, 1.0  # relative to a unit diagonal; each try is ten times the last


class Moments(NamedTuple):
    """What a bank of regressions needs to know of its data."""

    gram: jax.Array  # (num, dim, dim) G
    cross: jax.Array  # (num, dim) f
    square: jax.Array  # (num,) yᵀy
    rows: jax.Array  # (num,) n


def collect(
    rows: Callable[[jax.Array], tuple[jax.Array, jax.Array, jax.Array]],
    count: jax.Array,
    num: int,
    dim: int,
    *,
    chunk: int,
    precision: Precision,
) -> Moments:
    """The moments of rows 0 … count−1, `chunk` rows at a time; the number of chunks follows `count`.

    `rows` maps row numbers to designs (size, dim), the regression each row belongs to, and targets (size,).
    """

    def add(index: jax.Array, moments: Moments) -> Moments:
        numbers = index * chunk + jnp.arange(chunk, dtype=jnp.int32)
        design, which, target = rows(jnp.minimum(numbers, count - 1))
        member = jax.nn.one_hot(jnp.where(numbers < count, which, num), num)  # (chunk, num), zero beyond the end
        split = member[:, :, None] * design[:, None, :]  # (chunk, num, dim)
        return Moments(
            gram=moments.gram + jnp.einsum("cki,cj->kij", split, design, precision=precision),
            cross=moments.cross + jnp.einsum("cki,c->ki", split, target, precision=precision),
            square=moments.square + jnp.einsum("ck,c->k", member, target**2, precision=precision),
            rows=moments.rows + member.sum(axis=0),
        )

    start = Moments(jnp.zeros((num, dim, dim)), jnp.zeros((num, dim)), jnp.zeros(num), jnp.zeros(num))
    return jax.lax.fori_loop(0, (count + chunk - 1) // chunk, add, start)


def collect_by_owner(
    rows: Callable[[jax.Array], tuple[jax.Array, jax.Array]],
    which: jax.Array,
    count: jax.Array,
    num: int,
    dim: int,
    *,
    chunk: int,
    together: int,
    precision: Precision,
) -> Moments:
    """As `collect`, where it is known beforehand that row i belongs to regression `which[i]`, (capacity,).

    A chunk holds rows of one regression only, so a row costs 2·dim² operations however many regressions there are.
    `together` chunks are taken at a time: small chunks leave few places empty, and a GPU waits for the host once per
    pass of this loop, whose length only the data know.
    """
    numbers, owners, sizes = chunks_by_owner(which, count, num, chunk, together)

    def add(index: jax.Array, moments: Moments) -> Moments:
        steps, owner = (jax.lax.dynamic_slice_in_dim(each, index * together, together) for each in (numbers, owners))
        design, target = rows(jnp.maximum(steps, 0).ravel())
        design = jnp.where((steps >= 0)[..., None], design.reshape(together, chunk, dim), 0.0)
        target = jnp.where(steps >= 0, target.reshape(together, chunk), 0.0)
        member = jax.nn.one_hot(owner, num)  # (together, num), zero for a chunk not used
        gram = jnp.einsum("gci,gcj->gij", design, design, precision=precision)
        cross = jnp.einsum("gc,gci->gi", target, design, precision=precision)
        return moments._replace(
            gram=moments.gram + jnp.einsum("gk,gij->kij", member, gram, precision="highest"),
            cross=moments.cross + jnp.einsum("gk,gi->ki", member, cross, precision="highest"),
            square=moments.square + jnp.einsum("gk,gc->k", member, target**2, precision="highest"),
        )

    start = Moments(jnp.zeros((num, dim, dim)), jnp.zeros((num, dim)), jnp.zeros(num), sizes.astype(jnp.float32))
    used = count // chunk + num
    return jax.lax.fori_loop(0, (used + together - 1) // together, add, start)


def chunks_by_owner(
    which: jax.Array, count: jax.Array, num: int, chunk: int, together: int = 1
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Rows 0 … count−1 dealt into chunks that each hold rows of one owner; rows of an owner `num` are left out.

    Returns row numbers (chunks, chunk), −1 where a chunk is not full; each chunk's owner, `num` for one not used; and
    how many rows each owner has. At most count // chunk + num chunks are used, and those come first; there are a
    multiple of `together` in all.
    """
    capacity = which.shape[0]
    numbers = jnp.arange(capacity, dtype=jnp.int32)
    played = (numbers < count) & (which < num)
    member = jax.nn.one_hot(jnp.where(played, which, num), num, dtype=jnp.int32)  # (capacity, num)
    running = jnp.cumsum(member, axis=0)
    rank = jnp.sum(running * member, axis=1) - 1  # of a row among its owner's
    sizes = running[-1]
    last = jnp.cumsum((sizes + chunk - 1) // chunk)  # one past each owner's last chunk
    first = jnp.concatenate([jnp.zeros(1, last.dtype), last[:-1]])
    chunks = -(-(capacity // chunk + num) // together) * together
    place = jnp.where(played, first[which] * chunk + rank, chunks * chunk)
    dealt = jnp.full(chunks * chunk, -1, jnp.int32).at[place].set(numbers, mode="drop")
    owners = jnp.sum(jnp.arange(chunks, dtype=last.dtype)[:, None] >= last, axis=1)  # a search would be a loop
    return dealt.reshape(chunks, chunk), owners, sizes


def posterior(
    moments: Moments,
    prior_precision: jax.Array | float,
    noise_shape: jax.Array | float,
    noise_rate: jax.Array | float,
    root: jax.Array | None = None,
) -> tuple[Regressions, NoiseBelief]:
    """The regressions and the beliefs about their noise, given all the data in `moments`.

    The prior precision is λ, or one λ for each regression, (num,), or a matrix for each, (num, dim, dim).
    `root` is the inverse root of the precision matrices, where the caller has it already.
    """
    precision_matrix = moments.gram + prior_matrix(prior_precision, moments.gram.shape[-1])  # P
    if root is None:
        root = inverse_root(precision_matrix)
    whitened = jnp.einsum("kij,ki->kj", root, moments.cross, precision="highest")
    mean = jnp.einsum("kij,kj->ki", root, whitened, precision="highest")
    # yᵀy − 2μᵀf + μᵀPμ equals yᵀy − μᵀPμ at the exact mean, and errs only to second order in that of the computed one
    fitted = jnp.einsum("ki,ki->k", mean, moments.cross, precision="highest")
    energy = jnp.einsum("ki,kij,kj->k", mean, precision_matrix, mean, precision="highest")
    residual = jnp.maximum(moments.square - 2 * fitted + energy, 0.0)
    noise = NoiseBelief(noise_shape + moments.rows / 2, noise_rate + residual / 2)
    return Regressions(mean, jnp.swapaxes(root, -2, -1)), noise


def prior_matrix(prior_precision: jax.Array | float, dim: int) -> jax.Array:
    """λI of λ; a matrix for each regression where there are several λ, or matrices already."""
    if jnp.ndim(prior_precision) == 3:
        return jnp.asarray(prior_precision)
    return (
        jnp.asarray(prior_precision)[..., None, None] * jnp.eye(dim)
        if jnp.ndim(prior_precision)
        else (prior_precision * jnp.eye(dim))
    )


def inverse_root(matrices: jax.Array) -> jax.Array:
    """S with S Sᵀ = P⁻¹ for each symmetric positive matrix P, (num, dim, dim)."""
    scale = jax.lax.rsqrt(jnp.diagonal(matrices, axis1=-2, axis2=-1))  # (num, dim)
    unit = matrices * scale[:, :, None] * scale[:, None, :]
    identity = jnp.eye(matrices.shape[-1])

    def failed(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
        jitter, factor = carry
        return ~jnp.isfinite(factor).all() & (jitter < MOST_JITTER)

    def retry(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        jitter = jnp.maximum(10 * carry[0], FIRST_JITTER)
        redone = cholesky(unit + jitter * identity)
        bad = ~jnp.isfinite(carry[1]).all(axis=(-2, -1), keepdims=True)
        return jitter, jnp.where(bad, redone, carry[1])

    _, factor = jax.lax.while_loop(failed, retry, (jnp.float32(0.0), cholesky(unit)))
    return scale[:, :, None] * jnp.swapaxes(inverse_of_lower(factor), -2, -1)
