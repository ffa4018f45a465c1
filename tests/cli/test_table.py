"""`showdown table` on a real store whose outcomes were written by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from showdown.analysis.published import LAYOUTS
from showdown.analysis.selection import in_order
from showdown.basics.errors import UsageError
from showdown.bench.cell import Cell
from showdown.bench.store import Store
from showdown.cli.commands import table as command
from showdown.play.simulate import Outcome
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.problem import ProblemSpec

PAPER_FIELDS = {"policy", "problem", "metric", "mean", "sem", "trials", "paper_mean", "paper_sem", "agrees"}


def outcome(regrets: list[float]) -> Outcome:
    cumulative = np.asarray(regrets, float)
    return Outcome(
        columns={
            "cumulative": cumulative,
            "cumulative_expected": cumulative + 1,
            "simple": cumulative / 100,
            "simple_expected": cumulative / 100,
            "reward": -cumulative / 100,
            "reward_fixed": np.full(len(regrets), -5.0),
            "accuracy": 1 / cumulative,
            "accuracy_fixed": np.full(len(regrets), 0.75),
        },
        curves=dict.fromkeys(("curve", "curve_expected"), cumulative[:, None]),
        steps=np.array([1]),
        action_counts=np.ones((len(regrets), 5), int),
        spec=ProblemSpec(2, 5),
        compile_seconds=1.0,
        run_seconds=0.5,
        batch_trials=len(regrets),
    )


def cell(policy: str, problem: str, trials: int) -> Cell:
    return Cell(policy, problem, policies.get(policy), problems.get(problem), trials, 0)


@pytest.fixture
def results(tmp_path) -> Path:
    store = Store(tmp_path / "results")
    for policy, problem, regrets in (
        ("Uniform", "wheel-0.5", [1000.0, 1000.0]),
        ("LinFullPost", "wheel-0.5", [16.0, 17.0]),
        ("LinGreedy", "wheel-0.5", [10.0, 10.0]),
        ("LinFullPost[prior_precision=1.0]", "wheel-0.5", [20.0, 20.0]),
        ("LinGreedy", "linear", [10.0, 10.0]),
    ):
        store.write_done(cell(policy, problem, 2), [(policy, problem)], outcome(regrets), {})
    store.write_failed(cell("LinPost", "wheel-0.5", 2), [("LinPost", "wheel-0.5")], "diverged", "it blew up", {})
    return store.directory


@pytest.fixture
def show():
    """Run the command; a UsageError comes through as it does to `main`, which prints it and exits with 2."""
    app = typer.Typer()
    command.register(app)

    def run(*arguments: object):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)

    return run


def test_text_shows_the_table_and_names_what_did_not_finish(show, results):
    lines = show(results, "--problems", "wheel-0.5").stdout.splitlines()
    assert lines[0] == "cumulative regret, % of Uniform, mean ± standard error over 2 trials"
    there = ["Uniform", "LinGreedy", "LinFullPost", "LinFullPost[prior_precision=1.0]"]
    assert [line.split()[0] for line in lines[4:8]] == in_order(there, policies.names())
    assert next(line for line in lines if "*" in line).split(maxsplit=1) == ["LinGreedy", "1.00 ± 0.00*"]
    assert lines[-1] == "not shown: LinPost on wheel-0.5 (horizon 20000, 2 trials, seed 0): diverged, it blew up"


def test_without_uniform_numbers_are_absolute_and_a_note_says_so(show, results):
    shown = show(results).stdout
    assert "linear (regret)" in shown
    assert "wheel-0.5 (% of Uniform)" in shown
    assert "no usable Uniform on linear: absolute numbers there, not % of Uniform" in shown
    assert show(results, "--problems", "linear").stdout.startswith("cumulative regret, mean ± standard error")


def test_json_against_the_paper(show, results):
    value = json.loads(show(results, "--problems", "wheel-0.5", "--against", "paper", "--json").stdout)
    assert all(set(row) >= PAPER_FIELDS for row in value["rows"])
    rows = {row["policy"]: row for row in value["rows"]}
    # 1.65 against 1.63 ± 0.03; 1.00 against 65.89 ± 4.90
    assert {name: row["agrees"] for name, row in rows.items()} == {
        "LinFullPost": True,
        "LinGreedy": False,
        "LinFullPost[prior_precision=1.0]": False,  # 2.00: another reading of the same row
        "Uniform": True,
    }
    assert rows["LinFullPost"]["mean"] == pytest.approx(1.65)
    assert (rows["LinFullPost"]["paper_mean"], rows["LinFullPost"]["paper_sem"]) == (1.63, 0.03)
    assert value["agreement"] == {"agree": 1, "noisy": 0, "compared": 2}  # Uniform is no evidence
    assert value["agreement_of_readings"] == {"agree": 0, "noisy": 0, "compared": 1}
    assert [cell["policy"] for cell in value["not_shown"]] == ["LinPost"]


@pytest.mark.parametrize("output", ["text", "markdown", "latex"])
def test_the_last_line_counts_agreement(show, results, output):
    shown = show(results, "--problems", "wheel-*", "--against", "paper", "--format", output).stdout
    assert shown.splitlines()[-1].removeprefix("% ") == "agreement: 1 of 2 cells; with fields overridden: 0 of 1"
    presets = show(results, "--policies", "Lin*Post", "--problems", "wheel-*", "--against", "paper", "--format", output)
    assert presets.stdout.splitlines()[-1].removeprefix("% ") == "agreement: 1 of 1 cells"


def test_csv_is_data_alone_and_the_rest_goes_to_stderr(show, results):
    shown = show(results, "--problems", "wheel-0.5", "--against", "paper", "--format", "csv")
    assert len(shown.stdout.splitlines()) == 1 + 4
    assert "agreement: 1 of 2 cells" in shown.stderr
    assert "it blew up" in shown.stderr


def test_metrics_and_filters(show, results):
    def rows(*arguments):
        return json.loads(show(results, "--json", *arguments).stdout)["rows"]

    absolute = rows("--absolute", "--policies", "LinG*,Uniform")
    assert [(row["policy"], row["problem"], row["mean"]) for row in absolute] == [
        ("LinGreedy", "linear", 10),
        ("LinGreedy", "wheel-0.5", 10),
        ("Uniform", "wheel-0.5", 1000),
    ]
    assert rows("--metric", "simple", "--absolute", "--policies", "Uniform")[0]["mean"] == 10
    assert rows("--expected", "--absolute", "--policies", "Uniform")[0]["mean"] == 1001
    time = rows("--metric", "time", "--policies", "LinFullPost[prior_precision=1.0]")
    assert [(row["mean"], row["sem"], row["unit"]) for row in time] == [(0.5, None, "seconds")]


def test_rewards_from_the_largest_beside_the_commonest_action(show, results):
    shown = show(results, "--metric", "reward", "--sort", "wheel-0.5", "--problems", "wheel-0.5").stdout.splitlines()
    assert shown[0] == "mean reward, mean ± standard error over 2 trials"
    # Uniform's −10 is the only one below the −5 of the best fixed action
    assert [line.split()[0] for line in shown[4:9]] == [
        *("LinGreedy", "LinFullPost", "LinFullPost[prior_precision=1.0]", "Uniform", "always"),
    ]
    assert next(line for line in shown if "*" in line).startswith("LinGreedy")
    value = json.loads(show(results, "--metric", "reward", "--json").stdout)
    assert {row["mean"] for row in value["reference"]} == {-5}


def test_accuracy_is_shown_on_problems_with_labels(show, results):
    with pytest.raises(UsageError, match=r"no accuracy to show: no accuracy on wheel-0\.5, linear"):
        show(results, "--metric", "accuracy")
    Store(results).write_done(cell("LinPost", "statlog", 2), [("LinPost", "statlog")], outcome([2.0, 4.0]), {})
    value = json.loads(show(results, "--metric", "accuracy", "--json").stdout)
    assert [(row["policy"], row["problem"], row["mean"]) for row in value["rows"]] == [("LinPost", "statlog", 0.375)]
    assert [(row["problem"], row["mean"]) for row in value["reference"]] == [("statlog", 0.75)]
    assert "no accuracy on wheel-0.5, linear: it is for problems whose rows have a label" in value["notes"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--metric", "reward", "--against", "paper"], "nothing was published under paper for the metric 'reward'"),
        (["--metric", "reward", "--expected"], "no meaning for --metric reward"),
        (["--metric", "cumulativ"], "time, not 'cumulativ'; did you mean 'cumulative'"),
        (["--format", "xml"], "--format is one of csv, html"),
        (["--against", "papers"], "did you mean 'paper'"),
        (["--against", "paper", "--absolute"], "leave out --absolute"),
        (["--metric", "time", "--expected"], "no meaning"),
        (["--against", "paper-linear", "--metric", "time"], "nothing was published"),
        (["--policies", "LinFulPost"], "'LinFulPost' is in the store; did you mean 'LinFullPost'"),
        (["--policies", "LinPost"], "none of the cells that were asked for is finished"),
        (["--policies", ","], "no policy is named"),
        (["--problems", "song"], "problem 'song'"),
        (["--horizon", "17"], "no finished cell has horizon 17; there are 2000, 20000"),
        (["--absolute", "--sort", "song"], "sort by 'song'"),
    ],
)
def test_a_wrong_request_is_one_sentence(show, results, arguments, told):
    with pytest.raises(UsageError, match=told) as error:
        show(results, *arguments)
    assert "\n" not in str(error.value)


def test_nothing_to_show(show, tmp_path):
    with pytest.raises(UsageError, match="there is no folder"):
        show(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="holds no finished cell;"):
        show(tmp_path)
    Store(tmp_path).write_failed(cell("LinPost", "linear", 2), [("LinPost", "linear")], "error", "no", {})
    with pytest.raises(UsageError, match=r"no finished cell \(1 did not finish\)"):
        show(tmp_path)


def test_a_broken_file_is_named_and_costs_nothing_else(show, results):
    (results / "cells" / "broken.json").write_text("{")
    shown = show(results, "--problems", "wheel-0.5")
    assert "broken.json" in shown.stderr
    assert "Uniform" in shown.stdout


def test_a_cell_that_failed_before_and_is_done_now_is_not_named(show, change_cell, results):
    cells = results / "cells"
    failed = next(path for path in cells.glob("*.json") if "it blew up" in path.read_text())
    change_cell(failed, keep=True, loop=99)  # made by another version
    Store(results).write_done(cell("LinPost", "wheel-0.5", 2), [("LinPost", "wheel-0.5")], outcome([1.0, 1.0]), {})
    assert "not shown" not in show(results, "--problems", "wheel-0.5").stdout


def test_the_command_exits_with_2_and_without_a_traceback(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", "from showdown.cli.main import main; main()", "table", str(tmp_path / "nowhere")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert run.stderr.startswith("showdown: there is no folder")
    assert len(run.stderr.splitlines()) == 1


@pytest.fixture
def study(tmp_path) -> Path:
    """One policy of each kind of table on a real problem of all of them, on a wheel and on one the paper ranks."""
    store = Store(tmp_path / "study")
    for problem in ("adult", "statlog", "wheel-0.7", "wheel-0.99"):
        for policy, regret in (("Uniform", 200.0), ("RMS", 20.0), ("RMS2@linear", 30.0), ("LinPost", 10.0)):
            store.write_done(cell(policy, problem, 2), [(policy, problem)], outcome([regret, regret + 2]), {})
    return store.directory


NETWORKS = ["RMS", "Uniform", "LinPost"]
LINEAR_MODELS = ["RMS2@linear", "Uniform", "LinPost"]
REAL = ["statlog", "adult"]


@pytest.mark.parametrize(
    ("table", "rows", "columns", "metric", "unit"),
    [
        ("main", NETWORKS, ["mean_rank", "statlog"], "cumulative", "% of Uniform"),
        ("nonlinear-cumulative", NETWORKS, REAL, "cumulative", "% of Uniform"),
        ("nonlinear-simple", NETWORKS, REAL, "simple", "% of Uniform"),
        ("nonlinear-time", NETWORKS, REAL, "time", "% of RMS"),
        ("wheel-cumulative", NETWORKS, ["wheel-0.7", "wheel-0.99"], "cumulative", "% of Uniform"),
        ("wheel-simple", NETWORKS, ["wheel-0.7", "wheel-0.99"], "simple", "% of Uniform"),
        ("linear-cumulative", LINEAR_MODELS, REAL, "cumulative", "regret"),
        ("linear-simple", LINEAR_MODELS, REAL, "simple", "regret per step"),
    ],
)
def test_each_of_the_papers_tables(show, study, table, rows, columns, metric, unit):
    """Its columns in its order, its policies, its metric and its unit, alone and beside its own numbers."""
    alone = json.loads(show(study, "--paper", table, "--json").stdout)
    beside = json.loads(show(study, "--paper", table, "--json", "--against", "paper").stdout)
    for shown in (alone, beside):
        cells = [row for row in shown["rows"] if row["problem"] != "mean_rank"]
        assert {row["policy"] for row in shown["rows"]} == set(rows)
        ranked = [row["problem"] for row in shown["rows"] if row["policy"] != "Uniform"]  # which has no rank
        assert list(dict.fromkeys(ranked)) == columns
        assert {(row["metric"], row["unit"]) for row in cells} == {(metric, unit)}
        assert all(row["paper_mean"] is not None for row in cells if shown is beside)
    evidence = [name for name in rows if name != "Uniform" and (metric != "time" or name != "RMS")]
    assert beside["agreement"]["compared"] == len(evidence) * len([name for name in columns if name != "mean_rank"])


def test_the_main_table_ranks_over_the_papers_problems_and_names_what_is_missing(show, study):
    table = json.loads(show(study, "--paper", "main", "--json").stdout)
    assert "mean rank over statlog, adult, wheel-0.99" in table["notes"]  # not wheel-0.7
    missing = "no finished cell on mushroom, covertype, financial, jester, which the paper's table has"
    assert missing in table["notes"]


def test_a_preset_with_other_values_is_where_the_preset_is(show, study):
    for name in ("LinPost[prior_precision=2.0]", "RMS[learning_rate=0.5]"):
        Store(study).write_done(cell(name, "statlog", 2), [(name, "statlog")], outcome([1.0, 2.0]), {})
    main, linear = (show(study, "--paper", table).stdout for table in ("main", "linear-simple"))
    assert "LinPost[prior_precision=2.0]" in main
    assert "RMS[learning_rate=0.5]" in main
    assert "LinPost[prior_precision=2.0]" in linear
    assert "RMS" not in linear.replace("RMS2@linear", "")


def test_a_policy_of_ones_own_is_in_every_table(show, study):
    own = Cell("Mine", "statlog", policies.get("LinPost[prior_precision=3.0]"), problems.get("statlog"), 2, 0)
    Store(study).write_done(own, [("Mine", "statlog")], outcome([1.0, 2.0]), {})
    for table in ("main", "nonlinear-time", "linear-simple"):
        assert "Mine" in show(study, "--paper", table, "--against", "paper").stdout


def test_a_pattern_chooses_among_the_rows_of_the_table(show, study):
    rows = json.loads(show(study, "--paper", "linear-simple", "--policies", "RMS*,LinPost", "--json").stdout)["rows"]
    assert {row["policy"] for row in rows} == {"RMS2@linear", "LinPost"}


def test_only_failures_of_the_table_are_named(show, study):
    for policy in ("SGFS", "SGFS@linear"):
        Store(study).write_failed(cell(policy, "statlog", 2), [(policy, "statlog")], "timeout", "too long", {})
    shown = json.loads(show(study, "--paper", "main", "--json").stdout)
    assert [row["policy"] for row in shown["not_shown"]] == ["SGFS"]


def test_a_table_other_than_main_ranks_over_what_it_shows(show, study):
    assert "mean rank over wheel-0.7, wheel-0.99" in show(study, "--paper", "wheel-simple", "--sort", "rank").stdout


def test_the_main_table_ranks_its_own_rows(show, study):
    """Uniform, RMS and LinPost, whatever the linear models do."""
    rows = json.loads(show(study, "--paper", "main", "--json").stdout)["rows"]
    ranks = {row["policy"]: row["mean"] for row in rows if row["problem"] == "mean_rank"}
    assert ranks == {"LinPost": 1, "RMS": 2}  # Uniform is no method


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--paper", "wheel-simpel"), "did you mean 'wheel-simple'"),
        (("--paper", "main", "--metric", "simple"), "--paper main says by itself what --metric would"),
        (("--paper", "main", "--problems", "statlog"), "what --problems would"),
        (("--paper", "nonlinear-time", "--expected"), "no meaning for --metric time"),
        (("--paper", "main", "--against", "paper-linear"), "--paper main has its own published numbers"),
        (("--paper", "main", "--policies", "RMS2@linear"), "RMS2@linear has no row in the paper's table main"),
    ],
)
def test_a_wrong_request_of_a_papers_table_is_one_sentence(show, study, arguments, told):
    with pytest.raises(UsageError, match=told):
        show(study, *arguments)


def test_a_table_of_the_paper_without_a_column_says_what_it_is_about(show, results):
    with pytest.raises(UsageError, match=r"linear-simple is about mushroom, statlog.* and none of them is finished"):
        show(results, "--paper", "linear-simple")


def test_the_names_of_the_papers_tables_are_those_of_the_published_numbers():
    assert tuple(LAYOUTS) == command.PAPER_TABLES


AGGREGATED = ("--aggregate", "--policies", "LinFullPost,LinGreedy")


def test_aggregate_has_a_line_per_policy_and_says_what_is_left_out(show, results):
    lines = show(results, *AGGREGATED).stdout.splitlines()
    assert lines[0].split("  ")[0] == "policy"
    assert [line.split()[:2] for line in lines[2:4]] == [["LinGreedy", "1.00"], ["LinFullPost", "1.65"]]
    assert "cumulative regret over 1 problem: wheel-0.5" in lines
    assert "left out: linear: not played by all of the methods that are put together" in lines
    # over trials two intervals, of the ratio and of the rank; over one problem none
    assert lines[3].count("[") == 5
    assert "{" not in lines[3]


def test_aggregate_as_data(show, results):
    value = json.loads(show(results, *AGGREGATED, "--format", "json").stdout)
    assert value["problems"] == ["wheel-0.5"]
    assert value["best"] == {"wheel-0.5": "LinGreedy"}
    first, second = value["methods"]
    assert first["improvement"] is None
    assert second["mean_ratio"]["value"] == pytest.approx(1.65)
    assert second["mean_ratio"]["problems"] is None
    assert second["improvement"]["value"] == 0  # worse in both trials
    rows = show(results, *AGGREGATED, "--format", "csv").stdout.splitlines()
    assert rows[0].startswith("policy,mean_ratio,mean_ratio_trials_low,mean_ratio_trials_high,mean_ratio_problems_low")
    assert len({row.count(",") for row in rows}) == 1
    assert show(results, *AGGREGATED, "--format", "markdown").stdout.startswith("| policy | mean ratio |")


def test_cells_of_several_folders_are_one_table(show, results, tmp_path):
    more = Store(tmp_path / "more")
    for policy, problem, regrets in (("LinPost", "wheel-0.5", [30.0, 31.0]), ("LinFullPost", "linear", [11.0, 12.0])):
        more.write_done(cell(policy, problem, 2), [(policy, problem)], outcome(regrets), {})
    value = json.loads(show(results, "--with", more.directory, "--with", results, "--absolute", "--json").stdout)
    rows = {(row["policy"], row["problem"]): row["mean"] for row in value["rows"]}
    assert (rows["LinPost", "wheel-0.5"], rows["LinFullPost", "linear"]) == (30.5, 11.5)
    assert rows["LinGreedy", "linear"] == 10
    assert len(rows) == 7
    with pytest.raises(UsageError, match="there is no folder nowhere"):
        show(results, "--with", "nowhere")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rank",), "--aggregate has a table of its own: leave out --rank"),
        (("--against", "paper"), "leave out --against"),
        (("--format", "latex"), "aggregates are written as text, markdown, csv, json, not as latex"),
        (("--metric", "time"), "of which there are no aggregates"),
        (("--problems", "linear"), "aggregates need two methods"),
    ],
)
def test_aggregate_refuses_in_a_sentence(show, results, options, said):
    with pytest.raises(UsageError, match=said):
        show(results, "--aggregate", *options)
