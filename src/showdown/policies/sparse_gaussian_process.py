"""Thompson sampling from a sparse variational Gaussian process that sees all data.

The process of `gaussian_process.py`, known through `num_inducing` inducing points instead of the first 1,000
observations. The first observations become the inducing points, so the posterior is the exact one until they are used
up; from then on their contexts move too. Hyper-parameters and contexts of inducing points follow Adam on the evidence
lower bound of mini-batches, while the posterior over the inducing values takes natural gradient steps; after each
training it is set to the best there is, from one pass over all data, and between trainings every step is absorbed
exactly. A decision is one joint draw of the values of all actions at the context.

Reference: Hensman, Fusi, Lawrence, "Gaussian Processes for Big Data", UAI 2013; settings from Riquelme, Tucker, Snoek,
"Deep Bayesian Bandits Showdown", ICLR 2018, which used this method and reports no numbers for it.

Differences from the paper
1. The paper descends to the posterior over inducing values by stochastic gradients. With Gaussian noise the best one is
   known in closed form, and is used.
2. An inducing point keeps the action of the observation it began as; only its context moves.
3. Kernel, schedule and the scale of rewards are those of `gaussian_process.py`, with its differences.

Computed in float64, with the state's `jitter` as in `gaussian_process.py`.

Cost per step, with m = num_inducing, O(m²·num_actions); per refit training_steps·(about 12m³ + 8·batch_size·m²)
operations in float64 and twice one pass over all t past steps at 2m² each; memory 16m² bytes per trial, and about ten
times as much while refitting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from showdown.config import at_least, config, fraction, integers, log, param
from showdown.policies.registry import policies
from showdown.policies.shared.process import ProcessPolicy, RewardScale
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import float64, moments, multitask_kernel, regression, training
from showdown.posteriors import sparse_gaussian_process as sparse
from showdown.posteriors.gaussian_process import Points
from showdown.posteriors.multitask_kernel import Hyperparameters
from showdown.posteriors.regression import Regressions
from showdown.posteriors.sparse_gaussian_process import Natural
from showdown.posteriors.training import Fit
from showdown.protocol.policy import Batch, History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work

CHUNK = 512  # rows of history whose features are held at once


class SparseParameters(NamedTuple):
    hyperparameters: Hyperparameters
    contexts: jax.Array  # (num_inducing, context_dim) of the inducing points


class SparseState(NamedTuple):
    fit: Fit  # of SparseParameters
    actions: jax.Array  # (num_inducing,) of the inducing points
    number: jax.Array  # () how many inducing points there are
    scale: RewardScale
    factor: jax.Array  # (2, num_inducing, num_inducing) W, see posteriors/float64.py
    belief: Regressions  # about the whitened inducing values, each array a pair likewise
    jitter: jax.Array  # () the largest number that had to be added to the diagonal of a matrix


@config
class SparseGaussianProcess(ProcessPolicy):
    num_inducing: int = param(300, "inducing points", at_least(1), integers(50, 500), small=4)
    batch_size: int = param(512, "B: examples per training step", at_least(1), integers(32, 1024), small=8)
    natural_rate: float = param(
        0.1, "ρ: part of the way to a batch's best posterior that each training step goes", fraction, log(0.01, 1)
    )

    def init(self, key: jax.Array, spec: ProblemSpec) -> SparseState:
        size, ones = self.num_inducing, jnp.ones(spec.num_actions)
        identity = jnp.stack([jnp.eye(size), jnp.zeros((size, size))])
        parameters = SparseParameters(self.init_hyperparameters(key, spec), jnp.zeros((size, spec.context_dim)))
        return SparseState(
            fit=training.begin(parameters, optax.scale_by_adam()),
            actions=jnp.zeros(size, jnp.int32),
            number=jnp.int32(0),
            scale=RewardScale(0 * ones, ones),
            factor=identity,
            belief=Regressions(jnp.zeros((2, 1, size)), identity[:, None]),
            jitter=jnp.float32(0.0),
        )

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        size = self.num_inducing
        return self.process_work(spec, horizon, size, 12 * size**3 + 8 * self.batch_size * size**2)

    def scores(self, key: jax.Array, state: SparseState, situation: Situation) -> jax.Array:
        with float64.enabled():
            hyperparameters, inducing = _model(float64.raised(state.fit.parameters), state)
            mean, covariance = sparse.predict(
                hyperparameters,
                inducing,
                float64.join(state.factor),
                _joined(state.belief),
                situation.context.astype(jnp.float64),
                self.combination,
            )
            return self.draw(key, hyperparameters, state.scale, mean, covariance)

    def update(
        self, key: jax.Array, state: SparseState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> SparseState:
        state = self.with_inducing_point(state, situation.context, action)
        with float64.enabled():
            hyperparameters, inducing = _model(float64.raised(state.fit.parameters), state)
            designs, targets = self.rows(
                hyperparameters,
                inducing,
                float64.join(state.factor),
                state.scale,
                situation.context[None],
                action[None],
                reward[None],
            )
            belief, _ = regression.absorb(_joined(state.belief), jnp.int32(0), designs[0], targets[0])
            return state._replace(belief=Regressions(*map(float64.split, belief)))

    def with_inducing_point(self, state: SparseState, context: jax.Array, action: jax.Array) -> SparseState:
        """The state with one more inducing point while there is room. It is exact where the others are all data."""
        parameters = state.fit.parameters
        hyperparameters, inducing = _model(parameters, state)
        inducing, factor, jitter = self.add_point(
            hyperparameters, inducing, state.factor, context, action, sparse.nugget
        )
        return state._replace(
            fit=state.fit._replace(parameters=parameters._replace(contexts=inducing.contexts)),
            actions=inducing.actions,
            number=inducing.number,
            factor=factor,
            jitter=jnp.maximum(state.jitter, jitter),
        )

    def rows(
        self,
        hyperparameters: Hyperparameters,
        inducing: Points,
        factor: jax.Array,
        scale: RewardScale,
        contexts: jax.Array,
        actions: jax.Array,
        rewards: jax.Array,
    ) -> tuple[jax.Array, jax.Array]:
        """Features and targets in units of the noise, (rows, num_inducing) and (rows,)."""
        deviation = jnp.sqrt(multitask_kernel.noise_variance(hyperparameters))
        contexts = contexts.astype(jnp.float64)
        designs = sparse.features(hyperparameters, inducing, factor, contexts, actions, self.combination)
        return designs / deviation, self.targets(hyperparameters, scale, actions, rewards) / deviation

    def refit(self, key: jax.Array, state: SparseState, history: History) -> SparseState:
        scale = self.scale_of(history.actions, history.rewards, history.count, history.spec.num_actions)
        state = state._replace(scale=scale)
        outside = float64.outside()

        def at(steps: jax.Array) -> Batch:
            with outside():
                return history.at(steps.astype(jnp.int32))

        def sample(key: jax.Array) -> Batch:
            with outside():
                return history.sample(key, self.batch_size)

        def natural(parameters: SparseParameters, factor: jax.Array) -> Natural:
            """The best posterior given all data."""
            hyperparameters, inducing = _model(parameters, state)

            def rows(steps: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
                batch = at(steps)
                designs, targets = self.rows(hyperparameters, inducing, factor, state.scale, *batch[:3])
                return designs, jnp.zeros_like(batch.actions), targets

            size = self.num_inducing
            collected = moments.collect(rows, history.count, 1, size, chunk=CHUNK, precision="highest")
            return sparse.best(Natural(collected.gram[0], collected.cross[0]))

        with float64.enabled():
            fit = float64.raised(state.fit)
            points = history.count.astype(jnp.float64)
            start = natural(fit.parameters, float64.join(state.factor))
            fit = float64.lowered(self.train(key, fit, self.steps_now(history), start, state, points, sample))
            parameters = float64.raised(fit.parameters)  # as they will be read, so that what follows is theirs
            factor, jitter = sparse.factor_of(*_model(parameters, state), self.combination)
            belief, more_jitter = sparse.belief(natural(parameters, factor))
            return state._replace(
                fit=fit,
                factor=float64.split(factor),
                belief=Regressions(*map(float64.split, belief)),
                jitter=jnp.maximum(state.jitter, jnp.maximum(jitter, more_jitter).astype(jnp.float32)),
            )

    def train(
        self,
        key: jax.Array,
        fit: Fit,
        steps: jax.Array | int,
        natural: Natural,
        state: SparseState,
        points: jax.Array,
        sample: Callable[[jax.Array], Batch],
    ) -> Fit:
        """Adam on hyper-parameters and inducing contexts, natural gradients on the posterior, batch by batch."""
        adam = optax.scale_by_adam()
        learning_rate, natural_rate = (
            jnp.asarray(rate).astype(jnp.float64) for rate in (self.learning_rate, self.natural_rate)
        )
        all_used = state.number == self.num_inducing  # until then the inducing points are the data, and stay there

        def one_step(index: jax.Array, carry: tuple[Fit, Natural]) -> tuple[Fit, Natural]:
            fit, natural = carry
            batch = sample(jax.random.fold_in(key, index))
            q, _ = sparse.belief(natural)

            def loss(parameters: SparseParameters) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
                hyperparameters, inducing = _model(parameters, state)
                factor, _ = sparse.factor_of(hyperparameters, inducing, self.combination)
                contexts = batch.contexts.astype(jnp.float64)
                designs = sparse.features(hyperparameters, inducing, factor, contexts, batch.actions, self.combination)
                targets = self.targets(hyperparameters, state.scale, batch.actions, batch.rewards)
                bound = sparse.batch_bound(hyperparameters, designs, contexts, targets, q, points, self.combination)
                return -bound - multitask_kernel.log_prior(hyperparameters), (designs, targets)

            gradient, (designs, targets) = jax.grad(loss, has_aux=True)(fit.parameters)
            gradient = gradient._replace(contexts=jnp.where(all_used, gradient.contexts, 0.0))
            weight = points / self.batch_size / multitask_kernel.noise_variance(fit.parameters.hyperparameters)
            towards = sparse.best(Natural(weight * designs.T @ designs, weight * targets @ designs))
            natural = jax.tree.map(lambda old, new: old + natural_rate * (new - old), natural, towards)
            with jax.numpy_dtype_promotion("standard"):  # optax raises floats to integer counters
                change, optimiser = adam.update(gradient, fit.optimiser, fit.parameters)
            parameters = jax.tree.map(lambda leaf, by: leaf - learning_rate * by, fit.parameters, change)
            return Fit(parameters, optimiser, fit.updates + 1), natural

        return jax.lax.fori_loop(0, steps, one_step, (fit, natural))[0]


def _model(parameters: SparseParameters, state: SparseState) -> tuple[Hyperparameters, Points]:
    hyperparameters, contexts = parameters
    return hyperparameters, Points(contexts, state.actions, state.number)


def _joined(belief: Regressions) -> Regressions:
    return Regressions(*map(float64.join, belief))


policies.add("SparseGP", WarmUp(inner=SparseGaussianProcess()))
