"""How far float32 may have moved the mean of a recursive regression, in posterior standard deviations.

Every observation rounds each coefficient μ_j to float32: an error of about u|μ_j|, u = 2⁻²³/√3. Later observations
shrink it as they shrink any other error, by s/n for one made at observation s of n. What is left of all n of them has,
in the metric of the posterior (precision Λ, noise σ²), the size

    u √( n/3 · Σ_j μ_j² Λ_jj / σ² ).

It grows as n, as the coefficients and the contexts are large, and as the noise is small. Against float64 it lies
between a third of the worst error, where updates become smaller than the steps of float32 and are lost, and thirty
times that (docs/reliability.md has the table).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

UNIT = 2.0**-23 / 3.0**0.5  # u
NOTICEABLE = 0.25  # standard deviations; less is reported as 0: all is well
WORST = 1e6  # what is reported where no finite number comes out

ROUNDING = "float32 error in standard deviations"  # its name among diagnostics


@jax.jit
def posterior_precisions(root: jax.Array) -> jax.Array:
    """The diagonal of Λ, (dim,), from the root R of the covariance, Λ⁻¹ = RᵀR."""
    return jnp.sum(jnp.linalg.inv(root) ** 2, axis=-1)


def rounding_error(mean: jax.Array, precisions: jax.Array, noise: jax.Array, count: jax.Array) -> jax.Array:
    """The estimate, (); 0 where it is not noticeable. `precisions` are those of unit noise, `noise` its variance."""
    error = UNIT * jnp.sqrt(jnp.maximum(count, 0.0) / 3 * jnp.sum(mean**2 * precisions) / noise)
    error = jnp.where(jnp.isfinite(error), jnp.minimum(error, WORST), WORST)
    return jnp.where(error < NOTICEABLE, 0.0, error)
