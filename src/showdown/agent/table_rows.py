"""What a table or a log teaches an agent: contexts, actions and rewards, made by the agent's own encoder.

A row of a table says what every action would have paid, so it teaches all of them, or as many drawn at random as keep
the whole within a limit. A row of a log says it of the one action that was taken. Actions that the agent began with and
that were removed since are left out of both.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from showdown.agent.codec import Codec
from showdown.basics.errors import UsageError
from showdown.data.action_encoder import ActionEncoder
from showdown.data.action_features import find_stems
from showdown.data.bandit_table import BanditTable, as_bandit_table
from showdown.data.choose_columns import find_column
from showdown.data.column_values import categories, numbers_of
from showdown.data.encoder import Encoder, HasTable
from showdown.data.in_memory import as_frame
from showdown.data.payoffs import classes_of
from showdown.data.read_table import read_table

MOST = 100_000  # rewards that one table teaches, and the last rows of a longer one
OF_A_TABLE = ("reward_matrix", "costs", "ignore", "categorical", "keep", "features", "payoff")


def frame_of(data: Any) -> pd.DataFrame:
    """A table in a file or in memory."""
    return read_table(data).table if isinstance(data, str | os.PathLike) else as_frame(data)


class TableRows(NamedTuple):
    inputs: np.ndarray  # (rewards, input_dim)
    slots: np.ndarray  # (rewards,) int32
    rewards: np.ndarray  # (rewards,) float32


def of_problem(codec: Codec, problem: HasTable) -> TableRows:
    """What the table teaches that the agent's encoder was made of."""
    found, encoder = problem.bandit_table(), _encoder(codec)
    if found is None or Encoder.of(found) != encoder:
        raise UsageError("the problem is not made of the agent's own table: give the rows of the other table instead")
    contexts = encoder.standardise(found.contexts)
    features = None
    if encoder.of_actions is not None and found.features is not None:
        features = encoder.of_actions.of_values(found.features.values, found.actions)
    return _taught(codec, found, contexts[-MOST:], None if features is None else features[-MOST:])


def of_table(codec: Codec, frame: pd.DataFrame, label: str, rewards: str, options: dict[str, Any]) -> TableRows:
    """What a table with a label, or with a reward column for each action, teaches."""
    encoder = _encoder(codec)
    unknown = [name for name in options if name not in OF_A_TABLE]
    if unknown:
        raise UsageError(f"a table to learn from takes no {unknown[0]!r}; it takes {', '.join(OF_A_TABLE)}")
    names = [str(name) for name in frame.columns]
    found = as_bandit_table(frame, label=label, rewards=rewards, **options)
    if label:
        labelled = classes_of(frame[find_column(label, names)])[0] >= 0
        frame = frame[labelled].reset_index(drop=True)
    frame, of_actions, features = frame.iloc[-MOST:], encoder.of_actions, None
    if of_actions is not None:
        features = of_actions.encode_table(frame, find_stems(names, found.actions), found.actions)
    return _taught(codec, found, codec.contexts(frame), features)


def _taught(codec: Codec, found: BanditTable, contexts: np.ndarray, features: np.ndarray | None) -> TableRows:
    """The rewards that the last rows of a table tell, row by row."""
    slots = _slots(codec, found.actions, codec.roster.slot)
    still = np.flatnonzero(slots >= 0)
    if not len(still):
        raise UsageError("every action of the table was removed from the agent")
    which = still[_actions_of_each_row(len(contexts), len(still))]
    inputs = np.repeat(contexts, which.shape[1], axis=0)
    if features is not None:
        picked = np.take_along_axis(features, which[:, :, None], axis=1)
        inputs = np.concatenate([inputs, picked.reshape(len(inputs), -1)], axis=1)
    paid = found.payoffs[found.labels[-len(contexts) :, None], which]
    each = slots[which.ravel()] if codec.has_slots else np.zeros(which.size, np.int32)
    return TableRows(inputs.astype(np.float32), each, paid.ravel().astype(np.float32))


def _slots(codec: Codec, names: Sequence[str], slot_of: Callable[[str], int]) -> np.ndarray:
    """The slot of each action; −1 where the agent began with it and it was removed since."""
    gone = set(_encoder(codec).action_names) - set(codec.roster)
    return np.array([-1 if name in gone else slot_of(name) for name in names], np.int32)


def _actions_of_each_row(rows: int, actions: int) -> np.ndarray:
    """Which actions each row teaches, (rows, some): all, or as many at random as are within the limit."""
    some = min(actions, max(1, MOST // max(1, rows)))
    if some == actions:
        return np.tile(np.arange(actions), (rows, 1))
    return np.random.default_rng(0).random((rows, actions)).argsort(axis=1)[:, :some]


def of_log(codec: Codec, frame: pd.DataFrame, action: str, reward: str) -> TableRows:
    """What a log of decisions teaches, from rows that have a reward and an action that is not one of those removed."""
    encoder, names = _encoder(codec), [str(name) for name in frame.columns]
    codes, taken = categories(frame[find_column(action, names)])
    paid = numbers_of(frame[find_column(reward, names)])
    if paid is None:
        raise UsageError(f"the reward column {reward!r} does not hold numbers")
    slots = _slots(codec, taken, codec.roster.slot if codec.has_slots else lambda name: 0)  # shared: of new ones too
    whole = (codes >= 0) & np.isfinite(paid)
    if not whole.any():
        raise UsageError(f"no row of the log has both an action in {action!r} and a reward in {reward!r}")
    whole[whole] = slots[codes[whole]] >= 0
    if not whole.any():
        raise UsageError("every action of the log was removed from the agent")
    frame, codes, paid = frame[whole].reset_index(drop=True), codes[whole], paid[whole]
    inputs = codec.contexts(frame)
    if encoder.of_actions is not None:
        inputs = np.concatenate([inputs, _features_of_taken(encoder, encoder.of_actions, frame, codes, taken)], axis=1)
    return TableRows(inputs, slots[codes], paid.astype(np.float32))


def _features_of_taken(
    encoder: Encoder, of_actions: ActionEncoder, frame: pd.DataFrame, codes: np.ndarray, taken: Sequence[str]
) -> np.ndarray:
    """The features of each row's action: it has those of all (price.a, price.b), or of the one taken (price)."""
    stems = find_stems([str(name) for name in frame.columns], encoder.action_names)
    if not set(of_actions.columns) <= set(stems) and set(of_actions.columns) <= set(frame.columns):
        rows = frame[list(of_actions.columns)].to_dict("records")
        return np.stack([of_actions.encode(taken[code], row) for code, row in zip(codes, rows, strict=True)])
    places = np.array([encoder.action_of(name) for name in taken])
    features = of_actions.encode_table(frame, stems, encoder.action_names)
    return features[np.arange(len(frame)), places[codes]]


def _encoder(codec: Codec) -> Encoder:
    if codec.encoder is None:
        raise UsageError("an agent without a table's encoder cannot read a table: give numbers to learn_many")
    return codec.encoder
