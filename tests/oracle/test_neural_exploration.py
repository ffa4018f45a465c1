"""Bootstrap membership, parameter noise, the ε of ε-greedy and the two gradient samplers against what they claim."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, special, stats

from showdown.policies import policies
from showdown.policies.greedy_network import GreedyNetwork
from showdown.policies.parameter_noise import ParameterNoise, perturb, predict_perturbed, softmax_divergence
from showdown.policies.shared.bootstrapped import Bootstrap, own_steps
from showdown.policies.wrappers import EpsilonGreedy
from showdown.posteriors import gradient_noise, network
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation

SPEC = ProblemSpec(2, 2)


@pytest.fixture
def empty(history):
    """A history of zeros with room for `capacity` steps."""
    return lambda capacity, count: history(SPEC, np.zeros((capacity, 2)), np.zeros(capacity), np.zeros(capacity), count)


def test_bootstrap_membership_has_the_right_rate_and_is_independent(empty):
    """Rate, pairs of networks and pairs of steps: five binomial tests, each false in 1 of 1,000."""
    policy = Bootstrap(hidden_layers=(), num_networks=3, inclusion_probability=0.7)
    words = policy.init(jax.random.key(0), SPEC).member_key
    members = np.asarray(policy.members(words, empty(6000, 5001)))
    assert members[:, 0].all()  # the first point enters every network's data
    assert not members[:, 5001:].any()
    later = members[:, 1:5001]
    tests = [
        (later, 0.7),
        (later[0] & later[1], 0.49),
        (later[1] & later[2], 0.49),
        (later[:, 1:] & later[:, :-1], 0.49),
    ]
    for found, rate in tests:
        assert stats.binomtest(int(found.sum()), found.size, rate).pvalue > 1e-3
    other = policy.init(jax.random.key(1), SPEC).member_key
    agreement = np.asarray(policy.members(other, empty(6000, 5001)))[:, 1:5001] == later
    assert stats.binomtest(int(agreement.sum()), agreement.size, 0.58).pvalue > 1e-3


def test_bootstrap_membership_does_not_depend_on_the_room_left(empty):
    policy = Bootstrap(hidden_layers=(), num_networks=2, inclusion_probability=0.5)
    words = policy.init(jax.random.key(0), SPEC).member_key
    small, large = (np.asarray(policy.members(words, empty(capacity, 40))) for capacity in (40, 100))
    np.testing.assert_array_equal(small, large[:, :40])


def test_bootstrap_lists_each_networks_own_steps():
    members = np.random.default_rng(0).random((3, 50)) < 0.4
    lists, counts = own_steps(jnp.asarray(members))
    for row, listed, count in zip(members, np.asarray(lists), np.asarray(counts), strict=True):
        np.testing.assert_array_equal(listed[:count], np.flatnonzero(row))


def test_bootstrap_networks_learn_from_their_own_steps_only(history):
    """Rewards poisoned wherever network 0 does not look must leave network 0 exactly as it was, and move network 1."""
    policy = Bootstrap(hidden_layers=(), num_networks=2, inclusion_probability=0.5, training_steps=3, batch_size=32)
    state = policy.init(jax.random.key(0), SPEC)
    generator = np.random.default_rng(0)
    contexts, actions, rewards = (
        generator.normal(size=(30, 2)),
        generator.integers(2, size=30),
        generator.normal(size=30),
    )
    own = np.asarray(policy.members(state.member_key, history(SPEC, contexts, actions, rewards)))[0]
    refit = jax.jit(lambda rewards: policy.refit(jax.random.key(1), state, history(SPEC, contexts, actions, rewards)))
    weights, poisoned = (
        np.asarray(refit(jnp.asarray(each, jnp.float32)).fits.parameters[0].weights)
        for each in (rewards, np.where(own, rewards, 50.0))
    )
    np.testing.assert_array_equal(weights[0], poisoned[0])
    assert np.abs(weights[1] - poisoned[1]).max() > 0.01


def test_bootstrap_picks_networks_evenly():
    """Networks that each prefer their own action: chi-squared, false alarms 1 in 1,000."""
    policy = Bootstrap(hidden_layers=(), num_networks=4)
    spec = ProblemSpec(2, 4)
    state, situation = policy.init(jax.random.key(0), spec), Situation(jnp.zeros(2), jnp.int32(0), spec)
    weights = state.fits.parameters[0]._replace(weights=jnp.zeros((4, 2, 4)), bias=jnp.eye(4))
    state = state._replace(fits=state.fits._replace(parameters=(weights,)))
    keys = jax.random.split(jax.random.key(1), 4000)
    actions = jax.vmap(lambda key: policy.act(key, state, situation))(keys)
    assert stats.chisquare(np.bincount(np.asarray(actions), minlength=4)).pvalue > 1e-3


def noisy(**fields) -> ParameterNoise:
    return ParameterNoise(hidden_layers=(6, 5), training_steps=1, batch_size=8, learning_rate=1e-3, **fields)


@pytest.mark.parametrize(("adapt_per", "times"), [("training", 1), ("context", 7)])
def test_parameter_noise_adapts_towards_its_target(history, adapt_per, times):
    """On a network that hardly moves: noise too small to matter grows by 1 %, noise that drowns it shrinks, once per
    training or once for each of the seven contexts since the last."""
    generator = np.random.default_rng(0)
    spec = ProblemSpec(3, 4)
    past = history(spec, generator.normal(size=(20, 3)), generator.integers(4, size=20), np.zeros(20))

    @jax.jit
    def refitted(policy: ParameterNoise):
        return policy.refit(jax.random.key(1), policy.init(jax.random.key(0), spec), past)

    factor = 1.01**times
    for noise, expected in ((1e-3, 1e-3 * factor), (20.0, 20.0 / factor)):
        after = refitted(noisy(noise=noise, epsilon=0.3, refit_every=7, adapt_per=adapt_per))
        assert float(after.deviation) == pytest.approx(expected, rel=1e-5)
        assert float(after.epsilon) == pytest.approx(0.3 * 0.99**times, rel=1e-5)


def test_parameter_noise_adapts_by_the_noise_of_the_moment(history):
    """Many adaptations in one refit settle where the divergence meets its target, each with its own draw of noise.

    A linear model of two actions on contexts that are zero: the outputs differ by the noise on two biases alone. Noise
    measured once would run on to the end in one direction; measured each time by the same draw, it would settle where
    that one draw lies and the refits would scatter by a factor of three.
    """
    policy = ParameterNoise(
        hidden_layers=(), layer_norm=False, training_steps=1, batch_size=8, learning_rate=1e-6,
        noise=1.0, epsilon=0.5, epsilon_decay=1.0, refit_every=2000, adapt_per="context",
    )  # fmt: skip
    state = policy.init(jax.random.key(0), SPEC)
    past = history(SPEC, np.zeros((20, 2)), np.zeros(20), np.zeros(20))
    deviation = jax.jit(lambda key: policy.refit(key, state, past).deviation)
    found = [float(deviation(jax.random.key(seed))) for seed in range(8)]
    # The noise is steady where half of the draws lie below the target: the divergence grows with |difference|, whose
    # median is 0.674·√2·σ.
    target = -np.log(1 - 0.5 + 0.25)
    difference = optimize.brentq(lambda d: stats.entropy([0.5, 0.5], special.softmax([0.0, d])) - target, 0.01, 20)
    expected = np.log(difference / (0.6745 * np.sqrt(2)))
    assert np.mean(np.log(found)) == pytest.approx(expected, abs=0.1)  # the standard error is 0.03
    assert np.std(np.log(found)) < 0.2  # 0.08 in theory


def test_parameter_noise_distance_and_target():
    generator = np.random.default_rng(0)
    clean, other = generator.normal(size=(2, 50, 4)) * 3
    probabilities = special.softmax(clean, axis=1), special.softmax(other, axis=1)
    expected = np.mean([stats.entropy(p, q) for p, q in zip(*probabilities, strict=True)])
    assert float(softmax_divergence(jnp.asarray(clean), jnp.asarray(other))) == pytest.approx(expected, rel=1e-4)
    huge = softmax_divergence(jnp.array([[900.0, 0.0]]), jnp.array([[0.0, 900.0]]))
    assert float(huge) == pytest.approx(900.0)
    target = noisy().target(jnp.float32(0.3), 4)
    assert float(target) == pytest.approx(-np.log(1 - 0.3 + 0.3 / 4), rel=1e-5)


@pytest.mark.parametrize(("epsilon", "trainings"), [(1.5, 19), (2.0, 47)])
def test_published_threshold_is_undefined_for_the_first_trainings(epsilon, trainings):
    """With five actions, as the released code behaves: nothing lies below NaN, so the noise shrinks that long."""
    published, clamped = noisy(threshold="published"), noisy(threshold="clamped")
    levels = [jnp.float32(epsilon * 0.99**number) for number in range(60)]
    undefined = [bool(jnp.isnan(published.target(level, 5))) for level in levels]
    assert undefined == [True] * trainings + [False] * (60 - trainings)
    assert float(clamped.target(levels[0], 5)) == pytest.approx(np.log(5), rel=1e-5)


def test_parameter_noise_decisions_have_the_law_of_perturbed_networks():
    """Drawn unit by unit and by perturbing every parameter, with layer norm. Kolmogorov–Smirnov, 1 in 1,000 each."""
    parameters = network.init(jax.random.key(0), [(3, 6), (6, 5), (5, 2)], 0.8, layer_norm=True)
    context, deviation = jnp.array([1.0, -0.4, 0.7]), jnp.float32(0.4)
    keys = jax.random.split(jax.random.key(1), 8000)
    by_unit = jax.vmap(lambda key: predict_perturbed(key, parameters, context, deviation))(keys[:4000])
    by_weight = jax.vmap(lambda key: network.predict(perturb(key, parameters, deviation), context))(keys[4000:])
    for read in (lambda v: v[:, 0], lambda v: v[:, 1], lambda v: v[:, 0] - v[:, 1]):
        assert stats.ks_2samp(read(np.asarray(by_unit)), read(np.asarray(by_weight))).pvalue > 1e-3


def test_epsilon_decays_per_context_or_per_training():
    base = policies.get("EpsGreedyRMS-SL").inner
    assert isinstance(base, EpsilonGreedy)
    steps = jnp.arange(45, dtype=jnp.int32)
    per_context = jax.vmap(base.probability)(steps)
    np.testing.assert_allclose(per_context, 0.23 * 0.95 ** np.arange(45.0), rtol=1e-5)
    per_training = jax.vmap(
        EpsilonGreedy(inner=GreedyNetwork(), epsilon=0.23, decay=0.95, decay_per="training").probability
    )
    np.testing.assert_allclose(per_training(steps), 0.23 * 0.95 ** (np.arange(45) // 20), rtol=1e-5)


@pytest.mark.parametrize("sampler", ["constant SGD", "Fisher scoring"])
def test_gradient_walk_has_the_posterior_as_its_stationary_law(sampler):
    """A quadratic loss with known Hessian and gradient noise, 500 chains: the variance is 1/(N A) within 10 % (finite
    steps and the estimated gradient variance add 2 to 3 %; the standard error of the estimate is under 3 %)."""
    points, decay = 2000.0, 0.99
    curvature = jnp.array([1.0, 4.0, 0.5])
    optimum = jnp.array([0.3, -2.0, 1.0])
    noise_variance = jnp.array([0.1, 0.4, 0.1])

    def one_step(carry, key):
        theta, moments = carry
        noise_key, step_key = jax.random.split(key)
        gradient = curvature * (theta - optimum) + jnp.sqrt(noise_variance) * jax.random.normal(noise_key, (3,))
        moments = gradient_noise.observe(moments, gradient, decay)
        variances = gradient_noise.variance(moments, decay)
        if sampler == "constant SGD":
            change = gradient_noise.constant_sgd(gradient, variances, points, 1.0)
        else:
            change = gradient_noise.fisher_scoring(step_key, gradient, variances, points, 0.5, 1.0)
        theta = jnp.where(moments.seen > 300, theta + change, theta)
        return (theta, moments), theta

    def chain(key):
        return jax.lax.scan(one_step, (optimum, gradient_noise.start(optimum)), jax.random.split(key, 6000))[1]

    trace = jax.jit(jax.vmap(chain))(jax.random.split(jax.random.key(0), 500))[:, 3000:]
    found = np.mean((np.asarray(trace) - np.asarray(optimum)) ** 2, axis=(0, 1))
    np.testing.assert_allclose(found, 1 / (points * np.asarray(curvature)), rtol=0.1)


def test_gradient_variance_is_unbiased_even_with_a_short_memory():
    """Steady gradients around a mean of 5: the average estimate over 4,000 streams is the true variance."""
    decay = 0.5
    gradients = 5 + 2 * jax.random.normal(jax.random.key(0), (30, 4000))
    moments, _ = jax.lax.scan(
        lambda moments, gradient: (gradient_noise.observe(moments, gradient, decay), None),
        gradient_noise.start(jnp.zeros(4000)),
        gradients,
    )
    assert float(gradient_noise.variance(moments, decay).mean()) == pytest.approx(4.0, rel=0.08)


def test_capped_steps_never_exceed_the_cap():
    gradient, silent = jnp.array([1.0, 1.0]), jnp.array([0.0, 1e-30])
    change = gradient_noise.constant_sgd(gradient, silent, jnp.float32(10.0), 0.1)
    np.testing.assert_allclose(change, [-0.1, -0.1], rtol=1e-6)
    with_noise = gradient_noise.fisher_scoring(jax.random.key(0), gradient, silent, jnp.float32(10.0), 0.2, 0.1)
    np.testing.assert_allclose(with_noise, [-0.1, -0.1], rtol=1e-3)
