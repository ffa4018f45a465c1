"""A cell: one (policy, problem, horizon, seed, trials), known by the hash of its whole configuration."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from showdown.config import canonical, to_json
from showdown.play import simulate
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem


def identity_hash(identity: dict[str, Any]) -> str:
    """The name of a cell's files: a hash of its identity."""
    return hashlib.sha256(canonical(identity).encode()).hexdigest()[:20]


@dataclass(frozen=True, repr=False)
class Cell:
    policy_name: str
    problem_name: str
    policy: Policy
    problem: Problem  # its horizon is the cell's
    trials: int
    seed: int

    def __repr__(self) -> str:
        return f"<Cell {self.label}, {self.trials} trials × {self.problem.horizon} steps, seed {self.seed}>"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything the numbers depend on, and nothing else. Names and places in lists do not count."""
        return {
            "policy": to_json(self.policy, numerics=True),
            "problem": to_json(self.problem, numerics=True),
            "trials": self.trials,
            "seed": self.seed,
            "loop": simulate.NUMERICS,
        }

    @cached_property
    def hash(self) -> str:
        return identity_hash(self.identity)

    @property
    def label(self) -> str:
        return f"{self.policy_name} on {self.problem_name}"
