"""A progress bar where somebody watches, a terminal or a notebook; nothing where output goes to a file or a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from html import escape
from typing import Any

from showdown.basics.text import one_line

Advance = Callable[..., None]  # advance(amount) or advance(amount, new label)
Bar = Callable[[float, str], AbstractContextManager[Advance]]  # bar(total in seconds by a forecast, label)

REFRESH_SECONDS = 0.2  # of a notebook's bar


def is_terminal() -> bool:
    """Whether a person follows what is written to stderr."""
    return sys.stderr is not None and sys.stderr.isatty()


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def bar(total: float, label: str) -> AbstractContextManager[Advance]:
    """The bar for where this process runs. The total and the amounts are seconds by a forecast."""
    if is_notebook():
        return notebook_bar(total, label)
    return terminal_bar(total, label, in_seconds=True) if is_terminal() else no_bar(total, label)


@contextmanager
def no_bar(total: float, label: str) -> Iterator[Advance]:
    yield lambda *_: None


@contextmanager
def terminal_bar(total: float, label: str, *, in_seconds: bool = False) -> Iterator[Advance]:
    """A live bar on stderr, which is gone at the end. `in_seconds`: amounts are seconds by a forecast."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # a name may hold [brackets]
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as live:
        done, began = 0.0, time.monotonic()
        task = live.add_task(one_line(label), total=total, left="")

        def advance(amount: float, label: str | None = None) -> None:
            nonlocal done
            done += amount
            left = seconds_left(total, done, time.monotonic() - began, in_seconds)
            live.update(task, advance=amount, left="" if left is None else f"about {clock(left)} left")
            if label is not None:
                live.update(task, description=one_line(label))

        yield advance


@contextmanager
def notebook_bar(total: float, label: str) -> Iterator[Advance]:
    """A bar below the cell of a notebook, which is gone at the end. It needs no widgets, and so no further package."""
    from IPython.display import HTML, display  # the notebook has it

    done, began, last = 0.0, time.monotonic(), 0.0
    shown: Any = display(HTML(""), display_id=True)

    def advance(amount: float, said: str | None = None) -> None:
        nonlocal done, label, last
        done, label = done + amount, said or label
        now = time.monotonic()
        if now - last >= REFRESH_SECONDS:
            last = now
            shown.update(HTML(bar_html(total, done, label, now - began)))

    try:
        yield advance
    finally:
        shown.update(HTML(""))


def bar_html(total: float, done: float, label: str, elapsed: float) -> str:
    left = seconds_left(total, done, elapsed, in_seconds=True)
    said = f"{clock(elapsed)}, about {clock(left)} left" if left is not None else clock(elapsed)
    share = min(1.0, done / max(total, 1e-9))
    return f'<progress value="{share:.3f}"></progress> {share:.0%} · {said} · {escape(one_line(label))}'


def seconds_left(total: float, done: float, elapsed: float, in_seconds: bool) -> float | None:
    """How long the rest should take; None where nothing is known yet.

    The rest takes as long as what is done did. Of a forecast in seconds it takes no less than was forecast: cheap cells
    come first and compiling counts as no progress, so the pace so far promised six seconds when forty were left.
    """
    if not in_seconds and done <= 0:
        return None
    pace = elapsed / done if done > 0 else 1.0
    return (total - done) * (max(1.0, pace) if in_seconds else pace) if done < total else None


def clock(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
