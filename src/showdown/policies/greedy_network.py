"""A neural network trained by RMSProp on all rewards seen; the action with the best prediction is played.

Exploration is what a noisy, seldom-trained network does by itself. With ε-greedy around it, it explores at random with
a probability that decays. Every other RMSProp network (dropout, bootstrap, parameter noise, neural-linear) builds on
this.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, section 4 and appendix tables.

Differences from the paper
1. "RMS2" resets its learning rate before each training there. In the released code that reset has no effect, and the
   published numbers fit no reset (γ0 = 1, ρ = 0.55, as RMS3), so RMS2 and RMS3 are one algorithm here, under two names.
   `reset_learning_rate=true` is the genuine reset.
2. What the paper leaves open is as in the released code: weights uniform on ±0.3, biases zero, gradients clipped at
   global norm 5, RMSProp with decay 0.9, ε = 1e-10 inside the root and mean squares that start at one.
3. Rows without t_s take 100 steps per training, which the published times show, not the 20 of the table's caption.
4. The ε of EpsGreedyRMS is multiplied by its decay after every context, as stated; the linear tables fit a decay per
   training better, which is `decay_per=training`.
5. A training whose mean squared error ends 1e5 times above the mean squared reward counts as diverged (the worst seen
   with published settings is a few hundred times).

Cost per step O(weights), a block of `refit_every` contexts at once; per refit training_steps·batch_size·weights·6
operations; memory two copies of the weights per trial and the history's action and reward of each step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp

from showdown.config import config, linear, log, non_negative, param, positive
from showdown.keys import role_key
from showdown.policies import policies
from showdown.policies.neural import NeuralPolicy
from showdown.policies.wrappers import EpsilonGreedy, WarmUp
from showdown.policy import Batch, History, Policy
from showdown.posteriors import network, training
from showdown.posteriors.network import Network
from showdown.posteriors.training import Fit
from showdown.problem import ProblemSpec


@config
class GreedyNetwork(NeuralPolicy):
    """The base network: its state is the fit alone."""

    learning_rate: float = param(1.0, "γ0: learning rate of the first update", positive, log(1e-3, 10))
    learning_rate_decay: float = param(0.55, "ρ: the rate is γ0 / (1 + ρ·updates so far)", non_negative, linear(0, 5))
    reset_learning_rate: bool = param(False, "count updates from zero at every training")
    gradient_clip: float = param(5.0, "largest global norm of a gradient", positive, log(0.1, 100))
    initial_scale: float = param(0.3, "initial weights are uniform on ± this", positive, log(0.01, 1))
    layer_norm: bool = param(False, "normalise the units of each hidden layer")

    def init(self, key: jax.Array, spec: ProblemSpec) -> Fit:
        return self.init_fit(key, spec)

    def init_fit(self, key: jax.Array, spec: ProblemSpec) -> Fit:
        start = network.init(key, self.sizes(spec), self.initial_scale, self.layer_norm)
        return training.begin(start, training.rms_direction(self.gradient_clip))

    def predict(self, key: jax.Array, parameters: Network, contexts: jax.Array) -> jax.Array:
        """One value per action, (…, num_actions); used to train and, unless overridden, to decide."""
        return network.predict(parameters, contexts)

    def scores(self, key: jax.Array, state: Fit, context: jax.Array) -> jax.Array:
        return self.predict(key, state.parameters, context)

    def refit(self, key: jax.Array, state: Fit, history: History) -> Fit:
        return self.train(key, state, self.batches(history))

    def train(self, key: jax.Array, fit: Fit, draw: Callable[[jax.Array], Batch]) -> Fit:
        """One training of `training_steps` updates on batches from `draw`."""

        def loss(key: jax.Array, parameters: Network, batch: Batch) -> jax.Array:
            predicted = network.of_played(self.predict(key, parameters, batch.contexts), batch.actions)
            return training.mean_squared_error(predicted, batch.rewards)

        with training.precision_scope(self.training_precision):
            fit = training.train(
                role_key(key, "train"),
                fit._replace(updates=jnp.zeros_like(fit.updates)) if self.reset_learning_rate else fit,
                self.training_steps,
                draw=draw,
                loss=loss,
                direction=training.rms_direction(self.gradient_clip),
                rate=partial(training.decayed, self.learning_rate, self.learning_rate_decay),
            )
            batch = draw(role_key(key, "check batch"))
            error = loss(role_key(key, "check"), fit.parameters, batch)
        return fit._replace(parameters=training.or_nan_if_diverged(fit.parameters, error, batch.rewards))


def _rms(**fields) -> Policy:
    return WarmUp(inner=GreedyNetwork(**fields))


def _epsilon(epsilon: float, decay: float, **fields) -> Policy:
    return WarmUp(inner=EpsilonGreedy(inner=GreedyNetwork(**fields), epsilon=epsilon, decay=decay))


policies.add("RMS", _rms(learning_rate=1.0, learning_rate_decay=0.55))
policies.add("RMS-MR", _rms(learning_rate=1.0, learning_rate_decay=2.5, training_steps=50), base="RMS")
policies.add("RMS-SL", _rms(learning_rate=1.1, learning_rate_decay=0.4), base="RMS")
for _suffix, _layers in (("", (100, 100)), ("@linear", ())):
    policies.add(f"RMS1{_suffix}", _rms(learning_rate=0.01, learning_rate_decay=0.0, hidden_layers=_layers), base="RMS")
    policies.add(f"RMS2{_suffix}", _rms(hidden_layers=_layers), base="RMS")
    policies.add(f"RMS2b{_suffix}", _rms(training_steps=800, hidden_layers=_layers), base="RMS")
    policies.add(f"RMS3{_suffix}", _rms(hidden_layers=_layers), base="RMS")

policies.add("EpsGreedyRMS", _epsilon(0.01, 0.999))
policies.add("EpsGreedyRMS-MR", _epsilon(0.046, 0.93, training_steps=50), base="EpsGreedyRMS")
policies.add("EpsGreedyRMS-SL", _epsilon(0.23, 0.95, training_steps=50, refit_every=10), base="EpsGreedyRMS")
policies.add(
    "EpsGreedy-RMS1@linear",
    _epsilon(0.01, 0.999, learning_rate=0.01, learning_rate_decay=0.0, hidden_layers=()),
    base="EpsGreedyRMS",
)
for _base in ("RMS2", "RMS3"):
    policies.add(f"EpsGreedy-{_base}@linear", _epsilon(0.01, 0.999, hidden_layers=()), base="EpsGreedyRMS")
