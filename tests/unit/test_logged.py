"""Logged data: estimators against plain formulas and known truths, replay against an agent, what a log cannot say."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import binom

from showdown.agent import Agent
from showdown.basics.errors import UsageError
from showdown.config import config, param
from showdown.logged.checks import log_messages, replay_messages, weight_messages
from showdown.logged.estimators import direct_method, doubly_robust, effective_rows, fit_rewards, ips, snips, weights
from showdown.logged.evaluate import evaluate, halves
from showdown.logged.live_through import learn, replay, replay_value, usable_rows
from showdown.logged.log import Log
from showdown.logged.simulated import Population
from showdown.logged.targets import act_probabilities
from showdown.policies import policies
from showdown.protocol.keys import named_key
from showdown.protocol.policy import Policy
from showdown.testing.trajectory import scripted

ROWS, ACTIONS = 600, 3


@pytest.fixture(scope="module")
def population() -> Population:
    """Rewards that are linear in the context, with noise; no problem is played."""
    draw = np.random.default_rng(8)
    contexts = draw.normal(size=(5000, 2)).astype(np.float32)
    means = 1 + contexts @ draw.normal(size=(2, ACTIONS))
    return Population(contexts, means + [0.0, 0.5, 1.0] + 3 * draw.normal(size=means.shape))


@pytest.fixture(scope="module")
def log(population) -> Log:
    return population.log(ROWS, population.softmax(1), seed=3)[0]


def evenly(population: Population) -> np.ndarray:
    return np.full(population.rewards.shape, 1 / ACTIONS)


class Tally(NamedTuple):
    live: jax.Array  # (num_actions,) rewards taken in one by one
    fitted: jax.Array  # (num_actions,) rewards of the history at the last refit
    first: jax.Array  # () first coordinate of the last context of that history


@config
class Tallying(Policy):
    """Chooses by its draw alone; its state says exactly what it was given."""

    refit_every: int = param(4, "steps between refits")

    def init(self, key, spec):
        return Tally(jnp.zeros(spec.num_actions), jnp.zeros(spec.num_actions), jnp.zeros(()))

    def act(self, key, state, situation):
        return jax.random.randint(key, (), 0, state.live.shape[0])

    def update(self, key, state, situation, action, reward):
        return state._replace(live=state.live.at[action].add(reward))

    def refit(self, key, state, history):
        past = jnp.arange(history.rewards.shape[0]) < history.count
        sums = jnp.zeros_like(state.fitted).at[history.actions].add(jnp.where(past, history.rewards, 0.0))
        return state._replace(fitted=sums, first=history.at(history.count[None] - 1).contexts[0, 0])


# Estimators


def test_estimators_are_their_formulas(log, population):
    """The same formulas that Open Bandit Pipeline agrees with in benchmarks/logged.py, written as sums over rows."""
    target = np.random.default_rng(0).dirichlet(np.ones(ACTIONS), ROWS)
    predicted = np.random.default_rng(1).normal(size=(ROWS, ACTIONS))
    data = log.rewards, log.actions, log.propensities, target
    terms = {"ips": 0.0, "weight": 0.0, "squares": 0.0, "direct": 0.0, "robust": 0.0}
    for row in range(ROWS):
        action = log.actions[row]
        weight = target[row, action] / log.propensities[row]
        expected = sum(target[row, each] * predicted[row, each] for each in range(ACTIONS))
        terms["ips"] += weight * log.rewards[row]
        terms["weight"] += weight
        terms["squares"] += weight**2
        terms["direct"] += expected
        terms["robust"] += expected + weight * (log.rewards[row] - predicted[row, action])
    assert ips(*data).value == pytest.approx(terms["ips"] / ROWS, abs=1e-9)
    assert snips(*data).value == pytest.approx(terms["ips"] / terms["weight"], abs=1e-9)
    assert direct_method(target, predicted).value == pytest.approx(terms["direct"] / ROWS, abs=1e-9)
    assert doubly_robust(*data, predicted).value == pytest.approx(terms["robust"] / ROWS, abs=1e-9)
    assert ips(*data).effective == pytest.approx(terms["weight"] ** 2 / terms["squares"])
    assert (snips(*data).interval, ips(*data).interval) == ("bootstrap", "normal")


def test_the_logging_policy_itself_is_estimated_by_the_mean(log, population):
    log, steps = population.log(ROWS, population.softmax(1), seed=5)
    chances = population.softmax(1)[steps]
    np.testing.assert_allclose(weights(log.actions, log.propensities, chances), 1)
    for found in (ips, snips):
        assert found(log.rewards, log.actions, log.propensities, chances).value == pytest.approx(log.rewards.mean())
    assert effective_rows(np.ones(ROWS)) == ROWS


def test_rewards_that_are_all_the_same_have_an_interval_of_no_width():
    propensities = np.array([0.1, 0.3, 0.7] * 4)  # 1/p summed in two orders, which differ in their last bits
    found = snips(np.ones(12), np.zeros(12, int), propensities, np.ones((12, 1)))
    assert (found.value, found.low, found.high) == (pytest.approx(1), found.value, found.value)


def test_intervals_cover_at_their_stated_rate(population):
    """200 logs: an estimator that covers 94 % is failed once in a million runs, one that covers 75 % nearly always."""
    logs, target = 200, population.softmax(seed=2, sharpness=2.0, exploring=0.0)
    truth, held, found_all = population.value(target), dict.fromkeys(("ips", "snips", "direct", "robust"), 0), []
    fewest = binom.ppf(1e-6, logs, 0.94)
    for number in range(logs):
        log, steps = population.log(ROWS, population.softmax(1), seed=100 + number)
        model = fit_rewards(log, number)
        data = log.rewards, log.actions, log.propensities, target[steps]
        found = {
            "ips": ips(*data),
            "snips": snips(*data, seed=number),
            "direct": direct_method(target[steps], model.predicted, fitted=model.contributions(target[steps])),
            "robust": doubly_robust(*data, model.predicted),
        }
        for name, estimate in found.items():
            held[name] += estimate.low <= truth <= estimate.high
        found_all.append(found)
    assert all(count >= fewest for count in held.values()), held
    for name in held:  # intervals that are far too wide would also cover; 25 % is 5 deviations of this ratio
        spread = np.std([found[name].value for found in found_all])
        assert np.mean([found[name].standard_error for found in found_all]) == pytest.approx(spread, rel=0.25), name


def test_the_regression_never_sees_the_row_it_predicts(log):
    spoilt = dataclasses.replace(log, rewards=np.where(np.arange(ROWS) == 7, 1e6, log.rewards))
    before, after = fit_rewards(log).predicted[7], fit_rewards(spoilt).predicted[7]
    centre = (spoilt.rewards.mean() - log.rewards.mean()) * np.ones(ACTIONS)  # all rewards are shrunk towards this
    assert (np.abs(after - before) <= np.abs(centre)).all()
    assert np.abs(fit_rewards(spoilt).predicted - fit_rewards(log).predicted).max() > 1e4


# Living through a log


def test_a_log_of_the_policys_own_decisions_is_replayed_whole(population):
    policy, key, draw = policies.get("LinFullPost"), named_key(3, "mine"), np.random.default_rng(0)
    agent = Agent(policy, context_dim=2, num_actions=ACTIONS, key=key)
    rows, actions, rewards = draw.integers(5000, size=ROWS), [], []
    for row in rows:
        actions.append(agent.choose(population.contexts[row]))
        rewards.append(float(np.float32(population.rewards[row, actions[-1]])))
        agent.learn(population.contexts[row], actions[-1], rewards[-1])
    own = Log(population.contexts[rows], np.array(actions, np.int32), np.array(rewards), None, ("a", "b", "c"))
    assert replay(policy, own, key[None], np.ones(ROWS, bool)).all()
    learned = learn(policy, own, key)
    for mine, its in zip(jax.tree.leaves(learned.state), jax.tree.leaves(agent._state), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-3, atol=1e-4)


def test_a_frozen_policy_acts_on_every_row_by_its_own_context():
    """Action 3 alone pays, where the first number is positive. jaxlib 0.10.2 mixes up rows where many go at once."""
    draw, rows, actions = np.random.default_rng(0), 1200, 10
    contexts = draw.normal(size=(rows, 20)).astype(np.float32)
    taken = draw.integers(actions, size=rows).astype(np.int32)
    rewards = 5 * contexts[:, 0] * (taken == 3) + draw.normal(size=rows)
    log = Log(contexts, taken, rewards, np.full(rows, 0.1), tuple(map(str, range(actions))))
    policy, key = policies.get("LinFullPost"), named_key(0, "frozen")
    learned = learn(policy, log, key)
    chances = act_probabilities(policy, key, learned.state, log, learned.step, 64)
    assert chances.shape == (rows, actions)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert chances[contexts[:, 0] > 1, 3].min() > 0.8
    assert chances[contexts[:, 0] < -1, 3].max() < 0.2


def test_only_matches_are_learned_from(log):
    policy, usable = Tallying(), np.arange(ROWS) % 2 == 0
    orders = np.stack([np.arange(ROWS), np.arange(ROWS)[::-1]])
    learned = replay(policy, log, jax.random.split(named_key(0, "t"), 2), usable, orders)
    assert not learned[0, 1::2].any()  # not usable
    assert not learned[1, 0::2].any()  # the same rows, played backwards
    assert 60 < learned[0].sum() < 140  # a third of 300
    everything = learn(policy, log, named_key(0, "t"))
    sums = np.bincount(log.actions, log.rewards, minlength=ACTIONS)
    np.testing.assert_allclose(everything.state.live, sums, rtol=1e-4)
    np.testing.assert_allclose(everything.state.fitted, sums, rtol=1e-4)  # 600 is a multiple of 4
    np.testing.assert_allclose(everything.state.first, log.contexts[-1, 0])
    assert everything.step == ROWS


def test_replay_corrects_a_logger_that_prefers_actions(population):
    """Without the correction the value would be the log's own. Fails once in a million runs."""
    best = np.argsort(-population.rewards.mean(axis=0))
    log, _ = population.log(6000, np.tile(np.array([0.6, 0.3, 0.1])[np.argsort(best)], (5000, 1)), seed=0)
    assert log.rewards.mean() > population.value(evenly(population)) + 0.1
    usable = usable_rows(log, np.random.default_rng(0))
    shares = np.bincount(log.actions[usable], minlength=ACTIONS) / usable.sum()
    np.testing.assert_allclose(shares, 1 / ACTIONS, atol=5 * np.sqrt(2 / 9 / usable.sum()))
    found = replay_value(policies.get("Uniform"), log, named_key(0, "u"), 0)
    truth = population.value(evenly(population))
    deviation = log.rewards.std() / np.sqrt(found.matches)
    assert abs(found.estimate.value - truth) < 5 * deviation
    assert found.estimate.standard_error == pytest.approx(deviation, rel=0.6)
    assert found.estimate.interval == "bootstrap"


