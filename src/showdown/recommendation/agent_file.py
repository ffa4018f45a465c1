"""The file that says how to make the recommended agent: the policy, what the data are, how a row becomes a context."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from showdown.config import to_json
from showdown.data.encoder import Encoder
from showdown.policies import policies
from showdown.problems.own_table import Table
from showdown.report import write_file

FORMAT = 1


def recipe(policy: str, problem: Table) -> dict[str, Any]:
    """Plain data: everything that `Agent` and `Encoder.from_json` need, and where it comes from."""
    encoder = Encoder.for_problem(problem)
    spec = problem.spec(problem.load())
    options = {name: value for name, value in to_json(problem).items() if name not in ("kind", "horizon") and value}
    return {
        "format": FORMAT,
        "policy": policy,
        "configuration": to_json(policies.get(policy)),
        "context_dim": spec.context_dim,
        "num_actions": spec.num_actions,
        "data": options,
        "encoder": encoder.to_json(),
    }


def write_recipe(policy: str, problem: Table, path: Path) -> Path:
    write_file(path, json.dumps(recipe(policy, problem), indent=2, ensure_ascii=False).encode())
    return path
