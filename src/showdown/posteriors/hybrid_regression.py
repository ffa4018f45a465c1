"""Regressions that share some coefficients: r = zᵀβ + xᵀθ_a + noise, with β for all actions and θ_a for action a.

Exact, in square-root form, O(dim²) per observation, no factorisation (see `regression.py` for the recursion). Given β,
the actions are independent; and what an observation says of β, with θ_a integrated out, is one more observation of
unit noise, of the part z̃ of z that x does not explain:

    z̃ = z − M_aᵀx,  g = 1 + xᵀΣ_a x,      β is updated with design z̃/√g and target (r − xᵀm_a)/√g.

Here m_a and the columns of M_a are ridge regressions on x of action a's rewards and of its z, which grow by the same
recursion, since they share their root. The joint posterior is that of one regression over all of β, θ_1, …, θ_k:

    value of a:  mean xᵀm_a + z̃ᵀμ,  variance xᵀΣ_a x + z̃ᵀSz̃,  covariance of a and b  z̃_aᵀ S z̃_b.

Reference: Li, Chu, Langford, Schapire, "A Contextual-Bandit Approach to Personalized News Article Recommendation", WWW
2010, algorithm 2, which inverts matrices instead.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.posteriors import regression
from showdown.posteriors.regression import Regressions


class HybridRegressions(NamedTuple):
    shared: Regressions  # one, of β: (1, shared_dim) and (1, shared_dim, shared_dim)
    own: Regressions  # m_a and the roots of Σ_a: (num, own_dim) and (num, own_dim, own_dim)
    explained: jax.Array  # (num, own_dim, shared_dim) M_a
    shared_lost: jax.Array  # what rounding took from the roots so far, as in `absorb_compensated`
    own_lost: jax.Array


class Designs(NamedTuple):
    """What each of several values depends on."""

    shared: jax.Array  # (values, shared_dim) z
    own: jax.Array  # (values, own_dim) x


def prior(
    num: int, shared_dim: int, own_dim: int, shared_precision: jax.Array | float, own_precision: jax.Array | float
) -> HybridRegressions:
    shared, own = (
        regression.prior(1, shared_dim, shared_precision),
        regression.prior(num, own_dim, own_precision),
    )
    empty = jnp.zeros((num, own_dim, shared_dim))
    return HybridRegressions(shared, own, empty, jnp.zeros_like(shared.root), jnp.zeros_like(own.root))


def unexplained(hybrid: HybridRegressions, designs: Designs) -> jax.Array:
    """z̃ of every action, (num, shared_dim)."""
    return designs.shared - jnp.einsum("kij,ki->kj", hybrid.explained, designs.own, precision="highest")


def predict(hybrid: HybridRegressions, designs: Designs) -> jax.Array:
    """The posterior mean of every action's value, (num,)."""
    own = jnp.sum(hybrid.own.mean * designs.own, axis=-1)
    return own + jnp.sum(unexplained(hybrid, designs) * hybrid.shared.mean, axis=-1)


def deviations(hybrid: HybridRegressions, designs: Designs) -> tuple[jax.Array, jax.Array]:
    """Root of xᵀΣ_a x, (num,), and vectors whose squared lengths are z̃ᵀSz̃, (num, shared_dim), under unit noise."""
    own = jnp.einsum("kij,kj->ki", hybrid.own.root, designs.own, precision="highest")
    return jnp.linalg.norm(own, axis=-1), regression.projections(hybrid.shared, unexplained(hybrid, designs))


def absorb(
    hybrid: HybridRegressions, index: jax.Array, shared: jax.Array, own: jax.Array, target: jax.Array
) -> tuple[HybridRegressions, jax.Array]:
    """Add one observation of action `index`, with z = `shared` and x = `own`; also returns the surprise it held."""
    explained, root = hybrid.explained[index], hybrid.own.root[index]
    left = shared - jnp.einsum("ij,i->j", explained, own, precision="highest")  # z̃
    projected = jnp.einsum("ij,j->i", root, own, precision="highest")
    scale = 1 + jnp.sum(projected**2)  # g
    gain = jnp.einsum("ij,i->j", root, projected, precision="highest")
    error = target - regression.predict_at(hybrid.own, index, own)
    whole, shared_lost, surprise = regression.absorb_compensated(
        hybrid.shared, hybrid.shared_lost, jnp.int32(0), left / jnp.sqrt(scale), error / jnp.sqrt(scale)
    )
    each, own_lost, _ = regression.absorb_compensated(hybrid.own, hybrid.own_lost, index, own, target)
    explained = hybrid.explained.at[index].add(jnp.outer(gain, left) / scale)
    return HybridRegressions(whole, each, explained, shared_lost, own_lost), surprise
