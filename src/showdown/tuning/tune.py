"""The loop: propose a batch, play it as one population, again; then choose among the best on fresh episodes.

Proposals depend only on the request and on what the store holds, so a tuning that is killed and started again ends with
the same history.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from showdown.basics.errors import UsageError
from showdown.bench.compilation import use_compilation_cache
from showdown.bench.store import Store
from showdown.tuning.evaluate import evaluate, expected_steps
from showdown.tuning.files import write_result
from showdown.tuning.fresh_choice import FINALISTS, TuningResult, choose
from showdown.tuning.history import FOLDER, TuningHistory, proposals_file, read_proposals, write_record
from showdown.tuning.play_candidates import Place, PlayCells
from showdown.tuning.request import TuningRequest
from showdown.tuning.samplers import sampler
from showdown.tuning.samplers.sobol import spread
from showdown.tuning.space import Candidate

Watch = Callable[[float, str], None]  # part of the whole work just done, and what is being done


def tune(
    request: TuningRequest, store: Store, watch: Watch | None = None, player: PlayCells | None = None
) -> tuple[TuningHistory, TuningResult]:
    """Search, choose and write the files of the result; what was done before is not done again.

    Candidates are cells of a store of their own, in the folder of tunings, so that tables are not full of them.
    """
    store.prepare()
    candidates = Store(store.directory / FOLDER)
    candidates.prepare()
    use_compilation_cache()
    path = proposals_file(store.directory, request)
    with candidates.claim(f"tune-{request.key[:20]}") as claimed:
        if not claimed:
            raise UsageError(f"another process is at this tuning in {store.directory}")
        batches, history = read_proposals(path, request), TuningHistory(request)
        meter = _Meter(request, watch)
        for number in range(10**9):
            count = _wanted(request, history)
            if count == 0:
                break
            if number == len(batches):
                batches.append(propose(history, count, number))
                write_record(path, request, batches)
            meter.begins(history, number, len(batches[number]))
            history.entries += evaluate(request, Place(candidates, player), batches[number], number, meter.steps)
            meter.ends(history)
        del batches[number:]
        meter.finishes(history)
        result = choose(history, Place(candidates, player), Place(store, player), meter.steps)
        write_result(path, history, result)
    return history, result


def propose(history: TuningHistory, count: int, batch: int) -> list[Candidate]:
    """The default first; then evenly spread candidates, until there are enough for a sampler to learn from."""
    request, space, done = history.request, history.request.space, len(history.entries)
    seed = int(np.random.SeedSequence([request.seed, batch]).generate_state(1)[0])
    dimensions = len(space.dimensions)
    if done < 2 * (dimensions + 1):
        places = spread(done + count, dimensions, request.seed)[done:]
        candidates = [space.candidate(place) for place in places]
        return [space.default, *candidates[1:]] if done == 0 else candidates
    places = space.places([entry.candidate for entry in history.entries])
    found = sampler(request.sampler)(space, places, _finite(history.values()), count, seed)
    return [space.candidate(place) for place in found]


def _finite(values: np.ndarray) -> np.ndarray:
    """The values with those of diverged candidates a little worse than the worst of the others."""
    finite = values[np.isfinite(values)]
    worst, width = finite.max(), max(float(np.ptp(finite)), 1e-6)
    return np.where(np.isfinite(values), values, worst + 0.1 * width)


def _wanted(request: TuningRequest, history: TuningHistory) -> int:
    """The number of candidates in the next batch; 0 once the budget is spent."""
    budget = request.budget
    if budget.seconds is not None:
        return request.batch if history.seconds < budget.seconds else 0
    assert budget.candidates is not None
    return max(0, min(request.batch, budget.candidates - len(history.entries)))


class _Meter:
    """Turns trial-steps into parts of the whole work."""

    def __init__(self, request: TuningRequest, watch: Watch | None) -> None:
        self.request, self.watch = request, watch
        self.label, self.share, self.expected, self.said = "", 0.0, 1.0, 0.0

    def begins(self, history: TuningHistory, batch: int, count: int) -> None:
        best = ""
        if history.entries:
            values = history.values()
            best = f"; best {values.min():.5g}, default {values[0]:.5g}"
        total = self.request.budget.candidates
        of = f" of {total}" if total else ""
        self.label = f"{self.request.space.name}: candidates to {len(history.entries) + count}{of}{best}"
        self.share = 0.9 * count / total if total else 0.0
        self._part(expected_steps(self.request, count))

    def _part(self, expected: float) -> None:
        self.expected, self.said = expected, 0.0
        self._say(0.0)

    def steps(self, steps: int) -> None:
        self._say(min(self.share * steps / self.expected, self.share - self.said))

    def ends(self, history: TuningHistory) -> None:
        seconds = self.request.budget.seconds
        if seconds:
            self.share = 0.9 * max(0.0, min(1.0, history.seconds / seconds) - self.said)
        self._say(max(0.0, self.share - self.said))

    def finishes(self, history: TuningHistory) -> None:
        self.label, self.share = f"{self.request.space.name}: the best few on fresh episodes", 0.1
        horizons = sum(problem.horizon for problem in self.request.problems.values())
        self._part(float(self.request.final_trials * (FINALISTS + 3) * horizons))

    def _say(self, amount: float) -> None:
        self.said += amount
        if self.watch is not None:
            self.watch(amount, self.label)
