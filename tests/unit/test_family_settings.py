"""Families published since 2018: what their settings may be, and which network the `-Net` presets have."""

from __future__ import annotations

from dataclasses import fields

import jax
import pytest

from showdown.basics.errors import UsageError
from showdown.beliefs.dropout_features import DropoutFeatures
from showdown.beliefs.side_by_side import SideBySide
from showdown.config import core
from showdown.policies import policies
from showdown.policies.low_rank_filter import LowRankFilter
from showdown.policies.neural_tangent import NeuralTangent
from showdown.policies.perturbed_rewards import PerturbedRewards
from showdown.policies.rich_last_layer import RichLastLayer
from showdown.policies.rules import BestMean
from showdown.policies.variational_last_layer import VariationalLastLayer
from showdown.protocol.problem import ProblemSpec

SPEC = ProblemSpec(3, 2)


@pytest.mark.parametrize("name", [name for name in policies.names() if name.endswith("-Net")])
def test_a_net_preset_has_one_of_the_networks_of_council(name):
    """Field by field; what differs is what docs/policies says."""
    policy, council = core(policies.get(name)), core(policies.get("Council")).features
    if isinstance(policy, LowRankFilter):  # has no training, so only the shape
        assert (policy.hidden_layers, policy.layer_norm) == (council.hidden_layers, council.layer_norm)
        return
    averaging = 0.0 if isinstance(policy, PerturbedRewards) else 0.9  # Council has 0.5
    expected = {each.name: getattr(council, each.name) for each in fields(council)} | {"averaging": averaging}
    del expected["networks"]
    assert type(policy.features) is DropoutFeatures
    assert {each.name: getattr(policy.features, each.name) for each in fields(policy.features)} == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Ensemble+[prior_scale=-1]", "prior_scale must not be negative, and is -1.0"),
        ("Ensemble+-Net[num_networks=0]", "num_networks must"),
        ("Ensemble+-Net[num_networks=100000]", "num_networks must"),
        ("NeuralTS[exploration=-1]", "exploration must not be negative, and is -1.0"),
        ("NeuralUCB[prior_precision=0]", "prior_precision must be positive, not 0.0"),
        ("HiLoFi[rank=0]", "rank must"),
        ("HiLoFi[rank=100000]", "rank must"),
        ("LRKF[drift=-1]", "drift must not be negative, and is -1.0"),
        ("Ensemble++[index_size=0]", "index_size must"),
        ("NPR[scale=-0.5]", "scale must not be negative, and is -0.5"),
        ("LMC-TS[temperature=-1]", "temperature must not be negative, and is -1.0"),
        ("FG-LMC-TS[feel_good=-1]", "feel_good must not be negative, and is -1.0"),
        ("Epinet-Net[index_samples=0]", "index_samples must lie between 1 and 1000, not 0"),
        ("EVILL[prior_precision=-1]", "prior_precision must not be negative, and is -1.0"),
        ("VBLL[prior_deviation=0]", "prior_deviation must be positive, not 0.0"),
        ("Rich-BLL[strength=-1]", "strength must not be negative, and is -1.0"),
        ("Evidence[rounds=0]", "rounds must be at least 1, not 0"),
        ("LU-Gauss[latent=0]", "latent must be at least 1, not 0"),
    ],
)
def test_settings_that_make_no_policy(name, message):
    with pytest.raises(UsageError) as error:
        policies.get(name)
    assert message in str(error.value)


@pytest.mark.parametrize("kind", [NeuralTangent, RichLastLayer, VariationalLastLayer])
def test_a_method_that_looks_into_its_network_has_one(kind):
    with pytest.raises(UsageError, match="works on one network, and SideBySide has several"):
        kind(features=SideBySide()).check()


@pytest.mark.parametrize("name", ["Council", "Ensemble++", "VBLL", "Evidence-Net"])
def test_features_of_a_network_need_a_hidden_layer(name):
    with pytest.raises(UsageError, match="has none"):
        policies.get(f"{name}[hidden_layers=()]").init(jax.random.key(0), SPEC)


@pytest.mark.parametrize(
    "family", ["Rich-BLL", "Evidence", "VBLL", "NeuralTS", "SAU", "HiLoFi", "LRKF", "Ensemble+", "Ensemble++"]
)
def test_every_family_has_a_greedy_twin_on_both_networks(family):
    for name in (family, f"{family}-Net"):
        assert isinstance(policies.get(f"{name}/Greedy").inner, BestMean)
