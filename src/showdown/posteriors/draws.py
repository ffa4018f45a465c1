"""Random arrays of several shapes from one call of the generator: far cheaper to compile, and to launch on a GPU."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

Shapes = list[tuple[int, ...]]


def normals(key: jax.Array, shapes: Shapes, leading: tuple[int, ...] = ()) -> list[jax.Array]:
    """One array of independent standard normals per shape, each with the `leading` axes in front."""
    return cut(jax.random.normal(key, (*leading, total(shapes))), shapes)


def normals_like(key: jax.Array, tree: Any) -> Any:
    """A PyTree of the same structure and shapes, filled with independent standard normals."""
    leaves, structure = jax.tree.flatten(tree)
    return jax.tree.unflatten(structure, normals(key, [leaf.shape for leaf in leaves]))


def total(shapes: Shapes) -> int:
    return sum(math.prod(shape) for shape in shapes)


def cut(flat: jax.Array, shapes: Shapes) -> list[jax.Array]:
    """The last axis of `flat`, cut into consecutive arrays of these shapes."""
    pieces, start = [], 0
    for shape in shapes:
        stop = start + math.prod(shape)
        pieces.append(jnp.reshape(flat[..., start:stop], (*flat.shape[:-1], *shape)))
        start = stop
    return pieces
