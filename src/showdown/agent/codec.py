"""What callers hand to an agent, as the numbers that it works with, and its answers in the caller's words.

Each mistake of a caller is one sentence, and nothing else happens.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from showdown.agent.offer import Offer, in_order, in_slots, listed, narrowed
from showdown.agent.roster import Roster
from showdown.basics.errors import UsageError
from showdown.basics.text import wrapped
from showdown.config.float32 import LARGEST, shown
from showdown.data.encode_counts import EncodeCounts
from showdown.data.encoder import Encoder
from showdown.protocol.problem import ProblemSpec

LARGEST_IN_CONTEXT = 1e18  # beliefs compute squares of contexts, which a float32 must hold


class Codec:
    """Contexts are rows of the table and actions have names where there is an encoder; else both are numbers."""

    def __init__(self, spec: ProblemSpec, encoder: Encoder | None, roster: Roster, *, has_slots: bool) -> None:
        self.spec, self.encoder, self.roster, self.has_slots = spec, encoder, roster, has_slots
        self.counts = EncodeCounts()  # unusual values in rows; saved with the agent

    # Contexts

    def context(self, context: Any) -> np.ndarray:
        if self.encoder is None:
            return context_vector(context, self.spec.context_dim)
        encoded = self.encoder.encode({} if context is None else context, self.counts)
        if encoded.ndim == 2 and len(encoded) == 1:  # a frame of one row
            encoded = encoded[0]
        if encoded.ndim != 1:
            raise UsageError(f"one decision is about one row, not {len(encoded)}; choose_many takes many")
        return _finite(encoded)

    def contexts(self, contexts: Any) -> np.ndarray:
        if self.encoder is None:
            if isinstance(contexts, list | tuple) and not contexts:
                return np.zeros((0, self.spec.context_dim), np.float32)
            return context_matrix(contexts, self.spec.context_dim)
        encoded = self.encoder.encode(contexts, self.counts)
        if encoded.ndim != 2:
            raise UsageError("many rows are a DataFrame, a 2-D array or a list of rows")
        return _finite(encoded)

    # Decisions

    def offer(self, available: Iterable[Any] | None, actions: Any) -> Offer:
        """What a decision is among: the agent's actions, or those of the request with their features."""
        if not self.spec.action_dim:
            if actions is not None:
                raise UsageError("the actions of this agent have no features: say which are open by available=[…]")
            made = Offer(self.roster.mask)
        elif actions is None:
            raise UsageError("each decision needs its actions with their features: actions={name: features, …}")
        else:
            names, features = listed(actions)
            rows = self._action_features(names, features)
            made = in_slots(self.roster, names, rows, self.spec) if self.has_slots else in_order(names, rows, self.spec)
        return made if available is None else narrowed(made, available, self.roster)

    def _action_features(self, names: Sequence[Any], features: Sequence[Any]) -> np.ndarray:
        """The features of each action, (actions, action_dim)."""
        of_actions = None if self.encoder is None else self.encoder.of_actions
        if of_actions is not None:
            each = zip(names, features, strict=True)
            return _finite(np.stack([of_actions.encode(name, given, self.counts) for name, given in each]))
        return feature_matrix(names, features, self.spec.action_dim)

    def name(self, action: int, offer: Offer) -> Any:
        """An action of an offer as the caller knows it."""
        return self.roster.names[action] if offer.names is None else offer.names[action]

    def names(self, offer: Offer) -> list[Any]:
        """The names of an offer's places, as far as these are filled; None where a slot has no action."""
        return list(self.roster.names if offer.names is None else offer.names)

    def slot(self, action: int) -> int:
        """What is learned of an action belongs to this slot: always 0 where all actions share it."""
        return action if self.has_slots else 0

    # Outcomes

    def outcome(self, context: Any, action: Any, features: Any) -> tuple[np.ndarray, int]:
        """What is learned from a reward: the context, with the features of the action, and its slot."""
        vector = self.context(context)
        if not self.spec.action_dim:
            if features is not None:
                raise UsageError("the actions of this agent have no features")
            return vector, self.roster.slot(action)
        if features is None:
            raise UsageError("a reward of an action with features needs the features that it had")
        inputs = np.concatenate([vector, self._action_features([action], [features])[0]])
        return inputs, self.roster.slot(action) if self.has_slots else 0

    def outcomes(self, contexts: Any, actions: Any, features: Any) -> tuple[np.ndarray, np.ndarray]:
        """The same of many rewards: (rows, input_dim) and (rows,)."""
        matrix, listed_actions = self.contexts(contexts), list(actions)
        if len(listed_actions) != len(matrix):
            raise UsageError(f"there are {len(matrix)} contexts and {len(listed_actions)} actions")
        slots = np.array([self.roster.slot(action) if self.has_slots else 0 for action in listed_actions], np.int32)
        if not self.spec.action_dim:
            if features is not None:
                raise UsageError("the actions of this agent have no features")
            return matrix, slots
        if features is None or len(features) != len(matrix):
            raise UsageError("each row needs the features of its action: features=[…], as many as there are contexts")
        if not len(matrix):
            return np.zeros((0, self.spec.input_dim), np.float32), slots
        return np.concatenate([matrix, self._action_features(listed_actions, list(features))], axis=1), slots


def _finite(encoded: np.ndarray) -> np.ndarray:
    if not np.isfinite(encoded).all() or (encoded.size and np.abs(encoded).max() > LARGEST_IN_CONTEXT):
        raise UsageError("the row holds a number too large for the scale of its column")
    return encoded.astype(np.float32)


