"""How each cell was played: on what, how long it could have been, its warm-up, its speed and how its regret grew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.bench.reader import Reader
from showdown.bench.record import Record
from showdown.config import from_json
from showdown.posteriors.rounding import ROUNDING
from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec

QUARTERS = 4


@dataclass(frozen=True)
class PlayDetails:
    """How one cell was played."""

    hardware: str
    concurrent: int  # other processes that played at the same time
    rows: int | None  # the most steps a trial could have
    warm_up: int  # steps in which actions are played in turn, whatever the context
    step_seconds: float
    rounding: float  # by how many standard deviations float32 may have moved what was learned; 0: not noticeably
    quarters: np.ndarray | None  # (trials, 4) regret in each quarter of the trial; None: too few checkpoints
    in_python: bool = False  # whether its policy decides in plain Python
    drawn_in_python: bool = False  # whether its trials were drawn in plain Python


DetailsByCell = dict[str, PlayDetails]  # by cell


def play_details(store: Reader, records: Iterable[Record], cells: Iterable[str]) -> DetailsByCell:
    """The details of the named cells, which must be done and readable."""
    wanted = set(cells)
    found: DetailsByCell = {}
    for record in records:
        if record.cell in wanted and record.cell not in found and record.is_done:
            found[record.cell] = _details(store, record)
    return found


def _details(store: Reader, record: Record) -> PlayDetails:
    return PlayDetails(
        hardware=", ".join(f"{name} {value}" for name, value in record.hardware.items()),
        concurrent=record.concurrent,
        rows=record.rows,
        warm_up=_warm_up(record),
        step_seconds=record.run_seconds / record.trials / record.horizon,
        rounding=record.diagnostics.get(ROUNDING, 0.0),
        quarters=_quarters(store, record),
        in_python=_is_plain(record.identity.get("policy")),
        drawn_in_python=_is_plain(record.identity.get("problem")),
    )


def _is_plain(stored: Any) -> bool:
    """Whether a stored policy or problem, or what it wraps, is plain Python."""
    if not isinstance(stored, dict):
        return False
    return stored.get("kind") in ("PlainPolicy", "PlainProblem") or _is_plain(stored.get("inner"))


def _warm_up(record: Record) -> int:
    """The steps in which actions are played in turn; 0 for a policy that this installation does not know."""
    import showdown.policies  # noqa: F401  (so that its families are known)

    try:
        policy = from_json(record.identity["policy"])
    except UsageError:
        return 0
    spec = ProblemSpec(record.context_dim or 1, record.num_actions or 0)
    return policy.warm_up_steps(spec) if isinstance(policy, Policy) else 0


def _quarters(store: Reader, record: Record) -> np.ndarray | None:
    """The regret of each quarter of each trial, (trials, 4); None where there are too few checkpoints."""
    table = store.trials(record)
    if table is None or "curve" not in table or len(record.checkpoints) < 2 * QUARTERS:
        return None
    curves = np.stack(table["curve"].tolist()).astype(float)  # (trials, checkpoints)
    steps = np.asarray(record.checkpoints)
    ends = [int(np.argmin(np.abs(steps - steps[-1] * part / QUARTERS))) for part in range(1, QUARTERS + 1)]
    at = np.concatenate([np.zeros((len(curves), 1)), curves[:, ends]], axis=1)
    length = np.diff([0, *steps[ends]]) * QUARTERS / steps[-1]  # a quarter may be a few steps off
    return np.diff(at, axis=1) / length