def test_halves_follow_time_where_it_is_known(log):
    early, late = halves(dataclasses.replace(log, timed=True), 0)
    np.testing.assert_array_equal(np.concatenate([early.rewards, late.rewards]), log.rewards)
    mixed = halves(log, 0)[0]
    assert mixed.rows == ROWS // 2
    assert not np.array_equal(mixed.rewards, early.rewards)


# What a log cannot say


def test_an_honest_log_of_many_actions_is_not_blamed_for_what_chance_took_seldom():
    for seed in range(20):
        taken = np.random.default_rng(seed).integers(80, size=800).astype(np.int32)
        taken[:80] = np.arange(80)
        names = tuple(str(number) for number in range(80))
        honest = Log(np.zeros((800, 1), np.float32), taken, np.zeros(800), np.full(800, 1 / 80), names)
        assert log_messages(honest) == []


def test_what_is_wrong_with_a_log_is_said(log, population):
    assert log_messages(log) == []
    ones = dataclasses.replace(log, propensities=np.ones(ROWS))
    assert "never explored" in log_messages(ones)[0]
    half = dataclasses.replace(log, propensities=log.propensities / 2)
    assert "too small" in log_messages(half)[0]
    assert log_messages(half)[-1].startswith("The propensities")
    many = Log(log.contexts, np.arange(ROWS, dtype=np.int32) % 6, log.rewards, np.full(ROWS, 0.5), tuple("abcdef"))
    assert log_messages(many)[3:] == ["The same holds for 3 more actions."]
    double = dataclasses.replace(log, propensities=np.minimum(log.propensities * 2, 1))
    assert "propensities are too large" in log_messages(double)[0]
    even, _ = population.log(3000, evenly(population), seed=0)
    bare = dataclasses.replace(even, propensities=None)
    assert len(log_messages(bare)) == 1
    assert "no propensities" in log_messages(bare)[0]
    depends, _ = population.log(3000, population.softmax(1, sharpness=2.0), seed=0)
    _, but = log_messages(dataclasses.replace(depends, propensities=None))
    assert but.startswith("But they were not")
    prefers, _ = population.log(3000, np.tile([0.8, 0.1, 0.1], (5000, 1)), seed=0)
    _, but = log_messages(dataclasses.replace(prefers, propensities=None))
    assert "was taken in 80% of the rows" in but
    assert "4 rows without an action" in log_messages(dataclasses.replace(log, rows_left_out=4))[0]


