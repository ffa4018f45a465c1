"""What a figure is asked to show, and how it talks to the person waiting for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Advance = Callable[..., None]  # advance(amount) or advance(amount, new label)
Bar = Callable[[int, str], AbstractContextManager[Advance]]  # bar(total, label)


@contextmanager
def no_bar(total: int, label: str) -> Iterator[Advance]:
    def advance(*_: Any) -> None:
        pass

    yield advance


def _silent(sentence: str) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Order:
    directory: Path = Path("results")  # the store that is drawn; experiments are kept in its folder `figures`
    full: bool = False  # the size for print, instead of one that takes about a minute on two cores
    seed: int = 0
    policies: list[str] | None = None  # for the figures that draw a store; None: their own choice
    problem: str | None = None  # for `regret`
    published: bool = False  # for `ranks`: the paper's numbers instead of the store's
    bar: Bar = no_bar
    warn: Callable[[str], None] = _silent
