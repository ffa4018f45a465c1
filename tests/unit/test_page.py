"""The page's data and its one file: numbers from the analysis, nothing from a store as markup, nothing dropped."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from showdown.analysis.summary import mean_curve, thin
from showdown.basics.errors import UsageError
from showdown.basics.text import printable_name
from showdown.bench.store import Store
from showdown.config import config, param, required, to_json
from showdown.policies import policies
from showdown.protocol.policy import Policy
from showdown.report import describe
from showdown.report.page import compact
from showdown.report.page.collect import collect
from showdown.report.page.compact import cliques, rank_test
from showdown.report.page.render import embedded, render, write

NASTY = "<script>alert('x')</script>&\"Ж\u2028"
FINISHED = {
    ("Uniform", "wheel-0.5"): [590_000.0, 590_200.0],
    ("LinFullPost", "wheel-0.5"): [9_600.0, 9_700.0],
    ("LinGreedy", "wheel-0.5"): [10.0, 20.0],
    ("Uniform", "wheel-0.99"): [100.0, 300.0],
    ("LinFullPost", "wheel-0.99"): [50.0, 50.0],
    ("LinGreedy", "wheel-0.99"): [90.0, 110.0],
    ("LinFullPost", "linear"): [3.0, 5.0],
    (NASTY, "wheel-0.5"): [1.0, 3.0],
}
FAILED = {("LinPost", "wheel-0.5"): ("diverged", "it blew up"), (NASTY, "linear"): ("timeout", NASTY)}


@pytest.fixture(scope="module")
def folder(stored, tmp_path_factory):
    return stored(tmp_path_factory.mktemp("page"), FINISHED, FAILED)


@pytest.fixture(scope="module")
def page(folder):
    return collect(folder, command="showdown report", title="A store")


def cell(page, policy, problem):
    return next(cell for cell in page["cells"] if (cell["policy"], cell["problem"]) == (policy, problem))


def test_aggregates_are_those_of_the_table_and_say_what_is_left_out(page, folder):
    found = page["aggregates"]["cumulative"]
    assert sorted(found["problems"]) == ["wheel-0.5", "wheel-0.99"]
    methods = {method["policy"]: method for method in found["methods"]}
    assert list(methods) == ["LinGreedy", "LinFullPost"]  # no Uniform, and not who played one problem
    assert methods["LinGreedy"]["mean_ratio"][0] == 1.5  # 1 and 100 / 50
    assert methods["LinFullPost"]["worst_problem"] == "wheel-0.5"
    assert methods["LinGreedy"]["improvement"] is None
    assert methods["LinFullPost"]["improvement"][0] == 0.5
    assert len(found["left_out"]) == 2
    assert found["critical_difference"] is None  # of two methods


def test_numbers_are_those_of_the_tables(page):
    exact = cell(page, "LinFullPost", "wheel-0.5")
    assert exact["shown"]["cumulative"]["mean"] == pytest.approx(100 * 9_650 / 590_100, rel=1e-4)
    assert exact["absolute"]["cumulative"] == {"mean": 9650, "sem": 50}
    (published,) = [entry for entry in exact["paper"] if entry["metric"] == "cumulative"]
    assert (published["paper_mean"], published["finding"]) == (1.63, "agrees")
    # of LinFullPost and LinGreedy on two wheels; Uniform is 100 % of itself and no evidence
    assert page["agreement"]["paper cumulative"] == {"agree": 1, "noisy": 0, "compared": 4}
    assert exact["rank"]["cumulative"] == 3
    assert (cell(page, "LinGreedy", "wheel-0.5")["front"], exact["stuck"]) == (False, 0)
    by_name = {policy["name"]: policy for policy in page["policies"]}
    assert by_name["LinGreedy"]["mean_rank"]["cumulative"] == 1.5  # among those that played both problems
    assert by_name["LinGreedy"]["ranks"]["cumulative"] == [1, 2]  # what boxes are drawn of: the mean lies among them
    assert by_name["LinGreedy"]["family"] == "Linear greedy"


def test_rewards_and_the_best_fixed_action(page):
    exact = cell(page, "LinFullPost", "linear")  # 3 and 5 lost in 2000 steps
    assert exact["shown"]["reward"]["mean"] == pytest.approx(0.998)
    assert exact["rank"]["reward"] == 1
    reference = {problem["name"]: problem["reference"] for problem in page["problems"]}
    assert reference["linear"] == {"reward": {"mean": 0.25, "sem": 0}}
    # no problem has labels, so accuracy is neither offered nor missed
    assert not any("accuracy" in note for note in page["notes"])
    names = [metric["name"] for metric in page["metrics"]]
    assert names == ["cumulative", "simple", "reward", "time"]
    best = {policy["name"]: policy["mean_rank"]["reward"] for policy in page["policies"]}
    assert best["LinGreedy"] == best["LinFullPost"] == 1.5
    assert best["Uniform"] is None  # it is no method


def test_numbers_round_as_those_of_the_tables(stored, tmp_path):
    folder = stored(tmp_path, {("Uniform", "linear"): [1e5] * 2, ("LinPost", "linear"): [12344.96] * 2})
    page = collect(folder, command="")
    assert f"{cell(page, 'LinPost', 'linear')['shown']['cumulative']['mean']:.2f}" == "12.34"


def test_a_cell_is_told_with_the_configuration_it_was_played_with(stored, change_cell, tmp_path):
    folder = stored(tmp_path, {("Mine", "linear"): [1.0], ("Mine", "wheel-0.5"): [2.0]})  # two that share a name
    records = {record.problem: record for record in Store(folder).cells()}
    path = folder / "cells" / f"{records['linear'].cell}.json"
    change_cell(path, keep=True, horizon=50, finished="2027-01-01")  # newer, and not shown
    page = collect(folder, command="")
    common = {entry["name"]: entry["configuration"] for entry in page["policies"] + page["problems"]}
    for problem, record in records.items():
        own = cell(page, "Mine", problem).get("configuration", {})
        for part, name in (("policy", "Mine"), ("problem", problem)):
            assert own.get(part, common[name]) == describe.configuration_rows(record.identity[part])
    assert sum("configuration" in entry for entry in page["cells"]) == 1  # the other is what the name means


def test_no_note_is_a_part_of_another(stored, change_cell, tmp_path):
    regrets = {"Uniform": 9.0, "LinFullPost": 5.0, "LinDiagPost": 7.0}
    problems = ("wheel-0.5", "statlog")
    folder = stored(tmp_path, {(name, problem): [regrets[name]] for name in regrets for problem in problems})
    for path in list((folder / "cells").glob("*.json")):
        change_cell(path, horizon=200)
    page = collect(folder, command="")
    assert len(page["agreement"]) == 5  # of which two tables tell of statlog
    (note,) = [note for note in page["notes"] if "number of steps" in note]
    assert all(name in note for name in ("statlog (200", "wheel-0.5 (200"))


def test_a_problem_without_uniform_is_shown_as_it_is(page):
    units = {problem["name"]: problem["units"]["cumulative"] for problem in page["problems"]}
    assert units == {"wheel-0.5": "% of Uniform", "wheel-0.99": "% of Uniform", "linear": "regret"}
    assert cell(page, "LinFullPost", "linear")["shown"]["cumulative"]["mean"] == 4


def test_what_did_not_finish_is_told_with_its_reason(page):
    told = {(entry["policy"], entry["problem"]): (entry["status"], entry["reason"]) for entry in page["unfinished"]}
    assert told == {(printable_name(policy), problem): why for (policy, problem), why in FAILED.items()}
    assert {policy["name"] for policy in page["policies"]} == {
        *("Uniform", "LinFullPost", "LinGreedy", "LinPost"),
        printable_name(NASTY),
    }


def test_where_it_came_from(page):
    assert page["about"] == {
        "versions": ["showdown 0.0.1, jax 0.0.2"],
        "hardware": ["device abacus, cores 2"],
        "seeds": ["0"],
        "other_seeds": [],
    }


def test_broken_and_foreign_files_are_named_and_cost_nothing_else(stored, tmp_path):
    folder = stored(tmp_path, FINISHED)
    before = len(collect(folder, command="")["cells"])
    cells = folder / "cells"
    (cells / f"notes-{NASTY.replace('/', '')}.txt").write_text("hello")
    (cells / "half.json").write_text('{"format": 1, "cell"')
    next(cells.glob("*.parquet")).write_bytes(b"PAR1 and no more")
    page = collect(folder, command="")
    assert len(page["cells"]) == before - 1
    told = " ".join(page["warnings"])
    assert all(name in told for name in ("notes-", "half.json", ".parquet"))


def test_a_store_of_failures_alone_still_makes_a_page(stored, tmp_path):
    page = collect(stored(tmp_path, {}, FAILED), command="")
    assert page["cells"] == []
    assert len(page["unfinished"]) == 2
    render(page)
    with pytest.raises(UsageError, match="holds no cell to report"):
        collect(tmp_path / "nowhere", command="")


def test_single_trials_have_no_error(stored, tmp_path):
    page = collect(stored(tmp_path, {("Uniform", "linear"): [10.0], ("LinPost", "linear"): [5.0]}), command="")
    exact = cell(page, "LinPost", "linear")
    assert exact["shown"]["cumulative"] == {"mean": 50, "sem": None}
    assert exact["curve"]["sem"] is None
    assert "three policies" in page["rank_tests"]["cumulative"]["reason"]


def test_nothing_from_a_store_is_markup(page):
    text = render(page)
    assert "<script>alert" not in text
    assert text.count("<script") == 2
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, flags=re.DOTALL)
    assert json.loads(data) == json.loads(json.dumps(page))
    assert not set("<>&\u2028") & set(data)
    titled = render({**page, "title": "</title><script>1</script> {{ data }}"})
    assert titled.count("<script") == 2
    assert "{{ data }} · showdown</title>" in titled


def test_the_page_asks_for_nothing_outside_itself(page):
    text = render({**page, "cells": [], "unfinished": []})
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:,|#)""", text)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "http" not in policy


