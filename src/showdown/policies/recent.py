"""Any policy that relearns from history at its refits, made to forget: it sees the last rewards only.

`NAME/recent[rows=2000]` is the policy NAME whose refits see the last 2,000 rewards: its network is trained on batches
of those, and a posterior on its last layer is computed from those. What training has put into the weights before fades
as fast as training goes. Linear methods have no refits; `LinDiscounted` and `LinWindow` are those that forget.

Cost per refit as `inner` has with a history of that length; nothing per step.
"""

from __future__ import annotations

import jax

from showdown.basics.errors import UsageError
from showdown.config import at_least, config, core, integers, param, required
from showdown.policies.registry import policies
from showdown.policies.wrappers import Wrapper
from showdown.protocol.history import History
from showdown.protocol.policy import Policy, State
from showdown.protocol.situation import Situation


@config
class Recent(Wrapper):
    """Refits see the last `rows` rewards."""

    goes_around_rules = True
    inner: Policy = param(required, "the policy that forgets")
    rows: int = param(2000, "rewards that refits see", at_least(1), integers(100, 10_000), small=16)

    def check(self) -> None:
        super().check()
        if not core(self.inner).relearns_at_refits:
            raise UsageError(
                f"{type(core(self.inner)).__name__} keeps or counts all that it has seen, so a shorter history would "
                "not make it forget; of the linear methods LinDiscounted and LinWindow forget, of networks those that "
                "are trained alike at every refit, such as RMS/recent and NeuralLinear/recent"
            )

    def act(self, key: jax.Array, state: State, situation: Situation) -> jax.Array:
        return self.inner.act(key, state, situation)

    def probabilities(self, state: State, situation: Situation) -> jax.Array | None:
        return self.inner.probabilities(state, situation)

    def refit(self, key: jax.Array, state: State, history: History) -> State:
        return self.inner.refit(key, state, history.last(self.rows))


policies.add_wrapper(
    "recent", lambda inner: Recent(inner=inner), "refits see the last `rows` rewards (2000), so that it forgets"
)
