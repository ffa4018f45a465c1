"""What a decision sees: features of actions, actions that are not available, rewards that come late."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.agent import Agent
from showdown.basics.errors import UsageError
from showdown.config import config, override, param
from showdown.play.population import simulate_many
from showdown.play.simulate import problem_identity, simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.problems.items import Items
from showdown.problems.late import Late
from showdown.protocol.feedback import Batched, Delay, RandomDelay
from showdown.protocol.keys import trial_keys
from showdown.protocol.policy import Policy
from showdown.protocol.problem import Problem, ProblemSpec, Round
from showdown.protocol.situation import Situation
from showdown.testing import check_problem, play, scripted
from showdown.testing.problem_promises import shortened

STEPS, DIM, ACTIONS = 24, 3, 3
FEEDBACKS = (Delay(steps=9), RandomDelay(mean=12.0), Batched(size=10))


def script():
    draw = np.random.default_rng(3)
    return draw.normal(size=(STEPS, DIM)), draw.normal(size=(STEPS, ACTIONS))


LATE = [*(("LinFullPost", feedback) for feedback in FEEDBACKS), ("NeuralLinear", FEEDBACKS[1]), ("RMS", FEEDBACKS[2])]


@pytest.mark.parametrize(("name", "feedback"), LATE)
def test_an_agent_that_learns_late_plays_what_the_simulator_plays(name, feedback):
    """One definition of late rewards: a service that hears of them in this order decides as the benchmark does."""
    policy, (contexts, rewards) = policies.get(name).small(), script()
    problem = Late(inner=scripted(contexts, rewards), feedback=feedback)
    played = play(policy, problem)
    key = trial_keys(0, problem_identity(problem), range(2), "policy")[1]
    agent = Agent(policy, context_dim=DIM, num_actions=ACTIONS, key=key)
    order, known = feedback.order(STEPS)
    actions, learned = [], 0
    for step in range(STEPS):
        actions.append(agent.choose(contexts[step]))
        for at in order[learned : known[step]]:
            agent.learn(contexts[at], actions[at], rewards[at, actions[at]])
        learned = int(known[step])
    assert list(played.actions[1]) == actions
    at_once = play(policy, problem.inner)
    assert (at_once.actions[1] != played.actions[1]).any()  # late rewards make a difference at all


def test_a_schedule_of_late_rewards():
    order, known = Delay(steps=2).order(5)
    assert (order.tolist(), known.tolist()) == ([0, 1, 2, 3, 4], [0, 0, 1, 2, 3])
    order, known = Batched(size=2).order(5)
    assert (order.tolist(), known.tolist()) == ([0, 1, 2, 3, 4], [0, 2, 2, 4, 4])
    slow = RandomDelay(mean=10.0)
    arrivals = slow.arrivals(400)
    order, known = slow.order(400)
    assert (arrivals >= np.arange(400)).all()
    assert (np.diff(arrivals[order]) >= 0).all()
    assert (np.diff(order) < 0).any()  # they overtake each other
    assert known[-1] == (arrivals < 400).sum()
    np.testing.assert_array_equal(slow.arrivals(50), arrivals[:50])


def test_a_problem_behind_a_feedback_has_the_same_trials():
    whole, late = problems.get("wheel-0.5"), problems.get("wheel-0.5/delay[steps=7]")
    assert isinstance(late, Late)
    assert late.feedback == Delay(steps=7)
    assert problem_identity(late) == problem_identity(whole)
    assert late.with_horizon(9).inner.horizon == late.with_horizon(9).horizon == 9
    random = [simulate(policies.get("Uniform"), problem, trials=2, horizon=50) for problem in (whole, late)]
    np.testing.assert_array_equal(random[0].curve, random[1].curve)  # Uniform does not care for rewards
    check_problem(shortened(late))


def test_zero_one_rewards_name_the_best_action_of_the_same_trials():
    whole, changed = problems.get("wheel-0.5"), problems.get("wheel-0.5/zero-one")
    assert problem_identity(changed) == problem_identity(whole)
    for step in range(5):
        before, after = (
            each.round(jnp.int32(step), each.begin(jax.random.key(3), ()), ()) for each in (whole, changed)
        )
        assert np.asarray(after.rewards).tolist() == (np.arange(5) == int(jnp.argmax(before.means))).tolist()
        assert np.asarray(after.context) * np.linalg.norm(before.context) == pytest.approx(np.asarray(before.context))
    one = problems.get("wheel-0.5/available[probability=0]/zero-one")  # the best of those that are there
    found = jax.vmap(lambda step: one.round(step, one.begin(jax.random.key(3), ()), ()))(jnp.arange(9))
    np.testing.assert_array_equal(found.rewards, found.available)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("wheel-0.5/soon", "there are: .*delay, random-delay, batched"), ("wheel-0.5/delay[steps=0]", "at least 1")],
)
def test_a_wrong_wrapper_is_refused(text, complaint):
    with pytest.raises(UsageError, match=complaint):
        problems.get(text)


@pytest.mark.parametrize("name", ["LinFullPost", "LinDiagPost", "NeuralLinear", "RMS", "Dropout", "BootstrappedNN"])
def test_policies_play_items_they_have_never_seen(name):
    """With features of actions the same code learns one set of coefficients, or one network, for all of them."""
    small = {"training_steps": 20, "hidden_layers": (16,), "refit_every": 50, "batch_size": 64, "num_networks": 2}
    policy = policies.get(name)
    if policy.refit_every:
        known = {parameter.field for parameter in _parameters(policy)}
        policy = override(policy, {field: value for field, value in small.items() if field in known})
    problem = Items(num_items=3, action_dim=4, noise=0.1, horizon=300)
    regret = simulate(policy, problem, trials=4).cumulative_expected.mean()
    chance = simulate(policies.get("Uniform"), problem, trials=4).cumulative_expected.mean()
    assert regret < (0.1 if name.startswith("Lin") else 0.7) * chance


def _parameters(policy):
    from showdown.config import parameters

    return parameters(policy)


def test_a_shared_belief_is_one_regression():
    """Its mean is ridge regression on [context, features, 1] of what was played, whichever action that was."""
    policy, problem = policies.get("LinFullPost").inner, Items(num_items=3, action_dim=4, horizon=60)
    played = play(policy, problem, trials=1)
    keys = trial_keys(0, problem_identity(problem), range(1), "problem")
    episode = problem.begin(keys[0], ())
    rounds = jax.vmap(lambda step: problem.round(step, episode, ()))(jnp.arange(60))
    rows = np.arange(60), played.actions[0]
    designs = np.concatenate([np.ones((60, 1)), np.asarray(rounds.features)[rows], np.ones((60, 1))], axis=1)
    rewards = np.asarray(rounds.rewards)[rows]
    wanted = np.linalg.solve(designs.T @ designs + 0.25 * np.eye(6), designs.T @ rewards)
    np.testing.assert_allclose(played.players.state.regressions.mean[0, 0], wanted, rtol=1e-3, atol=1e-4)


def test_draws_of_shared_coefficients_are_correlated_as_their_designs_are():
    from showdown.beliefs.linear import StudentLinear

    belief = StudentLinear()
    state = belief.init(1, 3)
    designs = jnp.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    draws = jax.vmap(lambda key: belief.draw(key, state, designs))(jax.random.split(jax.random.key(0), 20_000))
    np.testing.assert_array_equal(draws[:, 0], draws[:, 1])
    np.testing.assert_allclose(draws[:, 3], draws[:, 0] + draws[:, 2], atol=1e-4)  # one draw of coefficients
    values = belief.values(state, designs)
    # Student-t with 12 degrees of freedom has a variance of 12/10
    np.testing.assert_allclose(draws.var(axis=0), np.asarray(values.spread) ** 2 * 1.2, rtol=0.05)


@pytest.mark.parametrize("name", ["GP", "ParamNoise", "BBB"])
def test_a_policy_that_cannot_use_features_says_so(name):
    with pytest.raises(UsageError, match="cannot use features of actions, of which this problem has 20"):
        simulate(policies.get(name), problems.get("items"), trials=1, horizon=5)


class Gate(NamedTuple):
    unit: jax.Array


@config
class Doors(Problem):
    """The best action is never available."""

    horizon: int = param(40, "steps")

    def spec(self, tables):
        return ProblemSpec(context_dim=1, num_actions=3)

    def begin(self, key, tables):
        return Gate(jnp.float32(1.0))

    def round(self, step, episode, tables):
        rewards = jnp.array([0.0, 1.0, 2.0])
        return Round(jnp.ones(1), rewards, rewards, available=jnp.array([True, True, False]))


@pytest.mark.parametrize("name", ["Uniform", "LinFullPost", "LinFullPost-Duel", "LinGreedy-eps0.05", "RMS", "Council"])
def test_only_available_actions_are_played_and_regret_is_against_the_best_of_them(name):
    outcome = simulate(policies.get(name).small(), Doors(), trials=3)
    assert not outcome.action_counts[:, 2].any()
    np.testing.assert_allclose(outcome.cumulative, outcome.action_counts[:, 0])


@config
class Stubborn(Policy):
    scale: float = param(1.0, "a float, so that several can be played at once")

    def init(self, key, spec):
        return ()

    def act(self, key, state, situation):
        return jnp.int32(2)


def test_an_action_that_is_not_available_is_an_error():
    with pytest.raises(UsageError, match="chose action 2 at step 0, which is not available"):
        simulate(Stubborn(), Doors(), trials=1)


def test_a_population_may_not_play_what_is_not_available():
    with pytest.raises(UsageError, match="chose action 2 at step 0, which is not available"):
        simulate_many([Stubborn(scale=1.0), Stubborn(scale=2.0)], Doors(), trials=1)


def test_the_best_fixed_action_is_one_that_can_be_played():
    outcome = simulate(policies.get("Uniform"), Doors(), trials=2)
    assert outcome.reward_fixed.tolist() == [1.0, 1.0]  # and not 2, which the third would pay


def test_a_mask_that_leaves_everything_changes_no_draw():
    """So an agent, which always gives a mask, decides as the simulator, which gives none."""
    spec, key = ProblemSpec(3, 4), jax.random.key(1)
    for name in ("Uniform", "LinFullPost", "LinFullPost-Duel", "LinGreedy-eps0.05"):
        policy = policies.get(name)
        state = policy.init(key, spec)
        keys = jax.random.split(key, 200)
        played = []
        for available in (None, jnp.ones(4, bool)):
            situation = Situation(jnp.array([0.2, -1.0, 0.5]), jnp.int32(40), spec, available)
            played.append(jax.vmap(policy.act, in_axes=(0, None, None))(keys, state, situation))
        np.testing.assert_array_equal(*played)


def test_only_one_delay_and_none_that_overflows():
    with pytest.raises(UsageError, match="name one delay"):
        problems.get("wheel-0.5/delay/batched")
    _, known = RandomDelay(mean=1e21).order(50)
    assert known.max() == 0
    assert Delay(steps=10**12).order(5)[1].tolist() == [0] * 5


@pytest.mark.parametrize("text", ["", "/", "wheel-0.5/", "wheel-0.5//delay"])
def test_an_empty_part_of_a_name_is_refused(text):
    with pytest.raises(UsageError):
        problems.get(text)


def test_the_work_of_a_policy_that_does_not_say_it_is_counted():
    """A product with a matrix of 100 × 100 per action, in act and in update, dominates what is counted."""

    @config
    class Products(Policy):
        def init(self, key, spec):
            return jnp.zeros((spec.num_actions, 100, 100))

        def act(self, key, state, situation):
            return situation.best(jnp.einsum("kij,j->ki", state, jnp.ones(100)).sum(axis=-1))

    work = Products().work(ProblemSpec(5, 4), 1000)
    assert work.steps == 1000
    assert work.operations == pytest.approx(1000 * 2 * 4 * 100**2, rel=0.1)
    linear = policies.get("LinFullPost").work(ProblemSpec(5, 4, 3), 10)
    assert linear.operations == 4 * 10 * 4 * 9**2
