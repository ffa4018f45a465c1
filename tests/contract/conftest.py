"""Every registered policy, made small: contract tests run over the registry, never over a hand-kept list."""

from __future__ import annotations

from typing import Any

import jax
import pytest

from showdown.config import all_fields, override
from showdown.policies import policies
from showdown.policy import Policy

# Fields that cost time and change nothing a contract speaks of. Only those a policy has are set.
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


def _sized(policy: Policy, wanted: dict[str, Any]) -> Policy:
    """The policy with those of the wanted fields that it has; a linear model stays one."""
    fields = all_fields(policy)
    return override(policy, {name: value for name, value in wanted.items() if fields.get(name, ()) != ()})


@pytest.fixture(name="sized")
def give_sized():
    return _sized


def small(policy: Policy) -> Policy:
    return _sized(policy, SMALL)


def _by_structure() -> list:
    """Presets of one structure share compiled programs, so one worker takes them all."""
    structures: dict[str, int] = {}
    params = []
    for name in policies.names():
        group = structures.setdefault(str(jax.tree.structure(small(policies.get(name)))), len(structures))
        params.append(pytest.param(name, marks=pytest.mark.xdist_group(f"structure-{group}")))
    return params


@pytest.fixture(params=_by_structure())
def policy(request) -> Policy:
    return small(policies.get(request.param))
