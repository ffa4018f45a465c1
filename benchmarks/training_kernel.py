"""The fused training kernel on a GPU: do they agree with the plain path, and how long does a step take?

    python benchmarks/training_kernel.py [FILE]     # the table is also written to FILE

The step is that of `torch_step.py`. Agreement is measured on what a training of 20 steps changed: the difference
between the two paths, and between the plain path in TF32 and in float32, each relative to the change in float32. After
so many steps of learning rate 1 the rounding of TF32 has grown; the first number must not be much larger than the
second.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from showdown.posteriors.training import Fit
from torch_step import fastest, training_program

STEPS = 100  # per timed training
CHECKED_STEPS, CHECKED_TRIALS = 20, 10
GOALS = {50: 60, 132: 90, 200: None}  # trials: microseconds of the fused step
SECONDS = 0.5  # to time each program
KERNELS = ("plain", "fused")
CHECKED = (("plain", "highest"), ("plain", "default"), ("fused", "default"))  # kernel, precision


def change(program: Any, arguments: tuple[Any, ...]) -> jax.Array:
    """What a training adds to the parameters of all trials."""
    before: Fit = arguments[1]
    differences = jax.tree.map(jnp.subtract, program(*arguments).parameters, before.parameters)
    return jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(differences)])


def agreement(checked: list[tuple[Any, tuple[Any, ...]]]) -> str:
    exact, plain, fused = (change(*each) for each in checked)
    size = jnp.linalg.norm(exact)
    between, rounding = (float(jnp.linalg.norm(gap) / size) for gap in (fused - plain, plain - exact))
    return f"fused and plain differ by {between:.2e}, plain in TF32 and in float32 by {rounding:.2e}"


def microseconds(program: Any, arguments: tuple[Any, ...]) -> float:
    jax.block_until_ready(program(*arguments))
    return 1e6 * fastest(lambda: jax.block_until_ready(program(*arguments)), SECONDS) / STEPS


def main() -> None:
    device = jax.devices()[0]
    lines = [f"{device.device_kind} ({device.platform}), jax {jax.__version__}"]
    if device.platform != "gpu":
        sys.exit(f"{lines[0]}: the kernel needs a GPU")
    with ThreadPoolExecutor() as threads:  # compiling takes longer than all the rest
        timed = {
            (trials, kernel): threads.submit(training_program, trials, STEPS, training_kernel=kernel)
            for trials in GOALS
            for kernel in KERNELS
        }
        checked = [
            threads.submit(
                training_program, CHECKED_TRIALS, CHECKED_STEPS, training_kernel=kernel, training_precision=precision
            )
            for kernel, precision in CHECKED
        ]
    lines += ["| trials | plain, µs per step | fused | times as fast | goal |", "|---|---|---|---|---|"]
    for trials, goal in GOALS.items():
        plain, fused = (microseconds(*timed[trials, kernel].result()) for kernel in KERNELS)
        verdict = f"≤ {goal}: {'met' if fused <= goal else 'missed'}" if goal else ""
        lines.append(f"| {trials} | {plain:.1f} | {fused:.1f} | {plain / fused:.2f} | {verdict} |")
    lines.append(agreement([program.result() for program in checked]))
    text = "\n".join(lines) + "\n"
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text)


if __name__ == "__main__":
    main()
