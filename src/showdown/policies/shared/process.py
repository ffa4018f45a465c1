"""What the exact and the sparse Gaussian process share: the scale of rewards, adding a point, drawing rewards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import jax
import jax.numpy as jnp

from showdown.config import at_least, config, integers, log, param, positive
from showdown.policies.registry import PAPER
from showdown.posteriors import float64, gaussian_process, multitask_kernel
from showdown.posteriors.gaussian_process import Points
from showdown.posteriors.inverse_factor import semidefinite_root
from showdown.posteriors.multitask_kernel import Combination, Hyperparameters
from showdown.protocol.policy import History, Thompson
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.work import Work


class RewardScale(NamedTuple):
    """How rewards become targets: less `centre`, over `deviation`."""

    centre: jax.Array  # (num_actions,)
    deviation: jax.Array  # (num_actions,)


def put(buffer: jax.Array, number: jax.Array, value: jax.Array, axis: int = 0) -> jax.Array:
    """`buffer` with `value` in row `number`, or as it is when it is full.

    Only that row is read and written, so that the loop can work in place.
    """
    size = buffer.shape[axis]
    place = (slice(None),) * axis + (jnp.minimum(number, size - 1),)
    return buffer.at[place].set(jnp.where(number < size, value, buffer[place]))


@config
class ProcessPolicy(Thompson):
    """Hyper-parameters by Adam every `refit_every` steps; one joint draw of all actions' rewards decides."""

    numerics = 2  # 2: float64 arrays are kept whole on a GPU too
    reference = PAPER
    combination: Combination = param("sum", "of the Matérn and the linear kernel")
    task_dim: int = param(5, "coordinates of each action's latent vector", at_least(1), integers(1, 10))
    reward_scale: Literal["pooled", "own", "released"] = param(
        "pooled", "mean, deviation: of all, by action, as released"
    )
    draws: Literal["posterior", "squared"] = param(
        "posterior", "their covariance: the posterior's, or its square as released"
    )
    training_steps: int = param(100, "Adam steps per refit", at_least(1), integers(10, 500), small=2)
    refit_every: int = param(50, "contexts between refits", at_least(1), integers(10, 200), small=6)
    learning_rate: float = param(0.01, "of Adam, constant", positive, log(1e-4, 0.1))
    train_until: int = param(
        0, "contexts after which hyper-parameters stand still; 0 means never, as released", at_least(0)
    )

    def diagnostics(self, state: Any) -> dict[str, jax.Array]:
        return {"jitter": state.jitter}

    def process_work(self, spec: ProblemSpec, horizon: int, size: int, each_training_step: float) -> Work:
        """Factorisations of kernels in training, a triangular solve of `size` points in every step."""
        trainings = min(horizon, self.train_until or horizon) // max(1, self.refit_every)
        steps = self.training_steps * trainings
        operations = steps * each_training_step + horizon * (spec.num_actions + 4) * size**2
        return Work("process", float(steps), float(operations))

    def brief(self) -> Self:
        return replace(self, training_steps=min(20, self.training_steps))

    def steps_now(self, history: History) -> jax.Array | int:
        """Training steps of this refit."""
        if self.train_until == 0:
            return self.training_steps
        return jnp.where(history.learned <= self.train_until, self.training_steps, 0)

    def init_hyperparameters(self, key: jax.Array, spec: ProblemSpec) -> Hyperparameters:
        return multitask_kernel.init(key, spec.context_dim, spec.num_actions, self.task_dim)

    def scale_of(self, actions: jax.Array, rewards: jax.Array, count: jax.Array, num_actions: int) -> RewardScale:
        """From the first `count` rewards."""
        if self.reward_scale == "pooled":  # as if there were one action
            mean, deviation = gaussian_process.reward_moments(0 * actions, rewards, count, 1, False)
            return RewardScale(jnp.tile(mean, num_actions), jnp.tile(deviation, num_actions))
        inflated = self.reward_scale == "released"
        return RewardScale(*gaussian_process.reward_moments(actions, rewards, count, num_actions, inflated))

    def centre_of(self, hyperparameters: Hyperparameters, scale: RewardScale) -> jax.Array:
        return hyperparameters.means if self.reward_scale == "released" else scale.centre.astype(jnp.float64)

    def targets(
        self, hyperparameters: Hyperparameters, scale: RewardScale, actions: jax.Array, rewards: jax.Array
    ) -> jax.Array:
        """What the process is about, (size,); call it under `float64.enabled`."""
        centred = rewards.astype(jnp.float64) - self.centre_of(hyperparameters, scale)[actions]
        return centred / scale.deviation.astype(jnp.float64)[actions]

    def add_point(
        self,
        hyperparameters: Hyperparameters,
        points: Points,
        factor: jax.Array,
        context: jax.Array,
        action: jax.Array,
        extra: Callable[[Hyperparameters], jax.Array],
    ) -> tuple[Points, jax.Array, jax.Array]:
        """`points` and their `factor` with one more point, `extra` on its diagonal, while there is room; the jitter."""
        with float64.enabled():
            raised, known = float64.raised((hyperparameters, points))
            row, jitter = gaussian_process.row_for(
                raised,
                known,
                float64.join(factor),
                context.astype(jnp.float64),
                action,
                extra(raised),
                self.combination,
            )
            row_pair, jitter = float64.split(row), float64.lowered(jitter)
        contexts, actions, number = points
        size = actions.shape[0]
        added = Points(put(contexts, number, context), put(actions, number, action), jnp.minimum(number + 1, size))
        return added, put(factor, number, row_pair, axis=1), jnp.where(number < size, jitter, 0.0)

    def draw(
        self,
        key: jax.Array,
        hyperparameters: Hyperparameters,
        scale: RewardScale,
        mean: jax.Array,
        covariance: jax.Array,
    ) -> jax.Array:
        """One joint draw of the rewards of all actions, float32; call it under `float64.enabled`."""
        normals = jax.random.normal(key, mean.shape, jnp.float32).astype(jnp.float64)
        root = covariance if self.draws == "squared" else semidefinite_root(covariance)
        values = mean + root @ normals
        rewards = self.centre_of(hyperparameters, scale) + scale.deviation.astype(jnp.float64) * values
        return rewards.astype(jnp.float32)
