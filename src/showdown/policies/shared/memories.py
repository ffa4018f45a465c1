"""Beliefs of several kinds, each held with several memories, on one pass of features: what a council that forgets has.

A wide design is [last layers of the networks, own, context, 1]. Where actions have features and are few, `own` are the
numbers of [context, 1] in the place of the action that was played and zeros for the others: coefficients of each
action's own beside those that all share, as in hybrid linear models. What a kind of belief sees are some columns of it.

The states of one kind are stacked along a first axis, one for each memory; the first memory is all that is valid.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from showdown.beliefs.belief import BeliefState
from showdown.beliefs.features import Features, FeatureState
from showdown.beliefs.scale_free import ScaleFree
from showdown.policies.shared.refit_beliefs import CHUNK, TOGETHER, inverse_roots
from showdown.posteriors import moments
from showdown.posteriors.moments import Moments
from showdown.protocol.history import History
from showdown.protocol.problem import ProblemSpec

MOST_OWN = 256  # columns of coefficients of each action's own; where there would be more there are none
OWN_SCALE = 0.5  # of their columns: their prior is four times as precise as that of what actions share


class Kind(NamedTuple):
    """A belief, and the columns of the wide design that it sees."""

    name: str
    belief: ScaleFree
    columns: np.ndarray


def own_columns(spec: ProblemSpec) -> int:
    """How many columns of the wide design are about one action each."""
    columns = spec.num_actions * (spec.input_dim + 1)
    return columns if spec.action_dim and columns <= MOST_OWN else 0


def wide_design(
    features: Features, state: FeatureState, spec: ProblemSpec, inputs: jax.Array, actions: jax.Array
) -> jax.Array:
    """The wide designs of inputs (…, input_dim) of these actions (…)."""
    design = features.design(state, inputs)
    if not own_columns(spec):
        return design
    plain = design[..., -(spec.input_dim + 1) :]
    placed = jax.nn.one_hot(actions, spec.num_actions)[..., :, None] * plain[..., None, :] * OWN_SCALE
    own = placed.reshape(*plain.shape[:-1], -1)
    return jnp.concatenate([design[..., : -plain.shape[-1]], own, plain], axis=-1)


def columns_of(features: Features, spec: ProblemSpec, sees: str) -> np.ndarray:
    """The columns of the wide design that a belief sees."""
    plain, own, whole = spec.input_dim + 1, own_columns(spec), features.dim(spec)
    total = whole + own
    learned = np.arange(whole - plain) if sees == "all" else np.arange(0)
    first = total - plain - (own if sees == "own" else 0)
    return np.concatenate([learned, np.arange(first, total)])


def relearned(
    features: Features,
    kinds: list[Kind],
    feature_state: FeatureState,
    states: tuple[BeliefState, ...],
    history: History,
    memories: tuple[int, ...],
) -> tuple[BeliefState, ...]:
    """Every belief from the valid rows of history, and from the last of them alone for each shorter memory."""
    width = features.dim(history.spec) + own_columns(history.spec)
    collected = [
        _moments(features, feature_state, remembered, width)
        for remembered in (history, *(history.last(memory) for memory in memories))
    ]
    parts = [[_some_columns(each, kind.columns) for each in collected] for kind in kinds]
    precisions = [kind.belief.precision(part) for kind, of_kind in zip(kinds, parts, strict=True) for part in of_kind]
    roots = iter(inverse_roots(precisions))
    found = []
    for kind, of_kind, held in zip(kinds, parts, states, strict=True):
        each = [
            kind.belief.relearned(jax.tree.map(lambda leaf, place=place: leaf[place], held), part, next(roots))
            for place, part in enumerate(of_kind)
        ]
        found.append(jax.tree.map(lambda *leaves: jnp.stack(leaves), *each))
    return tuple(found)


def _moments(features: Features, state: FeatureState, history: History, width: int) -> Moments:
    """What regressions need to know of the valid rows."""

    def rows(steps: jax.Array) -> tuple[jax.Array, jax.Array]:
        batch = history.at(steps)
        return wide_design(features, state, history.spec, batch.inputs, batch.actions), batch.rewards

    return moments.collect_by_owner(
        rows,
        history.valid_owners,
        history.count,
        history.spec.num_outputs,
        width,
        chunk=CHUNK,
        together=TOGETHER,
        precision="highest",
    )


def _some_columns(collected: Moments, columns: np.ndarray) -> Moments:
    """The moments of some columns of the design."""
    gram = collected.gram[:, columns[:, None], columns[None, :]]
    return collected._replace(gram=gram, cross=collected.cross[:, columns])
