"""The neural policies on a GPU: one training step, whole runs, and memory, each beside its goal and its limit.

    python benchmarks/gpu.py                 # everything (statlog's file must be on this machine)
    python benchmarks/gpu.py step memory     # parts of it
    XLA_FLAGS=--xla_gpu_autotune_level=4 python benchmarks/gpu.py run --policies RMS,Dropout --horizon 4000

A step is what `torch_step.py` describes, for 50 and for 200 trials at once, by the plain path (`training_kernel.py` has
the fused kernel). Its limit is whichever of three floors is highest: arithmetic at the machine's TF32 rate, memory
traffic at its bandwidth, and the launches of the kernels in the compiled loop. Rates are those of an H200; goals are
for it. Missed goals are said, not punished.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from showdown.basics.errors import MissingDataError
from showdown.config import config
from showdown.config.registry import split_outside_brackets
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.problems.rows import LabelledRows, LabelledTables, classification_tables
from torch_step import BATCH, CONTEXT_DIM, HIDDEN, NUM_ACTIONS, ours, training_program

STEPS = 1000  # per timed training
TF32_RATE = 494e12  # multiply and add operations per second
BANDWIDTH = 4.8e12  # bytes per second
LAUNCH = 2.0e-6  # seconds per kernel, about, when queued one after another
STEP_GOALS = {50: 130, 200: 380}  # trials: microseconds
RUN_GOALS = {"RMS": 28, "NeuralLinear": 17}  # on statlog, 50 trials: seconds
LINEAR_PROBLEMS = ("wheel-0.5", "statlog", "mushroom", "adult", "covertype")
LINEAR_STEPS = 2000
MEMORY_GOAL = 6e9  # bytes, 50 trials of census for 2,000 steps


def floors(trials: int, kernels: int) -> dict[str, float]:
    """Limits in microseconds, by cause: arithmetic and traffic of any program, launches of one with so many kernels."""
    weights = CONTEXT_DIM * HIDDEN + HIDDEN * HIDDEN + HIDDEN * NUM_ACTIONS
    operations = 3 * 2 * BATCH * weights  # forward, and twice that backward
    contexts = 3 * BATCH * CONTEXT_DIM  # read from the table, written as a batch, read by the first layer
    activations = 2 * 6 * BATCH * HIDDEN  # per hidden layer: value and its gradient, each written once and read twice
    parameters = 7 * weights  # gradient written, read; mean square and weight each read, written; weight read forward
    traffic = 4 * (contexts + activations + parameters)
    return {
        "arithmetic": 1e6 * trials * operations / TF32_RATE,
        "traffic": 1e6 * trials * traffic / BANDWIDTH,
        "launches": 1e6 * kernels * LAUNCH,
    }


def kernels_in_loop(program: Any) -> int:
    """Kernels that one pass of the program's longest loop launches, read off the compiled text."""
    text = program.as_text()
    counts = [0]
    for name in set(re.findall(r"body=%?([\w.\-]+)", text)):
        body = re.search(rf"^%?{re.escape(name)} .*?\{{\n(.*?)^\}}", text, re.DOTALL | re.MULTILINE)
        if body:
            counts.append(len(re.findall(r" (?:fusion|custom-call|dot|copy|sort)\(", body.group(1))))
    return max(counts)


def verdict(value: float, goal: float | None, unit: str) -> str:
    if goal is None:
        return "no goal"
    return f"goal ≤ {goal:g} {unit}: {'met' if value <= goal else 'missed'}"


def step(seconds: float) -> None:
    print(f"One training step, batch {BATCH}, {CONTEXT_DIM}–{HIDDEN}–{HIDDEN}–{NUM_ACTIONS}")
    for trials, goal in STEP_GOALS.items():
        program, _ = training_program(trials, STEPS, training_kernel="plain")
        kernels = kernels_in_loop(program)
        took = ours(trials, STEPS, seconds, training_kernel="plain")
        limits = floors(trials, kernels)
        parts = ", ".join(f"{cause} {floor:.0f}" for cause, floor in limits.items())
        print(f"  {trials:4d} trials {took:7.1f} µs   {verdict(took, goal, 'µs')}")
        print(
            f"       floors in µs: {parts} ({kernels} kernels); the highest is {max(limits.values()) / took:.0%} of it"
        )


