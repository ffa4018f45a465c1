"""Every registered policy, made small: contract tests run over the registry, never over a hand-kept list."""

from __future__ import annotations

import jax
import pytest

from showdown.config import core, layers
from showdown.policies import policies
from showdown.policies.wrappers import WarmUp
from showdown.protocol.policy import Policy


def _crossings() -> set[str]:
    """Presets that only put a rule around another policy, where the same rule and the same policy are tested apart."""
    rules: set[type] = set()
    found = set()
    for name in policies.names():
        *outer, inside = layers(policies.get(name))
        rule = tuple(type(layer) for layer in outer if not isinstance(layer, WarmUp))
        if rule and any(type(core(policies.get(each))) is type(inside) for each in policies.names() if each != name):
            if rules.issuperset(rule):
                found.add(name)
            rules.update(rule)
    return found


def _by_structure() -> list:
    """Presets of one structure share compiled programs, so one worker takes them all."""
    structures: dict[str, int] = {}
    params = []
    crossings = _crossings()
    for name in policies.names():
        if name in crossings:
            continue
        group = structures.setdefault(str(jax.tree.structure(policies.get(name).small())), len(structures))
        params.append(pytest.param(name, marks=pytest.mark.xdist_group(f"structure-{group}")))
    return params


@pytest.fixture(params=_by_structure())
def policy(request) -> Policy:
    return policies.get(request.param).small()
