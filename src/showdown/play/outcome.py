"""What a simulation measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from showdown.play.book import Book
from showdown.problem import ProblemSpec


@dataclass(frozen=True)
class Outcome:
    """What a simulation measured; the first axis is the trial."""

    cumulative: np.ndarray  # (trials,) regret over the horizon: best expected minus realised
    cumulative_expected: np.ndarray  # (trials,) regret over the horizon: best expected minus expected
    simple: np.ndarray  # (trials,) mean regret per step over the last 500 steps
    simple_expected: np.ndarray  # (trials,)
    steps: np.ndarray  # (checkpoints,) number of steps at each point of the curve
    curve: np.ndarray  # (trials, checkpoints) cumulative regret
    curve_expected: np.ndarray  # (trials, checkpoints)
    action_counts: np.ndarray  # (trials, num_actions)
    reward: np.ndarray  # (trials,) mean realised reward per step
    optimal: np.ndarray  # (trials,) share of steps at which no action had a larger mean than the chosen one
    action_rewards: np.ndarray  # (trials, num_actions) what playing one action all the time would have paid in sum
    spec: ProblemSpec
    compile_seconds: float  # 0 when the program was compiled before, in this process
    run_seconds: float
    batch_trials: int  # how many trials ran in parallel
    diagnostics: dict[str, np.ndarray] = field(default_factory=dict)  # (trials,) each: what the policy says of itself

    @classmethod
    def of(
        cls,
        books: Sequence[Book],
        diagnostics: Sequence[Mapping[str, np.ndarray]],
        *,
        spec: ProblemSpec,
        compile_seconds: float,
        run_seconds: float,
        batch_trials: int,
    ) -> Outcome:
        """The outcome of all batches, one book and one set of diagnostics each."""
        return cls(
            **{name: np.concatenate([getattr(book, name) for book in books]) for name in Book.PER_TRIAL},
            steps=books[0].steps,
            spec=spec,
            compile_seconds=compile_seconds,
            run_seconds=run_seconds,
            batch_trials=batch_trials,
            diagnostics={name: np.concatenate([each[name] for each in diagnostics]) for name in diagnostics[0]},
        )

    def largest_diagnostics(self) -> dict[str, float]:
        """Over all trials."""
        return {name: float(values.max()) for name, values in self.diagnostics.items()}
