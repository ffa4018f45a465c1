"""What every study is given: its size, its seed, where it keeps what it played, and how it reports progress."""

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
class Settings:
    directory: Path = Path("results")  # cells that a study plays are stored in its folder `figures`
    full: bool = False  # the size for print, instead of one that takes about a minute on two cores
    seed: int = 0
    bar: Bar = no_bar
    warn: Callable[[str], None] = _silent
