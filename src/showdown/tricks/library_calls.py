"""Programs that must not run in several threads of a process: on a CPU, those that call LAPACK for a batch of matrices.

`posteriors/cholesky.py` says why they hang, and is what policies should use.
"""

from __future__ import annotations

import re
from typing import Any
from weakref import WeakKeyDictionary

_FOR_A_BATCH = re.compile(r"custom-call\(.*operand_layout_constraints=\{\w+\[\d+,\d+,\d+")  # more than two dimensions
_known: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()  # cells share programs, and their text takes milliseconds


def hangs_in_threads(program: Any) -> bool:
    """Whether a compiled program calls a library for a batch of matrices."""
    if program not in _known:
        _known[program] = _FOR_A_BATCH.search(program.as_text()) is not None
    return _known[program]
