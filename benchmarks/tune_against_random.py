"""Optimisers against random search at equal budget: the true regret of what each chooses, with intervals.

    python benchmarks/tune_against_random.py --repetitions 10 --samplers gp,random

Every sampler gets the same first batch, the same number of candidates and trials, and the same rule of choice (the best
measured one). What it chose is played again on many fresh episodes: that is its true regret, in % of the default's.
Differences are paired over repetitions. Halving is off, so that all candidates are played to the end.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
import pandas as pd

from showdown.analysis.compare_trials import difference, interval
from showdown.basics.errors import DivergedError
from showdown.play.population import simulate_many
from showdown.policies import policies
from showdown.problems import problems
from showdown.tuning.history import TriedCandidate, TuningHistory
from showdown.tuning.request import TuningBudget, TuningRequest
from showdown.tuning.space import space_of
from showdown.tuning.tune import propose

CASES = ("LinFullPost:statlog", "LinPost:wheel-0.5", "LinFullPost-Duel:linear")


def searched(request: TuningRequest, trials: int) -> dict:
    """The candidate that a search chooses; nothing is stored."""
    history, (problem,) = TuningHistory(request), request.problems.values()
    assert request.budget.candidates is not None
    while len(history.entries) < request.budget.candidates:
        batch = len(history.entries) // request.batch
        candidates = propose(history, request.batch, batch)
        players = [request.space.configured(candidate) for candidate in candidates]
        outcomes = simulate_many(players, problem, trials=trials, seed=request.seed)
        for candidate, outcome in zip(candidates, outcomes, strict=True):
            lost = None if isinstance(outcome, DivergedError) else [outcome.cumulative]
            history.entries.append(TriedCandidate(candidate, batch, 1.0, lost))
    return history.entries[history.best()[0]].candidate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES), help="POLICY:PROBLEM,…")
    parser.add_argument("--samplers", default="gp,random")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--budget", type=int, default=48)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--horizon", type=int, default=500)
    parser.add_argument("--fresh", type=int, default=200, help="trials that give the true regret")
    asked = parser.parse_args()
    samplers = asked.samplers.split(",")
    for case in asked.cases.split(","):
        name, _, where = case.partition(":")
        space = space_of(name, policies.get(name))
        problem = replace(problems.get(where), horizon=asked.horizon)
        began, spent = time.perf_counter(), dict.fromkeys(samplers, 0.0)
        chosen: list[dict] = []
        for repetition in range(asked.repetitions):
            for sampler in samplers:
                request = TuningRequest(
                    space=space,
                    problems={where: problem},
                    budget=TuningBudget(candidates=asked.budget),
                    seed=repetition,
                    batch=asked.batch,
                    sampler=sampler,
                )
                start = time.perf_counter()
                chosen.append(searched(request, asked.trials))
                spent[sampler] += time.perf_counter() - start
        players = [space.configured(each) for each in [space.default, *chosen]]
        fresh = simulate_many(players, problem, trials=asked.fresh, seed=10**9)
        means = [getattr(outcome, "cumulative", np.full(1, np.inf)).mean() for outcome in fresh]
        shares = 100 * np.array(means[1:]).reshape(asked.repetitions, len(samplers)) / means[0]
        print(f"{name} on {where}, {asked.horizon} steps, {asked.budget} candidates x {asked.trials} trials,", end=" ")
        print(f"{asked.repetitions} repetitions ({time.perf_counter() - began:.0f} s)")
        for number, sampler in enumerate(samplers):
            own = pd.Series(shares[:, number])
            low, high = interval(own)
            gap = difference(own, pd.Series(shares[:, samplers.index("random")])) if "random" in samplers else None
            against = f"; minus random {gap.mean:+.2f} [{gap.low:+.2f}, {gap.high:+.2f}]" if gap else ""
            size = f"{own.mean():6.2f} % of the default's [{low:.2f}, {high:.2f}]"
            print(f"  {sampler:11s} {size}{against}  ({spent[sampler] / asked.repetitions:.1f} s each)", flush=True)


if __name__ == "__main__":
    main()