def test_what_is_wrong_with_weights_is_said():
    rewards = np.random.default_rng(0).normal(size=1000)
    assert weight_messages("it", np.ones(1000), rewards) == []
    assert "no overlap" in weight_messages("it", np.zeros(1000), rewards)[0]
    assert "40% of its decisions" in weight_messages("it", np.repeat([1.0, 0.0], [600, 400]), rewards)[0]
    assert "should have 1" in weight_messages("it", np.full(1000, 1.5) + 0.1 * rewards, rewards)[0]
    few = np.where(np.arange(1000) < 30, 1000 / 30, 0.0)
    assert "only 30 effective rows" in weight_messages("it", few, rewards)[0]
    assert "3 paid anything but 0" in weight_messages("it", np.ones(1000), (np.arange(1000) < 3) * 1.0)[0]
    assert "agreed with the log in 12 of 900 rows" in replay_messages("it", 12, 900)[0]
    assert replay_messages("it", 120, 900) == []


def test_a_policy_without_overlap_gets_no_weighted_estimate(population):
    chances = np.tile([0.5, 0.5, 0.0], (5000, 1))
    log, _ = population.log(ROWS, chances, seed=0)
    found = evaluate("always action 2", log)
    assert [row.estimator for row in found.estimates] == ["direct method"]
    assert found.estimates[0].doubtful
    assert found.verdict() == "The log cannot say what these policies would earn."
    assert any("no overlap" in message for message in found.messages)
    partly = evaluate("uniform", log)
    assert any("33% of its decisions" in message for message in partly.messages)
    assert all(row.doubtful for row in partly.estimates)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"propensities": np.full(ROWS, 1.5)}, r"at most 1; 600 are not \(the first, 1.5, in row 1\)"),
        ({"propensities": np.where(np.arange(ROWS) == 2, 0, 0.5)}, r"1 are not \(the first, 0, in row 3\)"),
        ({"rewards": np.where(np.arange(ROWS) == 4, np.inf, 0.5)}, r"1 rewards .* \(the first in row 5\)"),
        ({"rewards": np.zeros(3)}, "600 actions and 3 rewards"),
        ({"available": np.tile([True, False, False], (ROWS, 1))}, "not among those available"),
        ({"action_names": ("a",)}, "nothing to choose"),
    ],
)
def test_logs_that_make_no_sense_are_refused(log, changes, why):
    with pytest.raises(UsageError, match=why):
        dataclasses.replace(log, **changes)


