"""One batch of candidates: played at a part of the horizon first, and only the better half to the end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from showdown.bench.cell import Cell
from showdown.tuning.history import TriedCandidate
from showdown.tuning.play_candidates import Place, Progress, StoredLosses, combined, play
from showdown.tuning.request import TuningRequest
from showdown.tuning.space import Candidate

PART = 1 / 8  # of the horizon after which a batch is halved
KEEP = 1 / 2
SHORTEST = 50  # steps that must be in that part, and
FEWEST = 4  # candidates in a batch, for halving to make sense


def evaluate(
    request: TuningRequest, place: Place, candidates: Sequence[Candidate], batch: int, progress: Progress | None = None
) -> list[TriedCandidate]:
    """The entries of these candidates, in order. The first of the first batch is the default and is never given up."""
    entries = [TriedCandidate(candidate, batch) for candidate in candidates]
    if is_halved(request, len(candidates)):
        _play(request, place, entries, PART, progress)
        alive = [entry for entry in entries if entry.measured is not None]
        scores = combined([entry.measured or [] for entry in alive], [], "rank") if alive else np.zeros(0)
        for entry, score in zip(alive, scores, strict=True):
            entry.score = float(score)
        kept = [alive[number] for number in np.argsort(scores, kind="stable")[: _kept(len(candidates))]]
        if batch == 0 and not any(entry is entries[0] for entry in kept):
            kept.append(entries[0])
    else:
        kept = entries
    _play(request, place, kept, 1.0, progress)
    return entries


def is_halved(request: TuningRequest, candidates: int) -> bool:
    long_enough = all(int(PART * problem.horizon) >= SHORTEST for problem in request.problems.values())
    return request.halving and candidates >= FEWEST and long_enough


def expected_steps(request: TuningRequest, candidates: int) -> float:
    """Trial-steps that a batch takes."""
    whole = request.trials * sum(problem.horizon for problem in request.problems.values())
    return whole * (candidates * PART + _kept(candidates) if is_halved(request, candidates) else candidates)


def _kept(candidates: int) -> int:
    return max(1, int(KEEP * candidates))


def _play(
    request: TuningRequest, place: Place, entries: list[TriedCandidate], part: float, progress: Progress | None
) -> None:
    by_problem = measure(
        request, place, [entry.candidate for entry in entries], request.trials, request.seed, part, progress
    )
    for entry, found in zip(entries, zip(*by_problem, strict=True), strict=True):
        measured = [each.losses for each in found if each.losses is not None]
        entry.part = part
        entry.measured = measured if len(measured) == len(found) else None
        entry.seconds += sum(each.seconds for each in found)


def measure(
    request: TuningRequest,
    place: Place,
    candidates: Sequence[Candidate],
    trials: int,
    seed: int,
    part: float = 1.0,
    progress: Progress | None = None,
    called: Sequence[str] | None = None,
) -> list[list[StoredLosses]]:
    """What every candidate measured, one list per problem; `called` are names to store them under."""
    space = request.space
    names = called or [space.spelled(candidate) for candidate in candidates]
    chosen = [(name, space.configured(candidate)) for name, candidate in zip(names, candidates, strict=True)]
    found = []
    for name, problem in request.problems.items():
        steps = max(1, int(part * problem.horizon))
        shortened = problem if part == 1.0 else problem.with_horizon(steps)
        cells = [Cell(own, name, policy, shortened, trials, seed) for own, policy in chosen]
        found.append(play(cells, place, request.objective, progress))
    return found