def test_embedding_keeps_every_string():
    for value in (NASTY, "</script>", "<!--", "]]>", "\\u003c"):
        assert json.loads(embedded([value])) == [value]


def test_a_name_that_is_not_unicode_does_not_cost_the_page(page, tmp_path):
    path = tmp_path / "deep" / "report.html"
    write(render({**page, "title": "caf\udce9"}), path)
    assert "caf" in path.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="cannot write"):
        write("", path / "under-a-file.html")


def test_rounding_keeps_four_digits():
    assert compact.numbers([1234567.0, 0.00012345, -2.0, float("nan"), 0.0]) == [1235000, 0.0001234, -2, None, 0]
    assert compact.distribution(np.arange(1000.0))[-1] == 999
    assert len(compact.distribution(np.arange(1000.0))) == compact.MOST_TRIALS
    assert compact.action_shares([[1, 3], [1, 3]]) == [25, 75]
    assert compact.action_shares([[1] * 40]) == []


def test_thinning_keeps_the_ends():
    curve = thin(mean_curve(np.arange(1, 201), np.arange(400.0).reshape(2, 200)), 60)
    assert (curve.steps[0], curve.steps[-1], len(curve.steps)) == (1, 200, 60)
    np.testing.assert_allclose(curve.mean[[0, -1]], [100, 299])
    np.testing.assert_allclose(curve.sem, 100)  # sample deviation 200/√2, over √2
    short = mean_curve(np.array([1]), np.array([[3.0]]))
    assert thin(short, 60) is short
    assert np.isnan(short.sem).all()


