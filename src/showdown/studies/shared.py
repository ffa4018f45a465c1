"""What studies share: their settings, cells that are played through a store, and a linear problem.

A cell that is already stored is not played again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from showdown.analysis.summary import Curve, mean_curve
from showdown.basics.errors import MissingDataError, ShowdownError
from showdown.bench.cell import Cell
from showdown.bench.engine import RunLimits
from showdown.bench.engines.local import Local
from showdown.bench.plan import Planned
from showdown.bench.store import Store
from showdown.config import config
from showdown.problems.linear import Linear, LinearEpisode
from showdown.protocol.keys import role_key
from showdown.protocol.problem import Tables

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
    """What every study is given: its size, its seed, where it keeps what it played, and how it reports progress."""

    directory: Path = Path("results")  # cells that a study plays are stored in its folder `figures`
    full: bool = False  # the size for print, instead of one that takes about a minute on two cores
    seed: int = 0
    bar: Bar = no_bar
    warn: Callable[[str], None] = _silent


def regret_curves(cells: list[Cell], settings: Settings) -> list[Curve]:
    """The mean regret curve of each cell, of expected rewards: the same as of drawn ones, with less noise."""
    store = Store(settings.directory / "figures")
    planned = [Planned(cell, [(cell.policy_name, cell.problem_name)], store.is_done(cell.hash)) for cell in cells]
    total = sum(item.cell.trials * item.cell.problem.horizon for item in planned if not item.done)
    with settings.bar(total, "compiling") as advance:
        limits = RunLimits(progress=lambda cell, steps: advance(steps, cell.label))
        for result in Local(store).run(planned, limits):
            if result.status == "skipped":
                raise MissingDataError(result.reason)
            if result.status != "done":
                raise ShowdownError(f"{result.cell.label}: {result.status}: {result.reason}")
    records = {record.cell: record for record in store.cells()}
    curves = []
    for cell in cells:
        record = records[cell.hash]
        table = store.trials(record)
        if table is None:
            raise ShowdownError(f"{cell.label} was played, but {store.warnings[-1]}: delete the file and draw again")
        curves.append(mean_curve(record.checkpoints, table["curve_expected"].tolist()))
    return curves


@config
class MixedLinear(Linear):
    """A linear problem whose contexts are correlated: X ~ N(0, AᵀA) for a random A with columns of unit length.

    With independent contexts Diag and the exact posterior explore alike (the variance of xᵀβ is the same on average),
    so what the paper shows needs correlation. A is drawn anew in every trial; each coordinate has variance 1.
    """

    def begin(self, key: jax.Array, tables: Tables) -> LinearEpisode:
        episode = super().begin(key, tables)
        mixing = jax.random.normal(role_key(key, "mixing"), (self.context_dim, self.context_dim))
        mixing /= jnp.linalg.norm(mixing, axis=0)
        return episode._replace(contexts=jnp.matmul(episode.contexts, mixing, precision="highest"))
