"""`sd.run` and the results that come back: tables, verdict, pictures, page, files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import showdown as sd
from showdown.analysis.compare_trials import interval
from showdown.api.own import policies_of
from showdown.config import config, to_json
from showdown.policies import policies as known
from showdown.policies.uniform import Uniform
from showdown.problems import problems as known_problems


def test_a_table_has_a_row_per_policy_the_best_first_with_intervals(results):
    table = results.table()
    assert list(table.columns[:7]) == ["policy", "problem", "mean", "sem", "low", "high", "best"]
    assert set(table["policy"]) == {"LinGreedy", "LinPost", "Uniform"}
    assert table["mean"].is_monotonic_increasing
    assert (table["problem"] == "data").all()
    assert table.set_index("policy")["mean"]["Uniform"] == pytest.approx(100)
    rewards = results.table("reward")
    assert rewards["mean"].is_monotonic_decreasing  # the best is the largest
    own = results.trials().query("policy == 'LinGreedy'")["reward"]
    row = rewards.set_index("policy").loc["LinGreedy"]
    assert (row["low"], row["high"]) == pytest.approx(interval(own))
    regret = results.table(absolute=True).set_index("policy")
    low, high = interval(results.trials().query("policy == 'LinPost'")["cumulative"])
    assert (regret["low"]["LinPost"], regret["high"]["LinPost"]) == pytest.approx((low, high))
    scale = 100 / regret["mean"]["Uniform"]
    assert table.set_index("policy")["low"]["LinPost"] == pytest.approx(low * scale)


def test_trials_and_curves_are_tidy_and_agree(results):
    trials, curves = results.trials(), results.curves()
    assert list(trials.columns[:3]) == ["policy", "problem", "trial"]
    assert len(trials) == 3 * 4
    ends = curves.groupby("policy").last()
    assert (ends["step"] == 60).all()
    means = trials.groupby("policy")["cumulative"].mean()
    assert ends["mean"].to_dict() == pytest.approx(means.to_dict())


def test_the_verdict_and_a_comparison_are_text_and_data(results):
    assert results.verdict.best in ("LinGreedy", "LinPost")
    assert results.verdict.lines[0] in " ".join(str(results.verdict).split())
    found = results.compare("LinGreedy", "LinPost", metric="reward")
    assert found.metric == "reward"
    assert found.sentence in " ".join(str(found).split())
    assert results.judge("accuracy").metric == "accuracy"
    with pytest.raises(sd.UsageError, match="did you mean 'LinPost'"):
        results.compare("LinGreedy", "LinPst")
    with pytest.raises(sd.UsageError, match="compared with itself"):
        results.compare("LinPost", "LinPost")
    with pytest.raises(sd.UsageError, match="names 2 policies here, and two are compared: LinGreedy, LinPost"):
        results.compare("Lin*", "Uniform")


def test_a_part_of_the_results_is_results(results):
    part = results.select("LinG*, Uniform")
    assert part.policies == ["Uniform", "LinGreedy"]
    assert len(part.trials()) == 8
    assert part.select(policies=["LinGreedy"]).policies == ["LinGreedy"]
    with pytest.raises(sd.UsageError, match="no cell of the problem 'wheel'"):
        results.select(problems="wheel")
    with pytest.raises(sd.UsageError, match="no finished cell has horizon 7; there are 60"):
        results.select(horizon=7)


def test_results_are_kept_in_a_folder_and_as_tidy_files(results, tmp_path):
    kept = results.save(tmp_path / "kept")
    pd.testing.assert_frame_equal(_sorted(kept), _sorted(results))
    assert sd.open(tmp_path / "kept").policies == results.policies
    for written in (results.to_csv(tmp_path / "all.csv"), results.to_parquet(tmp_path / "all.parquet")):
        opened = sd.open(written)
        pd.testing.assert_frame_equal(opened.trials(), results.trials(), check_dtype=False)
        pd.testing.assert_frame_equal(opened.table(), results.table())
        assert opened.verdict.rivals == results.verdict.rivals
        with pytest.raises(sd.UsageError, match="read from a tidy file"):
            opened.curves()
    with pytest.raises(sd.UsageError, match=r"writes a \.csv file"):
        results.to_csv(tmp_path / "all.txt")
    bare = pd.DataFrame({"policy": ["A"], "reward": [1.0]})
    bare.to_csv(tmp_path / "bare.csv", index=False)
    with pytest.raises(sd.UsageError, match="has no column 'problem'"):
        sd.open(tmp_path / "bare.csv")


def _sorted(results):
    return results.trials().sort_values(["policy", "trial"]).reset_index(drop=True)


def test_opening_what_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(sd.UsageError, match="there is no folder"):
        sd.open(tmp_path / "nothing")
    with pytest.raises(sd.UsageError, match="there is no file"):
        sd.open(tmp_path / "nothing.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(sd.UsageError, match="holds no finished cell"):
        sd.open(tmp_path / "empty")


def test_pictures_and_a_page_are_written(results, tmp_path):
    for name in ("curves", "overview", "time"):
        figure = getattr(results.plot, name)(path=tmp_path / f"{name}.png")
        assert figure._repr_png_()[:4] == b"\x89PNG"
        assert (tmp_path / f"{name}.png").stat().st_size > 1000
    titles = [axes.get_title() for axes in results.plot.curves("LinPost").axes]
    assert titles == ["data, mean ± standard error over 4 trials"]
    with pytest.raises(sd.UsageError, match=r"not to 'x\.gif'"):
        results.plot.time(path=tmp_path / "x.gif")
    page = results.select("LinPost, Uniform").report(tmp_path / "page.html", title="Plans").read_text()
    assert "Plans · showdown" in page
    assert "LinGreedy" not in page.partition('<script type="application/json"')[2].partition("</script>")[0]


def test_results_print_as_a_table_and_a_verdict(results):
    text, html = repr(results), results._repr_html_()
    assert results.verdict.best in text
    assert "% of Uniform" in text
    assert max(map(len, text.splitlines())) <= 110
    assert "<table>" in html
    assert "<b>" in html


@config
class Bold(Uniform):
    nerve: float = 0.5


def test_values_names_and_mappings_are_played(results, frame, tmp_path):
    given = {"mine": "LinGreedy", "bold": Bold(nerve=0.25)}
    found = sd.run(given, {"plans": (frame.drop(columns="plan"), frame["plan"])}, trials=4, reference=False)
    assert found.policies == ["mine", "bold"]
    assert found.problems == ["plans"]
    same = found.select("mine").trials()["cumulative"].tolist()
    assert same == results.select("LinGreedy").trials()["cumulative"].tolist()
    both = sd.run((Bold(), known.get("Uniform")), frame, label="plan", trials=4)
    assert both.policies == ["Uniform", "Bold()"]


def test_a_file_is_a_problem_and_is_called_by_its_name(frame, tmp_path):
    frame.assign(when="today").to_csv(tmp_path / "plans.csv", index=False)
    found = sd.run("Uniform", tmp_path / "plans.csv", label="plan", ignore=["when"], trials=4, out=tmp_path / "kept")
    assert found.problems == ["plans"]
    assert sd.open(tmp_path / "kept").problems == ["plans"]
    assert found.folder == tmp_path / "kept"


@pytest.mark.parametrize(
    ("policies", "problems", "options", "said"),
    [
        ("LinFulPost", "linear", {}, "did you mean 'LinFullPost'"),
        ("Uniform", "wheell", {}, "did you mean"),
        (None, "linear", {}, "say which policies"),
        ([], "linear", {}, "say which policies"),
        ("Uniform", None, {}, "say what to play on"),
        ("Uniform", "linear", {"label": "x"}, "label= says how a table is read"),
        ("Uniform", "linear", {"trials": 0}, "at least 1"),
        ("Uniform", "linear", {"trials": 2.5}, "trials must be a whole number, not 2.5"),
        ("Uniform", "linear", {"trails": 2}, "sd.run has no option 'trails'; did you mean 'trials'"),
        ("Uniform", "linear", {"suite": "quick", "label": "x"}, "label= says how a table is read"),
        ("Uniform", 3, {}, "3 is no problem"),
        ("Uniform", ([[1.0], [2.0]], ["a", "b"]), {}, "a pair of arrays, and no list"),
        (3, "linear", {}, "3 is no policy|int is no policy"),
        ("Uniform", "nothing.csv", {"label": "x"}, "nothing.csv"),
        ("Uniform", "linear", {"suite": "quikc"}, "did you mean 'quick'"),
    ],
)
def test_a_wrong_request_is_one_sentence(policies, problems, options, said):
    with pytest.raises(sd.UsageError, match=said):
        sd.run(policies, problems, **options)


def test_a_suite_is_played_with_parts_replaced():
    found = sd.run("Uniform", "linear", suite="quick", trials=np.int64(2), horizon=np.int64(20))
    assert found.problems == ["linear"]
    assert len(found.trials()) == 2


def test_what_fails_is_warned_of_and_what_all_fails_is_an_error(monkeypatch):
    problem = sd.problem("linear", horizon=20)
    with pytest.warns(UserWarning, match="Failing"):
        found = sd.run([Failing(), "Uniform"], problem, trials=2)
    assert found.policies == ["Uniform"]
    with pytest.warns(UserWarning, match="out of luck"), pytest.raises(sd.ShowdownError, match="out of luck"):
        sd.run(Failing(), problem, trials=2, reference=False)


@config
class Failing(Uniform):
    def init(self, key, spec):
        raise RuntimeError("out of luck")


def test_policies_and_problems_are_made_with_fields():
    assert sd.policy("RMS", learning_rate=0.5) == known.get("RMS[learning_rate=0.5]")
    assert sd.problem("wheel", delta=0.7, horizon=50) == known_problems.get("wheel[delta=0.7,horizon=50]")
    with pytest.raises(sd.UsageError, match="one policy is meant here"):
        sd.policy("Lin*")
    with pytest.raises(sd.UsageError, match="horizon must be at least 1"):
        sd.problem("linear", horizon=0)


class Sticky:
    """Stays with an action while it pays more than it hopes for."""

    def __init__(self, hope):
        self.hope, self.action = hope, 0

    def begin(self, num_actions):
        self.num_actions = num_actions

    def choose(self, context):
        return self.action

    def learn(self, context, action, reward):
        if reward < self.hope:
            self.action = (action + 1) % self.num_actions


def shop(rng):
    customer = rng.normal(size=2)
    return customer, np.array([customer[0], 0.1])


def test_objects_of_ones_own_are_played_under_the_names_of_their_classes():
    found = sd.run([Sticky(0.0), Sticky(0.5), "LinGreedy"], sd.problem(shop, horizon=40), trials=2)
    assert found.policies == ["Uniform", "LinGreedy", "Sticky(hope=0.0, action=0)", "Sticky(hope=0.5, action=0)"]
    assert found.problems == ["shop"]
    assert sd.run(Sticky(0.5), {"mine": shop}, horizon=40, trials=2, reference=False).policies == ["Sticky"]


def test_a_forest_is_one_model_though_it_can_be_iterated():
    ensemble = pytest.importorskip("sklearn.ensemble")
    model = ensemble.RandomForestRegressor(n_estimators=3)
    chosen = sd.policy(model, explore="greedy", refit_every=50)
    assert repr(chosen) == "RandomForestRegressor(n_estimators=3, explore='greedy', refit_every=50)"
    assert list(policies_of([model])) == ["RandomForestRegressor"]


def test_a_class_that_is_typed_again_is_another_one():
    text = "@config\nclass Typed(Uniform):\n    def refit(self, key, state, history):\n        return {}\n"
    hashes = []
    for number in (1, 1, 2):
        names = {"__name__": "at_a_prompt", "config": config, "Uniform": Uniform}
        exec(text.format(number), names)
        hashes.append(to_json(names["Typed"](), numerics=True)["source"])
    assert hashes[0] == hashes[1] != hashes[2]


def test_two_tables_of_one_session_are_kept_apart(frame, results):
    """Both are called `data`, and the first has more rows than the second."""
    short = sd.run("LinGreedy", frame.head(30), label="plan", trials=2)
    assert set(short.trials()["horizon"]) == {30}
    assert set(results.trials()["horizon"]) == {60}


def test_a_table_of_arrow_is_data_too(frame, results):
    """As is a DataFrame of polars: both know `to_pandas`."""
    found = sd.run("LinGreedy", pa.Table.from_pandas(frame), label="plan", trials=4, reference=False)
    same = results.select("LinGreedy")
    assert found.trials()["cell"].tolist() == same.trials()["cell"].tolist()
