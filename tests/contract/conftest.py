"""Every registered policy, made small: contract tests run over the registry, never over a hand-kept list."""

from __future__ import annotations

import pytest

from showdown.config import to_json
from showdown.policies import policies
from showdown.protocol.policy import Policy


def _classes(policy: Policy) -> frozenset[str]:
    """Every class that a policy is made of: wrappers, features, beliefs."""

    def of(node: object):
        if isinstance(node, dict):
            yield from [node["kind"]] if "kind" in node else []
            for value in node.values():
                yield from of(value)
        elif isinstance(node, list):
            for value in node:
                yield from of(value)

    return frozenset(of(to_json(policy)))


def played() -> list:
    """Presets that together hold every class, each with a class that none before it has.

    Others are made of tested classes in other sizes (linear models of networks) or in other combinations (a rule around
    a second belief): the same code, so nothing is compiled for them. One worker takes all tests of a preset.
    """
    tested: set[str] = set()
    params = []
    for name in policies.names():
        classes = _classes(policies.get(name))
        if not classes <= tested:
            tested |= classes
            params.append(pytest.param(name, marks=pytest.mark.xdist_group(f"played-{len(params)}")))
    return params


@pytest.fixture(params=policies.names())
def policy(request) -> Policy:
    return policies.get(request.param).small()


@pytest.fixture(params=played())
def played_policy(request) -> Policy:
    return policies.get(request.param).small()