def test_cliques_are_the_maximal_runs_within_the_difference():
    assert cliques([1.0, 2.0, 2.5, 6.0], 1.5) == [(0, 2)]
    assert cliques([1.0, 2.0, 3.0, 4.0], 1.0) == [(0, 1), (1, 2), (2, 3)]
    assert cliques([1.0, 2.0, 3.0], 9.0) == [(0, 2)]
    assert cliques([1.0, 5.0, 9.0], 1.0) == []


def test_the_rank_test_leaves_out_who_did_not_play_everything(stored, tmp_path):
    names = ("RMS", "LinPost", "LinGreedy", "LinFullPost")
    cells = {(name, f"wheel-{delta}"): [float(i)] for i, name in enumerate(names) for delta in (0.5, 0.7, 0.9)}
    del cells["LinPost", "wheel-0.9"]
    test = collect(stored(tmp_path, cells), command="")["rank_tests"]["cumulative"]
    assert [entry["policy"] for entry in test["order"]] == ["RMS", "LinGreedy", "LinFullPost"]
    assert [entry["rank"] for entry in test["order"]] == [1, 2, 3]
    assert test["left_out"] == ["LinPost"]
    assert len(test["problems"]) == 3


def test_the_rank_test_is_over_what_the_mean_ranks_are(stored, tmp_path):
    names = ("Uniform", "LinPost", "LinGreedy", "LinFullPost")
    cells = {(name, f"wheel-{delta}"): [9.0 - i] * 2 for i, name in enumerate(names) for delta in (0.5, 0.7, 0.9)}
    cells |= {("LinPost", "wheel-0.95"): [1.0, 2.0], ("RMS", "wheel-0.5"): [1.0, 2.0]}
    page = collect(stored(tmp_path, cells), command="")
    test = page["rank_tests"]["cumulative"]
    assert [entry["policy"] for entry in test["order"]] == ["LinFullPost", "LinGreedy", "LinPost"]
    assert (len(test["problems"]), test["left_out"]) == (3, ["RMS"])
    ranks = {policy["name"]: policy["ranks"]["cumulative"] for policy in page["policies"]}
    assert (ranks["LinPost"], ranks["RMS"]) == ([3, 3, 3], [])


