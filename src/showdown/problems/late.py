"""Any problem behind a feedback: the same trials, whose rewards come late or in batches.

Spelled after the name of the problem: `wheel-0.5/delay[steps=50]`, `statlog/random-delay[mean=200]`,
`statlog/batched[size=100]`. Regret is counted at the step of the decision, whenever its reward comes; rewards that have
not come by the end are never learned.
"""

from __future__ import annotations

from showdown.basics.errors import UsageError
from showdown.config import config, param, required
from showdown.problems.registry import problems
from showdown.problems.wrapper import ProblemWrapper
from showdown.protocol.feedback import AT_ONCE, Batched, Delay, Feedback, RandomDelay
from showdown.protocol.problem import Problem


@config
class Late(ProblemWrapper):
    """The trials of `inner`, with rewards that become known when `feedback` says."""

    inner: Problem = param(required, "the problem that is played")
    feedback: Feedback = param(required, "when rewards become known")

    def check(self) -> None:
        super().check()
        if self.inner.feedback != AT_ONCE:
            raise UsageError("a problem whose rewards come late cannot be made late again: name one delay")


problems.add_wrapper(
    "delay", lambda inner: Late(inner=inner, feedback=Delay()), "each reward comes `steps` decisions later (100)"
)
problems.add_wrapper(
    "random-delay",
    lambda inner: Late(inner=inner, feedback=RandomDelay()),
    "each reward has a delay of its own, about `mean` decisions on average (100)",
)
problems.add_wrapper(
    "batched",
    lambda inner: Late(inner=inner, feedback=Batched()),
    "rewards come when all `size` decisions of a batch are made (100)",
)
