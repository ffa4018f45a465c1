"""How the time of a cell grows when one of its sizes doubles, on this CPU, and what the cost model says of it.

    python benchmarks/slopes.py

Seconds are those of this process, not of the clock, so that other programs matter little. A slope is the power of the
size: 1 doubles the time when the size doubles, 2 makes it four times as long, 0 changes nothing. It is that of the
largest doubling measured; between small sizes the fixed cost of a step hides it.
"""

from __future__ import annotations

import math
import time
from types import SimpleNamespace
from typing import Any

from showdown.play import batches
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems.linear import Linear
from showdown.protocol.problem import ProblemSpec

BASE = {
    "LinFullPost": {"context_dim": 60, "num_actions": 8, "horizon": 10_000, "trials": 20},
    "RMS[training_steps=20]": {"context_dim": 40, "num_actions": 8, "horizon": 80, "trials": 4},
}


def seconds(policy: Any, sizes: dict[str, int]) -> float:
    shape = {name: size for name, size in sizes.items() if name != "trials"}
    return min(simulate(policy, Linear(**shape), trials=sizes["trials"]).run_seconds for _ in range(3))


def operations(policy: Any, sizes: dict[str, int]) -> float:
    spec = ProblemSpec(sizes["context_dim"], sizes["num_actions"])
    return policy.work(spec, sizes["horizon"]).times(sizes["trials"]).operations


def main() -> None:
    batches.time = SimpleNamespace(perf_counter=time.process_time)
    print("| policy | size | from | to | measured slope | model |\n|---|---|---|---|---|---|")
    for name, base in BASE.items():
        policy = policies.get(name)
        before = seconds(policy, base)
        for size in base:
            larger = {**base, size: 2 * base[size]}
            slope = math.log2(seconds(policy, larger) / before)
            model = math.log2(operations(policy, larger) / operations(policy, base))
            print(f"| {name} | {size} | {base[size]} | {larger[size]} | {slope:.2f} | {model:.2f} |", flush=True)


if __name__ == "__main__":
    main()
