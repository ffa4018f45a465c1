"""The list of metrics: what each column adds up, and that one object is all a new metric takes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from showdown.analysis.build_table import build_table
from showdown.analysis.selection import select
from showdown.analysis.table import TableRequest
from showdown.basics.errors import UsageError
from showdown.bench import table_file
from showdown.bench.store import Store
from showdown.metrics import MAIN, METRICS, by_name, metric_named, per_checkpoint, per_trial, required
from showdown.metrics.metric import Metric
from showdown.play.accumulator import Accumulator, MetricError
from showdown.play.population import simulate_many
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.report.formats import json as json_format
from showdown.report.formats import text
from showdown.report.page.collect import collect

OLD_STORES = Path(__file__).parents[2] / "docs" / "results"
TOY = Metric(
    name="steadiness",
    title="mean steadiness",
    unit="steadiness",
    decimals=1,
    order=99,
    smaller_is_better=False,
    baseline="Uniform",
    step=lambda played: 1 - played.regret,
    over="mean",
)


def played(regret: np.ndarray, rewards: np.ndarray, actions: np.ndarray) -> SimpleNamespace:
    """A segment of two trials, (trials, steps); `rewards` is (steps, actions) and its own mean."""
    best = rewards.max(axis=1)
    return SimpleNamespace(
        actions=actions,
        reward=best - regret,
        regret=regret,
        expected_regret=regret,
        action_rewards=np.tile(rewards.sum(axis=0), (len(actions), 1)),
        action_optimal=np.tile((rewards == best[:, None]).sum(axis=0), (len(actions), 1)),
    )


def test_the_list_begins_with_the_papers_metric_and_says_what_a_store_must_hold():
    assert MAIN == "cumulative"
    ours = ["cumulative", "simple", "reward", "accuracy", "time"]
    assert [name for name in METRICS if name in ours] == ours  # others may be added between them
    assert required() == ["cumulative", "cumulative_expected", "simple", "simple_expected"]
    assert per_checkpoint() == {"curve": "cumulative", "curve_expected": "cumulative_expected"}
    assert {"reward", "reward_fixed", "accuracy", "accuracy_fixed"} <= set(per_trial())
    assert metric_named("simple_expected") is METRICS["simple"]
    with pytest.raises(UsageError, match="no metric is called 'speed'"):
        metric_named("speed")


def test_totals_means_and_the_best_fixed_action_over_two_segments():
    rewards = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    actions = np.array([[0, 0, 0, 0], [1, 0, 1, 1]])  # regret 0 0 1 0, and 1 0 0 1
    regret = rewards.max(axis=1) - rewards[np.arange(4), actions]
    book = Accumulator(trials=2, horizon=4, num_actions=2)
    for first in (0, 2):
        part = slice(first, first + 2)
        book.add(first, played(regret[:, part], rewards[part], actions[:, part]))
    found = {name: values.tolist() for name, values in book.columns.items()}
    assert found["cumulative"] == [1, 2]
    assert found["reward"] == found["accuracy"] == [0.75, 0.5]
    assert found["reward_fixed"] == found["accuracy_fixed"] == [0.75, 0.75]  # action 0 in both
    assert book.curves["curve"].tolist() == [[0, 0, 1, 1], [1, 1, 1, 2]]


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (lambda played: played.regret.max(), r"'worst' must give \(trials, steps\), here \(2, 4\), and gives \(\)"),
        (lambda played: played.loss, "'worst' fails: AttributeError"),
    ],
)
def test_a_faulty_metric_is_named(monkeypatch, step, sentence):
    monkeypatch.setitem(METRICS, "worst", replace(METRICS["cumulative"], name="worst", step=step, curve=""))
    regret = np.zeros((2, 4))
    with pytest.raises(MetricError, match=sentence):
        Accumulator(trials=2, horizon=4, num_actions=2).add(0, played(regret, np.zeros((4, 2)), np.zeros((2, 4), int)))


def switched(played, last):
    before = np.concatenate([last[:, None], played.actions[:, :-1]], axis=1)
    return (before >= 0) & (before != played.actions), played.actions[:, -1]


SWITCHES = Metric(
    name="switches",
    title="number of switches",
    unit="steps",
    decimals=1,
    order=98,
    step=switched,
    memory=lambda trials: np.full(trials, -1),
)


@pytest.mark.parametrize("cut", [1, 2, 4, 5])
def test_a_metric_remembers_from_segment_to_segment(monkeypatch, cut):
    monkeypatch.setitem(METRICS, SWITCHES.name, SWITCHES)
    actions = np.array([[0, 1, 1, 0, 0], [1, 1, 0, 0, 1], [0, 0, 0, 0, 0]])
    book = Accumulator(trials=3, horizon=5, num_actions=2)
    parts = book.of_trials(slice(0, 1)), book.of_trials(slice(1, 3))  # as a population adds up, in the same arrays
    for first, last in ((0, cut), (cut, 5)):
        steps = last - first
        for part, rows in zip(parts, (slice(0, 1), slice(1, 3)), strict=True):
            mine = actions[rows, first:last]
            if steps:
                part.add(first, played(np.zeros(mine.shape), np.zeros((steps, 2)), mine))
    assert book.columns["switches"].tolist() == [2, 2, 0]


def test_a_metric_remembers_in_play_alone_and_together(monkeypatch):
    """However the trials are cut into batches and segments, and in a population too."""
    monkeypatch.setitem(METRICS, SWITCHES.name, SWITCHES)
    problem = replace(problems.get("wheel-0.5"), horizon=31)
    policy = policies.get("LinPost")
    whole = simulate(policy, problem, trials=3, segment_steps=31, keep_propensities=True)
    expected = (np.diff(whole.decisions.actions, axis=1) != 0).sum(axis=1)
    assert whole.switches.tolist() == expected.tolist()
    cut = simulate(policy, problem, trials=3, segment_steps=8, batch_trials=2)
    assert cut.switches.tolist() == expected.tolist()
    monkeypatch.setattr("showdown.play.segment.SEGMENT_STEPS", 8)
    for outcome in simulate_many([policy, policy], problem, trials=3):
        assert outcome.switches.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"over": "first"}, "over='first'; it is one of total, mean, last"),
        ({"over": "mean", "curve": "switch_curve"}, "a curve, which is a running total"),
        ({"step": None}, "a memory, but no step"),
    ],
)
def test_what_a_metric_cannot_be_is_refused(changes, sentence):
    with pytest.raises(UsageError, match=sentence):
        replace(SWITCHES, **changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"memory": lambda trials: 0}, "the memory of the metric 'switches' must have a row per trial, here 2"),
        ({"step": lambda played, last: (played.regret, last[:1])}, r"had the shape \(2,\) and has \(1,\) now"),
        ({"step": lambda played, last: (played.regret, last + 0.5)}, "'switches' fails: .*Cannot cast"),
    ],
)
def test_a_faulty_memory_is_named(monkeypatch, changes, sentence):
    monkeypatch.setitem(METRICS, SWITCHES.name, replace(SWITCHES, **changes))
    with pytest.raises(MetricError, match=sentence):
        Accumulator(trials=2, horizon=4, num_actions=2).add(
            0, played(np.zeros((2, 4)), np.zeros((4, 2)), np.zeros((2, 4), int))
        )


def test_one_name_means_one_metric():
    mine = replace(METRICS["cumulative"], order=99)
    with pytest.raises(UsageError, match="two different metrics are called 'cumulative'"):
        by_name([*METRICS.values(), mine])


def test_problems_say_whether_they_have_labels():
    assert problems.get("statlog").has_labels
    assert problems.get("song").has_labels
    assert not problems.get("wheel-0.5").has_labels
    assert not problems.get("mushroom").has_labels


@pytest.fixture
def toy_store(monkeypatch, stored, tmp_path) -> Path:
    monkeypatch.setitem(METRICS, TOY.name, TOY)
    regrets = {("Uniform", "wheel-0.5"): [5.0, 5.0], ("LinPost", "wheel-0.5"): [1.0, 3.0]}
    return stored(tmp_path, regrets, columns=lambda final: {TOY.name: 10 - final})


def test_one_object_makes_a_metric_in_the_loop(monkeypatch):
    monkeypatch.setitem(METRICS, TOY.name, TOY)
    book = Accumulator(trials=1, horizon=2, num_actions=1)
    book.add(0, played(np.array([[0.0, 1.0]]), np.ones((2, 1)), np.zeros((1, 2), int)))
    assert book.columns[TOY.name].tolist() == [0.5]


def test_one_object_makes_a_metric_in_tables_and_json(toy_store):
    selection = select(Store(toy_store).frame())
    table = build_table(selection, TableRequest(metric=TOY.name, sort="wheel-0.5", rank=True))
    assert table.policies == ["LinPost", "Uniform"]  # 8 of 5: the larger is the better
    assert "LinPost        1.0*  160.00 ± 20.00*" in text.write(table)
    rows = json_format.value(table)["rows"]
    assert {(row["policy"], row["mean"]) for row in rows if row["metric"] == TOY.name} == {
        ("LinPost", 160),
        ("Uniform", 100),
    }
    assert "8.0 ± 1.0*" in text.write(build_table(selection, TableRequest(metric=TOY.name, absolute=True)))


def test_one_object_makes_a_metric_on_the_page(toy_store):
    page = collect(toy_store, command="")
    assert page["metrics"][-1] == {
        "name": "steadiness",
        "title": "mean steadiness",
        "smaller_is_better": False,
        "per_cell": False,
    }
    exact = next(cell for cell in page["cells"] if cell["policy"] == "LinPost")
    assert exact["shown"][TOY.name] == {"mean": 160, "sem": 20}
    assert exact["rank"][TOY.name] == 1
    assert exact["distribution"][TOY.name] == [9, 7]


@pytest.mark.parametrize("name", ["gaussian-process", "readings"])
def test_a_store_from_before_rewards_is_whole(name):
    """Cells of this repository, played before there was a list of metrics."""
    store = Store(OLD_STORES / name)
    frame = store.frame()
    assert len(frame) > 0
    assert not store.damaged
    assert all(store.is_done(cell) for cell in frame["cell"].unique())  # so it is not played again
    assert frame["reward"].isna().all()
    assert frame["cumulative"].notna().all()
    cells = frame["cell"].nunique()
    with pytest.raises(UsageError, match=f"{cells} cells were played before `reward` was kept"):
        build_table(select(frame), TableRequest(metric="reward"))
    page = collect(OLD_STORES / name, command="")
    assert [metric["name"] for metric in page["metrics"]] == ["cumulative", "simple", "time"]
    assert f"{cells} cells were played before `reward` was kept" in " ".join(page["notes"])


def test_each_parquet_is_read_once(stored, tmp_path, monkeypatch):
    folder = stored(tmp_path, {("Uniform", "wheel-0.5"): [5.0], ("LinPost", "wheel-0.5"): [1.0]})
    read, from_bytes = [], table_file.from_bytes
    monkeypatch.setattr(
        table_file, "from_bytes", lambda content, record: read.append(record.cell) or from_bytes(content, record)
    )
    collect(folder, command="")
    assert len(read) == len(set(read)) == 2


def test_a_record_keeps_whether_there_are_labels(stored, tmp_path):
    folder = stored(tmp_path, {("Uniform", "statlog"): [5.0], ("Uniform", "wheel-0.5"): [5.0]})
    records = {record.problem: record for record in Store(folder).cells()}
    assert {name: record.labels for name, record in records.items()} == {"statlog": True, "wheel-0.5": False}
    path = folder / "cells" / f"{records['statlog'].cell}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "labels": "yes"}))
    assert [record.problem for record in Store(folder).cells()] == ["wheel-0.5"]
