"""A folder of tables as problems: labels found or named, odd files left out with a sentence, names short."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from showdown.basics.errors import MissingDataError, UsageError
from showdown.bench.plan import plan
from showdown.bench.store import Store
from showdown.bench.suite import Suite, changed, load_suite
from showdown.bench.table_folder import tables_in
from showdown.cli.main import app
from showdown.data import known_tables
from showdown.data.catalogue import CATALOGUE
from showdown.problems import problems
from showdown.problems.own_table import table

ROWS = [(place % 7, place % 5 + 0.5, "good" if place % 3 else "bad") for place in range(60)]
REAL = Path(os.environ.get("SHOWDOWN_TEST_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data") / "tables"


def csv(names: str, rows=ROWS) -> str:
    return "\n".join([names, *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SHOWDOWN_DATA", raising=False)
    (tmp_path / "tables").mkdir()
    return tmp_path / "tables"


def found(folder: Path) -> tuple[dict[str, str], list[str]]:
    """The label of each table by its short name, and the sentences."""
    notes: list[str] = []
    values = [problems.get(name) for name in tables_in(str(folder), notes=notes)]
    return {value.called: value.label for value in values}, notes


def test_labels_are_found_as_inspect_finds_them(folder):
    (folder / "last.csv").write_text(csv("a,b,kind"))
    (folder / "headless.dat").write_text(csv("", ROWS).lstrip())
    (folder / "named.csv.gz").write_bytes(gzip.compress(csv("class,b,c").encode()))
    (folder / "keel.dat").write_text(
        "@relation r\n@attribute kind {good, bad}\n@attribute size integer [0, 9]\n@attribute other real [0, 9]\n"
        "@inputs size, other\n@outputs kind\n@data\n" + "".join(f"{c}, {a}, {b}\n" for a, b, c in ROWS)
    )
    labels, notes = found(folder)
    assert labels == {"last": "kind", "headless": "column_2", "named": "class", "keel": "kind"}
    assert notes[-1].startswith("labels found, and not named in tables.toml: headless: column_2, keel: kind")
    assert len(notes) == 1


def test_a_column_that_is_only_likely_is_not_taken(folder):
    (folder / "good.csv").write_text(csv("a,b,kind"))
    rows = [(c, a, round(0.37 * place, 3)) for place, (a, _, c) in enumerate(ROWS)]
    (folder / "unsure.csv").write_text(csv("state,size,price", rows))
    labels, notes = found(folder)
    assert list(labels) == ["good"]
    assert notes[0] == "unsure.csv is left out: its label could be any of 'state', 'size'; name it in tables.toml"
    (folder / "tables.toml").write_text('[unsure]\nlabel = "state"\nignore = "size"\n[good]\nskip = true\n')
    assert found(folder) == ({"unsure": "state"}, [])


def test_odd_files_are_left_out_with_a_sentence(folder):
    (folder / "good.csv").write_text(csv("a,b,kind"))
    (folder / "empty.csv").write_text("")
    (folder / "junk.csv").write_bytes(bytes(range(256)) * 40)
    (folder / "bomb.csv.gz").write_bytes(b"\x1f\x8b" + b"\0" * 30)
    (folder / "one.csv").write_text("a,class\n1,x\n2,x\n3,x\n")
    (folder / "measured.csv").write_text(csv("a,b", [(place * 0.31, place * 0.7) for place in range(50)]))
    (folder / "log.csv").write_text(csv("action,reward,propensity,x", [(p % 3, p % 2, 0.25, p) for p in range(40)]))
    (folder / "a,b.csv").write_text(csv("a,b,kind"))
    (folder / "endless.csv").symlink_to("endless.csv")
    (folder / "folder.csv").mkdir()
    os.mkfifo(folder / "pipe.csv")
    (folder / ".hidden.csv").write_text("x")
    (folder / "README.md").write_text("x")
    labels, notes = found(folder)
    assert list(labels) == ["good"]
    said = dict(note.split(" is left out: ") for note in notes if " is left out: " in note)
    odd = ["a,b", "bomb.csv", "empty", "endless", "folder", "junk", "log", "measured", "one", "pipe"]
    assert [name.removesuffix(".gz") for name in said] == sorted(f"{name.removesuffix('.csv')}.csv" for name in odd)
    assert "empty" in said["empty.csv"]
    assert "binary" in said["junk.csv"]
    assert "comma" in said["a,b.csv"]
    assert "not a file" in said["pipe.csv"]  # and is never opened, which would wait for ever
    assert "label" in said["measured.csv"]
    assert "log of decisions" in said["log.csv"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("[good", "cannot be read"),
        ("good = 3", "must be a section"),
        ("[god]\nlabel = 'kind'", "no table there is called so; did you mean 'good'"),
        ("[good]\nlable = 'kind'", "unknown field 'lable'; did you mean 'label'"),
        ("[good]\nlabel = ['kind']", "label of good in .* cannot be"),
        ("[good]\nskip = 'yes'", "skip of good in .* cannot be 'yes'"),
        ("[good]\nhorizon = true", "horizon of good in .* cannot be True"),
        ("[good]\nskip = true", "holds no table that can be played"),
        ("[good]\nlabel = 'nothing'", r"holds no table that can be played \(good.csv is left out: .*no column"),
    ],
)
def test_a_wrong_file_of_settings_is_one_sentence(folder, settings, sentence):
    (folder / "good.csv").write_text(csv("a,b,kind"))
    (folder / "tables.toml").write_text(settings)
    with pytest.raises(UsageError, match=sentence):
        tables_in(str(folder))


def test_a_folder_that_is_not_there_or_empty_is_one_sentence(folder):
    with pytest.raises(UsageError, match=r"tables end in \.arff, \.csv"):
        tables_in(str(folder))
    with pytest.raises(UsageError, match="there is no folder nowhere of tables"):
        tables_in("nowhere")
    with pytest.raises(MissingDataError, match="name yours with --data-dir, or get tables with `showdown data fetch"):
        tables_in("tables")


def test_settings_change_what_is_played(folder):
    (folder / "paid.csv").write_text(csv("a,pay_1,pay_2", [(p % 7, p % 2, 1 - p % 2) for p in range(60)]))
    (folder / "short.csv").write_text(csv("a,b,kind"))
    (folder / "tables.toml").write_text("[paid]\nrewards = 'pay_*'\n[short]\nlabel = 2\nhorizon = 20\n")
    paid, short = map(problems.get, tables_in(str(folder)))
    assert paid.bandit_table().actions == ("pay_1", "pay_2")
    assert (short.horizon, short.label) == (20, "2")


def test_a_suite_plays_a_folder_under_short_names(folder, monkeypatch):
    for name in ("customers", "flowers"):
        (folder / f"{name}.csv").write_text(csv("a,b,kind", ROWS if name == "flowers" else ROWS[10:]))
    (folder / "mushroom.csv").write_text(csv("a,b,kind", ROWS[5:]))  # a problem of the project has this name
    suite = Suite(name="mine", policies=("Uniform",), problems=("linear",), tables=str(folder), trials=2)
    names = [item.cell.problem_name for item in plan(suite, Store(folder / "results"))]
    assert names == ["linear", "customers", "flowers", "mushroom:kind"]
    path = folder / "mine.toml"
    path.write_text(f'policies = ["Uniform"]\ntables = "{folder}"\ntables_only = ["flowers", "missing"]\n')
    with pytest.raises(MissingDataError, match="holds no table missing"):
        plan(load_suite(str(path)), Store(folder / "results"))
    path.write_text(f'policies = ["Uniform"]\ntables = "{folder}"\ntables_only = ["flowers"]\n')
    (item,) = plan(load_suite(str(path)), Store(folder / "results"))
    assert item.cell.problem == table(folder / "flowers.csv", label="kind")


def test_run_tables_plays_a_folder_and_its_cells_are_those_of_the_file(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    (folder / "flowers.csv").write_text(csv("a,b,kind"))
    options = ["run", "tables", "--policies", "Uniform", "--trials", "2", "--json"]
    answer = CliRunner().invoke(app, [*options, "--data-dir", str(folder)], catch_exceptions=False)
    (cell,) = json.loads(answer.stdout)["cells"]
    assert (cell["policy"], cell["problem"], cell["status"]) == ("Uniform", "flowers", "done")
    again = ["run", "--problems", f"table[path={folder}/flowers.csv,label=kind]", *options[2:]]
    (same,) = json.loads(CliRunner().invoke(app, again, catch_exceptions=False).stdout)["cells"]
    assert not same["new"]


def test_tables_of_a_suite_can_be_chosen_by_name_beside_problems(folder):
    for name in ("customers", "flowers"):
        (folder / f"{name}.csv").write_text(csv("a,b,kind", ROWS if name == "flowers" else ROWS[10:]))
    suite = Suite(name="mine", policies=("Uniform",), problems=("linear",), tables=str(folder), trials=2)

    def played(*names):
        return [item.cell.problem_name for item in plan(changed(suite, {"problems": names}), Store(folder / "results"))]

    assert played("flowers", "wheel-0.9") == ["wheel-0.9", "flowers"]
    assert played("wheel-0.9") == ["wheel-0.9"]
    with pytest.raises(MissingDataError, match="holds no table flower; did you mean 'flowers'"):
        played("flower")


def test_the_catalogue_has_about_twenty_tables_of_one_package():
    files = CATALOGUE["tables"].files
    assert 20 < len({file.sha256 for file in files}) == len({file.name for file in files}) == len(files)
    assert {file.mirrors for file in files} == {(known_tables.PACKAGE,)}  # which is so downloaded once


@pytest.mark.parametrize("name", ["chess", "magic", "ring", "satimage", "spambase", "splice"])
def test_known_tables_are_those_in_the_shared_folder(name):
    path = REAL / f"{name}.dat.gz"
    if not path.exists():
        pytest.skip("the shared data is not here")
    content = gzip.decompress(path.read_bytes())
    expected = {file: digest for file, digest, _ in known_tables.FILES}[f"{name}.dat"]
    assert hashlib.sha256(content).hexdigest() == expected
