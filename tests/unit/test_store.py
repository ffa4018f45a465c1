"""Cells: identity, atomic writing, statuses, names, foreign files, two processes."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from showdown.basics.errors import UsageError
from showdown.bench import table_file
from showdown.bench.cell import Cell
from showdown.bench.engine import RunLimits
from showdown.bench.engines.local import Local
from showdown.bench.plan import plan
from showdown.bench.play_cell import about
from showdown.bench.record_file import sealed
from showdown.bench.store import Store
from showdown.bench.suite import Suite, load_suite, suite_names
from showdown.config.registry import load_file
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.policies.linear import LinearKnownNoise
from showdown.problems import problems
from showdown.problems.wheel import Wheel

# the size of other tests too: the programs are in the shared cache
TINY = Suite(name="tiny", policies=("Uniform", "LinPost"), problems=("wheel-0.5",), trials=2, horizon=30)


def play(suite, folder, **options):
    store = Store(folder)
    return list(Local(store).run(plan(suite, store), RunLimits(**options))), store


def cell(policy="LinPost", problem="wheel-0.5", trials=3, seed=0) -> Cell:
    return Cell(policy, problem, policies.get(policy), problems.get(problem), trials, seed)


def test_identity_is_the_configuration_and_nothing_else(monkeypatch):
    one = cell()
    assert cell().hash == one.hash
    assert cell(problem="wheel[delta=0.5]").hash == one.hash
    for other in (cell("LinPost-MR"), cell(problem="wheel-0.7"), cell(trials=4), cell(seed=1)):
        assert other.hash != one.hash
    monkeypatch.setattr(LinearKnownNoise, "numerics", 99)
    assert cell().hash != one.hash


def test_a_run_is_kept_and_found_again(tmp_path):
    results, store = play(TINY, tmp_path)
    assert [result.status for result in results] == ["done", "done"]
    frame = store.frame()
    assert len(frame) == 4
    assert set(frame["policy"]) == {"Uniform", "LinPost"}
    record = next(record for record in store.cells() if record.policy == "LinPost")
    table = store.trials(record)
    assert record.checkpoints[-1] == 30
    np.testing.assert_allclose([curve[-1] for curve in table["curve"]], table["cumulative"], rtol=1e-6)
    assert all(counts.sum() == 30 for counts in table["action_counts"])
    again, _ = play(TINY, tmp_path)
    assert [result.new for result in again] == [False, False]


def test_tables_keep_their_types_and_numbers_whatever_the_level():
    values = np.linspace(0, 9, 60)
    curves = pa.FixedSizeListArray.from_arrays(pa.array(values.astype("float32")), 20).cast(pa.list_(pa.float32()))
    counts = pa.array([[1, 2], [3, 4], [5, 6]])
    table = pa.table({"trial": np.arange(3), "cumulative": values[:3], "action_counts": counts, "curve": curves})
    for level in (None, 19):
        content = table_file.encoded(table, level)
        assert pq.read_table(pa.BufferReader(content)).cast(table.schema).equals(table)
        columns = [pq.ParquetFile(pa.BufferReader(content)).metadata.row_group(0).column(place) for place in range(4)]
        split = [column.path_in_schema for column in columns if "BYTE_STREAM_SPLIT" in column.encodings]
        assert split == ["cumulative", "curve.list.element"]


def test_cells_from_before_diagnostics_and_checksums_are_still_read(tmp_path):
    _, store = play(TINY, tmp_path)
    for path in (tmp_path / "cells").glob("*.json"):
        record = json.loads(path.read_text())
        assert not any(record.pop("diagnostics").values())  # these policies have nothing to report
        del record["checksum"], record["table_sha256"], record["labels"]
        path.write_text(json.dumps(record))
    assert len(store.frame()) == 4
    assert [warning.partition(";")[0] for warning in store.warnings] == [
        "2 of 2 cells have no checksum and are unverified"
    ]
    again, _ = play(TINY, tmp_path)
    assert not any(result.new for result in again)


def test_other_numerics_are_not_reused(tmp_path, monkeypatch):
    play(TINY, tmp_path)
    monkeypatch.setattr(LinearKnownNoise, "numerics", 99)
    again, _ = play(TINY, tmp_path)
    assert {result.cell.policy_name: result.new for result in again} == {"Uniform": False, "LinPost": True}


def test_names_that_mean_one_cell_share_it(tmp_path):
    play(TINY, tmp_path)
    renamed = dataclasses.replace(TINY, problems=("wheel", "wheel[delta=0.5]"))
    results, store = play(renamed, tmp_path)
    assert not any(result.new for result in results)
    assert set(store.frame()["problem"]) == {"wheel", "wheel-0.5"}
    assert len(list((tmp_path / "cells").glob("*.parquet"))) == 2


def test_a_broken_table_is_played_again(tmp_path):
    _, store = play(TINY, tmp_path)
    next((tmp_path / "cells").glob("*.parquet")).write_bytes(b"not parquet at all")
    planned = plan(TINY, reader := Store(tmp_path))
    assert reader.damaged == {item.cell.hash for item in planned if not item.done}
    again, store = play(TINY, tmp_path)
    assert sorted(result.new for result in again) == [False, True]
    assert len(store.frame()) == 4


@pytest.mark.parametrize(("number", "trials"), [(np.nan, 2), (np.inf, 0)])
def test_a_cell_without_an_action_that_was_there_throughout_is_whole(tmp_path, number, trials):
    results, store = play(TINY, tmp_path)
    played = results[1].cell
    outcome = simulate(played.policy, played.problem, trials=2)
    changed = dataclasses.replace(outcome, columns=outcome.columns | {"reward_fixed": np.array([0.5, number])})
    store.write_done(played, [("MyName", "wheel-0.5")], changed, about())
    assert (Store(tmp_path).frame()["policy"] == "MyName").sum() == trials


def test_names_given_by_two_processes_are_both_kept(tmp_path):
    results, store = play(TINY, tmp_path)
    played = results[1].cell
    outcome = simulate(played.policy, played.problem, trials=2)
    store.write_done(played, [("MyName", "wheel-0.5")], outcome, about())
    assert {record.policy for record in store.cells()} == {"Uniform", "LinPost", "MyName"}


def test_planning_loads_no_data_of_problems_that_are_done(tmp_path, monkeypatch):
    play(TINY, tmp_path)
    loaded = []
    monkeypatch.setattr(Wheel, "load", lambda self: loaded.append(self.delta) or ())
    suite = dataclasses.replace(TINY, problems=("wheel-0.5", "wheel-0.7"), problems_if_available=("wheel-0.9",))
    planned = plan(suite, Store(tmp_path))
    assert loaded == [0.7, 0.9]
    assert [item.done for item in planned] == [True, True, False, False, False, False]


def test_sizes_that_no_record_can_hold_are_refused(tmp_path):
    for sizes in ({"trials": 10**10}, {"seed": 10**30}, {"horizon": 2**31}, {"trials": 0}):
        with pytest.raises(UsageError, match=next(iter(sizes))):
            plan(dataclasses.replace(TINY, **sizes), Store(tmp_path))


def test_another_text_of_an_outside_policy_is_another_cell(tmp_path):
    text = (Path(__file__).parents[2] / "examples" / "my_policy.py").read_text().replace("GaussianBandit", "Outsider")
    hashes = set()
    for number, body in enumerate((text, text.replace("mean +", "-mean +"))):
        path = tmp_path / f"outsider{number}.py"
        path.write_text(body.replace("Outsider", f"Outsider{number}"))
        load_file(path)
        identity = cell(f"Outsider{number}").identity["policy"]["inner"]
        hashes.add(identity["source"])
    assert len(hashes) == 2


def test_killed_while_writing_leaves_nothing_half_done(tmp_path, monkeypatch):
    store = Store(tmp_path)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        list(Local(store).run(plan(TINY, store), RunLimits()))
    monkeypatch.undo()
    assert list((tmp_path / "cells").iterdir()) == []
    results, _ = play(TINY, tmp_path)
    assert all(result.new and result.status == "done" for result in results)


def test_interrupt_keeps_what_was_finished(tmp_path):
    store = Store(tmp_path)
    seen = []

    def interrupt(cell, steps):
        seen.append(cell.policy_name)
        if cell.policy_name == "LinPost":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(Local(store).run(plan(TINY, store), RunLimits(progress=interrupt)))
    assert [planned.done for planned in plan(TINY, store)] == [True, False]


def test_failures_are_kept_with_their_reason_and_tried_again(tmp_path, monkeypatch):
    results, store = play(TINY, tmp_path, cell_seconds=0.0)
    assert {result.status for result in results} == {"timeout"}
    assert "0 seconds" in store.cells()[0].reason
    monkeypatch.setattr(LinearKnownNoise, "update", lambda self, *_: 1 / 0)
    results, store = play(dataclasses.replace(TINY, policies=("Uniform", "LinPost[intercept=False]")), tmp_path)
    assert [result.status for result in results] == ["done", "error"]
    assert "ZeroDivisionError" in results[1].reason
    failed = next(record for record in store.cells() if record.status == "error")
    assert "Traceback" in failed.traceback
    assert results[1].reason == f"{failed.reason} (traceback: {tmp_path / 'cells' / failed.cell}.json)"
    assert len(store.frame()) == 2
    monkeypatch.undo()
    results, _ = play(TINY, tmp_path)
    assert all(result.status == "done" for result in results)


def test_a_late_failure_does_not_undo_a_finished_cell(tmp_path):
    _, store = play(TINY, tmp_path)
    finished = plan(TINY, store)[0]
    store.write_failed(finished.cell, finished.names, "timeout", "too slow", {})
    assert store.is_done(finished.cell.hash)


def test_foreign_and_broken_files_are_named_and_left_out(tmp_path):
    _, store = play(TINY, tmp_path)
    folder = tmp_path / "cells"
    (folder / "notes.txt").write_text("hello")
    (folder / "half.json").write_text('{"format": 1, "cell"')
    (folder / "list.json").write_text("[1, 2]")
    record = store.cells()[0].to_json()
    (folder / "names.json").write_text(json.dumps({**record, "names": None}))
    (folder / "sizes.json").write_text(json.dumps({**record, "horizon": "300"}))
    (folder / "future.json").write_text(json.dumps({**record, "format": 99}))
    (folder / ".writing-abc.parquet").write_bytes(b"PAR1")
    (folder / f"{record['cell']}.parquet").write_bytes(b"not parquet at all")
    frame = store.frame()
    assert len(frame) == 2
    told = " ".join(store.warnings)
    assert all(
        name in told
        for name in ("notes.txt", "half.json", "list.json", "names.json", "sizes.json", "future.json", ".parquet")
    )
    assert ".writing-" not in told


def test_two_processes_share_a_store(tmp_path):
    command = [sys.executable, "-c", "from showdown.cli.main import main; main()", "run", "--out", str(tmp_path)]
    command += [
        "--policies",
        "Uniform,LinPost",
        "--problems",
        "wheel-0.5",
        "--trials",
        "2",
        "--horizon",
        "30",
        "--json",
    ]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    played = 0
    for process in both:
        output, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
        played += sum(cell["new"] for cell in json.loads(output)["cells"])
    assert played == 2  # each cell by one of them
    store = Store(tmp_path)
    assert len(store.frame()) == 4
    assert store.warnings == []


def test_unwritable_folder_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="cannot write to"):
        play(TINY, tmp_path / "file")


def test_shipped_suites_name_only_what_exists():
    for name in suite_names():
        suite = load_suite(name)
        for policy in suite.policies:
            policies.get(policy)
        for problem in suite.problems:
            assert problems.get(problem).horizon > 0
        for left_out in suite.without:
            policy, _, problem = left_out.partition(" on ")
            assert any(policy in part.policies and problem in part.problems for part in (suite, *suite.also))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("policies = [", "not valid TOML"),
        ('policies = ["Uniform"]', "names no problems"),
        ('policies = "Uniform"\nproblems = ["linear"]', "must be a list of names"),
        ('policies = ["Uniform"]\nproblems = ["linear"]\ntrails = 3', "did you mean 'trials'"),
        ('policies = ["Uniform"]\nproblems = ["linear"]\ntrials = "3"', "must be int"),
        ('policies = ["Uniform"]\nproblems = ["linear"]\ntrials_of = { Uniform = "3" }', "must be a whole number"),
        ('policies = ["Uniform"]\nproblems = ["linear"]\nalso = ["paper"]', "no suite can include it"),
    ],
)
def test_bad_suites_are_one_sentence(tmp_path, text, sentence):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=sentence):
        load_suite(str(path))


def test_a_policy_may_play_another_number_of_trials(tmp_path):
    suite = dataclasses.replace(TINY, trials_of={"LinPost": 3})
    trials = {item.cell.policy_name: item.cell.trials for item in plan(suite, Store(tmp_path))}
    assert trials == {"Uniform": 2, "LinPost": 3}
    suite = dataclasses.replace(
        TINY, policies=("LinPost*", "Uniform"), trials_of={"LinPost-?R": 1, "LinPost[pulls=3]": 3}
    )
    trials = {item.cell.policy_name: item.cell.trials for item in plan(suite, Store(tmp_path))}
    assert trials == {"LinPost": 3, "LinPost-MR": 1, "LinPost-SL": 2, "Uniform": 2}
    with pytest.raises(UsageError, match="did you mean 'LinPost'"):
        plan(dataclasses.replace(TINY, trials_of={"LinPots": 2}), Store(tmp_path))
    with pytest.raises(UsageError, match="trials of LinPost must be at least 1, not 0"):
        plan(dataclasses.replace(TINY, trials_of={"LinPost": 0}), Store(tmp_path))


def test_patterns_choose_presets(tmp_path):
    suite = dataclasses.replace(TINY, policies=("LinPost*",), problems=("wheel-0.9?",))
    names = {(item.cell.policy_name, item.cell.problem_name) for item in plan(suite, Store(tmp_path))}
    assert {policy for policy, _ in names} == {"LinPost", "LinPost-MR", "LinPost-SL"}
    assert {problem for _, problem in names} == {"wheel-0.95", "wheel-0.99"}
    with pytest.raises(UsageError, match="no policy matches"):
        plan(dataclasses.replace(TINY, policies=("Zzz*",)), Store(tmp_path))


BROKEN_RECORDS = {
    "names are numbers": lambda record: record.update(names=[[1, 2]]),
    "a name is missing": lambda record: record.update(names=[[None, "wheel-0.5"]]),
    "policy is text": lambda record: record["identity"].update(policy="x"),
    "problem is missing": lambda record: record["identity"].pop("problem"),
    "checkpoints are text": lambda record: record.update(checkpoints=["a", "b"]),
    "versions is text": lambda record: record.update(versions="1.0"),
    "hardware is a list": lambda record: record.update(hardware=["a"]),
    "beside is text": lambda record: record.update(beside="many"),
    "no trials": lambda record: record.update(trials=0),
    "another file": lambda record: record.update(cell="../../elsewhere"),
}
BROKEN_TABLES = {
    "no trial": lambda table: table.drop(columns="trial"),
    "no curve": lambda table: table.drop(columns="curve"),
    "no actions": lambda table: table.drop(columns="action_counts"),
    "ragged": lambda table: table.assign(curve=[curve[:index] for index, curve in enumerate(table["curve"])]),
    "text": lambda table: table.assign(cumulative="a"),
    "not finite": lambda table: table.assign(simple=float("nan")),
    "too short": lambda table: table.iloc[1:],
}


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("played")
    play(TINY, directory)
    return directory


@pytest.mark.parametrize("what", [*BROKEN_RECORDS, *BROKEN_TABLES])
def test_what_readers_cannot_use_is_named_and_costs_nothing_else(played, tmp_path, what):
    shutil.copytree(played, tmp_path / "results")
    store = Store(tmp_path / "results")
    record, other = store.cells()
    path = tmp_path / "results" / "cells" / f"{record.cell}.json"
    if what in BROKEN_RECORDS:
        text = json.loads(path.read_text())
        BROKEN_RECORDS[what](text)
        path.write_text(json.dumps(sealed(text)))  # a lie, not an accident: the checksum fits
    else:
        path = path.with_suffix(".parquet")
        BROKEN_TABLES[what](pd.read_parquet(path)).to_parquet(path, index=False)
        assert not store.is_done(record.cell)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        store.rewrite(record.cell, lambda data: {**data, "table_sha256": digest})
    frame = store.frame()
    assert set(frame["policy"]) == {other.policy}
    assert [path.name in warning for warning in store.warnings] == [True, False]
    assert "1 damaged cell was left out" in store.warnings[-1]
    if what in BROKEN_RECORDS:
        assert not store.is_done(record.cell)  # so the same command plays it again
