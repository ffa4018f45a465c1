"""How much faster a population is than its members one by one, compilation included.

    python benchmarks/tune_speed.py LinFullPost statlog --count 64 --trials 20 --horizon 2000

Members have one structure, so one by one they share one compiled program too: both sides compile once, from an empty
cache. `--sample` plays only so many of them one by one (at least two) and scales the time of those after the first up.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace

import jax
import numpy as np

from showdown.play.population import simulate_many
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.tuning.samplers.sobol import spread
from showdown.tuning.space import space_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policy")
    parser.add_argument("problem")
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--horizon", type=int)
    parser.add_argument("--sample", type=int, default=8)
    asked = parser.parse_args()
    jax.config.update("jax_compilation_cache_dir", tempfile.mkdtemp())
    space = space_of(asked.policy, policies.get(asked.policy))
    places = spread(asked.count, len(space.dimensions), 0)
    players = [space.configured(space.candidate(place)) for place in places]
    problem = problems.get(asked.problem)
    if asked.horizon:
        problem = replace(problem, horizon=asked.horizon)
    problem.load()

    began = time.perf_counter()
    outcomes = simulate_many(players, problem, trials=asked.trials)
    together = time.perf_counter() - began

    alone, differing = [], 0
    for number in np.linspace(0, asked.count - 1, min(asked.sample, asked.count)).astype(int):
        began = time.perf_counter()
        outcome = simulate(players[number], problem, trials=asked.trials)
        alone.append(time.perf_counter() - began)
        gap = np.abs(outcome.cumulative - getattr(outcomes[number], "cumulative", np.inf))
        differing += int((gap > 1e-3 * (1 + np.abs(outcome.cumulative))).sum())
    # the first compiles; its seconds of compiling say nothing, because parts are compiled in parallel
    each = float(np.mean(alone[1:]))
    one_by_one = alone[0] + each * (asked.count - 1)
    size = f"{asked.count} of {asked.policy} on {asked.problem}, {asked.trials} trials, {problem.horizon} steps"
    print(f"{size}, {jax.local_devices()[0].device_kind}")
    print(f"together {together:.1f} s, one by one {one_by_one:.1f} s (the first {alone[0]:.1f} s):", end=" ")
    print(f"{one_by_one / together:.1f} times as fast; {differing} of {len(alone) * asked.trials} trials differ")


if __name__ == "__main__":
    main()
