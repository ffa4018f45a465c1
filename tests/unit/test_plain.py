"""Plain Python as policies and problems: the same trials, the same numbers, cells of their own."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import showdown as sd
from showdown.basics.errors import InvalidProblemError, UsageError
from showdown.bench.cell import Cell
from showdown.config.fingerprint import fingerprint
from showdown.config.registry import load_file
from showdown.plain import as_policy, as_problem
from showdown.plain.own_policy import stated_law
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.problems.late import Late
from showdown.protocol.feedback import Delay
from showdown.testing import PLAIN_POLICY_PROMISES, PLAIN_PROBLEM_PROMISES, BrokenPromiseError

HORIZON, TRIALS = 40, 3


def shop(rng):
    context = rng.normal(size=3)
    means = np.array([context[0], context[1]])
    return context, means + rng.normal(size=2), means


class Shop:
    """The same as an object that is played step by step."""

    actions = ("left", "right")

    def __init__(self, noise: float = 1.0) -> None:
        self.noise = noise

    def reset(self, rng):
        self.rng = rng
        return self._next()

    def _next(self):
        self.context, self.luck = self.rng.normal(size=3), self.noise * self.rng.normal(size=2)
        return self.context

    def means(self):
        return self.context[:2]

    def step(self, action):
        place = self.actions.index(action)
        reward = self.context[place] + self.luck[place]
        return self._next(), reward


class Follows:
    """Plays the larger of the first two numbers of a context, and remembers what it saw."""

    def begin(self, num_actions, rng):
        self.rng, self.seen = rng, []

    def choose(self, context):
        return int(context[1] > context[0])

    def learn(self, context, action, reward):
        self.seen.append((context[0], action, reward))


class Coin:
    """States its law, and has no `choose`."""

    num_actions = 2

    def __init__(self, heads=0.25):
        self.heads = heads

    def probabilities(self, context):
        return [1 - self.heads, self.heads]


def played(policy, problem=None, **options):
    problem = as_problem(shop, horizon=HORIZON) if problem is None else problem
    return simulate(policy, problem, trials=TRIALS, **options)


def test_a_plain_policy_sees_the_trials_of_a_compiled_one_and_is_paid_the_same():
    problem = problems.get("linear").with_horizon(HORIZON)
    spec = problem.spec(problem.load())

    class Turns:
        def begin(self):
            self.step = -1

        def choose(self, context):
            self.step += 1
            return self.step % spec.num_actions

    class Last(Turns):
        def choose(self, context):
            return spec.num_actions - 1 - super().choose(context)

    compiled = simulate(policies.get("Uniform"), problem, trials=TRIALS)
    outcome, other = (simulate(as_policy(kind), problem, trials=TRIALS) for kind in (Turns, Last))
    # the best fixed action is a fact of the trial and not of the policy
    assert np.array_equal(compiled.reward_fixed, outcome.reward_fixed)
    assert np.array_equal(outcome.reward_fixed, other.reward_fixed)
    assert not np.array_equal(outcome.cumulative, other.cumulative)
    assert outcome.action_counts.sum() == TRIALS * HORIZON


def test_two_ways_to_write_one_policy_earn_the_same_on_compiled_and_plain_problems():
    follows = played(as_policy(Follows()))
    assert np.allclose(follows.cumulative_expected, 0)
    assert (follows.cumulative == played(as_policy(lambda context: int(context[1] > context[0]))).cumulative).all()


@pytest.mark.parametrize("given", [shop, Shop(), Shop, lambda: Shop(0.5)])
def test_problems_of_each_kind_repeat_their_trials(given):
    problem = as_problem(given, horizon=HORIZON)
    one, again, other = (played(as_policy(Follows()), problem, seed=seed) for seed in (1, 1, 2))
    assert (one.cumulative == again.cumulative).all()
    assert (one.cumulative != other.cumulative).any()
    longer = played(as_policy(Follows()), problem.with_horizon(2 * HORIZON), seed=1)
    at = list(longer.steps).index(HORIZON)
    assert np.allclose(longer.curve[:, at], one.cumulative)
    assert len(set(one.reward)) == TRIALS


def test_a_compiled_policy_learns_on_a_plain_problem_also_with_late_rewards():
    problem = as_problem(shop, horizon=300)
    learned, chance = (played(policies.get(name), problem) for name in ("LinGreedy", "Uniform"))
    assert learned.cumulative_expected.mean() < 0.5 * chance.cumulative_expected.mean()
    late = Late(inner=as_problem(shop, horizon=HORIZON), feedback=Delay(steps=7))
    assert (played(policies.get("Uniform"), late).cumulative == played(policies.get("Uniform")).cumulative).all()


def test_late_rewards_reach_a_plain_policy_in_their_order():
    seen = []

    class Notes(Follows):
        def learn(self, context, action, reward):
            seen.append((len(chosen), float(context[0])))

        def choose(self, context):
            chosen.append(float(context[0]))
            return 0

    chosen: list[float] = []
    late = Late(inner=as_problem(shop, horizon=10), feedback=Delay(steps=3))
    policy = as_policy(Follows())
    object.__setattr__(policy, "handed", type(policy.handed)(_Fixed(Notes())))
    simulate(policy, late, trials=1)
    assert seen == [(step + 4, chosen[step]) for step in range(7)]


class _Fixed:
    """Begins every trial with one and the same object, for a test to look into it."""

    def __init__(self, player):
        self.player = player

    def check(self, spec):
        pass

    def begin(self, spec, rng):
        self.player.takes_available = True
        return self.player


def test_stated_probabilities_are_kept_and_others_are_refused():
    kept = played(as_policy(Coin()), keep_propensities=True).decisions
    assert set(np.unique(kept.propensities)) == {np.float32(0.25), np.float32(0.75)}
    assert (kept.propensities[kept.actions == 1] == 0.25).all()
    with pytest.raises(UsageError, match="give it `probabilities`"):
        played(as_policy(Follows()), keep_propensities=True)


def test_a_law_may_be_rounded_to_16_bits():
    law = np.array([0.1, 0.2, 0.699], np.float16)
    np.testing.assert_array_equal(stated_law("it", law, 3), law.astype(float))


@pytest.mark.parametrize("law", [[0.5, 0.6], [1.5, -0.5], [1.0], [np.nan, 1.0]])
def test_an_action_is_not_drawn_from_what_is_no_law(law):
    class Wrong(Coin):
        def probabilities(self, context):
            return law

    with pytest.raises(UsageError, match="probabilities of Wrong must be 2 numbers that sum to 1"):
        played(as_policy(Wrong()))


@pytest.mark.parametrize("explore", ["greedy", "epsilon-greedy", "softmax", "SquareCB", "bootstrap"])
def test_a_model_of_scikit_learn_learns_with_every_way_to_explore(explore):
    linear_model = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    problem = as_problem(_easy, horizon=60)
    policy = as_policy(linear_model.SGDRegressor(learning_rate="constant", eta0=0.1), explore=explore)
    kept = played(policy, problem, keep_propensities=True)
    chance = played(as_policy(Coin(0.5)), problem)
    assert kept.cumulative_expected.mean() < 0.7 * chance.cumulative_expected.mean()
    assert (kept.decisions.propensities > 0).all()


def _easy(rng):
    context = rng.choice([-1.0, 1.0], size=1)
    return context, [float(context[0] > 0), float(context[0] < 0)]


def test_classifiers_are_for_rewards_of_0_and_1_and_are_fitted_again_on_a_schedule():
    tree = pytest.importorskip("sklearn.tree", reason="scikit-learn is not installed")
    policy = as_policy(tree.DecisionTreeClassifier(), refit_every=10)
    assert played(policy, as_problem(_easy, horizon=60)).accuracy.mean() > 0.7
    with pytest.raises(UsageError, match="neither 0 nor 1: take a regressor"):
        played(policy)


def test_a_cell_is_known_by_what_its_code_does():
    def cell(policy, problem=shop):
        return Cell("mine", "shop", as_policy(policy), as_problem(problem, horizon=HORIZON), TRIALS, 0)

    assert cell(Coin()).hash == cell(Coin).hash
    assert cell(Coin(0.3)).hash != cell(Coin()).hash
    assert cell(Coin(), Shop).hash != cell(Coin(), Shop(2.0)).hash
    back = pickle.loads(pickle.dumps(cell(Coin(0.3), Shop)))
    assert back.hash == cell(Coin(0.3), Shop).hash
    assert (played(back.policy, back.problem).cumulative == played(as_policy(Coin(0.3)), back.problem).cumulative).all()
    assert 'heads=0.3"' in str(cell(Coin(0.3)).identity).replace("'", '"')


def test_a_fingerprint_follows_the_code_and_what_it_refers_to():
    def prints(source, helper="1"):
        names: dict = {}
        exec(f"def help():\n    return {helper}\nclass Mine:\n    def choose(self, context):\n        {source}", names)
        for made in ("help", "Mine"):
            names[made].__module__ = "__main__"
        return fingerprint(names["Mine"])

    first = prints("return help()")
    assert prints("return help()  # with a comment") == first
    assert prints("return 1 + help()") != first
    assert prints("return help()", helper="2") != first


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (object(), "object is no policy: it must be an object with `choose"),
        (Follows, None),
        (type("Needs", (), {"__init__": lambda self, size: None}), "hand in an object of it"),
    ],
)
def test_what_is_no_policy_is_refused_in_a_sentence(given, sentence):
    if sentence is None:
        assert as_policy(given).name.endswith("Follows")
        return
    with pytest.raises(UsageError, match=sentence):
        as_policy(given)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"epsilon": 5}, "epsilon must be a number from 0 to 1, not 5"),
        ({"epsilon": "0.1"}, "epsilon must be a number from 0 to 1, not '0.1'"),
        ({"explore": "softmax", "temperature": 0}, "temperature must be a number from 1e-06 on, not 0"),
        ({"explore": "greedy", "members": 3}, "members is for explore='bootstrap'"),
    ],
)
def test_settings_that_a_model_cannot_have_are_refused(options, sentence):
    linear_model = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    with pytest.raises(UsageError, match=sentence):
        as_policy(linear_model.Ridge(), **options)


def test_an_option_counts_or_is_refused():
    linear_model = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    few, many = (as_policy(linear_model.Ridge(), refit_every=count) for count in (10, 50))
    assert repr(few) == "Ridge(explore='epsilon-greedy', refit_every=10)" != repr(many)
    with pytest.raises(UsageError, match="Follows decides itself: members is for scikit-learn models"):
        as_policy(Follows(), members=3)
    with pytest.raises(UsageError, match="decides itself: epsilon is for scikit-learn models"):
        sd.policy("--cb_explore_adf --squarecb", epsilon=0.3)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (3, "int is no problem"),
        (lambda rng: "text", "must give .context, rewards."),
        (lambda rng: ("red", [1.0, 2.0]), "the context of <lambda> must be numbers, not 'red'"),
        (lambda rng: ([1.0], [1.0, np.nan]), "rewards of <lambda> at step 0 are not all finite"),
        (lambda rng: (rng.normal(size=rng.integers(1, 9)), [1.0, 2.0]), "must have one shape at every step"),
        (lambda rng: ([1.0], [1.0, 2.0], None if rng.random() < 0.5 else [1.0, 2.0]), "the same parts at every step"),
        (lambda rng: ([1.0], 1 / 0), r"raises ZeroDivisionError at step 0 \(test_plain.py, line"),
        (type("Sim", (), {"reset": lambda s, r: 0, "step": lambda s, a: 0}), "must say how many actions"),
    ],
)
def test_what_is_no_problem_is_refused_in_a_sentence(given, sentence):
    with pytest.raises((UsageError, InvalidProblemError), match=sentence):
        as_problem(given)


def test_a_simulator_whose_choices_matter_later_is_refused():
    class Remembers(Shop):
        def _next(self):
            self.count = getattr(self, "count", 0)
            return [self.count]

        def means(self):
            return [0.0, 1.0]

        def step(self, action):
            self.count += action == "right"
            return self._next(), 1.0

    with pytest.raises(UsageError, match="is no contextual bandit: after other actions the context differs"):
        as_problem(Remembers())


def test_what_is_not_wrapped_is_not_registered():
    with pytest.raises(UsageError, match=r"Coin is plain Python: add as_policy\(…\) of it"):
        policies.add("coin", Coin)
    with pytest.raises(UsageError, match=r"shop is plain Python: add as_problem\(…\) of it"):
        problems.add("shop-of-mine", shop)


def test_errors_of_a_policy_say_where_they_come_from():
    def fails(context):
        raise KeyError("age")

    with pytest.raises(UsageError, match=r"fails raises KeyError at step 0 \(test_plain.py, line \d+\): 'age'"):
        played(as_policy(fails))
    with pytest.raises(UsageError, match="chose action 2, and there are 2 actions"):
        played(as_policy(lambda context: 2))
    for wrong in (1.0, "left"):
        with pytest.raises(UsageError, match=f"chose {wrong!r}, and an action is a whole number"):
            played(as_policy(lambda context, wrong=wrong: wrong))
        with pytest.raises(UsageError, match=f"chose {wrong!r}, and an action is a whole number"):
            played(as_policy(lambda context, wrong=wrong: wrong), problems.get("linear/delay").with_horizon(20))


def test_a_policy_that_warns_at_every_step_is_heard_once():
    def warns(context):
        with warnings.catch_warnings():  # after which Python forgets what it has said, as after many a call of sklearn
            pass
        warnings.warn("out of order", RuntimeWarning, stacklevel=1)
        return 0

    with warnings.catch_warnings(record=True) as said:
        warnings.resetwarnings()
        played(as_policy(warns))
    assert [str(one.message) for one in said].count("out of order") == 1


def test_a_gymnasium_environment_is_a_problem():
    gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed")

    class Doors(gymnasium.Env):
        observation_space = gymnasium.spaces.Discrete(2)
        action_space = gymnasium.spaces.Discrete(2, start=1)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.door = int(self.np_random.integers(2))
            return self.door, {}

        def step(self, action):
            return self.door, float(action - 1 == self.door), True, False, {}

    problem = as_problem(Doors(), horizon=HORIZON)
    assert (problem.context_dim, problem.num_actions) == (2, 2)
    assert np.allclose(played(as_policy(Follows()), problem).cumulative, 0)


class Peeks:
    def choose(self, context):
        return int(np.random.random() < 0.5)  # noqa: NPY002


class Shares:
    past: list = []  # noqa: RUF012

    def choose(self, context):
        return len(self.past) % 3

    def learn(self, context, action, reward):
        self.past.append(reward)


class Lies:
    def choose(self, context):
        return 1

    def probabilities(self, context):
        return [1.0, 0.0, 0.0]


def luck(rng):
    return np.random.normal(size=2), [1.0, 2.0]  # noqa: NPY002


def broken(promises, value):
    found = []
    for promise in promises:
        try:
            promise.check(value)
        except BrokenPromiseError as error:
            found.append(str(error))
            if promise.needed:
                break
    return found


@pytest.mark.parametrize(
    ("given", "sentence"),
    [(Peeks, "random numbers from `rng`"), (Shares, "learned in `self`"), (Lies, "says that it never does")],
)
def test_a_check_finds_what_is_wrong_with_a_plain_policy(given, sentence):
    assert sentence in " ".join(broken(PLAIN_POLICY_PROMISES, as_policy(given)))


def test_a_check_passes_what_is_right_and_finds_a_problem_that_does_not_repeat_itself():
    assert not broken(PLAIN_POLICY_PROMISES, as_policy(Coin()))
    assert not broken(PLAIN_PROBLEM_PROMISES, as_problem(shop, horizon=8))
    assert "have different contexts" in broken(PLAIN_PROBLEM_PROMISES, as_problem(luck, horizon=8))[0]


def test_a_fingerprint_looks_at_names_and_not_at_attributes_of_the_same_name():
    def prints(value):
        names: dict = {"rate": value}
        exec("def rule(context):\n    return context.rate", names)
        other: dict = {"rate": value}
        exec("def rule(context):\n    return rate", other)
        return fingerprint(names["rule"]), fingerprint(other["rule"])

    assert prints(1)[0] == prints(2)[0]
    assert prints(1)[1] != prints(2)[1]


def test_what_a_notebook_defines_is_handed_over_with_its_code():
    pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")

    class Local(Coin):
        heads_up = 1

    policy = as_policy(Local())
    with pytest.raises(AttributeError, match="Local"):
        pickle.dumps(Local())
    assert (played(pickle.loads(pickle.dumps(policy))).cumulative == played(policy).cumulative).all()


def test_another_process_plays_what_a_file_registers(tmp_path):
    file = tmp_path / "file_of_mine.py"
    file.write_text(page_code())
    load_file(file)
    policy, problem = policies.get("sticky"), problems.get("shop").with_horizon(HORIZON)
    (tmp_path / "cell").write_bytes(pickle.dumps((policy, problem)))
    program = f"""
import pathlib, pickle
from showdown.config.registry import load_file
load_file(pathlib.Path({str(file)!r}))
from showdown.play.simulate import simulate
policy, problem = pickle.loads(pathlib.Path({str(tmp_path / "cell")!r}).read_bytes())
print(policy.code, simulate(policy, problem, trials=1).cumulative[0])
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert said[0] == policy.code
    assert float(said[1]) == simulate(policy, problem, trials=1).cumulative[0]


def page_code() -> str:
    """The file that docs/your-own-code.md shows."""
    page = (Path(__file__).parents[2] / "docs" / "your-own-code.md").read_text()
    return page.split("```python\n")[1].split("```")[0]


def test_tables_say_that_seconds_of_the_slow_path_are_not_comparable(tmp_path):
    problem = as_problem(shop, horizon=HORIZON)
    policies_here = {"coin": as_policy(Coin()), "Uniform": policies.get("Uniform")}
    results = sd.run(policies_here, {"shop": problem}, trials=TRIALS, out=tmp_path)
    said = " ".join(str(results).split())
    assert "plain Python, the slow path, on the same trials: coin on shop; their seconds are not comparable" in said
    assert "Uniform on shop" not in said.partition("slow path")[2].partition(";")[0]
