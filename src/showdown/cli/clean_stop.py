"""How a long command ends when it is stopped: one sentence and an exit code of its own, no traceback."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from showdown.basics.errors import Terminated
from showdown.cli import console


@contextmanager
def clean_stop(kept: str) -> Iterator[None]:
    """Ctrl-C (exit code 130) and SIGTERM (143) end what runs here; `kept` says where its results are."""
    try:
        with _terminated_like_interrupted():
            yield
    except KeyboardInterrupt as stop:
        console.warn(f"stopped; {kept}, and the same command continues from there")
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
