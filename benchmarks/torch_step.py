"""One training step of the RMS network on the CPU: ours with eight trials at once, and PyTorch with one.

The step is the paper's: 512 examples drawn by index from the history, two hidden layers of 100, squared error of the
played action, gradient clipped at global norm 5, RMSProp. Shapes are covertype's: 54 features, 7 actions. PyTorch runs
eagerly with `torch.optim.RMSprop`, as one would write it first, on one thread or on all, whichever is faster.

PyTorch lives in its own environment, `.venv-torch`, made here on first use; nothing else uses it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

CONTEXT_DIM, NUM_ACTIONS, HIDDEN, BATCH = 54, 7, 100, 512
ROWS = 20_000  # of history to draw from
TRIALS = 8
STEPS = 50  # per timed call
ENVIRONMENT = Path(__file__).parents[1] / ".venv-torch"
TORCH_PYTHON = ENVIRONMENT / "bin" / "python"
INSTALL = ("--extra-index-url", "https://download.pytorch.org/whl/cpu", "torch==2.13.0+cpu", "numpy")
SETUP_LIMIT = 900  # seconds to install PyTorch


def fastest(call: Callable[[], object], seconds: float) -> float:
    """Seconds of the fastest call within `seconds` (at least three); whatever else the machine does only slows it."""
    times: list[float] = []
    began = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - began < seconds:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def training_program(trials: int, steps: int, **fields: Any) -> tuple[Any, tuple[Any, ...]]:
    """A compiled training of `steps` steps for `trials` trials at once, and the arguments to call it with.

    `fields` are further ones of the policy.
    """
    import jax
    import jax.numpy as jnp

    from showdown.policies.greedy_network import GreedyNetwork
    from showdown.protocol.policy import History
    from showdown.protocol.problem import ProblemSpec

    policy = GreedyNetwork(hidden_layers=(HIDDEN, HIDDEN), training_steps=steps, batch_size=BATCH, **fields)
    contexts = jax.random.normal(jax.random.key(0), (ROWS, CONTEXT_DIM))
    actions = jax.random.randint(jax.random.key(1), (trials, ROWS), 0, NUM_ACTIONS)
    rewards = jax.random.normal(jax.random.key(2), (trials, ROWS))
    keys = jax.random.split(jax.random.key(3), trials)
    spec = ProblemSpec(CONTEXT_DIM, NUM_ACTIONS)
    states = jax.vmap(lambda key: policy.init(key, spec))(keys)

    def train(contexts, states, keys, actions, rewards):
        def one(state, key, actions, rewards):
            history = History(spec, jnp.int32(ROWS), actions, rewards, lambda rows: contexts[rows])
            return policy.refit(key, state, history)

        return jax.vmap(one)(states, keys, actions, rewards)

    arguments = contexts, states, keys, actions, rewards
    return jax.jit(train).lower(*arguments).compile(), arguments


def ours(trials: int, steps: int, seconds: float, **fields: Any) -> float:
    """Microseconds per step of all trials together, divided between threads as the loop divides them."""
    import jax

    from showdown.play.batch_size import cores_at_play
    from showdown.policies.greedy_network import GreedyNetwork

    lanes = cores_at_play(GreedyNetwork(), trials)
    program, arguments = training_program(trials // lanes, steps, **fields)
    with ThreadPoolExecutor(lanes) as pool:

        def train(_: int) -> None:
            jax.block_until_ready(program(*arguments))

        return 1e6 * fastest(lambda: list(pool.map(train, range(lanes))), seconds) / steps


def torchs(seconds: float) -> float:
    """Microseconds per step of one trial. Runs in PyTorch's own environment."""
    import torch  # type: ignore[import-not-found]
    from torch import nn

    torch.manual_seed(0)
    contexts, rewards = torch.randn(ROWS, CONTEXT_DIM), torch.randn(ROWS)
    actions = torch.randint(NUM_ACTIONS, (ROWS,))
    model = nn.Sequential(
        nn.Linear(CONTEXT_DIM, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, NUM_ACTIONS)
    )
    optimiser = torch.optim.RMSprop(model.parameters(), lr=1e-3, alpha=0.9, eps=1e-10)

    def train() -> None:
        for _ in range(STEPS):
            rows = torch.randint(ROWS, (BATCH,))
            predicted = model(contexts[rows]).gather(1, actions[rows, None])[:, 0]
            loss = ((predicted - rewards[rows]) ** 2).mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimiser.step()

    best = float("inf")
    for threads in {1, torch.get_num_threads()}:  # small products may run faster on one
        torch.set_num_threads(threads)
        train()
        best = min(best, fastest(train, seconds / 2))
    return 1e6 * best / STEPS


def measure_torch(seconds: float) -> tuple[float | None, str]:
    """PyTorch's microseconds, or None and why not."""
    try:
        if not TORCH_PYTHON.exists():
            print("installing PyTorch into .venv-torch, once", file=sys.stderr)
            venv.create(ENVIRONMENT, with_pip=True)
        if subprocess.run([TORCH_PYTHON, "-c", "import torch"], capture_output=True).returncode:
            command = [TORCH_PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *INSTALL]
            done = subprocess.run(command, capture_output=True, text=True, timeout=SETUP_LIMIT)
            if done.returncode:
                return None, f"PyTorch did not install: {done.stderr.strip().splitlines()[-1]}"
        worker = [TORCH_PYTHON, __file__, "--torch", "--seconds", str(seconds)]
        done = subprocess.run(worker, capture_output=True, text=True, timeout=60 + 10 * seconds)
    except (OSError, subprocess.SubprocessError) as error:
        return None, f"PyTorch did not run: {error}"
    if done.returncode:
        return None, f"PyTorch did not run: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}"
    return float(done.stdout), ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long to time each")
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    parser.add_argument("--torch", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.torch:
        print(torchs(arguments.seconds))
        return
    busy = os.getloadavg()[0] > 0.5
    theirs, why_not = measure_torch(arguments.seconds)
    mine = ours(TRIALS, STEPS, arguments.seconds) / TRIALS
    ratio = None if theirs is None else theirs / mine
    if arguments.json:
        print(json.dumps({"showdown_us": mine, "torch_us": theirs, "ratio": ratio, "missing": why_not}))
        return
    print(f"one training step of the RMS network, batch {BATCH}, {CONTEXT_DIM}–{HIDDEN}–{HIDDEN}–{NUM_ACTIONS}, CPU")
    print(f"  showdown, {TRIALS} trials at once   {mine:8.0f} µs per trial")
    if theirs is None:
        print(f"  PyTorch, eager               {why_not}")
    else:
        print(f"  PyTorch, eager, 1 trial      {theirs:8.0f} µs")
        print(f"  PyTorch takes {ratio:.2f} times as long")
    if busy:
        print("  other programs were busy on this machine when it began: the numbers mean little")


if __name__ == "__main__":
    main()
