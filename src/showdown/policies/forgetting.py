"""Linear Thompson sampling for a world that changes: recent rewards count more, or alone.

`LinDiscounted` weighs a reward by γⁿ when n others have come since (`beliefs/discounted.py`): exact at every step.
`LinWindow` forgets rewards that are more than `window` old. It learns each at once and drops old ones in groups: every
`refit_every` rewards the regressions are computed anew from the last `window`.

Both forget by the number of rewards of all actions, so an action that was not played for long is uncertain again.

References: Russac, Vernade, Cappé, "Weighted Linear Bandits for Non-Stationary Environments", NeurIPS 2019; Cheung,
Simchi-Levi, Zhu, "Learning to Optimize under Non-Stationarity", AISTATS 2019. Differences: Thompson sampling instead of
confidence bounds, and the noise variance is believed, not known.

Cost per step O(num_actions·dim²), about twice that of LinFullPost for `LinDiscounted`; `LinWindow` has 2·window·dim²
operations and num_actions factorisations per refit.
"""

from __future__ import annotations

import jax

from showdown.beliefs.discounted import DiscountedLinear
from showdown.beliefs.linear import LinearState, StudentLinear
from showdown.config import at_least, config, integers, linear, log, param, positive, strictly_between
from showdown.policies.registry import policies
from showdown.policies.shared.linear_policy import LinearPolicy
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import moments
from showdown.protocol.history import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.work import Work, counted_work

CHUNK = 64  # rows of one action


@config
class LinearDiscounted(LinearPolicy):
    """The weight of a reward falls with every one that comes after it."""

    reference = "Russac et al. 2019, https://arxiv.org/abs/1909.09146"
    discount: float = param(
        0.999, "γ: what the weight of the past is multiplied by", strictly_between(0, 1), linear(0.99, 0.9999)
    )
    prior_precision: float = param(0.25, "λ: ridge prior, coefficients ~ N(0, σ²I/λ)", positive, log(1e-3, 1e3))
    noise_shape: float = param(6.0, "a0: shape of the prior on the noise variance", positive, log(1e-2, 1e2))
    noise_rate: float = param(6.0, "b0: its rate", positive, log(1e-2, 1e2))
    intercept: bool = param(True, "append a constant 1 to the context")

    @property
    def belief(self) -> DiscountedLinear:
        return DiscountedLinear(
            prior_precision=self.prior_precision,
            noise_shape=self.noise_shape,
            noise_rate=self.noise_rate,
            discount=self.discount,
        )


@config
class LinearWindow(LinearPolicy):
    """The last rewards alone."""

    reference = "Cheung et al. 2019, https://arxiv.org/abs/1810.03024"
    relearns_at_refits = True
    window: int = param(1000, "rewards that are remembered", at_least(1), integers(100, 10_000), small=16)
    refit_every: int = param(100, "rewards between times at which old ones are dropped", at_least(1), small=6)
    prior_precision: float = param(0.25, "λ: ridge prior, coefficients ~ N(0, σ²I/λ)", positive, log(1e-3, 1e3))
    noise_shape: float = param(6.0, "a0: shape of the prior on the noise variance", positive, log(1e-2, 1e2))
    noise_rate: float = param(6.0, "b0: its rate", positive, log(1e-2, 1e2))
    intercept: bool = param(True, "append a constant 1 to the context")

    @property
    def belief(self) -> StudentLinear:
        return StudentLinear(
            prior_precision=self.prior_precision,
            noise_shape=self.noise_shape,
            noise_rate=self.noise_rate,
            compensated=False,  # every refit starts afresh
        )

    def refit(self, key: jax.Array, state: LinearState, history: History) -> LinearState:
        recent = history.last(self.window)

        def rows(steps: jax.Array) -> tuple[jax.Array, jax.Array]:
            batch = recent.at(steps)
            return self.design(batch.inputs), batch.rewards

        collected = moments.collect_by_owner(
            rows,
            recent.owners,
            recent.count,
            *state.regressions.mean.shape,
            chunk=CHUNK,
            together=1,
            precision="highest",
        )
        return self.belief.rebuild(state, collected)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return counted_work(self, spec, horizon)


policies.add("LinDiscounted", WarmUp(inner=LinearDiscounted()))
policies.add("LinWindow", WarmUp(inner=LinearWindow()))
