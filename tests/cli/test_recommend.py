"""`showdown recommend` on small tables with linear methods, so that hardly anything is compiled."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import showdown.recommendation as package
from showdown.analysis.verdict import Rival, Verdict
from showdown.analysis.worst_case import Failure, WorstCase
from showdown.basics.errors import ShowdownError, UsageError
from showdown.bench.store import Store
from showdown.policies import policies
from showdown.problems import table
from showdown.recommendation.answer import Recommendation
from showdown.recommendation.board import BEHIND, FAILED, IN_FRONT, NO_ROOM, OUT_OF_TIME, Board, Standing
from showdown.recommendation.budget import Forecast, TimeBudget, seconds_of
from showdown.recommendation.cost import Cost
from showdown.recommendation.recommend import _chosen as choose
from showdown.recommendation.recommend import candidates, recommend
from showdown.recommendation.successive_halving import SuccessiveHalving
from showdown.report.page.collect import collect

LINEAR = ("--policies", "LinFullPost,LinGreedy")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    contexts = draw.standard_normal((400, 3))
    scores = contexts @ np.array([[1.0, -1, 0], [0, 1, -1], [1, 0, 1]])
    return pd.DataFrame(contexts, columns=["a", "b", "c"]).assign(kind=np.array(["x", "y", "z"])[scores.argmax(axis=1)])


@pytest.fixture
def file(frame, tmp_path):
    frame.to_csv(tmp_path / "kinds.csv", index=False)
    return "kinds.csv"


def test_an_answer_in_the_users_units_a_page_an_agent_and_a_store(showdown, file, tmp_path):
    answer = showdown("recommend", file, "--label", "kind", *LINEAR, "--budget", "90s")
    assert answer.code == 0
    first, cost, *rest = answer.out.splitlines()
    assert first.startswith("Use Lin")
    assert "share of right answers" in first
    assert "for always taking '" in first
    assert "at random" in first
    assert cost.startswith("After learning, in the last quarter of the steps, it earns ")
    assert rest[0].startswith("It decides in ")
    assert any("highest accuracy" in line for line in rest)
    assert re.search(r"2 trials of Uniform, Lin\w+, Lin\w+\n", answer.err)
    folder = tmp_path / "recommendation"
    page = (folder / "report.html").read_text()
    assert "<html" in page[:200]
    data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
    assert data["answer"]["lines"][: len(rest)][:3] == answer.out.splitlines()[:3]  # what the terminal says, first
    assert data["answer"]["lines"][-1].endswith("showdown serve agent.json")
    assert str(tmp_path) not in page.replace(json.dumps(str(tmp_path / file))[1:-1], "")
    recipe = json.loads((folder / "agent.json").read_text())
    assert policies.get(recipe["policy"])
    assert recipe["data"]["label"] == "kind"
    assert recipe["encoder"]["action_names"] == ["x", "y", "z"]
    assert {record.problem for record in Store(folder).cells()} == {"kinds"}
    assert "kinds" in showdown("table", str(folder)).out

    again = showdown("recommend", file, "--label", "kind", *LINEAR, "--budget", "90s", "--json")  # continues from there
    assert "already stored" in again.err
    assert again.json["policy"] == recipe["policy"]
    assert again.json["verdict"]["metric"] == "accuracy"
    assert again.json["horizon"] == again.json["rows"] == 400


def test_from_a_frame_in_python_with_costs(frame, tmp_path):
    found = package.recommend(
        frame,
        label="kind",
        costs={"x": 2.0},
        policies=["LinGreedy"],
        rounds=(2, 4),
        out=tmp_path,
        budget="60s",
        page=False,
    )
    assert found.metric == "reward"
    assert found.policy == "LinGreedy"
    assert found.page is None
    assert found.sentence.startswith("Use LinGreedy: mean reward per decision ")
    assert found.costs["LinGreedy"].state_bytes > 0
    assert any("fewer than 10 trials" in warning for warning in found.verdict.warnings)
    json.dumps(found.to_json())


def test_the_store_is_read_once_and_a_damaged_cell_is_played_again(frame, tmp_path, monkeypatch):
    reads, cells = [], Store.cells
    monkeypatch.setattr(Store, "cells", lambda store: reads.append(store) or cells(store))
    asked = {"label": "kind", "policies": ["LinGreedy"], "rounds": (2, 4), "out": tmp_path, "budget": "60s"}
    first = package.recommend(frame, **asked, page=False)
    assert len(reads) == 1  # for the forecast; every cell is then read when it is finished
    whole = {path: path.read_bytes() for path in (tmp_path / "cells").glob("*.parquet")}
    for path in whole:
        path.write_bytes(b"damaged")
    again = package.recommend(frame, **asked, page=False)
    assert (again.policy, again.verdict.best) == (first.policy, first.verdict.best) == ("LinGreedy", "LinGreedy")
    assert [(one.policy, one.trials, one.value) for one in again.standings] == [
        (one.policy, one.trials, one.value) for one in first.standings
    ]
    assert {path: path.read_bytes() for path in whole} == whole


def test_a_table_without_a_pattern_gets_no_method(tmp_path):
    draw = np.random.default_rng(1)
    noise = pd.DataFrame(draw.standard_normal((150, 2)), columns=["a", "b"]).assign(kind=["x"] * 140 + ["y"] * 10)
    found = package.recommend(noise, label="kind", policies=["LinGreedy"], rounds=(2, 4), out=tmp_path, budget="60s")
    assert found.policy is None
    assert "Only 6.7% of the rows are 'y': if missing one costs more" in found.hint
    # the terminal said "Use no method" and the page crowned one
    data = json.loads(re.search(r'id="data">(.*?)</script>', found.page.read_text())[1])
    assert data["answer"]["policy"] is None
    assert data["answer"]["lines"][0] == found.lines[0]
    assert not data["verdicts"]["accuracy"]["overall"]["crowned"]
    later = collect(tmp_path, command="")["answer"]  # `showdown report` says the same
    assert later["lines"] == data["answer"]["lines"]
    assert found.agent_file is None
    assert found.sentence.startswith("Use no method: none is clearly better than ")


def test_the_usual_methods_are_those_that_exist():
    assert candidates()[:4] == ["Uniform", "LinFullPost", "LinGreedy", "LinIDS"]
    assert candidates(width=255) == candidates()
    assert candidates(width=1504)[:4] == ["Uniform", "LinDiagFast", "LinDiagFast-eps0.05", "LinFullPost"]
    with pytest.raises(UsageError, match="did you mean 'LinGreedy'"):
        candidates(["LinGredy"])


def test_budgets():
    assert [seconds_of(text) for text in ("90s", "2m", "1.5h")] == [90, 120, 5400]
    assert TimeBudget(300.0).left == pytest.approx(270, abs=1)
    assert TimeBudget(60.0).left == pytest.approx(50, abs=1)
    assert TimeBudget(60.0, slowdown=3.0).left == pytest.approx(36, abs=1)
    for wrong in ("soon", "0m", "-2m", "3"):
        with pytest.raises(UsageError, match="a budget is a time"):
            seconds_of(wrong)


def test_what_misleads_in_the_data_is_said(frame, tmp_path):
    leak = frame.assign(c=frame["kind"].map({"x": 5, "y": 3, "z": 4}))
    found = package.recommend(leak, label="kind", policies=["LinGreedy"], rounds=(2,), page=False, out=tmp_path)
    assert any(line.startswith("warning: the column 'c' equals the label") for line in found.lines)
    assert len(found.to_json()["table_warnings"]) == 1


def test_a_log_is_not_taken_for_labels(showdown, frame, tmp_path):
    draw = np.random.default_rng(1)
    logged = frame.assign(action=frame["kind"], reward=draw.integers(0, 2, 400), propensity=draw.uniform(0.1, 0.9, 400))
    logged.to_csv(tmp_path / "log.csv", index=False)
    answer = showdown("recommend", "log.csv", "--label", "action")
    assert (answer.code, answer.out) == (2, "")
    assert "showdown evaluate FILE --action action --reward reward --propensity propensity" in answer.err


def test_a_cheaper_method_is_chosen_only_if_it_is_as_good():
    reference = Rival("Uniform", 0.2, 0.6, 0.5, 0.7, 0.001, True)

    def chosen(difference: float, seconds: float = 1e-5, stuck: int = 0, who: str = "Cheap") -> str | None:
        rival = Rival("Cheap", 0.8 - difference, difference, -1.0, 1.0, 0.9, False)
        found = Verdict(
            metric="accuracy",
            title="accuracy",
            smaller_is_better=False,
            unit="",
            problems=("x",),
            best="Best",
            tied=("Cheap",),
            rivals=(rival,),
            references=(reference,),
            worst_case=WorstCase(30.0, "x", (Failure(who, (), (("x", stuck, 8),)),) if stuck else ()),
        )
        return choose(found, {"Best": Cost(2e-4, 1), "Cheap": Cost(seconds, 1)})

    assert chosen(0.002) == "Cheap"
    assert chosen(0.002, seconds=1.5e-4) == "Best"  # not much faster
    assert chosen(0.05) == "Best"  # tied after a few trials, and five points behind
    assert chosen(0.002, stuck=1) == "Best"  # one of its eight trials is stuck: fast, and not safe
    assert chosen(0.05, stuck=1, who="Best") == "Cheap"  # seven good trials do not make up for that


def test_methods_that_were_not_judged_are_counted_in_the_advice(tmp_path):
    found = Recommendation(
        policy="A",
        verdict=Verdict(
            metric="accuracy", title="accuracy", smaller_is_better=False, unit="", problems=("x",), best="A", value=0.7
        ),
        metric="accuracy",
        rows=300,
        horizon=300,
        best_fixed_action="x",
        costs={},
        standings=(
            Standing("A", value=0.7, low=0.6, high=0.8, trials=2),
            Standing("B", status=NO_ROOM, reason="about 40 s, when 20 s were left for all"),
            Standing("C", status=OUT_OF_TIME, reason="still compiling when the budget ended"),
            Standing("D", status=FAILED, reason="a fault"),
            Standing("E", status=NO_ROOM, trials=1),
            Standing("F", status=BEHIND, value=0.1, trials=4, steps=100),
            Standing("Uniform", trials=8),
        ),
        seconds=60,
        folder=tmp_path,
        agent_file=tmp_path / "agent.json",
    )
    assert found.lines[0].startswith("Use A (no result of 3 of 6 methods): share of right answers 70.0 %")
    at = found.lines.index("no result: B would not fit in the budget (about 40 s, when 20 s were left for all)")
    assert found.lines[at + 1 : at + 6] == [
        "no result: C did not finish (still compiling when the budget ended)",
        "no result: D failed (a fault)",
        "clearly behind after 100 steps, and not played on: F",
        "fewer trials for lack of time: E (1 of 4)",
        "the same command with a longer --budget continues from here",
    ]
    assert found.lines[-1] == f"serve it: showdown serve {tmp_path / 'agent.json'}"

    (same,) = (line for line in found.lines if "the same 300 rows in another order" in line)
    assert "by 5.2 points (95 %)" in same  # 1.96 √(0.7 · 0.3 / 300)
    for changes in ({"rows": 20_000, "horizon": 20_000}, {"rows": 400}, {"metric": "reward"}, {"policy": None}):
        assert "in another order" not in " ".join(replace(found, **changes).lines)


@pytest.mark.parametrize(
    ("load", "why"), [(0.1, "60s: a larger"), (900.0, r"60s \(about 900 programs share the \d+ cores")]
)
def test_no_answer_at_all_says_whether_the_machine_was_busy(frame, tmp_path, monkeypatch, load, why):
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(SuccessiveHalving, "shorten", lambda *_: None)
    monkeypatch.setattr(SuccessiveHalving, "play", lambda *_: None)
    with pytest.raises(ShowdownError, match=f"nothing could be played within {why}"):
        recommend(frame, label="kind", budget="60s", out=tmp_path)


SLOW = '''
"""A policy that takes as long to compile as its field says."""
import time
import jax.numpy as jnp
from showdown.config import config
from showdown.policies import policies
from showdown.protocol.policy import Policy


@config
class Slow(Policy):
    seconds: int = 1
    refit_every: int = 50

    def init(self, key, spec):
        time.sleep(self.seconds)
        return ()

    def act(self, key, state, situation):
        return jnp.int32(0)

    def refit(self, key, state, history):
        return state


policies.add("Slow", Slow(seconds=300))
'''


def test_a_method_that_compiles_too_long_is_named_and_the_budget_holds(file, tmp_path):
    """Compiling cannot be interrupted, so its process is killed; the verdict is that of the others."""
    (tmp_path / "slow.py").write_text(SLOW)
    options = ("--policies", "LinGreedy,Slow", "--budget", "24s", "--load", "slow.py", "--json")
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "showdown", "recommend", file, "--label", "kind", *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < 60  # not 300
    found = json.loads(done.stdout)
    assert found["verdict"]["best"] == "LinGreedy"
    assert "(no result of 1 of 2 methods)" in found["sentence"]
    slow = next(one for one in found["standings"] if one["policy"] == "Slow")
    # on a machine that is busy with other things it is not even begun
    assert (slow["status"], slow["reason"].split(" when")[0]) == (OUT_OF_TIME, "still compiling") or (
        slow["status"] == NO_ROOM
    )


@pytest.fixture
def halving(frame, tmp_path) -> SuccessiveHalving:
    problem = table(frame, label="kind")
    return SuccessiveHalving(
        Store(tmp_path), problem, "kinds", "accuracy", TimeBudget(60.0), lambda board, line: None, processes=2
    )


def test_what_would_not_fit_is_not_begun_and_the_cheap_come_first(halving, monkeypatch):
    costs = {"Council": 30.0, "NeuralLinear": 15.0, "Uniform": 2.0, "LinGreedy": 3.0}
    monkeypatch.setattr(Forecast, "seconds", lambda self, cell: costs[cell.policy_name])
    board = Board("accuracy", 60.0, standings={name: Standing(name) for name in costs})
    ordered = halving._order(list(costs), board)
    assert ordered == ["Uniform", "LinGreedy", "NeuralLinear", "Council"]
    cells = [halving._cell(name, 2) for name in ordered]
    for left, processes, count in ((20.0, 1, 3), (33.0, 2, 4), (31.0, 2, 3)):
        assert halving.forecast.fitting(cells, left, processes) == cells[:count]
    monkeypatch.setattr(halving, "budget", TimeBudget(20.0))  # of which eight are for the rest
    lines: list[str] = []
    monkeypatch.setattr(halving, "show", lambda board, line: lines.append(line))
    board.trials = 2
    halving._fitting(cells, board, processes=1)
    assert board.standings["Council"].status == NO_ROOM
    assert board.standings["Council"].reason == "about 30 s, when 12 s were left for all"
    assert lines == ["2 trials would not fit in the 12 s left: NeuralLinear (about 15 s), Council (about 30 s)"]


def test_what_is_tried_at_the_end_is_said_to_have_fewer_trials(halving, monkeypatch):
    costs = {"Council": 300.0, "NeuralLinear": 60.0}
    monkeypatch.setattr(Forecast, "seconds", lambda self, cell: costs[cell.policy_name])
    standings = {name: Standing(name, status=NO_ROOM) for name in costs}
    board, lines, tried = Board("accuracy", 60.0, trials=16, standings=standings), [], []

    def run(cells, engine, board, trials):
        tried.extend(cell.policy_name for cell in cells)
        board.standings["NeuralLinear"].status, board.standings["NeuralLinear"].trials = "waiting", trials

    monkeypatch.setattr(halving, "show", lambda board, line: lines.append(line))
    monkeypatch.setattr(halving, "_run", run)
    halving._use_what_is_left(board)
    assert (tried, board.trials, lines) == (["NeuralLinear"], 2, ["50 s are left for what may not finish"])
    assert (standings["NeuralLinear"].status, standings["NeuralLinear"].trials) == (NO_ROOM, 2)


def test_forecasts_count_compiling_and_other_work_on_the_machine(halving):
    cheap, council = (halving._cell(name, 2) for name in ("LinGreedy", "Council"))
    halving.forecast.slowdown = 1.0
    alone = halving.forecast.seconds(council)
    assert alone > 15 > 3 * halving.forecast.seconds(cheap)
    halving.forecast.slowdown = 3.0
    assert halving.forecast.seconds(council) == pytest.approx(3 * alone)
    halving.forecast.pace["Council"] = 0.5  # measured: compiled, and as busy as it is
    assert halving.forecast.seconds(council) == pytest.approx(3 * 4 + 2 * 0.5)


def test_trials_are_shortened_by_less_than_half_before_a_method_is_dropped(halving, monkeypatch):
    parts = {"Uniform": (4.0, 0.0), "NeuralLinear": (10.0, 20.0), "Council": (18.0, 60.0)}
    monkeypatch.setattr(
        "showdown.recommendation.budget.parts_of_each", lambda cells, store: [parts[one.policy_name] for one in cells]
    )
    problem = replace(halving.problem, horizon=400)
    cells = [halving._cell(name, 2) for name in parts]
    halving.forecast.slowdown = 1.0
    monkeypatch.setattr("showdown.recommendation.budget.SHORTEST", 100)

    def steps(left: float) -> int:
        return halving.forecast.shortened(problem, cells, left).horizon

    assert steps(100.0) == 400  # half of 200 − 32 seconds in two processes is enough for 80
    assert steps(72.0) == 280
    assert steps(56.0) == 400  # with Council 200: the others do not shorten their trials for it
    assert steps(20.0) == 260  # NeuralLinear and Uniform alone
    assert steps(9.0) == 200  # the cheapest method is played, if only for a few steps


def test_a_long_table_is_played_in_part_until_something_is_in_front(halving, monkeypatch):
    parts = {"LinGreedy": (4.0, 40.0), "NeuralLinear": (10.0, 4000.0)}
    monkeypatch.setattr(
        "showdown.recommendation.budget.parts_of_each", lambda cells, store: [parts[one.policy_name] for one in cells]
    )
    halving.problem = replace(halving.problem, horizon=300_000)
    halving.forecast.slowdown = 1.0
    cells = [halving._cell(name, 2) for name in parts]
    # both can play 6,980 steps in half of 188 seconds: enough not to leave one out for longer trials
    assert halving.forecast.shortened(halving.problem, cells, 101.0).horizon == 6980
    assert halving.forecast.shortened(halving.problem, cells[:1], 20.0).horizon == 135_000  # there is no other
    assert halving.forecast.shortened(halving.problem, [cells[0]] * 2, 30.0).horizon == 32_500  # a third of 97,500
    halving.rows = 400
    halving.problem = replace(halving.problem, horizon=40)
    standings = {
        "Uniform": Standing("Uniform", trials=4),
        "LinGreedy": Standing("LinGreedy", status=IN_FRONT, trials=4),
        "NeuralLinear": Standing("NeuralLinear", status=NO_ROOM, trials=4),
    }
    board = Board("accuracy", 60.0, trials=4, standings=standings)
    halving.forecast.pace["LinGreedy"] = 0.1  # seconds per trial
    assert not halving._lengthen(["LinGreedy"], board)  # NeuralLinear may be as good, and could not play on
    standings["NeuralLinear"].status = BEHIND
    assert halving._lengthen(["LinGreedy"], board)
    assert halving.problem.horizon == 400  # 2 · 0.1 · 10 seconds
    halving.problem = replace(halving.problem, horizon=40)
    halving.forecast.pace["LinGreedy"] = 1.5
    assert halving._lengthen(["LinGreedy"], board)
    assert halving.problem.horizon == 200  # all rows would take 30 of the 25 seconds
    halving.problem = replace(halving.problem, horizon=40)
    halving.forecast.pace.clear()  # its cell was stored before: by the cost model it would take 44 of the 25 seconds
    assert not halving._lengthen(["LinGreedy"], board)


def test_a_method_whose_features_collapsed_is_not_judged(halving, monkeypatch):
    from showdown.bench.engine import CellResult

    cell = halving._cell("LinGreedy", 2)
    board = Board("accuracy", 60.0, standings={"LinGreedy": Standing("LinGreedy")})
    lines: list[str] = []
    monkeypatch.setattr(halving, "show", lambda board, line: lines.append(line))
    halving._run([cell], "local", board, 2)
    assert (board.standings["LinGreedy"].trials, list(halving.cells)) == (2, [cell.hash])
    halving.cells.clear()
    record = halving.store.record(cell.hash)
    monkeypatch.setattr(Store, "record", lambda self, name: replace(record, diagnostics={"collapsed features": 1.0}))
    halving._finished(CellResult(cell, "done", new=False), board)
    assert (board.standings["LinGreedy"].status, board.standings["LinGreedy"].trials) == (FAILED, 0)
    assert not halving.cells
    assert lines[-1].startswith("LinGreedy: failed (all features that it learned became 0")


def test_of_a_wide_table_the_cheapest_method_is_always_played(halving, monkeypatch):
    """On 1,504 columns nothing was cheap and nothing would fit, so there was no answer at all."""
    costs = {"Uniform": 2.0, "LinFullPost": 400.0, "LinGreedy": 390.0, "Council": 900.0}
    monkeypatch.setattr(Forecast, "seconds", lambda self, cell: costs[cell.policy_name])
    begun: list[str] = []
    monkeypatch.setattr(halving, "_run", lambda cells, *_: begun.extend(cell.policy_name for cell in cells))
    board = Board("accuracy", 60.0, trials=2, standings={name: Standing(name) for name in costs})
    halving._round(list(costs), 2, board, frozenset({"Uniform"}))
    assert begun == ["Uniform", "LinGreedy"]
    assert board.standings["Council"].status == NO_ROOM


def test_only_what_is_clearly_behind_is_dropped(halving):
    """The paired test must say so at a level divided by the number of rounds."""

    def found(p_value: float, behind: bool) -> Verdict:
        rival = Rival("LinGreedy", 0.5, 0.1, 0.01, 0.2, p_value, behind)
        return Verdict(
            metric="accuracy",
            title="accuracy",
            smaller_is_better=False,
            unit="",
            problems=("kinds",),
            best="LinFullPost",
            rivals=(rival,),
            tied=() if behind else ("LinGreedy",),
            sure="sure" if behind else "a tie",
        )

    def settled(p_value: float, behind: bool = True, trials: int = 4) -> str:
        board = Board("accuracy", 60.0, standings={name: Standing(name) for name in ("LinFullPost", "LinGreedy")})
        board.verdict, board.trials = found(p_value, behind), trials
        halving._settle(board, ["LinFullPost", "LinGreedy"], frozenset())
        assert board.standings["LinFullPost"].status == IN_FRONT
        return board.standings["LinGreedy"].status

    assert settled(0.02) == IN_FRONT  # behind, but there are five rounds
    assert settled(0.009, behind=False) == IN_FRONT
    assert settled(0.009, trials=2) == IN_FRONT  # two trials are too few for that
    late = found(0.9, behind=False)
    assert halving._with_dropped(late) is late
    assert settled(0.009) == BEHIND
    # the others played on: with fewer trials it cannot be told from them any more, and it does not come back
    assert halving._with_dropped(late).tied == ()
    assert halving._with_dropped(late).sure == "sure"
