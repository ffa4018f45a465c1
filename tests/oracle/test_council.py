"""Council: no unit matters, it finds out which belief to follow, its timeline adds up, and rules go around it."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.basics.errors import UsageError
from showdown.beliefs.scale_free import ScaleFreeLinear
from showdown.beliefs.side_by_side import SideBySide
from showdown.config import config, from_json, param, to_json
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.policies.council import StackedCouncil
from showdown.policies.first_council import Council
from showdown.policies.linear import LinearUnknownNoise
from showdown.policies.shared.members import Member
from showdown.policies.uniform import Uniform
from showdown.policies.wrappers import Duel, WarmUp
from showdown.protocol.keys import role_key
from showdown.protocol.problem import Problem, ProblemSpec, Round


class Contexts(NamedTuple):
    all: jax.Array  # (horizon, 2)
    noise: jax.Array  # (horizon, 3)


@config
class Units(Problem):
    """Three actions, the best one by a product of two features, so that a line cannot tell; in any units."""

    context_unit: float = param(1.0, "contexts are multiplied by this")
    reward_unit: float = param(1.0, "rewards are multiplied by this")
    horizon: int = param(400, "steps of one trial")

    def spec(self, tables: object) -> ProblemSpec:
        return ProblemSpec(2, 3)

    def begin(self, key: jax.Array, tables: object) -> Contexts:
        # keys that do not depend on the units: `simulate` derives them from all fields
        fixed = jax.random.key(7, impl="threefry2x32")
        contexts = jax.random.normal(role_key(fixed, "contexts"), (self.horizon, 2))
        return Contexts(contexts, 0.1 * jax.random.normal(role_key(fixed, "noise"), (self.horizon, 3)))

    def round(self, step: jax.Array, episode: Contexts, tables: object) -> Round:
        context = episode.all[step]
        product = jnp.where(context[0] * context[1] > 0, 1.0, 0.0)
        means = jnp.stack([product, 1 - product, jnp.float32(0.4)])
        return Round(self.context_unit * context, self.reward_unit * (means + episode.noise[step]), means)


def small(**fields) -> StackedCouncil:
    return StackedCouncil(features=SideBySide(hidden_layers=(8, 8), batch_size=16), **fields)


@pytest.fixture
def same_keys(monkeypatch):
    """Random keys that do not depend on the units; `simulate` derives them from all fields of a problem."""
    monkeypatch.setattr("showdown.play.prepared.problem_identity", lambda problem: "units")


@pytest.mark.usefixtures("same_keys")
def test_no_unit_changes_an_action_and_it_learns_what_its_linear_member_cannot():
    policy = WarmUp(inner=small())
    plain = simulate(policy, Units(), trials=1, seed=0)
    at_random = Units().horizon * (1 - (1 + 0 + 0.4) / 3)  # expected regret
    assert plain.cumulative_expected.mean() < 0.7 * at_random
    for context_unit, reward_unit in ((0.01, 1.0), (1.0, 1000.0), (0.01, 1000.0), (1 / 128, 1024.0)):
        other = simulate(policy, Units(context_unit=context_unit, reward_unit=reward_unit), trials=1, seed=0)
        np.testing.assert_array_equal(plain.action_counts, other.action_counts)
        np.testing.assert_allclose(plain.curve_expected, other.curve_expected, rtol=1e-5)
    _shares_of_members_add_up_to_one(plain)


def _shares_of_members_add_up_to_one(plain) -> None:
    timelines = plain.mean_timelines()
    members = ("linear", "network")
    assert set(timelines) == {f"{what} of {member}" for what in ("share", "error") for member in members}
    total = np.sum([timelines[f"share of {member}"] for member in members], axis=0)
    assert timelines["error of network"][-1] < timelines["error of linear"][-1]  # which is why the network decides
    assert timelines["share of network"][-1] > 0.8
    assert len(total) == 9  # 400 steps are 9 doublings
    np.testing.assert_allclose(total, 1.0, atol=1e-6)
    assert plain.largest_diagnostics() == {}


def test_members_survive_json_and_overrides():
    council = policies.get("Council[members.1.belief.prior_precision=0.5,doubt=0.3,averaging=0.2]").inner
    assert [member.belief.prior_precision for member in council.members] == [0.01, 0.5]
    assert {member.belief.doubt for member in council.members} == {0.3}
    assert council.features.averaging == 0.2
    assert from_json(to_json(council)) == council
    assert jax.tree.structure(council) == jax.tree.structure(StackedCouncil())
    first = policies.get("Council-1[pseudo_rewards=5]").inner
    assert isinstance(first, Council)
    assert from_json(to_json(first)) == first


def test_what_makes_no_council_and_no_duel_is_refused():
    with pytest.raises(UsageError, match="at least one member"):
        StackedCouncil(members=()).check()
    twin = Member(name="twin", sees="all", belief=ScaleFreeLinear())
    with pytest.raises(UsageError, match="same name"):
        Council(members=(twin, twin)).check()
    with pytest.raises(UsageError, match="Uniform does not"):
        Duel(inner=Uniform()).check()
    Duel(inner=LinearUnknownNoise()).check()
