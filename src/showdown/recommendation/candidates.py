"""Which methods are played: one or two of each kind that is worth a try on an unknown table."""

from __future__ import annotations

from showdown.analysis.summary import BASELINE
from showdown.policies import policies

# Linear models are the cheapest and hard to beat on many tables; networks are worth it where the answer is not linear.
USUAL = ("LinFullPost", "LinGreedy", "NeuralLinear", "EpsGreedyRMS", "Council", "Council-fast")


def candidates(names: list[str] | None = None) -> list[str]:
    """Uniform, as a reference, and the methods: those asked for, or the usual ones that are registered."""
    chosen = [name for name in USUAL if name in policies] if names is None else names
    for name in chosen:
        policies.get(name)  # a wrong name is said before anything is played
    return [BASELINE, *(name for name in dict.fromkeys(chosen) if name != BASELINE)]