def test_a_configuration_is_read_layer_by_layer(folder):
    record = next(record for record in Store(folder).cells() if record.policy == "LinFullPost")
    stored_policy = record.identity["policy"]
    rows = describe.configuration_rows(stored_policy)
    assert rows[0] == {"of": "WarmUp", "field": "pulls", "value": "3"}
    assert {"of": "LinearUnknownNoise", "field": "intercept", "value": "true"} in rows
    assert describe.field_comments(stored_policy)["LinearUnknownNoise.noise_shape"].startswith("a0")
    assert describe.field_comments({"kind": "Unheard", "field": 1}) == {}
    assert describe.family(stored_policy) == "Linear unknown noise"
    assert describe.family({"kind": "ConstantSGD"}) == "Constant SGD"
    assert describe.configuration_rows({"kind": "A", "numerics": 1, "pulls": 1, "layers": [4, 2], "prior": None}) == [
        {"of": "A", "field": "pulls", "value": "1"},
        {"of": "A", "field": "layers", "value": "(4, 2)"},
        {"of": "A", "field": "prior", "value": "none"},
    ]


def test_fields_of_a_plug_in_and_of_a_tuple_of_configurations_are_explained():
    inner = policies.get("LinPost").inner
    stored_policy = to_json(Chorus(inner=inner, members=(inner, inner)), numerics=True)
    assert stored_policy["source"]
    rows = describe.configuration_rows(stored_policy)
    assert rows[0] == {"of": "Chorus", "field": "volume", "value": "0.5"}  # where it was written is no field
    assert [row["of"] for row in rows].count("LinearKnownNoise") == 3 * 4
    assert describe.field_comments(stored_policy)["Chorus.volume"] == "how loud"
    assert describe.field_comments(stored_policy)["LinearKnownNoise.prior_precision"].startswith("λ")
    assert describe.field_comments({**stored_policy, "pitch": 1}) == {}  # of another version
    assert describe.family(stored_policy) == "Linear known noise"


@config
class Chorus:
    inner: Policy = param(required, "who leads")
    members: tuple[Policy, ...] = param(required, "who sings")
    volume: float = param(0.5, "how loud")


def test_rank_test_needs_three_policies(frame_of):
    from showdown.analysis.summary import summarise

    summary = summarise(frame_of({("A", "x"): [1], ("B", "x"): [2]}), absolute=True)
    assert "three policies" in rank_test(summary)["reason"]


@pytest.mark.parametrize(
    "changes",
    [{"values": [1.0]}, {"values": ["x"] * 3}, {"parts": None}, {"request": {}}, {"result": {"problems": 3}}],
    ids=lambda changes: next(iter(changes)),
)
def test_a_damaged_tuning_is_named_and_left_out(stored, write_tuning, tmp_path, changes):
    folder = stored(tmp_path, {("LinPost", "linear"): [1.0]})
    path = write_tuning(folder)
    assert [each["preset"] for each in collect(folder, command="")["tunings"]] == ["LinPost@wheel-0.5"]
    write_tuning(folder, **changes)
    page = collect(folder, command="")
    assert page["tunings"] == []
    assert any(path.name in warning for warning in page["warnings"])
    unfinished = {"format": 1, "key": "", "request": {}, "batches": []}
    path.write_text(json.dumps(unfinished))
    assert collect(folder, command="")["warnings"] == []


def test_no_path_of_a_users_table_is_on_the_page(stored, tmp_path):
    spelled = "table[path=/home/somebody/secret/customers.csv,label=bought]"
    page = collect(stored(tmp_path, {("Uniform", spelled): [2.0, 3.0], ("LinPost", spelled): [1.0, 2.0]}), command="")
    assert "secret" not in json.dumps(page)
    assert [problem["name"] for problem in page["problems"]] == ["customers"]
