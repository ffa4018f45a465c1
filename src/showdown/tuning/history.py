"""What has been proposed so far, in order, and what each candidate measured.

Proposals are kept in `DIR/tuning/NAME.json`, written before they are played. What was measured is read from the cells
of the store, so a tuning that was killed continues where it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError, why
from showdown.basics.files import write_together
from showdown.tuning.play_candidates import Trials, combined
from showdown.tuning.request import TuningRequest
from showdown.tuning.space import Candidate

FOLDER = "tuning"
FORMAT = 1


@dataclass
class TriedCandidate:
    """A candidate that was proposed, and what it measured."""

    candidate: Candidate
    batch: int
    part: float = 1.0  # of the horizon that was played
    measured: list[Trials] | None = None  # (problems) arrays over trials; None: diverged or refused
    score: float | None = None  # at the part of the horizon where its batch was halved; None: it was not
    seconds: float = 0.0

    @property
    def whole(self) -> bool:
        return self.part == 1.0 and self.measured is not None


@dataclass(repr=False)
class TuningHistory:
    request: TuningRequest
    entries: list[TriedCandidate] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<TuningHistory of {len(self.entries)} candidates of {self.request.space.name}>"

    @property
    def default(self) -> list[Trials]:
        """What the default measured on each problem; it is the first candidate."""
        measured = self.entries[0].measured
        if measured is None:
            raise UsageError(f"{self.request.space.name} itself diverges: there is nothing to compare candidates with")
        return measured

    def values(self) -> np.ndarray:
        """(entries,) what is to be made small; infinite for candidates that diverged.

        Of those that were given up it is an estimate, no better than the worst of its batch that was not.
        """
        values = np.full(len(self.entries), np.inf)
        whole = [number for number, entry in enumerate(self.entries) if entry.whole]
        measured = [self.entries[number].measured or [] for number in whole]
        if whole:
            values[whole] = combined(measured, self.default, self.request.combine)
        for batch in {entry.batch for entry in self.entries}:
            members = [number for number, entry in enumerate(self.entries) if entry.batch == batch]
            _estimate(values, {number: self.entries[number] for number in members})
        return values

    def best(self, count: int = 1) -> list[int]:
        """The numbers of the best entries that were played to the end, best first; equal candidates count once."""
        values, found, seen = self.values(), [], []
        for number in np.argsort(values, kind="stable"):
            entry = self.entries[number]
            if entry.whole and entry.candidate not in seen and np.isfinite(values[number]):
                seen.append(entry.candidate)
                found.append(int(number))
        return found[:count]

    @property
    def seconds(self) -> float:
        return sum(entry.seconds for entry in self.entries)


def _estimate(values: np.ndarray, batch: dict[int, TriedCandidate]) -> None:
    """Fill in the values of those that were given up: scores are carried over on a line through the others."""
    ended = [(entry.score, values[number]) for number, entry in batch.items() if entry.whole]
    known = [(score, value) for score, value in ended if score is not None]
    given_up = {number: entry for number, entry in batch.items() if entry.part < 1.0 and entry.measured is not None}
    if not given_up or not known:
        return
    scores, found = np.array(known).T
    slope = np.ptp(found) / np.ptp(scores) if np.ptp(scores) > 0 else 0.0
    for number, entry in given_up.items():
        assert entry.score is not None
        values[number] = found.max() + slope * max(0.0, entry.score - scores.max())


def proposals_file(directory: Path, request: TuningRequest) -> Path:
    return directory / FOLDER / f"{request.name}.json"


def read_proposals(path: Path, request: TuningRequest) -> list[list[Candidate]]:
    """The batches that were proposed before; none where there is no such file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        batches = [[_restored(each) for each in batch] for batch in data["batches"]]
        known = data["key"] == request.key
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise UsageError(f"{path} is not the record of a tuning ({why(error)}); move it away") from None
    if not known:
        raise UsageError(f"{path} belongs to another tuning; move it away")
    return batches


def write_record(path: Path, request: TuningRequest, batches: Iterable[Iterable[Candidate]], **result: Any) -> None:
    """Write the request, all proposals, and what came of them once that is known; whole or not at all."""
    data = {"format": FORMAT, "key": request.key, "request": request.to_json(), "batches": batches, **result}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_together({path: (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()})


def _restored(candidate: dict[str, Any]) -> Candidate:
    """The candidate with tuples where JSON has lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in candidate.items()}
