"""Every registered policy, made small: contract tests run over the registry, never over a hand-kept list."""

from __future__ import annotations

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


def small(policy: Policy) -> Policy:
    fields = all_fields(policy)
    changes = {name: value for name, value in SMALL.items() if name in fields}
    if fields.get("hidden_layers") == ():
        del changes["hidden_layers"]
    return override(policy, changes)


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