# All together


def test_fixed_policies_in_every_form(log, population):
    favour = np.tile([0.2, 0.3, 0.5], (ROWS, 1))
    found = evaluate({"mine": favour, "same": lambda contexts: favour, "even": "uniform"}, log, level=0.9)
    assert {row.policy for row in found.estimates} == {"mine", "same", "even"}
    assert found.of("mine", "IPS") == found.of("same", "IPS")
    wide = evaluate(favour, log, level=0.99).of("given", "IPS")
    assert wide.low < found.of("mine", "IPS").low
    assert found.logged.value == pytest.approx(log.rewards.mean())
    for wrong, why in (
        (favour[:3], "the shape"),
        (favour + 0.1, "add up to 1"),
        (favour - 0.3, "from 0 up"),
        ("always nothing", "the log has no action 'nothing'"),
        ("LinFulPost", "did you mean 'LinFullPost'"),
    ):
        with pytest.raises(UsageError, match=why):
            evaluate(wrong, log)
    for arguments, why in (
        ({"level": 2.0}, "between 0 and 1"),
        ({"action": "a"}, "not with a Log"),
    ):
        with pytest.raises(UsageError, match=why):
            evaluate("uniform", log, **arguments)
    with pytest.raises(UsageError, match="needs a log"):
        evaluate("uniform")


