"""Calls over a network that end: each has a time limit, and what may succeed the next time is tried again, later.

Libraries have limits for connecting and for reading, and none for an upload that stalls. So a call runs in a thread of
its own, which is left behind when its time is up; nothing waits for it, not even the end of the process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from showdown.basics.errors import ShowdownError
from showdown.basics.text import one_line

CALL_SECONDS = 60.0  # that a call may take, and
BYTES_PER_SECOND = 100_000  # what it must at least move besides
PAUSES = (1.0, 4.0)  # seconds before the second and the third try

# what another try does not change: these come from the request, not from the network
FINAL = (FileNotFoundError, PermissionError, NotImplementedError, IsADirectoryError, NotADirectoryError, TypeError)
_FINAL_NAMES = ("NoCredentialsError", "PartialCredentialsError", "ParamValidationError")  # of botocore

T = TypeVar("T")


class Unreachable(ShowdownError):
    """A place on the network does not answer, or not in time."""


def reach(place: str, call: Callable[[], T], size: int = 0) -> T:
    """The result of `call`, which moves about `size` bytes. Raises Unreachable after three tries.

    FileNotFoundError passes through: it is an answer.
    """
    seconds = CALL_SECONDS + size / BYTES_PER_SECOND
    for pause in (*PAUSES, None):
        try:
            return _within(seconds, call)
        except (FileNotFoundError, ShowdownError):
            raise
        except Exception as error:  # each protocol has errors of its own
            if pause is None or isinstance(error, FINAL) or type(error).__name__ in _FINAL_NAMES:
                raise Unreachable(f"cannot reach {place}: {reason(error)}") from None
            time.sleep(pause)
    raise AssertionError  # the last pause is None


def reason(error: BaseException) -> str:
    """The kind of an error and the first line of what it says."""
    lines = str(error).strip().splitlines()
    return one_line(f"{type(error).__name__} {lines[0] if lines else ''}".strip())


def _within(seconds: float, call: Callable[[], T]) -> T:
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append((call(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True, name="reach")
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise TimeoutError(f"no answer within {seconds:.0f} seconds")
    result, error = outcome[0]
    if error is not None:
        raise error
    return result
