"""What problems over a table of labelled rows share: a trial is a random order of the rows, and nothing is copied.

Rows may also hold features of each action. What an action is called is then a feature as well, as it is the same action
in every row: without it a policy could not learn that one brand is preferred at equal prices.

The table lives once on the device. An episode holds row indices and, where contexts are standardised, the mean and
scale of each column over the rows of that trial (zero scale counts as 1), as the original samplers did.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from showdown.basics.errors import UsageError
from showdown.protocol.problem import MOST_NAMED, Problem, ProblemSpec, Round


class LabelledTables(NamedTuple):
    contexts: jax.Array | np.ndarray  # (rows, context_dim) float32
    labels: jax.Array | np.ndarray  # (rows,) int32 class of each row
    payoffs: (
        jax.Array | np.ndarray
    )  # (classes, num_actions) float32 reward of an action for a class; the identity for plain labels
    features: Any = None  # (rows, num_actions, features) float32 of each action; None: actions have none


def classification_tables(contexts: np.ndarray, labels: np.ndarray, num_classes: int) -> LabelledTables:
    """One action per class; the right one pays 1, the others 0."""
    return LabelledTables(
        np.asarray(contexts, np.float32), np.asarray(labels, np.int32), np.eye(num_classes, dtype=np.float32)
    )


class RowsEpisode(NamedTuple):
    order: jax.Array  # (horizon,) int32 row of each step
    shift: jax.Array  # (context_dim,)
    scale: jax.Array  # (context_dim,)
    feature_scaling: Any = None  # shift and scale of each feature of an action; None: actions have none


def check_horizon(horizon: int, rows: int) -> None:
    if horizon > rows:
        raise UsageError(f"the horizon of {horizon} steps is longer than the {rows} rows there are to play")


def shuffled(key: jax.Array, rows: int, horizon: int) -> jax.Array:
    """The first `horizon` rows of a random order of all of them."""
    # Rounds of a stable sort by random bits, with the position packed into the low bits: XLA sorts one array of
    # integers several times as fast as `jax.random.permutation` sorts pairs. A row gets at least 48 random bits in all.
    low_bits = max(1, (rows - 1).bit_length())
    positions = jnp.arange(rows, dtype=jnp.uint32)
    order = positions
    for round_key in jax.random.split(key, -(-48 // (32 - low_bits))):
        tags = jax.random.bits(round_key, (rows,)) >> low_bits << low_bits
        order = order[jnp.sort(tags | positions) & ((1 << low_bits) - 1)]
    return order[:horizon].astype(jnp.int32)


def column_scaling(contexts: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Mean and population standard deviation of every column; a constant column gets scale 1."""
    shift = contexts.mean(axis=0)
    scale = jnp.sqrt(jnp.mean((contexts - shift) ** 2, axis=0))
    return shift, jnp.where(scale > 0, scale, 1.0)


def _of_actions(tables: Any) -> Any:
    """The features of each action in every row; None where there are none, or where tables are of another form."""
    return getattr(tables, "features", None)


class LabelledRows(Problem):
    """Rows in random order without replacement; the reward depends on the row's class and the action."""

    standardised: ClassVar[bool] = True

    @property
    def has_labels(self) -> bool:
        return True

    def spec(self, tables: LabelledTables) -> ProblemSpec:
        check_horizon(self.horizon, tables.contexts.shape[0])
        num_actions = tables.payoffs.shape[1]
        if tables.features is None:
            return ProblemSpec(tables.contexts.shape[1], num_actions)
        named = num_actions if num_actions <= MOST_NAMED else 0
        return ProblemSpec(tables.contexts.shape[1], num_actions, tables.features.shape[-1] + named)

    def longest(self, tables: LabelledTables) -> int:
        return tables.labels.shape[0]

    def begin(self, key: jax.Array, tables: LabelledTables) -> RowsEpisode:
        return self.in_order(shuffled(key, tables.labels.shape[0], self.horizon), tables)

    def in_order(self, order: jax.Array, tables: LabelledTables) -> RowsEpisode:
        """The episode that plays these rows, (horizon,), one after the other."""
        if not self.standardised:
            context_dim = self.spec(tables).context_dim
            return RowsEpisode(order, jnp.zeros(context_dim), jnp.ones(context_dim))
        scaling = None
        offered = _of_actions(tables)
        if offered is not None:
            scaling = column_scaling(offered[order].reshape(-1, offered.shape[-1]))
        return RowsEpisode(order, *column_scaling(self.raw_contexts(order, tables)), scaling)

    def raw_contexts(self, rows: jax.Array, tables: LabelledTables) -> jax.Array:
        """The contexts of some rows as they are in the table, not yet standardised."""
        return tables.contexts[rows]

    def context(self, step: jax.Array, episode: RowsEpisode, tables: LabelledTables) -> jax.Array:
        return (self.raw_contexts(episode.order[step], tables) - episode.shift) / episode.scale

    def action_features(self, step: jax.Array, episode: RowsEpisode, tables: LabelledTables) -> jax.Array | None:
        offered = _of_actions(tables)
        if offered is None:
            return None
        shift, scale = episode.feature_scaling
        features = (offered[episode.order[step]] - shift) / scale
        num_actions = features.shape[0]
        return jnp.concatenate([features, jnp.eye(num_actions)], axis=-1) if num_actions <= MOST_NAMED else features

    def round(self, step: jax.Array, episode: RowsEpisode, tables: LabelledTables) -> Round:
        rewards = tables.payoffs[tables.labels[episode.order[step]]]
        features = self.action_features(step, episode, tables)
        return Round(self.context(step, episode, tables), rewards, rewards, features=features)
