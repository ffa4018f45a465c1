"""Refitting features, and rebuilding every belief that sees them from all of history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.beliefs.belief import BeliefState, LinearBelief
from showdown.beliefs.features import Features, FeatureState
from showdown.posteriors import moments
from showdown.posteriors.moments import Moments
from showdown.protocol.history import History

CHUNK = 256  # rows of one action
TOGETHER = 8  # chunks whose designs are held at once


class View(NamedTuple):
    """A belief and what it sees of a design vector: its last `width` numbers."""

    belief: LinearBelief
    width: int

    def of(self, design: jax.Array) -> jax.Array:
        return design[..., -self.width :]


def refit(
    features: Features,
    views: Sequence[View],
    key: jax.Array,
    feature_state: FeatureState,
    states: tuple[BeliefState, ...],
    history: History,
) -> tuple[FeatureState, tuple[BeliefState, ...]]:
    """New features, if they are due, and the beliefs rebuilt on them.

    One pass over history serves all beliefs: the Gram matrix of some columns is a block of that of all.
    """
    widest = max(views, key=lambda view: view.width)

    def redo() -> tuple[FeatureState, tuple[BeliefState, ...]]:
        changed = features.refit(key, feature_state, history)
        collected = moments_of(features, widest.width, changed, history)
        parts = [last_columns(collected, view.width) for view in views]
        roots = inverse_roots([view.belief.precision(part) for view, part in zip(views, parts, strict=True)])
        return changed, tuple(
            view.belief.rebuild(state, part, root)
            for view, state, part, root in zip(views, states, parts, roots, strict=True)
        )

    # `count` is the same for all trials, so this is a real branch, not both sides with a choice between them
    return jax.lax.cond(features.is_due(history), redo, lambda: (feature_state, states))


def moments_of(features: Features, width: int, state: FeatureState, history: History) -> Moments:
    """What regressions need to know of all of history: of the last `width` numbers of its designs."""

    def rows(steps: jax.Array) -> tuple[jax.Array, jax.Array]:
        batch = history.at(steps)
        return features.design(state, batch.inputs)[..., -width:], batch.rewards

    return moments.collect_by_owner(
        rows,
        history.owners,
        history.count,
        history.spec.num_outputs,
        width,
        chunk=CHUNK,
        together=TOGETHER,
        precision="highest",
    )


def inverse_roots(precisions: Sequence[jax.Array | None]) -> list[jax.Array | None]:
    """`moments.inverse_root` of several stacks of matrices in one call; None of None.

    Smaller matrices are padded with an identity in front: two factorisations in one loop have hung XLA on two cores.
    """
    given = [matrix for matrix in precisions if matrix is not None]
    if not given:
        return [None for _ in precisions]
    widths = [matrix.shape[-1] for matrix in given]
    identity = jnp.tile(jnp.eye(max(widths)), (len(given[0]), 1, 1))
    padded = [identity.at[:, -width:, -width:].set(matrix) for width, matrix in zip(widths, given, strict=True)]
    roots = iter(jnp.split(moments.inverse_root(jnp.concatenate(padded)), len(given)))
    return [
        None if matrix is None else next(roots)[:, -matrix.shape[-1] :, -matrix.shape[-1] :] for matrix in precisions
    ]


def last_columns(collected: Moments, width: int) -> Moments:
    """The moments of the last `width` columns of the design."""
    return collected._replace(gram=collected.gram[:, -width:, -width:], cross=collected.cross[:, -width:])
