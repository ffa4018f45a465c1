"""Thompson sampling with an exact Bayesian linear regression per action, and its diagonal approximations.

The design vector is (context, 1). A decision needs only the scalar xᵀβ of each action, which is Gaussian when the noise
is known and exactly Student-t when its inverse-gamma belief is integrated out, so no vector is ever sampled.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, sections 2 and 4 and appendix table
"algorithms in the experiments".

Differences from the paper
1. The known-noise formula is not given there. Precision XᵀX/σ² + λI (prior variance 1/λ, whatever σ²) is what its
   numbers fit; scaling the prior by σ² is not.
2. Diagonal versions keep the exact mean and approximate only the covariance that is sampled from: `diagonal` takes
   diag(Σ), `precision-diagonal` takes 1/diag(Σ⁻¹). A diagonal mean does not reproduce the published numbers.
3. a grows by a half per pull of that action (the paper writes t/2 for all).
4. LinGreedy's ridge is λσ², as its row states both.

Cost per step O(num_actions·dim²), memory 2·num_actions·dim² floats per trial; no refit.
"""

from __future__ import annotations

import jax

from showdown.beliefs.linear import Covariance, GaussianLinear, LinearState, StudentLinear
from showdown.config import config, log, param, positive
from showdown.policies.registry import policies
from showdown.policies.rules import IDS, UCB, SampledIDS, SquareCB
from showdown.policies.shared.linear_policy import LinearPolicy
from showdown.policies.wrappers import Duel, EpsilonGreedy, WarmUp
from showdown.protocol.policy import Greedy, Policy
from showdown.protocol.situation import Situation


@config
class LinearKnownNoise(LinearPolicy):
    """The noise variance is assumed; the value of an action is Gaussian."""

    covariance: Covariance = param("full", "what is sampled from: Σ, diag(Σ) or 1/diag(Σ⁻¹)")
    prior_precision: float = param(0.25, "λ: ridge prior, coefficients ~ N(0, I/λ)", positive, log(1e-3, 1e3))
    noise_variance: float = param(0.25, "σ²: assumed variance of rewards", positive, log(1e-3, 10))
    intercept: bool = param(True, "append a constant 1 to the context")

    @property
    def belief(self) -> GaussianLinear:
        return GaussianLinear(
            covariance=self.covariance, prior_precision=self.prior_precision, noise_variance=self.noise_variance
        )


@config
class LinearGreedy(LinearKnownNoise, Greedy):
    """The action with the best mean; no exploration of its own."""

    def scores(self, key: jax.Array, state: LinearState, situation: Situation) -> jax.Array:
        return self.means(key, state, situation)

    probabilities = Greedy.probabilities


@config
class LinearUnknownNoise(LinearPolicy):
    """The noise variance has an inverse-gamma belief per action; the value of an action is Student-t."""

    covariance: Covariance = param("full", "what is sampled from: σ²Σ, σ²diag(Σ) or σ²/diag(Σ⁻¹)")
    prior_precision: float = param(0.25, "λ: ridge prior, coefficients ~ N(0, σ²I/λ)", positive, log(1e-3, 1e3))
    noise_shape: float = param(
        6.0, "a0: shape of the inverse-gamma prior on the noise variance", positive, log(1e-2, 1e2)
    )
    noise_rate: float = param(6.0, "b0: its rate", positive, log(1e-2, 1e2))
    intercept: bool = param(True, "append a constant 1 to the context")

    @property
    def belief(self) -> StudentLinear:
        return StudentLinear(
            covariance=self.covariance,
            prior_precision=self.prior_precision,
            noise_shape=self.noise_shape,
            noise_rate=self.noise_rate,
        )


def _known(covariance: Covariance, prior_precision: float, noise_variance: float) -> Policy:
    return WarmUp(
        inner=LinearKnownNoise(covariance=covariance, prior_precision=prior_precision, noise_variance=noise_variance)
    )


def _unknown(covariance: Covariance, noise_shape: float, noise_rate: float, prior_precision: float) -> Policy:
    return WarmUp(
        inner=LinearUnknownNoise(
            covariance=covariance, prior_precision=prior_precision, noise_shape=noise_shape, noise_rate=noise_rate
        )
    )


policies.add("LinPost", _known("full", 0.25, 0.25))
policies.add("LinPost-MR", _known("full", 11.12, 2.0), base="LinPost")
policies.add("LinPost-SL", _known("full", 37.58, 0.037), base="LinPost")
policies.add("LinDiagPost", _known("diagonal", 0.25, 0.25), base="LinPost")
policies.add("LinDiagPost-MR", _known("diagonal", 14.20, 2.49), base="LinDiagPost")
policies.add("LinDiagPost-SL", _known("diagonal", 40.0, 0.011), base="LinDiagPost")
policies.add("LinDiagPrecPost", _known("precision-diagonal", 0.25, 0.25), base="LinPost")
policies.add("LinDiagPrecPost-MR", _known("precision-diagonal", 37.35, 0.68), base="LinDiagPrecPost")
policies.add("LinDiagPrecPost-SL", _known("precision-diagonal", 13.49, 0.01), base="LinDiagPrecPost")
policies.add("LinGreedy", WarmUp(inner=LinearGreedy()))
for _epsilon in (0.01, 0.05):
    policies.add(
        f"LinGreedy-eps{_epsilon}",
        WarmUp(inner=EpsilonGreedy(inner=LinearGreedy(), epsilon=_epsilon)),
        base="LinGreedy",
    )
policies.add("LinFullPost", _unknown("full", 6.0, 6.0, 0.25))
policies.add("LinFullPost-MR", _unknown("full", 30.0, 35.0, 20.0), base="LinFullPost")
policies.add("LinFullPost-SL", _unknown("full", 35.0, 5.0, 20.0), base="LinFullPost")
policies.add("LinFullDiagPost", _unknown("diagonal", 6.0, 6.0, 0.25), base="LinFullPost")
policies.add("LinFullDiagPost-MR", _unknown("diagonal", 22.27, 35.89, 39.95), base="LinFullDiagPost")
policies.add("LinFullDiagPost-SL", _unknown("diagonal", 39.94, 0.03, 39.74), base="LinFullDiagPost")
policies.add("LinFullDiagPrecPost", _unknown("precision-diagonal", 6.0, 6.0, 0.25), base="LinFullPost")
policies.add("LinFullDiagPrecPost-MR", _unknown("precision-diagonal", 0.23, 21.23, 2.21), base="LinFullDiagPrecPost")
policies.add("LinFullDiagPrecPost-SL", _unknown("precision-diagonal", 4.25, 0.073, 13.07), base="LinFullDiagPrecPost")
policies.add("LinFullPost-Duel", WarmUp(inner=Duel(inner=LinearUnknownNoise())), base="LinFullPost")
for _name, _rule in (("LinUCB", UCB), ("LinSquareCB", SquareCB), ("LinIDS", IDS), ("LinSampledIDS", SampledIDS)):
    policies.add(_name, WarmUp(inner=_rule(inner=LinearUnknownNoise())), base="LinFullPost")
