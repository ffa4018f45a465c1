"""A council for a world that may change, and for actions with features: its members differ in what they remember too.

Every kind of belief (linear; linear with coefficients of each action's own, where actions have features; linear in the
last layers of the networks) is held with all memory and with some short ones, each of the last so many rewards. All
predict every reward before it is seen; the one whose squared errors of late are least decides, by Thompson sampling, as
in `Council`. So a short memory decides where the world moves, and all memory where it stands still.

Where a short memory is clearly better, or all err more than they used to (`beliefs/change_test.py`), the world has
changed: what is older is no longer valid, for beliefs and for the training of the networks alike, and "all" memory is
what came since then.

Reference: docs/policies/adaptive-council.md.

Cost per step O(kinds·memories·dim² + kinds·num_actions·dim²); per refit the training of `Council`, a pass over history
for each memory, and a factorisation per kind, memory and action.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from showdown.basics.errors import UsageError
from showdown.beliefs.belief import BeliefState, Values
from showdown.beliefs.best_predictor import Contest
from showdown.beliefs.change_test import ChangeTest
from showdown.beliefs.features import Features, FeatureState
from showdown.beliefs.scale_free import ScaleFree
from showdown.beliefs.side_by_side import FAST, SideBySide
from showdown.beliefs.tempered import TemperedLinear
from showdown.config import config, linear, log, non_negative, param, positive, sizes
from showdown.policies.registry import policies
from showdown.policies.shared.members import DOUBLINGS, Member
from showdown.policies.shared.memories import Kind, columns_of, relearned, wide_design
from showdown.policies.shared.timeline import Timeline, part_of
from showdown.policies.wrappers import WarmUp
from showdown.posteriors.probability_of_best import MOST, largest
from showdown.posteriors.regression import student_t
from showdown.protocol.history import History
from showdown.protocol.keys import role_key
from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work


class AdaptiveState(NamedTuple):
    features: FeatureState
    beliefs: tuple[BeliefState, ...]  # one per kind, each with a first axis of memories
    contest: Contest  # of all members: memories times kinds
    test: ChangeTest
    valid_from: jax.Array  # () int32 rewards before this one are of a world that is no more
    changes: jax.Array  # (DOUBLINGS,) that were found, by part of the timeline
    timeline: Timeline


@config
class AdaptiveCouncil(Policy):
    """Several beliefs with several memories; the one that predicted best of late decides, by Thompson sampling."""

    sees_action_features = True

    features: Features = param(SideBySide(), "what members see of a context")
    members: tuple[Member, ...] = param(
        (
            Member(name="linear", sees="context", belief=TemperedLinear(prior_precision=0.01)),
            Member(name="own", sees="own", belief=TemperedLinear(prior_precision=0.01)),
            Member(name="network", sees="all", belief=TemperedLinear(prior_precision=0.05)),
        ),
        "kinds of belief",
    )
    memories: tuple[int, ...] = param(
        (1000, 250), "rewards that short memories hold, beside all of them", sizes, small=(8,)
    )
    judged: float = param(500.0, "rewards by which members are compared, about", positive, log(100, 10_000))
    threshold: float = param(15.0, "evidence that makes a change certain", positive, linear(4.0, 30.0))
    spread: float = param(
        0.7, "of the draw between members, in deviations; 0 follows the best one", non_negative, linear(0.0, 2.0)
    )
    caution: float = param(
        2.0, "deviations by which a short memory must be better to decide", non_negative, linear(0.0, 4.0)
    )

    @property
    def refit_every(self) -> int:
        return self.features.refit_every

    def check(self) -> None:
        super().check()
        if not self.members or not self.memories:
            raise UsageError("an adaptive council needs at least one member and one short memory")
        for member in self.members:
            if not isinstance(member.belief, ScaleFree):
                kind = type(member.belief).__name__
                raise UsageError(f"a belief of an adaptive council must be able to forget, and {kind} is not")

    def kinds(self, spec: ProblemSpec) -> list[Kind]:
        """All members; those of each action's own coefficients only where actions have features."""
        return [
            Kind(member.name, member.belief, columns_of(self.features, spec, member.sees))  # type: ignore[arg-type]
            for member in self.members
            if member.sees != "own" or spec.action_dim
        ]

    def names(self, spec_kinds: int) -> list[str]:
        """What members are called, in the order of the contest."""
        kept = [member.name for member in self.members if member.sees != "own" or spec_kinds == len(self.members)]
        return [name if not memory else f"{name}, last {memory}" for memory in (0, *self.memories) for name in kept]

    def init(self, key: jax.Array, spec: ProblemSpec) -> AdaptiveState:
        kinds, held = self.kinds(spec), 1 + len(self.memories)
        members = len(kinds) * held
        starts = [kind.belief.init(spec.num_outputs, len(kind.columns)) for kind in kinds]
        return AdaptiveState(
            features=self.features.init(key, spec),
            beliefs=tuple(jax.tree.map(lambda leaf: jnp.stack([leaf] * held), start) for start in starts),
            contest=Contest.start(members),
            test=ChangeTest.start(len(self.memories)),
            valid_from=jnp.int32(0),
            changes=jnp.zeros(DOUBLINGS),
            timeline=Timeline.start(members),
        )

    def designs(self, state: AdaptiveState, situation: Situation) -> list[jax.Array]:
        """What each kind of belief sees, of the context or of every action."""
        actions = jnp.arange(situation.num_actions)
        wide = wide_design(self.features, state.features, situation.spec, situation.inputs, actions)
        return [wide[..., kind.columns] for kind in self.kinds(situation.spec)]

    def standing(self, contest: Contest) -> Contest:
        """The contest with a handicap of short memories: they explore what they forgot, so a tie is not enough."""
        short = jnp.arange(len(contest.sums)) >= len(contest.sums) // (1 + len(self.memories))
        return contest._replace(sums=contest.sums + jnp.where(short, self.caution * contest.deviation, 0.0))

    def act(self, key: jax.Array, state: AdaptiveState, situation: Situation) -> jax.Array:
        """The best of one draw of every action's value by the member that decides; the others are not asked."""
        kinds = self.kinds(situation.spec)
        member, draws_key = (
            self.standing(state.contest).draw(role_key(key, "member"), self.spread),
            role_key(key, "draws"),
        )
        memory, kind = member // len(kinds), member % len(kinds)
        held = [jax.tree.map(lambda leaf: leaf[memory], belief) for belief in state.beliefs]
        seen = list(zip(kinds, held, self.designs(state, situation), strict=True))
        if situation.features is not None:  # all actions share coefficients, so a member draws them once
            draws = [partial(each.belief.draw, draws_key, belief, design) for each, belief, design in seen]
            return situation.best(jax.lax.switch(kind, draws))
        opinions = [partial(each.belief.values, belief, design) for each, belief, design in seen]
        values = jax.lax.switch(kind, opinions)
        return situation.best(values.mean + values.spread * student_t(draws_key, values.freedom))

    def values(self, state: AdaptiveState, situation: Situation) -> list[Values]:
        """What each kind believes about every action's value with each memory: (memories, num_actions)."""
        seen = zip(self.kinds(situation.spec), state.beliefs, self.designs(state, situation), strict=True)
        return [jax.vmap(kind.belief.values, in_axes=(0, None))(held, design) for kind, held, design in seen]

    def probabilities(self, state: AdaptiveState, situation: Situation) -> jax.Array | None:
        """Each member's law, weighed by the probability that it decides."""
        if situation.num_actions > MOST or situation.features is not None:
            return None
        law = jax.vmap(lambda mean, spread, freedom: largest(mean, spread, freedom, situation.mask))
        laws = jnp.stack([law(*values.law) for values in self.values(state, situation)], axis=1)
        return jnp.sum(
            self.standing(state.contest).law(self.spread)[:, None] * laws.reshape(-1, situation.num_actions), axis=0
        )

    def update(
        self, key: jax.Array, state: AdaptiveState, situation: Situation, action: jax.Array, reward: jax.Array
    ) -> AdaptiveState:
        spec, inputs, owner = situation.spec, situation.inputs_of(action), situation.spec.owner(action)
        state = state._replace(features=self.features.observe(state.features, inputs, reward))
        wide, kinds = wide_design(self.features, state.features, spec, inputs, action), self.kinds(spec)
        predicted, beliefs = [], []
        for kind, held in zip(kinds, state.beliefs, strict=True):
            design = wide[kind.columns]
            predicted.append(jax.vmap(lambda belief, k=kind, d=design: k.belief.values(belief, d).mean[owner])(held))
            beliefs.append(
                jax.vmap(lambda belief, k=kind, d=design: k.belief.observe(belief, d, owner, reward)[0])(held)
            )
        errors = (jnp.stack(predicted, axis=-1) - reward) ** 2  # (memories, kinds)
        leaders = jnp.argmin(state.contest.sums.reshape(errors.shape), axis=-1)
        led = jnp.take_along_axis(errors, leaders[:, None], axis=-1)[:, 0]
        leader = jnp.argmin(self.standing(state.contest).sums)
        # `act` cannot keep its draw, so a second one from the same law stands for it in the timeline
        member = self.standing(state.contest).draw(key, self.spread)
        return state._replace(
            beliefs=tuple(beliefs),
            contest=state.contest.observe(errors.ravel(), self.judged),
            test=state.test.observe(errors.ravel()[leader], led),
            timeline=state.timeline.continued(
                state.test.seen.astype(jnp.float32), jax.nn.one_hot(member, errors.size), errors.ravel(), reward
            ),
        )

    def refit(self, key: jax.Array, state: AdaptiveState, history: History) -> AdaptiveState:
        def redo() -> AdaptiveState:
            looked = self.changed(state)
            since = history.count - (looked.test.seen - looked.valid_from)  # its last row is the last reward
            valid = history.since(jnp.where(looked.valid_from > 0, since, 0))
            features = self.features.refit(key, looked.features, valid)
            kinds = self.kinds(history.spec)
            beliefs = relearned(self.features, kinds, features, looked.beliefs, valid, self.memories)
            return looked._replace(features=features, beliefs=beliefs)

        # `count` is the same for all trials, so this is a real branch, not both sides with a choice between them
        return jax.lax.cond(self.features.is_due(history), redo, lambda: state)

    def changed(self, state: AdaptiveState) -> AdaptiveState:
        """The state where, if a change was found, all memory begins with it and members are compared afresh."""
        found, since = state.test.found(self.threshold)
        afresh = Contest.start(len(state.contest.sums)), ChangeTest.start(len(self.memories), state.test.seen)
        contest, test = jax.tree.map(lambda new, old: jnp.where(found, new, old), afresh, (state.contest, state.test))
        return state._replace(
            contest=contest,
            test=test,
            valid_from=jnp.where(found, since, state.valid_from),
            changes=state.changes.at[part_of(state.test.seen)].add(found.astype(jnp.float32)),
        )

    def diagnostics(self, state: AdaptiveState) -> dict[str, jax.Array]:
        """How many changes were found; each member's share of decisions, and its squared error."""
        shares = state.timeline.shares_and_errors(self.names(len(state.beliefs)))
        return shares | {"changes found": state.changes}

    def learned_features(self, state: AdaptiveState, inputs: jax.Array) -> jax.Array | None:
        return self.features.learned(state.features, inputs)

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return self.features.work(spec, horizon, posteriors=len(self.kinds(spec)) * (1 + len(self.memories)))


policies.add("Council-adaptive", WarmUp(inner=AdaptiveCouncil()))
policies.add("Council-adaptive-fast", WarmUp(inner=AdaptiveCouncil(features=FAST)), base="Council-adaptive")
