"""Open Bandit Pipeline's estimates of one log, as JSON: run by `logged.py` in an environment that has obp.

The package's own `__init__` imports PyTorch, which its estimators do not use, so the modules are imported alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np


def estimators() -> ModuleType:
    found = importlib.util.find_spec("obp")
    assert found is not None
    assert found.origin is not None
    for name, folder in (("obp", Path(found.origin).parent), ("obp.ope", Path(found.origin).parent / "ope")):
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    if importlib.util.find_spec("torch") is None:  # named by type hints, and used by functions we do not call
        torch = ModuleType("torch")
        torch.Tensor = torch.tensor = type("Tensor", (), {})
        sys.modules["torch"] = torch
    return importlib.import_module("obp.ope.estimators")


def main(path: str) -> None:
    obp, log = estimators(), np.load(path)
    rows = len(log["rewards"])
    data = {
        "reward": log["rewards"],
        "action": log["actions"].astype(int),
        "pscore": log["propensities"],
        "action_dist": log["target"][:, :, None],
        "estimated_rewards_by_reg_model": log["predicted"][:, :, None],
        "position": np.zeros(rows, int),
    }
    theirs = {
        "IPS": obp.InverseProbabilityWeighting(),
        "SNIPS": obp.SelfNormalizedInverseProbabilityWeighting(),
        "direct method": obp.DirectMethod(),
        "doubly robust": obp.DoublyRobust(),
    }
    print(json.dumps({name: float(each.estimate_policy_value(**data)) for name, each in theirs.items()}))


if __name__ == "__main__":
    main(sys.argv[1])
