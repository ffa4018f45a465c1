"""Several members that learn from one history: beliefs about parts of one design vector. A council adds who decides."""

from __future__ import annotations

from typing import Any, Literal

import jax

from showdown.basics.errors import UsageError
from showdown.beliefs.belief import BeliefState, LinearBelief, Values
from showdown.beliefs.features import Features, FeatureState
from showdown.config import Configuration, config, param, required
from showdown.policies.shared.refit_beliefs import View, refit
from showdown.protocol.history import History
from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work

DOUBLINGS = 20  # parts of a timeline: part b holds the steps from 2^b to 2^(b+1) − 1, the last one all that follow


@config
class Member(Configuration):
    """A belief and the part of the design vector that it sees."""

    name: str = param(required, "what it is called in diagnostics")
    sees: Literal["context", "own", "all"] = param(
        required,
        "the context and a constant; these and, where actions have features, coefficients of each action's own; or the "
        "whole design vector",
    )
    belief: LinearBelief = param(required, "about the value of each action")


class Members(Policy):
    """What councils share: all but how they decide. Their states hold `features` and `beliefs`, one of each member."""

    features: Features
    members: tuple[Member, ...]

    sees_action_features = True  # beside the context; one set of coefficients then serves all actions

    @property
    def refit_every(self) -> int:
        return self.features.refit_every

    def check(self) -> None:
        super().check()
        if not self.members:
            raise UsageError("a council needs at least one member")
        names = [member.name for member in self.members]
        if len(set(names)) < len(names):
            raise UsageError(f"two members of a council have the same name: {', '.join(names)}")

    def views(self, spec: ProblemSpec) -> list[View]:
        """What each member sees of a design vector."""
        widths = {"context": spec.input_dim + 1, "all": self.features.dim(spec)}
        return [View(member.belief, widths[member.sees]) for member in self.members]

    def begin(self, key: jax.Array, spec: ProblemSpec) -> tuple[FeatureState, tuple[BeliefState, ...]]:
        """Features and beliefs before anything was seen."""
        beliefs = tuple(view.belief.init(spec.num_outputs, view.width) for view in self.views(spec))
        return self.features.init(key, spec), beliefs

    def seen(
        self, state: Any, spec: ProblemSpec, inputs: jax.Array
    ) -> list[tuple[LinearBelief, BeliefState, jax.Array]]:
        """Each member's belief, its state, and what it sees of these inputs."""
        design = self.features.design(state.features, inputs)
        pairs = zip(self.views(spec), state.beliefs, strict=True)
        return [(view.belief, belief, view.of(design)) for view, belief in pairs]

    def opinions(self, state: Any, situation: Situation) -> list[Values]:
        """What each member believes about every action's value."""
        seen = self.seen(state, situation.spec, situation.inputs)
        return [belief.values(held, design) for belief, held, design in seen]

    def learned_features(self, state: Any, inputs: jax.Array) -> jax.Array | None:
        return self.features.learned(state.features, inputs)

    def refit(self, key: jax.Array, state: Any, history: History) -> Any:
        views = self.views(history.spec)
        features, beliefs = refit(self.features, views, key, state.features, state.beliefs, history)
        return state._replace(features=features, beliefs=beliefs)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return self.features.work(spec, horizon, posteriors=len(self.members))
