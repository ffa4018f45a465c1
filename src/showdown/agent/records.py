"""What the records of a journal say, and back: each is plain data, made of what was decided, learned or changed."""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

import numpy as np

from showdown.agent.decision import Decision
from showdown.agent.offer import Offer

NUMBERS = np.dtype("<f4")  # features, of which a decision may have thousands, are bytes in base64


def decision(made: Decision, context: np.ndarray, offer: Offer, slot: int) -> dict[str, Any]:
    """A decision with all that a log needs: what could be taken, and the features of each action."""
    record: dict[str, Any] = {"decision": made.id, "context": context.tolist(), "action": slot}
    if offer.features is not None:
        count = len(offer.features) if offer.names is None else len(offer.names)
        record |= {"place": made.action, "features": packed(offer.features[:count])}
        if offer.names is not None:
            record["names"] = list(offer.names)
    if offer.available is not None:
        record["available"] = np.flatnonzero(offer.available).tolist()
    return {**record, "propensity": made.propensity}


def chosen(slot: int) -> dict[str, Any]:
    """A decision without an id."""
    return {"decision": None, "action": slot}


def reward(id: str, paid: np.float32) -> dict[str, Any]:
    return {"decision": id, "reward": float(paid)}


def learned(inputs: np.ndarray, slot: int, paid: np.float32) -> dict[str, Any]:
    """What an action paid that others took."""
    return {"context": inputs.tolist(), "action": slot, "reward": float(paid)}


def added(name: Any, slot: int) -> dict[str, Any]:
    return {"added": name, "slot": slot}


def removed(name: Any, slot: int) -> dict[str, Any]:
    return {"removed": name, "slot": slot}


def inputs_of(record: dict[str, Any], action_dim: int) -> np.ndarray:
    """What is learned from when the reward of a decision comes: its context, and the features of what was taken."""
    context = np.array(record["context"], np.float32)
    if not action_dim:
        return context
    return np.concatenate([context, unpacked(record["features"], action_dim)[record["place"]]])


def packed(features: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(features, NUMBERS).tobytes()).decode()


def unpacked(text: str, dim: int) -> np.ndarray:
    """The features of each action, (actions, dim)."""
    return np.frombuffer(base64.b64decode(text, validate=True), NUMBERS).reshape(-1, dim).astype(np.float32)


class Unfolded(NamedTuple):
    """A decision of a journal, with the names and the features of the actions that could be taken."""

    id: str
    context: np.ndarray
    names: list[Any]
    taken: int  # place among the names
    features: np.ndarray | None  # (names, action_dim)
    propensity: float


def rename(names: list[Any], record: dict[str, Any]) -> None:
    """Change the names of the slots as a record says."""
    if "added" in record or "removed" in record:
        names += [None] * (record["slot"] + 1 - len(names))
        names[record["slot"]] = record.get("added")


def unfolded(record: dict[str, Any], names: list[Any], action_dim: int) -> Unfolded | None:
    """The decision of a record; None where it is none that can be judged. `names` are those of the slots by then."""
    if record.get("decision") is None or "propensity" not in record:
        return None
    features = unpacked(record["features"], action_dim) if action_dim else None
    taken = record["place"] if action_dim else record["action"]
    all_names = record.get("names", names)
    open_places = record.get("available", [place for place, name in enumerate(all_names) if name is not None])
    return Unfolded(
        id=record["decision"],
        context=np.array(record["context"], np.float32),
        names=[all_names[place] for place in open_places],
        taken=open_places.index(taken),
        features=None if features is None else features[open_places],
        propensity=record["propensity"],
    )