def run(names: list[str], horizon: int | None) -> None:
    problem = problems.get("statlog")
    goals = {} if horizon else RUN_GOALS
    print(f"Runs on statlog, 50 trials, {horizon or problem.horizon:,} steps")
    for name in names:
        try:
            outcome = simulate(policies.get(name), replace(problem, horizon=horizon or problem.horizon), trials=50)
        except MissingDataError as error:
            print(f"  {error}")
            return
        print(
            f"  {name:13s} {outcome.run_seconds:6.1f} s   {verdict(outcome.run_seconds, goals.get(name), 's')}   "
            f"(compiled in {outcome.compile_seconds:.1f} s; regret {outcome.cumulative.mean():.0f})"
        )


def linear() -> None:
    print(f"A step of LinFullPost, 50 trials, {LINEAR_STEPS:,} steps, the beginning of the episodes included")
    for name in LINEAR_PROBLEMS:
        try:
            problem = replace(problems.get(name), horizon=LINEAR_STEPS)
            outcomes = [simulate(policies.get("LinFullPost"), problem, trials=50, seed=seed) for seed in range(3)]
        except MissingDataError as error:
            print(f"  {error}")
            continue
        took = ", ".join(f"{1e6 * outcome.run_seconds / LINEAR_STEPS:.1f}" for outcome in outcomes)
        print(f"  {name:10s} {took} µs")


@config
class CensusShape(LabelledRows):
    """As many rows, features and classes as census; what is in them does not matter here."""

    horizon: int = 2_000  # steps of one trial
    rows: int = 250_000  # of the table
    context_dim: int = 389  # features
    num_actions: int = 9  # classes

    def load(self) -> LabelledTables:
        generator = np.random.default_rng(0)
        contexts = generator.standard_normal((self.rows, self.context_dim), dtype=np.float32)
        return classification_tables(contexts, generator.integers(self.num_actions, size=self.rows), self.num_actions)


def memory() -> None:
    print("Memory, 50 trials of census's shape (250,000 × 389), 2,000 steps")
    stats = jax.local_devices()[0].memory_stats() or {}
    if "peak_bytes_in_use" not in stats:
        print("  this device does not say how much memory it used")
        return
    for name in ("RMS", "NeuralLinear"):
        outcome = simulate(policies.get(name), CensusShape(), trials=50, batch_trials=50)
        # the peak never falls, so the first policy's is its own and a later one's can only be the larger of both
        peak = (jax.local_devices()[0].memory_stats() or {})["peak_bytes_in_use"]
        print(f"  {name:13s} {peak / 1e9:5.2f} GB at most so far   {verdict(peak / 1e9, MEMORY_GOAL / 1e9, 'GB')}"
              f"   ({outcome.run_seconds:.1f} s)")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", help="which of memory, step, run and linear; all of them if none is named")
    parser.add_argument("--policies", default=",".join(RUN_GOALS), help="which to run")
    parser.add_argument("--horizon", type=int, help="how many steps to run; the problem's own number if not given")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to time each training step")
    arguments = parser.parse_args()
    known = {
        "memory": memory,
        "run": lambda: run(split_outside_brackets(arguments.policies), arguments.horizon),
        "linear": linear,
        "step": lambda: step(arguments.seconds),  # last: it autotunes, and XLA would use what it found in the others
    }
    unknown = [part for part in arguments.parts if part not in known]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(known)}")
    device = jax.devices()[0]
    print(f"{device.device_kind} ({device.platform}), jax {jax.__version__}")
    if device.platform == "cpu":
        print("this is a CPU: goals and floors below are those of an H200")
    for name, part in known.items():
        if not arguments.parts or name in arguments.parts:
            part()


if __name__ == "__main__":
    main()
