"""The tangent kernel of a network's hidden layers, and the prior covariance that it gives its last layer.

The gradient of output a with respect to the weights of a hidden layer is the outer product of the layer's inputs h and
the signal d_a that is sent back to it. So the inner product of two gradients needs no gradient: over all layers,

    ψ_a(x)ᵀψ_a(x') = Σ (hᵀh')·(d_aᵀd_a') + e_aᵀe_a' + c_aᵀc_a',

with e_a and c_a the signals to shift and scale (without layer norm there is no c_a, and e_a = d_a).

Regressing ψ_a on the features φ of N contexts, ψ_a ≈ B_a φ, the kernel of the whole network is φᵀ(I + B_aᵀB_a)φ', and
B_aᵀB_a = G⁻¹ Φᵀ K_a Φ G⁻¹ with G = ΦᵀΦ + ridge and K_a the N × N matrix of the inner products above.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.posteriors.moments import inverse_root
from showdown.posteriors.network import Network, normalise, output


class Signals(NamedTuple):
    """What changes of one hidden layer do to the outputs: of its products, its shift and its scale."""

    product: jax.Array  # (units,), or (…, outputs, units) once differentiated
    shift: jax.Array
    scale: jax.Array


def signals(network: Network, inputs: jax.Array) -> tuple[list[jax.Array], list[Signals]]:
    """The inputs of each hidden layer, (rows, width), and the signals sent back to it, (rows, outputs, units)."""

    def run(changes: list[Signals], row: jax.Array) -> tuple[jax.Array, list[jax.Array]]:
        seen = []
        for layer, change in zip(network[:-1], changes, strict=True):
            seen.append(row)
            values = row @ layer.weights + change.product
            if layer.scale is not None:
                values = normalise(values) * (layer.scale + change.scale)
            row = jax.nn.relu(values + layer.bias + change.shift)
        return output(network[-1], row), seen

    none = [Signals(*3 * [jnp.zeros_like(layer.bias)]) for layer in network[:-1]]
    back, seen = jax.vmap(jax.jacrev(run, has_aux=True), in_axes=(None, 0))(none, inputs)
    return seen, back


def hidden_kernel(network: Network, inputs: jax.Array) -> jax.Array:
    """K_a, (outputs, rows, rows): inner products of gradients of each output to all weights below the last layer."""
    total: jax.Array | float = 0.0
    for layer, seen, back in zip(network[:-1], *signals(network, inputs), strict=True):
        of_weights = jnp.einsum("ni,mi->nm", seen, seen, precision="highest")
        if layer.scale is None:  # the signal to the shift is that to the products
            total += (of_weights + 1) * _products(back.product)
        else:
            total += of_weights * _products(back.product)
            total += _products(jnp.concatenate([back.shift, back.scale], axis=-1))
    return jnp.asarray(total)


def _products(signal: jax.Array) -> jax.Array:
    """Inner products of the signals of all pairs of rows, (outputs, rows, rows)."""
    return jnp.einsum("nau,mau->anm", signal, signal, precision="highest")


def last_layer_prior(kernel: jax.Array, features: jax.Array, strength: jax.Array | float, ridge: float) -> jax.Array:
    """(I + strength·B_aᵀB_a)⁻¹ for each output, (outputs, dim, dim), from K_a and Φ, (rows, dim).

    `ridge` is in units of the mean of the diagonal of ΦᵀΦ, which is singular where units are dead.
    """
    identity = jnp.eye(features.shape[-1])
    gram = jnp.einsum("ni,nj->ij", features, features, precision="highest")
    level = ridge * jnp.trace(gram) / len(gram)
    root = inverse_root((gram + jnp.where(level > 0, level, 1.0) * identity)[None])[0]
    solved = jnp.einsum("ni,ij,kj->nk", features, root, root, precision="highest")  # Φ G⁻¹
    spread = jnp.einsum("ni,anm,mj->aij", solved, kernel, solved, precision="highest")
    roots = inverse_root(identity + strength * 0.5 * (spread + jnp.swapaxes(spread, -2, -1)))
    return jnp.einsum("aij,akj->aik", roots, roots, precision="highest")
