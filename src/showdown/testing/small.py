"""Policies made small enough to be checked in seconds."""

from __future__ import annotations

from typing import Any, TypeVar

from showdown.basics.errors import UsageError
from showdown.config import all_fields, override
from showdown.protocol.policy import Policy

P = TypeVar("P", bound=Policy)

# Fields that cost time and change nothing that a promise is about. Only those a policy has are set.
SMALL = {
    "hidden_layers": (4,),
    "training_steps": 2,
    "initial_training_steps": 3,
    "batch_size": 8,
    "refit_every": 6,
    "num_networks": 2,
    "burn_in": 2,
    "distance_samples": 8,
    "num_inducing": 4,
    "max_points": 16,
}


def resized(policy: P, wanted: dict[str, Any]) -> P:
    """The policy with those of the wanted fields that it has; a linear model (no hidden layers) stays one."""
    fields = all_fields(policy)
    return override(policy, {name: value for name, value in wanted.items() if fields.get(name, ()) != ()})


def small(policy: P) -> P:
    """The policy at the sizes of `SMALL`, or as it is where its own checks refuse them."""
    shrunk = resized(policy, SMALL)
    try:
        shrunk.check()
    except UsageError:
        return policy
    return shrunk
