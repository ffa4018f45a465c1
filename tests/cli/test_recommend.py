"""`showdown recommend` on small tables with linear methods, so that hardly anything is compiled."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import showdown as package
from showdown.analysis.verdict import Rival, Verdict
from showdown.bench.store import Store
from showdown.errors import UsageError
from showdown.policies import policies
from showdown.recommendation.answer import Recommendation
from showdown.recommendation.board import FAILED, OUT_OF_TIME, Standing
from showdown.recommendation.budget import seconds_of
from showdown.recommendation.candidates import candidates
from showdown.recommendation.measure import Cost
from showdown.recommendation.recommend import _chosen as choose

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
    assert cost.startswith("It decides in ")
    assert any("highest accuracy" in line for line in rest)
    assert "2 trials of Uniform, LinFullPost, LinGreedy" in answer.err
    folder = tmp_path / "recommendation"
    assert "<html" in (folder / "report.html").read_text()[:200]
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


def test_a_table_without_a_pattern_gets_no_method(tmp_path):
    draw = np.random.default_rng(1)
    noise = pd.DataFrame(draw.standard_normal((150, 2)), columns=["a", "b"]).assign(kind=["x"] * 140 + ["y"] * 10)
    found = package.recommend(
        noise, label="kind", policies=["LinGreedy"], rounds=(2, 4), out=tmp_path, budget="60s", page=False
    )
    assert found.policy is None
    assert found.agent_file is None
    assert found.sentence.startswith("Use no method: none is clearly better than ")


def test_the_usual_methods_are_those_that_exist():
    assert candidates()[:5] == ["Uniform", "LinFullPost", "LinGreedy", "NeuralLinear", "EpsGreedyRMS"]
    with pytest.raises(UsageError, match="did you mean 'LinGreedy'"):
        candidates(["LinGredy"])


def test_budgets():
    assert [seconds_of(text) for text in ("90s", "2m", "1.5h", "3")] == [90, 120, 5400, 180]
    for wrong in ("soon", "0m", "-2m"):
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

    def chosen(difference: float, seconds: float = 1e-5) -> str | None:
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
        )
        return choose(found, {"Best": Cost(2e-4, 1), "Cheap": Cost(seconds, 1)})

    assert chosen(0.002) == "Cheap"
    assert chosen(0.002, seconds=1.5e-4) == "Best"  # not much faster
    assert chosen(0.05) == "Best"  # tied after a few trials, and five points behind


def test_methods_that_were_not_judged_are_counted_in_the_advice(tmp_path):
    found = Recommendation(
        policy="A",
        verdict=Verdict(
            metric="accuracy", title="accuracy", smaller_is_better=False, unit="", problems=("x",), best="A", value=0.7
        ),
        metric="accuracy",
        rows=300,
        horizon=300,
        commonest_action="x",
        costs={},
        standings=(
            Standing("A", value=0.7, low=0.6, high=0.8, trials=2),
            Standing("B", status=OUT_OF_TIME),
            Standing("C", status=OUT_OF_TIME),
            Standing("D", status=FAILED, reason="a fault"),
            Standing("Uniform", trials=2),
        ),
        seconds=60,
        folder=tmp_path,
        agent_file=tmp_path / "agent.json",
    )
    assert found.lines[0].startswith("Use A (3 of 4 methods could not be judged): share of right answers 70.0 %")
    assert "not judged: D (a fault)" in found.lines
    assert "not judged, out of time: B and C; the same command with a longer --budget plays them too" in found.lines
    assert found.lines[-1] == f"serve it: showdown serve {tmp_path / 'agent.json'}"
