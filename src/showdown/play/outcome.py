"""What a simulation measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from showdown.basics.text import wrapped
from showdown.play.accumulator import Accumulator, Decisions
from showdown.protocol.problem import ProblemSpec


@dataclass(frozen=True, repr=False)
class Outcome:
    """What a simulation measured; the first axis is the trial.

    Columns and curves are also attributes: `outcome.cumulative`, `outcome.reward`, `outcome.curve`.
    """

    columns: dict[str, np.ndarray]  # (trials,) each: a metric's number, by the names in `showdown.metrics`
    curves: dict[str, np.ndarray]  # (trials, checkpoints) each: a running total
    steps: np.ndarray  # (checkpoints,) number of steps at each point of the curves
    action_counts: np.ndarray  # (trials, num_actions)
    spec: ProblemSpec
    compile_seconds: float  # 0 when the program was compiled before, in this process
    run_seconds: float
    batch_trials: int  # how many trials ran in parallel
    diagnostics: dict[str, np.ndarray] = field(default_factory=dict)  # (trials,) or (trials, doublings) each
    rows: int | None = None  # the most steps a trial of the problem can have; None: no limit
    decisions: Decisions | None = None  # all of them, where `simulate` was asked to keep propensities

    @classmethod
    def of(
        cls,
        books: Sequence[Accumulator],
        diagnostics: Sequence[Mapping[str, np.ndarray]],
        *,
        spec: ProblemSpec,
        compile_seconds: float,
        run_seconds: float,
        batch_trials: int,
        rows: int | None = None,
    ) -> Outcome:
        """The outcome of all batches, one book and one set of diagnostics each."""
        return cls(
            columns=_joined([book.columns for book in books]),
            curves=_joined([book.curves for book in books]),
            steps=books[0].steps,
            action_counts=np.concatenate([book.action_counts for book in books]),
            spec=spec,
            compile_seconds=compile_seconds,
            run_seconds=run_seconds,
            batch_trials=batch_trials,
            diagnostics=_joined(diagnostics),
            rows=rows,
            decisions=_joined_decisions([book.decisions for book in books]),
        )

    def __repr__(self) -> str:
        trials, actions = self.action_counts.shape
        means = (f"{name} {_mean(values)}" for name, values in self.columns.items() if not np.isnan(values).all())
        curves = f"; curves {', '.join(self.curves)} at {len(self.steps)} steps" if self.curves else ""
        head = f"<Outcome of {trials} trials of {int(self.steps[-1]):,} steps, {actions} actions"
        return wrapped([f"{head}: {', '.join(means)}{curves}>"])

    def __getattr__(self, name: str) -> Any:
        for group in ("columns", "curves"):
            if name in self.__dict__.get(group, {}):
                return self.__dict__[group][name]
        raise AttributeError(f"{type(self).__name__} has no {name!r}; its columns are {', '.join(self.columns)}")

    def largest_diagnostics(self) -> dict[str, float]:
        """The largest value of each scalar diagnostic, over all trials."""
        return {name: float(values.max()) for name, values in self.diagnostics.items() if values.ndim == 1}

    def mean_timelines(self) -> dict[str, list[float]]:
        """The mean over trials of each diagnostic with a number per doubling of steps, up to the last step played."""
        parts = int(self.steps[-1]).bit_length()
        timelines = {name: values.mean(axis=0) for name, values in self.diagnostics.items() if values.ndim == 2}
        return {name: values[:parts].tolist() for name, values in timelines.items()}


def _mean(values: np.ndarray) -> str:
    """A mean with its standard error."""
    error = f" ± {values.std(ddof=1) / len(values) ** 0.5:.2g}" if len(values) > 1 else ""
    return f"{values.mean():.4g}{error}"


def _joined(parts: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _joined_decisions(parts: Sequence[Decisions | None]) -> Decisions | None:
    kept = [part for part in parts if part is not None]
    return Decisions(*map(np.concatenate, zip(*kept, strict=True))) if kept else None
