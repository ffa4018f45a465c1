"""How many draws of a policy may be scored together."""

from __future__ import annotations

# On a CPU, jaxlib 0.10.2 gives silently wrong sums where a fused reduction has more than 32,768 results
# (github.com/jax-ml/jax/issues/39103).
SCORES_AT_ONCE = 1 << 14


def at_once(scores: int) -> int:
    """The batch size for items of so many scores each."""
    return max(1, SCORES_AT_ONCE // scores)
