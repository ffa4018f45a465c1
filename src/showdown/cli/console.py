"""The only file that prints. Data goes to stdout; progress goes to stderr, and only to a terminal.

Control characters, which may come from a table or a stored record, are written out here and reach no terminal.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from showdown.errors import ShowdownError
from showdown.text import one_line, printable


def data(text: str) -> None:
    """Write a command's result."""
    if sys.stdout is None:  # closed by whoever called us
        raise ShowdownError("there is no standard output to write the result to")
    text = printable(text)
    with _saying_why():
        sys.stdout.write(text if text.endswith("\n") else text + "\n")


def finish() -> None:
    """Write what is still in a buffer, where a full disk can be said instead of a traceback at the very end."""
    if sys.stdout is not None:
        with _saying_why():
            sys.stdout.flush()


@contextmanager
def _saying_why() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        abandon()
        raise ShowdownError(f"cannot write the result: {error.strerror or error}") from None


def abandon() -> None:
    """Nobody can be given what is left in the buffer of stdout, and the end of Python must not try."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def data_json(value: Any) -> None:
    """Write a command's result as strict JSON: NaN and infinities become null."""
    data(json.dumps(_strict(value), indent=2, ensure_ascii=False))


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def warn(text: str) -> None:
    """Say something that matters even to a log."""
    if sys.stderr is not None:
        with suppress(OSError):  # a log that cannot be written must not end what it is about
            sys.stderr.write(printable(text) + "\n")


def _unseen(amount: int, label: str | None = None) -> None:
    pass


@contextmanager
def progress(total: int, label: str) -> Iterator[Callable[[int, str | None], None]]:
    """A live bar on a terminal, nothing elsewhere. Yields advance(amount, new label or None)."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield _unseen
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # a name may hold [brackets]
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(one_line(label), total=total)

        def advance(amount: int, label: str | None = None) -> None:
            bar.update(task, advance=amount)
            if label is not None:
                bar.update(task, description=one_line(label))

        yield advance
