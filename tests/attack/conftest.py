"""The attacks themselves are in benchmarks/attacks, where benchmarks/attack.py runs them at length."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
