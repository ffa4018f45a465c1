"""Thompson sampling from a multi-task Gaussian process over contexts and actions.

Rewards, less their mean and in units of their deviation, are one Gaussian process over (context, action): a
Matérn 3/2 and a linear kernel over contexts with a length scale per feature, times a kernel over a latent vector per
action, so that what one action pays says something about the others. Amplitudes, length scales, noise and latent
vectors are fitted by Adam to the log marginal likelihood with weak priors, `training_steps` full steps every
`refit_every` contexts. A decision is one joint draw of the values of all actions at the context.

Reference: Bonilla, Chai, Williams, "Multi-task Gaussian Process Prediction", NeurIPS 2007; settings from Riquelme,
Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018.

Differences from the paper
1. The two kernels over contexts are added, as in the released code; the text multiplies them, which is
   `combination=product`. The task kernel is exp(−|v − v'|²), without the length scales that its formula borrows.
2. The paper gives no schedule. 100 steps every 50 contexts is the released demonstration's.
3. All of the first `max_points` observations are kept, as stated. The released code draws a bootstrap sample of them
   at every step until there are 1,000.
4. One mean and deviation for all rewards kept, whatever the action (the deviation never below 0.01), computed at each
   refit; until the first they are 0 and 1. The paper mentions no scale. The released code trains each action's mean
   and, counting the steps of other actions as zeros, inflates the deviation of an action the more the less it was
   played, which is an urge to explore it: `reward_scale=released`. `reward_scale=own` takes each action's own mean and
   deviation; an action whose first rewards were alike is then all but given up, and the wheel lost. Both make two
   functions of one that two actions share, so that less is learned from one action about the other.
5. Draws have the posterior covariance; those of the released code have its square: `draws=squared`.
6. Between refits every observation enters the posterior at once, and before the first refit the untrained model
   learns from what it saw; the released code's posterior stands still between trainings, one step behind its own
   hyper-parameters, and knows only dummy data before the first.

Computed in float64 (see `posteriors/float64.py`); hyper-parameters and optimiser are kept in float32 between refits.
Where a covariance cannot be factored its diagonal is raised by as little as it takes; the largest such addition to one
that decisions are made from is in the state's `jitter`, and from there in the record of a cell.

Cost per step, with n = max_points, O(n²·num_actions) for the decision and 6n² operations for the new row, whether or
not the buffer is full; per refit training_steps·(about 4n³ + 4n²·context_dim) operations in float64; memory
8n² bytes per trial, and about ten times as much while refitting.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
import optax

from showdown.config import at_least, config, integers, param
from showdown.policies.registry import policies
from showdown.policies.shared.process import ProcessPolicy, RewardScale, put
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import float64, gaussian_process, multitask_kernel, training
from showdown.posteriors.gaussian_process import Points
from showdown.posteriors.inverse_factor import factorise
from showdown.posteriors.multitask_kernel import Hyperparameters
from showdown.posteriors.training import Fit
from showdown.protocol.policy import Batch, History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work


class ProcessState(NamedTuple):
    fit: Fit  # of Hyperparameters
    points: Points  # the first max_points observations
    rewards: jax.Array  # (max_points,)
    scale: RewardScale
    factor: jax.Array  # (2, max_points, max_points) W, see posteriors/float64.py
    jitter: jax.Array  # () the largest number that had to be added to the diagonal of a covariance


@config
class GaussianProcess(ProcessPolicy):
    reads_history = False  # it keeps observations of its own
    max_points: int = param(1000, "observations kept: the first ones", at_least(1), integers(100, 2000), small=16)

    def init(self, key: jax.Array, spec: ProblemSpec) -> ProcessState:
        size, ones = self.max_points, jnp.ones(spec.num_actions)
        identity = jnp.eye(size)
        return ProcessState(
            fit=training.begin(self.init_hyperparameters(key, spec), optax.scale_by_adam()),
            points=Points(jnp.zeros((size, spec.context_dim)), jnp.zeros(size, jnp.int32), jnp.int32(0)),
            rewards=jnp.zeros(size),
            scale=RewardScale(0 * ones, ones),
            factor=jnp.stack([identity, 0 * identity]),
            jitter=jnp.float32(0.0),
        )

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        size = self.max_points
        return self.process_work(spec, horizon, size, 4 * size**3)

    def brief(self) -> Self:
        return replace(super().brief(), max_points=min(300, self.max_points))

    def known_targets(self, hyperparameters: Hyperparameters, state: ProcessState) -> jax.Array:
        """The targets of the observations kept, zero in empty rows."""
        targets = self.targets(hyperparameters, state.scale, state.points.actions, state.rewards)
        return jnp.where(gaussian_process.filled(state.points), targets, 0.0)

    def scores(self, key: jax.Array, state: ProcessState, situation: Situation) -> jax.Array:
        with float64.enabled():
            hyperparameters, points = float64.raised((state.fit.parameters, state.points))
            mean, covariance = gaussian_process.predict(
                hyperparameters,
                points,
                self.known_targets(hyperparameters, state),
                float64.join(state.factor),
                situation.context.astype(jnp.float64),
                self.combination,
            )
            return self.draw(key, hyperparameters, state.scale, mean, covariance)

    def update(
        self, key: jax.Array, state: ProcessState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> ProcessState:
        extra = multitask_kernel.noise_variance
        points, factor, jitter = self.add_point(
            state.fit.parameters, state.points, state.factor, situation.context, action, extra
        )
        return state._replace(
            points=points,
            rewards=put(state.rewards, state.points.number, reward),
            factor=factor,
            jitter=jnp.maximum(state.jitter, jitter),
        )

    def refit(self, key: jax.Array, state: ProcessState, history: History) -> ProcessState:
        _, actions, count = state.points
        state = state._replace(scale=self.scale_of(actions, state.rewards, count, history.spec.num_actions))
        with float64.enabled():
            fit, points = float64.raised((state.fit, state.points))
            rate = jnp.asarray(self.learning_rate).astype(jnp.float64)

            def loss(key: jax.Array, hyperparameters: Hyperparameters, batch: Batch) -> jax.Array:
                targets = self.known_targets(hyperparameters, state)
                evidence = gaussian_process.log_marginal_likelihood(hyperparameters, points, targets, self.combination)
                return -evidence - multitask_kernel.log_prior(hyperparameters)

            fit = training.train(
                key,
                fit,
                self.steps_now(history),
                draw=lambda key: Batch(points.contexts, points.actions, state.rewards),
                loss=loss,
                direction=optax.scale_by_adam(),
                rate=lambda updates: rate,
            )
            fit = float64.lowered(fit)
            hyperparameters = float64.raised(fit.parameters)  # as they will be read, so that the factor is theirs
            factor, jitter = factorise(gaussian_process.of_observations(hyperparameters, points, self.combination))
            return state._replace(
                fit=fit,
                factor=float64.split(factor),
                jitter=jnp.maximum(state.jitter, jitter.astype(jnp.float32)),
            )


policies.add("GP", WarmUp(inner=GaussianProcess()))
