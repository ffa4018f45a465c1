"""The only file that prints, and how a long command stops. Data goes to stdout; progress goes to stderr, and only to a
terminal.

Control characters, which may come from a table or a stored record, are written out here and reach no terminal.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer

from showdown.api.progress import is_terminal, terminal_bar
from showdown.basics.errors import ShowdownError, Terminated
from showdown.basics.text import printable


def data(text: str) -> None:
    """Write a command's result."""
    if sys.stdout is None:  # closed by whoever called us
        raise ShowdownError("there is no standard output to write the result to")
    text = printable(text)
    with _saying_why():
        sys.stdout.write(text if text.endswith("\n") else text + "\n")


def finish() -> None:
    """Write what is still in a buffer now, where a full disk can still be reported as one sentence."""
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
    """Throw away what is left in the buffer of stdout: nobody reads it, and Python must not write it at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def width() -> int | None:
    """The columns of the terminal that results go to; None for a pipe or a file."""
    return shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else None


_MARKS = {  # in the numbers of a table on a terminal
    r"\S+( ± \S+)?\*": "bold green",  # the best
    r"✓": "green",
    r"✗": "red",
}
_KINDS = {"caution": "yellow"}  # of what stands below the numbers


def data_table(parts: Iterable[tuple[str, str]]) -> None:
    """Write the parts of a table, (text, kind) each, in colours on a terminal unless NO_COLOR is set; plain elsewhere.

    In a part of the kind "table" the marks of numbers are coloured; other parts have one colour, by their kind.
    """
    parts = [(printable(text), kind) for text, kind in parts]
    if width() is None or os.environ.get("NO_COLOR"):
        data("\n".join(text for text, _ in parts))
        return
    from rich.console import Console
    from rich.text import Text

    styled = [Text(text, style=_KINDS.get(kind, "")) for text, kind in parts]
    for text, (_, kind) in zip(styled, parts, strict=True):
        for pattern, style in _MARKS.items() if kind == "table" else ():
            text.highlight_regex(re.compile(pattern), style)
    with _saying_why():
        Console(force_terminal=True, highlight=False, soft_wrap=True).print(Text("\n").join(styled))


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


PULSE_SECONDS = 30.0


@contextmanager
def pulse() -> Iterator[Callable[[str], None]]:
    """Write a line to stderr every 30 s where nobody watches a bar. Yields a function that sets the line."""
    state, ended, began = [""], threading.Event(), time.monotonic()

    def beat() -> None:
        while not ended.wait(PULSE_SECONDS):
            if state[0]:
                warn(f"[{time.monotonic() - began:.0f} s] {state[0]}")

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield lambda text: state.__setitem__(0, text)
    finally:
        ended.set()


@contextmanager
def progress(total: float, label: str, *, in_seconds: bool = False) -> Iterator[Callable[[float, str | None], None]]:
    """A live bar on a terminal, a line every 30 s elsewhere. Yields advance(amount, new label or None).

    `in_seconds`: the total and the amounts are seconds by a forecast.
    """
    if not is_terminal():
        with pulse() as says:
            done = 0.0

            def count(amount: float, said: str | None = None) -> None:
                nonlocal done, label
                done, label = done + amount, said or label
                says(f"{label} ({min(1.0, done / max(total, 1e-9)):.0%} of all)")

            yield count
        return
    with terminal_bar(total, label, in_seconds=in_seconds) as advance:
        yield advance


@contextmanager
def clean_stop(kept: str) -> Iterator[None]:
    """Ctrl-C (exit code 130) and SIGTERM (143) end what runs here; `kept` says where its results are."""
    try:
        with _terminated_like_interrupted():
            yield
    except KeyboardInterrupt as stop:
        warn(f"stopped; {kept}, and the same command continues from there")
        raise typer.Exit(143 if isinstance(stop, Terminated) else 130) from None


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM raises `Terminated` here. Only the main thread may ask for that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
