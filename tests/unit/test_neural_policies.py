"""Neural presets: what they refuse, how the loop may treat them, and that the suites name presets that exist."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.basics.errors import UsageError
from showdown.bench.suite import load_suite
from showdown.config import all_fields, core
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.policy import History
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

NEURAL = [name for name in policies.names() if "hidden_layers" in all_fields(policies.get(name))]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("RMS[training_steps=0]", "training_steps must be at least 1, not 0"),
        ("RMS[hidden_layers=(10,0)]", "hidden_layers must hold whole numbers of at least 1, not 0"),
        ("RMS[learning_rate=0]", "learning_rate must be positive, not 0.0"),
        ("RMS[learning_rate_decay=-1]", "learning_rate_decay must not be negative, and is -1.0"),
        ("RMS[training_precision=half]", "training_precision must be one of default, highest, not 'half'"),
        ("EpsGreedyRMS[decay=1.5]", "decay must lie between 0 and 1, not 1.5"),
        ("LinGreedy-eps0.05[decay_per=training]", "decay_per=training needs a policy that trains"),
        ("Dropout[keep_probability=0]", "keep_probability is a probability and must lie in"),
        ("BootstrappedNN[num_networks=0]", "num_networks must be at least 1, not 0"),
        ("BootstrappedNN[inclusion_probability=2]", "inclusion_probability is a probability and must lie in"),
        ("ParamNoise[noise=-1]", "noise must be positive, not -1.0"),
        ("NeuralLinear[prior_precision=0]", "prior_precision must be positive, not 0.0"),
        ("BBB[prior_deviation=0]", "prior_deviation must be positive, not 0.0"),
        ("AlphaDivergence[alpha=0]", "alpha must be positive, not 0.0"),
        ("SGFS[moment_decay=1]", "moment_decay must lie strictly between 0 and 1, not 1.0"),
        ("ConstSGD[burn_in=-1]", "burn_in must be at least 0, not -1"),
        ("Rich-BLL[strength=-1]", "strength must not be negative, and is -1.0"),
        ("Rich-BLL[rows=0]", "rows must be at least 1, not 0"),
        ("Evidence[rounds=0]", "rounds must be at least 1, not 0"),
        ("VBLL[prior_deviation=0]", "prior_deviation must be positive, not 0.0"),
        ("LU-Gauss[latent=0]", "latent must be at least 1, not 0"),
    ],
)
def test_settings_that_make_no_policy(name, message):
    with pytest.raises(UsageError) as error:
        policies.get(name)
    assert message in str(error.value)


def test_only_beliefs_about_features_move_between_refits():
    """The loop scores a whole block at once for all others."""
    moving = [name for name in NEURAL if not policies.get(name).learns_only_at_refits]
    kinds = {type(core(policies.get(name))).__name__ for name in moving}
    new = {"RichLastLayer", "VariationalLastLayer", "SampleAverageUncertainty", "NeuralTangent", "LowRankFilter"}
    councils = {"Council", "StackedCouncil", "AdaptiveCouncil"}
    assert kinds == {"NeuralLinear", "BeliefSampling", *councils, *new}


@pytest.mark.parametrize(
    "name", ["RMS", "NeuralLinear", "Dropout", "BootstrappedNN", "ParamNoise", "BBB", "AlphaDivergence", "SGFS"]
)
def test_the_precision_asked_for_is_that_of_every_product(name):
    """In training, in adapting and in decisions: the network's products are TF32 on a GPU by default, and never are
    when asked for `highest`. The algebra of NeuralLinear is full float32 unless asked otherwise."""
    spec, key = ProblemSpec(3, 4), jax.random.key(0)
    situation = Situation(jnp.zeros(3), jnp.int32(40), spec)
    past = jnp.zeros(8, jnp.int32), jnp.zeros(8)
    history = History(spec, jnp.int32(4), *past, lambda rows: jnp.zeros((len(rows), 3)))

    def exactly(settings: str) -> list[list[bool]]:
        """For each product of a refit, and for each of a decision, whether it is exact."""
        policy = policies.get(f"{name}[hidden_layers=(5,),batch_size=4,{settings}]")
        state = policy.init(key, spec)
        programs = (
            jax.make_jaxpr(lambda state: policy.refit(key, state, history))(state),
            jax.make_jaxpr(lambda state: policy.act(key, state, situation))(state),
        )
        found = [re.findall(r"dot_general\[.*?\]\s", str(program), re.DOTALL) for program in programs]
        return [["HIGHEST" in product for product in each] for each in found]

    trained, decided = exactly("training_precision=highest")
    assert trained
    assert decided
    assert all(trained + decided)
    trained, decided = exactly("training_precision=default")
    assert not all(trained)
    assert set(decided) == {name == "NeuralLinear"}
    if name == "NeuralLinear":
        assert not all(exactly("posterior_precision=default")[1])


@pytest.mark.parametrize(("suite", "rows"), [("neural", 31), ("linear-models", 34)])
def test_suites_name_what_exists(suite, rows):
    loaded = load_suite(suite)
    assert len(set(loaded.policies)) == rows
    for name in loaded.policies:
        policies.get(name)
    for name in loaded.problems:
        problems.get(name)


def test_linear_rows_have_no_hidden_layer():
    rows = [name for name in NEURAL if name.endswith("@linear")]
    assert len(rows) == 24
    assert all(all_fields(policies.get(name))["hidden_layers"] == () for name in rows)


def test_training_draws_only_from_steps_played():
    """Contexts beyond the filled part are NaN: one of them in a batch would poison the network."""
    policy = policies.get("RMS[hidden_layers=(3,),training_steps=4,batch_size=64]").inner
    contexts = jnp.where(jnp.arange(50)[:, None] < 20, 1.0, jnp.nan) * jnp.ones((50, 2))
    spec, past = ProblemSpec(2, 2), (jnp.zeros(50, jnp.int32), jnp.ones(50))
    history = History(spec, jnp.int32(20), *past, lambda rows: contexts[rows])
    state = policy.init(jax.random.key(0), spec)
    trained = policy.refit(jax.random.key(1), state, history)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(trained))