def spec_of(
    context_dim: int | None, num_actions: int | None, action_dim: int | None, encoder: Encoder | None
) -> ProblemSpec:
    """The sizes of an agent, as they were given or as its encoder has them."""
    if encoder is not None:
        spec = ProblemSpec(encoder.context_dim, len(encoder.action_names), encoder.action_dim)
        given = (context_dim, num_actions, action_dim)
        if any(size not in (None, own) for size, own in zip(given, spec, strict=True)):
            features = f" and {spec.action_dim} of each action" if spec.action_dim else ""
            raise UsageError(f"the encoder makes {spec.context_dim} features{features}, of {spec.num_actions} actions")
        return spec
    if context_dim is None or num_actions is None:
        raise UsageError("an agent needs context_dim and num_actions, or an encoder that knows them")
    action_dim = 0 if action_dim is None else action_dim
    context_dim, num_actions, action_dim = map(_whole, (context_dim, num_actions, action_dim))
    if action_dim < 0:
        raise UsageError(f"action_dim is how many features an action has, not {action_dim}")
    if context_dim < 1 or num_actions < 2:
        raise UsageError(f"an agent needs a context and a choice, not {context_dim} features, {num_actions} actions")
    return ProblemSpec(context_dim, num_actions, action_dim)


def _whole(size: Any) -> int:
    try:
        return operator.index(size)
    except TypeError:
        raise UsageError(f"context_dim, num_actions and action_dim are whole numbers, not {size!r}") from None


def context_vector(context: Any, dim: int) -> np.ndarray:
    """A context as (dim,) float32."""
    array = _numbers(context)
    if array.shape != (dim,):
        raise UsageError(f"a context has {dim} numbers here, not the shape {array.shape}")
    return _not_too_large(as_float32("a context", array))


def context_matrix(contexts: Any, dim: int) -> np.ndarray:
    """Contexts as (rows, dim) float32."""
    array = _numbers(contexts)
    if array.ndim != 2 or array.shape[1] != dim:
        raise UsageError(f"contexts are rows of {dim} numbers here, not the shape {array.shape}")
    return _not_too_large(as_float32("a context", array))


def feature_matrix(names: Sequence[Any], features: Sequence[Any], dim: int) -> np.ndarray:
    """The features of several actions as (actions, dim) float32."""
    try:
        return context_matrix(features, dim)
    except UsageError:
        for name, each in zip(names, features, strict=True):  # say which action it is
            try:
                context_vector(each, dim)
            except UsageError as error:
                raise UsageError(f"the features of the action {str(name)[:60]!r}: {error}") from None
        raise


def _not_too_large(array: np.ndarray) -> np.ndarray:
    if array.size and np.abs(array).max() > LARGEST_IN_CONTEXT:
        raise UsageError(
            f"a context must hold numbers of at most {LARGEST_IN_CONTEXT:g} in size: their squares are needed"
        )
    return array


def _numbers(context: Any) -> np.ndarray:
    if isinstance(context, Mapping):
        raise UsageError("a context given by column names needs an agent with an encoder: Agent.for_table")
    try:
        array = np.asarray(context)
    except ValueError:  # rows of different lengths
        raise UsageError("a context must hold numbers, as many in each row") from None
    if array.dtype.kind not in "iuf":
        kinds = {"b": "booleans", "U": "text", "S": "text", "O": "objects", "c": "complex numbers"}
        what = "None" if context is None else kinds.get(array.dtype.kind, str(array.dtype))
        raise UsageError(f"a context must hold numbers, not {what}")
    return array


def as_float32(what: str, array: np.ndarray) -> np.ndarray:
    if not np.isfinite(array).all():
        raise UsageError(f"{what} must hold finite numbers")
    if array.dtype != np.float32 and array.size and max(array.max(), -array.min()) > LARGEST:
        raise UsageError(f"{what} must hold numbers of at most {LARGEST:.3g} in size, the largest float32")
    return array.astype(np.float32)


def reward_number(reward: Any) -> np.float32:
    if isinstance(reward, bool | np.bool_) or not isinstance(reward, int | float | np.integer | np.floating):
        raise UsageError(f"a reward must be a number, not {shown(reward)}")
    if not -LARGEST <= reward <= LARGEST:
        if reward != reward or abs(reward) == float("inf"):
            raise UsageError(f"a reward must be a finite number, not {reward}")
        raise UsageError(f"a reward must be at most {LARGEST:.3g} in size, the largest float32, not {shown(reward)}")
    return np.float32(reward)


def reward_vector(rewards: Any, rows: int) -> np.ndarray:
    array = np.asarray(rewards)
    if array.dtype.kind not in "iuf":
        raise UsageError(f"rewards must be numbers, not {array.dtype}")
    if array.shape != (rows,):
        raise UsageError(f"there are {rows} contexts and rewards of the shape {array.shape}")
    return as_float32("rewards", array)


def described(agent: Any) -> str:
    """What an agent prints as: its policy, its sizes and what it has done."""
    actions = agent.actions
    names = "" if actions == list(range(len(actions))) else f" ({', '.join(map(str, actions))})"
    sizes = f"{agent.spec.context_dim} numbers, {len(actions)} actions{names}"
    done = f"{agent.decisions:,} decisions, {agent.observations:,} rewards learned"
    return wrapped([f"<Agent of {agent.policy!r}: {sizes}; {done}>"], most=5)
