"""How long one step and one refit of the Gaussian-process policies take, and which block size factors fastest.

    python benchmarks/gp.py                                    # 20 trials, 1,000 points, 8 actions, 21 features
    python benchmarks/gp.py --trials 2 --points 200 --inducing 60 --training-steps 5    # a small machine

A step is one decision and one update of every trial, inside a compiled scan as in the loop; a refit is one training of
every trial. Buffers are full, which is the dearest case. The last lines time the inverse factor of one covariance per
trial, by block size (`posteriors/inverse_factor.py` has the one in use; as many rows as there are points means that
the library's Cholesky does it all), with the largest entry of W K Wᵀ − I.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from showdown.policies.gaussian_process import GaussianProcess
from showdown.policies.shared.process import ProcessPolicy
from showdown.policies.sparse_gaussian_process import SparseGaussianProcess
from showdown.posteriors import float64, inverse_factor
from showdown.protocol.policy import Batch, History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation


def rows(count: int, dim: int, num_actions: int) -> Batch:
    generator = np.random.default_rng(0)
    contexts = generator.normal(size=(count, dim))
    actions = generator.integers(num_actions, size=count)
    rewards = np.sin(contexts[:, 0] + actions) + 0.1 * generator.normal(size=count)
    return Batch(jnp.asarray(contexts, jnp.float32), jnp.asarray(actions, jnp.int32), jnp.asarray(rewards, jnp.float32))


def seconds(function: Callable[..., Any], *arguments: Any, repeats: int = 3) -> tuple[float, float, Any]:
    """To compile, to run (the best of several), and the result."""
    began = time.perf_counter()
    compiled = jax.jit(function).lower(*arguments).compile()
    compile_seconds = time.perf_counter() - began
    result, best = jax.block_until_ready(compiled(*arguments)), float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        result = jax.block_until_ready(compiled(*arguments))
        best = min(best, time.perf_counter() - began)
    return compile_seconds, best, result


def time_policy(policy: ProcessPolicy, name: str, data: Batch, spec: ProblemSpec, trials: int, steps: int) -> None:
    def play(state: Any, key: jax.Array, first: int = 0, count: int = steps) -> Any:
        def step(state: Any, index: jax.Array) -> tuple[Any, jax.Array]:
            situation = Situation(data.contexts[index], index, spec)
            chosen = policy.act(jax.random.fold_in(key, index), state, situation)
            return policy.update(key, state, situation, data.actions[index], data.rewards[index]), chosen

        return jax.lax.scan(step, state, first + jnp.arange(count))

    length = len(data.rewards)
    history = History(spec, jnp.int32(length), data.actions, data.rewards, lambda rows: data.contexts[rows])
    keys = jax.random.split(jax.random.key(0), trials)
    states = jax.vmap(lambda key: policy.init(key, spec))(keys)
    states, _ = jax.jit(jax.vmap(lambda state, key: play(state, key, 0, length)))(states, keys)
    compiling, refit, states = seconds(jax.vmap(lambda state, key: policy.refit(key, state, history)), states, keys)
    print(f"{name:9} refit {refit * 1e3:10.1f} ms   ({refit / policy.training_steps * 1e3:.2f} ms per training step, "
          f"{compiling:.0f} s to compile)", flush=True)  # fmt: skip
    compiling, block, _ = seconds(jax.vmap(play), states, keys)
    print(f"{name:9} step  {block / steps * 1e3:10.3f} ms   ({compiling:.0f} s to compile)", flush=True)
    print(f"{name:9} largest jitter {float(states.jitter.max()):.1e}", flush=True)


def time_factor(points: int, trials: int, blocks: list[int]) -> None:
    in_use = inverse_factor.BLOCK
    with float64.enabled():
        drawn = 0.3 * jax.random.normal(jax.random.key(0), (trials, points, 3))
        distances = jnp.sqrt(jnp.sum((drawn[:, :, None] - drawn[:, None]) ** 2, axis=-1))
        matrices = (1 + distances) * jnp.exp(-distances) + 1e-2 * jnp.eye(points)
        for block in blocks:
            inverse_factor.BLOCK = block
            compiling, best, factors = seconds(
                jax.vmap(lambda matrix: inverse_factor.inverse_of_factor(matrix)), matrices
            )
            error = jnp.abs(factors @ matrices @ jnp.swapaxes(factors, 1, 2) - jnp.eye(points)).max()
            rate = trials * 2 / 3 * points**3 / best / 1e9
            mark = "  in use" if block == in_use else ""
            print(f"factor    block {block:5} {best * 1e3:9.2f} ms   ({rate:.0f} Gflop/s, error {float(error):.0e}, "
                  f"{compiling:.0f} s to compile){mark}", flush=True)  # fmt: skip
    inverse_factor.BLOCK = in_use


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the Gaussian-process policies on this machine.")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--points", type=int, default=1000, help="observations the exact process keeps")
    parser.add_argument("--inducing", type=int, default=300, help="inducing points of the sparse process")
    parser.add_argument("--features", type=int, default=21)
    parser.add_argument("--actions", type=int, default=8)
    parser.add_argument("--training-steps", type=int, default=100)
    parser.add_argument("--steps", type=int, default=50, help="steps timed at once")
    parser.add_argument("--blocks", type=int, nargs="*", default=[32, 64, 128, 256, 1000], help="block sizes to try")
    arguments = parser.parse_args()
    print(f"JAX {jax.__version__} on {jax.devices()[0].device_kind}; {arguments.trials} trials, "
          f"{arguments.points} points, {arguments.actions} actions, {arguments.features} features")  # fmt: skip
    data = rows(arguments.points, arguments.features, arguments.actions)
    spec = ProblemSpec(arguments.features, arguments.actions)
    exact = GaussianProcess(max_points=arguments.points, training_steps=arguments.training_steps)
    sparse = SparseGaussianProcess(num_inducing=arguments.inducing, training_steps=arguments.training_steps)
    time_policy(exact, "GP", data, spec, arguments.trials, arguments.steps)
    time_policy(sparse, "SparseGP", data, spec, arguments.trials, arguments.steps)
    time_factor(arguments.points, arguments.trials, arguments.blocks)


if __name__ == "__main__":
    main()