def test_without_propensities_only_the_direct_method_and_replay(population):
    even, _ = population.log(ROWS, evenly(population), seed=0)
    found = evaluate(["uniform", "Uniform"], dataclasses.replace(even, propensities=None))
    assert [(row.kind, row.estimator) for row in found.estimates] == [
        ("fixed", "direct method"),
        ("learning", "replay"),
        ("frozen", "direct method"),
    ]
    truth = population.value(evenly(population))
    assert all(abs(row.estimate.value - truth) < 6 * row.estimate.standard_error for row in found.estimates)


def test_available_actions(population):
    """Uniform among what is available: never another, by replay, by draws and as a fixed policy."""
    draw = np.random.default_rng(0)
    available = draw.random((ROWS, ACTIONS)) < 0.5
    available[np.arange(ROWS), draw.integers(ACTIONS, size=ROWS)] = True
    chances = available / available.sum(axis=1, keepdims=True)
    actions = (draw.random((ROWS, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    log = Log(
        contexts=population.contexts[:ROWS],
        actions=actions.astype(np.int32),
        rewards=population.rewards[np.arange(ROWS), actions],
        propensities=chances[np.arange(ROWS), actions],
        action_names=("a", "b", "c"),
        available=available,
    )
    assert log_messages(log) == []
    found = evaluate(["uniform", "always b", "Uniform"], log)
    assert found.of("uniform", "IPS").value == pytest.approx(log.rewards.mean())
    policy, key = policies.get("Uniform"), named_key(0, "draws")
    for half in np.split(np.arange(ROWS), 2):  # `evaluate` has compiled the draws for half of the rows
        drawn = act_probabilities(policy, key, policy.init(key, log.spec), log.take(half), np.int32(0), 64)
        assert (drawn[~available[half]] == 0).all()
        assert np.abs(drawn - chances[half]).max() < 0.4  # 6 deviations of 64 draws at worst
    with pytest.raises(UsageError, match="not available"):
        evaluate(np.tile([1.0, 0.0, 0.0], (ROWS, 1)), log)


def test_a_log_from_a_problem():
    draw = np.random.default_rng(0)
    problem = scripted(draw.normal(size=(50, 2)), draw.normal(size=(50, 5)))
    drawn = Population.of(problem, 50)
    np.testing.assert_allclose(drawn.rewards, problem.load().rewards)
    assert drawn.contexts.shape == (50, 2)
    chances = drawn.softmax(0)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    log, steps = drawn.log(30, chances)
    np.testing.assert_array_equal(log.rewards, drawn.rewards[steps, log.actions])
