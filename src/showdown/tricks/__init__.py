"""What makes programs faster and no number different. Each file says how; this is what each buys.

- `threefry.py` writes JAX's random generator out for a CPU: half of the time of a linear policy's step, and of
  compiling it.
- `hoisted_randomness.py` draws the random numbers of a block before its steps: a third of the rest of such a step.
- `threads.py` plays batches in threads unless that would hang, and keeps a service's requests from waiting for a refit.
- `fused_training.py`, with `float16.py`, trains a network in one kernel of a Hopper GPU, two to four times as fast.

docs/performance.md has the measurements. With `SHOWDOWN_PLAIN=1` in the environment none of them is used: on a CPU the
numbers are the same to the bit, so it shows whether a trick is to blame for something.
"""

from __future__ import annotations

import os

PLAIN_VARIABLE = "SHOWDOWN_PLAIN"


def plain() -> bool:
    """Whether the environment asks for none of the tricks."""
    return os.environ.get(PLAIN_VARIABLE, "") not in ("", "0")
