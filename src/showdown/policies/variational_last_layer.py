"""VBLL: a network whose last layer is a Gaussian with any covariance, trained together by a bound on the evidence.

NeuralLinear fits a network by squared error and then a regression on its last layer. Here both are one model: trunk,
means, covariances and noises of the last layer go up the same bound (`posteriors/variational_last_layer.py`), so
features are learned in the knowledge of the uncertainty, and no pass over history is needed: a refit costs the same
late as early. Thompson sampling draws the coefficients of each action, w̄ᵀφ + ‖Lᵀφ‖·ε.

`VBLL` keeps its last layer between trainings. `VBLL-Continual` absorbs every reward exactly in between, by the
recursion of the linear methods with the covariance of the last training as its prior.

References: Harrison, Willes, Snoek, "Variational Bayesian Last Layers", ICLR 2024; Brunzema et al., "Bayesian
Optimization via Continual Variational Last Layer Training", ICLR 2025.

Differences from the papers: docs/policies/vbll.md.

Cost per step O(num_actions·dim²); per refit updates·batch_size·(6·weights + 8·num_actions·dim²) operations; memory
four times num_actions·dim² floats per trial beside the network's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from showdown.beliefs.belief import Values
from showdown.beliefs.dropout_features import DropoutFeatures
from showdown.beliefs.features import ContextScale, scaled_design
from showdown.beliefs.network_features import STRIDE, NetworkFeatures, NetworkState, check_one_network, network_inputs
from showdown.config import config, log, param, positive
from showdown.policies.registry import policies
from showdown.policies.rules import UCB, BestMean
from showdown.policies.shared.value_thompson import ValueThompson
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import regression, training
from showdown.posteriors import variational_last_layer as last_layer
from showdown.posteriors.network import Layer
from showdown.posteriors.training import precision_scope
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Batch, Situation
from showdown.protocol.work import Work

TINY = 1e-30


class Model(NamedTuple):
    """What is trained together."""

    trunk: tuple[Layer, ...]  # the hidden layers
    head: last_layer.Head  # in units of the root mean square reward


class VBLLState(NamedTuple):
    features: NetworkState  # whose fit is of a `Model`
    averaged: last_layer.Head  # what decides
    regressions: regression.Regressions  # the head in units of rewards, under unit noise
    noise: jax.Array  # (owners,) variance; 0 before the first training


@config
class VariationalLastLayer(ValueThompson):
    """Trunk and Gaussian last layer, trained by a bound on the evidence."""

    reference = "Harrison, Willes, Snoek 2024, https://arxiv.org/abs/2404.11599"
    numerics = 2  # 2: noise that has reached its floor can rise again
    sees_action_features = True

    features: NetworkFeatures = param(
        NetworkFeatures(layer_norm=False, averaging=0.0), "the network, and how it is trained"
    )
    prior_deviation: float = param(
        1.0, "s: of coefficients, in root mean square rewards per unit of mean squared design", positive, log(0.1, 10)
    )
    noise_rate: float = param(0.01, "κ: of the prior on the noise", positive, log(1e-4, 1))
    head_rate: float = param(
        30.0, "learning rate of the last layer, in units of the network's; 1 as released", positive, log(1, 100)
    )
    continual: bool = param(False, "absorb every reward between trainings")

    @property
    def refit_every(self) -> int:
        return self.features.refit_every

    def check(self) -> None:
        super().check()
        check_one_network(self.features, "VBLL")

    def init(self, key: jax.Array, spec: ProblemSpec) -> VBLLState:
        start = self.features.init(key, spec)
        owners, dim = spec.num_outputs, self.features.dim(spec)
        head = last_layer.start(owners, dim, self.prior_deviation)
        fit = training.begin(Model(start.averaged[:-1], head), self._direction())
        prior = regression.prior(owners, dim, self.prior_deviation**-2)
        return VBLLState(start._replace(fit=fit), head, prior, jnp.zeros(owners))

    def noise(self, state: VBLLState) -> jax.Array:
        """The noise variance of each owner, (owners,)."""
        return jnp.where(state.noise > 0, state.noise, state.features.unit**2)

    def values(self, state: VBLLState, situation: Situation) -> Values:
        design, noise = self.features.design(state.features, situation.inputs), self.noise(state)
        mean = regression.predict(state.regressions, design)
        spread = jnp.sqrt(noise * regression.variance(state.regressions, design))
        return Values(mean, spread, jnp.full_like(mean, jnp.inf), jnp.broadcast_to(noise, mean.shape))

    def scores(self, key: jax.Array, state: VBLLState, situation: Situation) -> jax.Array:
        mean, spread, freedom = self.values(state, situation).law
        if situation.features is None:
            return mean + spread * jax.random.normal(key, mean.shape)
        design = self.features.design(state.features, situation.inputs)
        projected = regression.projections(state.regressions, design)
        return mean + spread * regression.joint_student_t(key, projected, freedom)

    def update(
        self, key: jax.Array, state: VBLLState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> VBLLState:
        inputs = situation.inputs_of(action)
        state = state._replace(features=self.features.observe(state.features, inputs, reward))
        if not self.continual:
            return state
        design, owner = self.features.design(state.features, inputs), situation.spec.owner(action)
        return state._replace(regressions=regression.absorb(state.regressions, owner, design, reward)[0])

    def refit(self, key: jax.Array, state: VBLLState, history: History) -> VBLLState:
        return jax.lax.cond(self.features.is_due(history), lambda: self._trained(key, state, history), lambda: state)

    def _trained(self, key: jax.Array, state: VBLLState, history: History) -> VBLLState:
        features, before = self.features, state.features
        scale, unit = before.contexts.refit(), before.unit
        points = history.count.astype(jnp.float32)

        def loss(key: jax.Array, model: Model, batch: Batch) -> jax.Array:
            designs = self.designs(key, model.trunk, scale, batch.inputs)
            fit = batch.played(last_layer.fits(model.head, designs, batch.rewards / unit)).mean()
            doubt = last_layer.divergence(model.head, self.prior_deviation**2)
            return -fit + (doubt - last_layer.noise_prior(model.head, self.noise_rate)) / points

        with precision_scope(features.training_precision):
            fit = training.train(
                role_key(key, "train"),
                before.fit,
                features.updates(history.learned),
                draw=lambda key: history.sample(key, features.batch_size),
                loss=loss,
                direction=self._direction(),
                rate=lambda updates: jnp.asarray(features.learning_rate, jnp.float32),
                stride=STRIDE if features.refit_every % STRIDE == 0 else 1,
            )
        trunk, head = jax.tree.map(
            lambda new, old: new + features.averaging * (old - new),
            fit.parameters,
            Model(before.averaged[:-1], state.averaged),
        )
        variance = last_layer.noise_variance(head)
        root = jnp.swapaxes(last_layer.factor(head), -2, -1) / jnp.sqrt(variance)[:, None, None]
        return VBLLState(
            NetworkState(fit, (*trunk, before.averaged[-1]), scale, before.squares),
            head,
            regression.Regressions(unit * head.mean, root),
            unit**2 * variance + TINY,
        )

    def designs(self, key: jax.Array, trunk: tuple[Layer, ...], scale: ContextScale, inputs: jax.Array) -> jax.Array:
        """Design vectors in training, (rows, dim): the hidden layer as the network is trained, context and constant."""
        width = self.features.last_units
        shown = Layer(jnp.eye(width), jnp.zeros(width))  # an output layer that shows the hidden one
        hidden = self.features.predict(key, (*trunk, shown), network_inputs(scale, inputs))
        return jnp.concatenate([hidden / jnp.sqrt(jnp.float32(width)), scaled_design(scale, inputs)], axis=-1)

    def learned_features(self, state: VBLLState, inputs: jax.Array) -> jax.Array:
        return self.features.learned(state.features, inputs)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        work = self.features.work(spec, horizon, posteriors=0)
        each = self.features.batch_size * 8 * spec.num_outputs * self.features.dim(spec) ** 2
        return work._replace(operations=work.operations + each * self.features.training_steps(horizon))

    def _direction(self) -> optax.GradientTransformation:
        """Adam; weights of the trunk decay, the last layer has its prior and a learning rate of its own.

        A log deviation moves by about the rate in each update: at the network's own, uncertainty is still that of the
        prior after a thousand contexts, whatever they showed.
        """

        def faster_head(change: Model, _: Model | None) -> Model:
            return Model(change.trunk, jax.tree.map(lambda leaf: self.head_rate * leaf, change.head))

        return optax.chain(
            optax.scale_by_adam(),
            optax.add_decayed_weights(
                self.features.weight_decay,
                mask=lambda model: Model(
                    jax.tree.map(lambda leaf: True, model.trunk), jax.tree.map(lambda leaf: False, model.head)
                ),
            ),
            optax.stateless(faster_head),
        )


_vbll = VariationalLastLayer()
policies.add("VBLL", WarmUp(inner=_vbll))
policies.add("VBLL-Continual", WarmUp(inner=replace(_vbll, continual=True)), base="VBLL")
policies.add("VBLL-Greedy", WarmUp(inner=BestMean(inner=_vbll)), base="VBLL")
policies.add("VBLL-UCB", WarmUp(inner=UCB(inner=_vbll)), base="VBLL")
policies.add("VBLL-Net", WarmUp(inner=VariationalLastLayer(features=DropoutFeatures(), continual=True)), base="VBLL")
