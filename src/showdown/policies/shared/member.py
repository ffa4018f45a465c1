"""A member of a council: a belief and the part of the design vector that it sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from showdown.basics.errors import UsageError
from showdown.beliefs.belief import LinearBelief
from showdown.beliefs.features import Features
from showdown.config import Configuration, config, param, required
from showdown.policies.shared.refit_beliefs import View
from showdown.protocol.problem import ProblemSpec


@config
class Member(Configuration):
    """A belief and the part of the design vector that it sees."""

    name: str = param(required, "what it is called in diagnostics")
    sees: Literal["context", "all"] = param(required, "the context and a constant, or the whole design vector")
    belief: LinearBelief = param(required, "about the value of each action")


def check_members(members: Sequence[Member]) -> None:
    """Raise UsageError where these make no council."""
    if not members:
        raise UsageError("a council needs at least one member")
    names = [member.name for member in members]
    if len(set(names)) < len(names):
        raise UsageError(f"two members of a council have the same name: {', '.join(names)}")


def views_of(members: Sequence[Member], features: Features, spec: ProblemSpec) -> list[View]:
    """What each member sees of a design vector."""
    widths = {"context": spec.input_dim + 1, "all": features.dim(spec)}
    return [View(member.belief, widths[member.sees]) for member in members]
