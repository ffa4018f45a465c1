"""Every registered policy, made small: contract tests run over the registry, never over a hand-kept list."""

from __future__ import annotations

import jax
import pytest

from showdown.policies import policies
from showdown.protocol.policy import Policy


def _by_structure() -> list:
    """Presets of one structure share compiled programs, so one worker takes them all."""
    structures: dict[str, int] = {}
    params = []
    for name in policies.names():
        group = structures.setdefault(str(jax.tree.structure(policies.get(name).small())), len(structures))
        params.append(pytest.param(name, marks=pytest.mark.xdist_group(f"structure-{group}")))
    return params


@pytest.fixture(params=_by_structure())
def policy(request) -> Policy:
    return policies.get(request.param).small()
