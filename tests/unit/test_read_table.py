"""Reading a person's own file: every format, every common way to write a table as text, and files that are none."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from showdown.basics.errors import UsageError
from showdown.data import formats
from showdown.data.delimited import sniff
from showdown.data.read_table import read_table
from showdown.problems import table

ROWS = 40


@pytest.fixture
def frame() -> pd.DataFrame:
    generator = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "size": generator.normal(size=ROWS).round(4),
            "colour": generator.choice(["blue", "green", "red"], ROWS),
            "kind": generator.choice(["large", "small"], ROWS),
        }
    )


def test_every_format_gives_the_same_problem(frame, tmp_path):
    for name, separator in (
        ("comma.csv", ","),
        ("semicolon.csv", ";"),
        ("tab.tsv", "\t"),
        ("pipe", "|"),
        ("space", " "),
    ):
        frame.to_csv(tmp_path / name, index=False, sep=separator)
        frame.to_csv(tmp_path / f"bare-{name}", index=False, sep=separator, header=False)
    frame.to_csv(tmp_path / "decimal.csv", index=False, sep=";", decimal=",")
    frame.to_csv(tmp_path / "packed.csv.gz", index=False)
    frame.to_csv(tmp_path / "wide.csv", index=False, encoding="utf-16")
    frame.to_csv(tmp_path / "dos.csv", index=False, lineterminator="\r\n", encoding="utf-8-sig")
    frame.to_parquet(tmp_path / "table.parquet")
    frame.to_json(tmp_path / "lines.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "array.json", orient="records", indent=2)
    commented = f"# made by hand, on a Monday\n\n# with two remarks\n{(tmp_path / 'comma.csv').read_text()}"
    (tmp_path / "commented.csv").write_text(commented)
    (tmp_path / "savetxt.csv").write_text(f"# size,colour,kind\n{(tmp_path / 'bare-comma.csv').read_text()}")
    frame.set_axis([0, 1, "kind"], axis=1).to_csv(tmp_path / "numbered.csv", index=False)
    np.savez(tmp_path / "arrays.npz", **{name: np.array(frame[name].tolist()) for name in frame})
    records = frame.astype({"colour": object, "kind": object}).to_records(
        index=False, column_dtypes={"colour": "U5", "kind": "U5"}
    )
    np.save(tmp_path / "records.npy", np.asarray(records))
    rows = "\n".join(f"{size}, {colour}, '{kind}'" for size, colour, kind in frame.itertuples(index=False))
    (tmp_path / "table.arff").write_text(
        "% a comment\n@RELATION shapes\n\n@ATTRIBUTE size NUMERIC\n@ATTRIBUTE 'colour' {blue, green, red}\n"
        f"@attribute kind {{small,large}}\n@DATA\n% another\n{rows}\n"
    )
    (tmp_path / "keel.dat").write_text(
        "@relation shapes\n@attribute size real [-3.0, 3.0]\n@attribute colour{blue, green, red}\n"
        f"@attribute kind {{small, large}}\n@inputs size, colour\n@outputs kind\n@data\n{rows}\n"
    )
    digests = {path.name: table(path, label="-1").digest for path in tmp_path.iterdir()}
    assert len(digests) == 24
    assert set(digests.values()) == {table(frame, label="kind").digest}, digests


@pytest.mark.parametrize(
    ("text", "delimiter", "header", "names"),
    [
        ("a;b;c\n1;2;x\n3;4;y\n", "semicolon", True, ("a", "b", "c")),
        ("1;2;x\n3;4;y\n", "semicolon", False, ("column_0", "column_1", "column_2")),
        ("1,5;2,5\n1,0;3,5\n", "semicolon", False, ("column_0", "column_1")),
        ("p,x,s\ne,x,y\np,y,s\n", "comma", False, ("column_0", "column_1", "column_2")),
        ("name,town\nann,paris\nbob,rome\n", "comma", True, ("name", "town")),
        ("name,year\nann,?\nbob,2001\n", "comma", True, ("name", "year")),
        ('who,what\n"a, b",1\n"c, d",2\n', "comma", True, ("who", "what")),
        ("1,Toy Story,A|B\n2,Heat,A|C\n3,Casino,B|C\n", "comma", False, ("column_0", "column_1", "column_2")),
        ("x y\n 1   2\n 3   4\n", "space", True, ("x", "y")),
        ('"x" "y"\n"1" 5 u\n"2" 6 v\n', "space", True, ("column_0", "x", "y")),
        ("a,,a\n1,2,3\n4,5,6\n", "comma", True, ("a", "column_1", "a.1")),
        ("150 rows\n1,2,a\n3,4,b\n5,6,c\n", "comma", True, ("column_0", "column_1", "column_2")),
        ("word\nother\n", "comma", True, ("word",)),
        ("0,1,2,target\n5.1,3.5,1.4,0\n4.9,3.0,1.4,1\n", "comma", True, ("0", "1", "2", "target")),
        ("0,1,target\n5.1,3.5,a\n4.9,3.0,b\n4.7,3.2,a\n", "comma", True, ("0", "1", "target")),
        (",0,1,y\n0,5.1,3.5,1\n1,4.9,3.0,0\n", "comma", True, ("column_0", "0", "1", "y")),
        ("2019,2020,2021,y\n5,3,1,0\n4,3,1,1\n", "comma", True, ("2019", "2020", "2021", "y")),
        ("NA,1,2\n5,1,3\n4,0,4\n", "comma", False, ("column_0", "column_1", "column_2")),
        ("0,unknown\n5,1\n4,0\n", "comma", False, ("column_0", "column_1")),
        ("#N/A,1\n5,1\n4,0\n", "comma", False, ("column_0", "column_1")),
        ("?,p\n5,q\n4,p\n", "comma", False, ("column_0", "column_1")),  # a gap above numbers is no name
        ("#t,x,y\n0,2020-01-17,1\n0,2020-01-17,0\n", "comma", True, ("t", "x", "y")),
        ("#t,x,y\nNA,p,yes\n2,q,no\n3,p,yes\n", "comma", True, ("t", "x", "y")),
        ("$5|a\n$1,234.00|b\n", "pipe", False, ("column_0", "column_1")),
        ("31/01/2024,12%\n01/02/2024,13%\n", "comma", False, ("column_0", "column_1")),
        ("name,2020-01,2020-02\nann,3,4\nbob,5,6\n", "comma", True, ("name", "2020-01", "2020-02")),
        ("0,1,name,paid\n5,3,ann,$1\n4,3,bob,$2\n", "comma", True, ("0", "1", "name", "paid")),
        ("5,6,a\n5,3,a\n4,3,b\n", "comma", False, ("column_0", "column_1", "column_2")),
        ("0,1,a\n5,3,a\n4,3,b\n", "comma", False, ("column_0", "column_1", "column_2")),
        ("0,2,5\n5,3,1\n4,3,0\n", "comma", False, ("column_0", "column_1", "column_2")),
        ("# a remark\nx,y\n1,a\n2,b\n", "comma", True, ("x", "y")),
        ("# a remark, with a comma\nx,y\n1,a\n2,b\n", "comma", True, ("x", "y")),
        ("# remark\n# x;y\n1;2\n3;4\n", "semicolon", True, ("x", "y")),
        ("# 9 rows\n1,2\n3,4\n", "comma", False, ("column_0", "column_1")),
        ("#news,1\n#sport,2\nweather,3\n#news,4\n", "comma", False, ("column_0", "column_1")),
        ("#news,1\nsport,2\nweather,3\n", "comma", False, ("column_0", "column_1")),
    ],
)
def test_how_text_is_written_is_found_out(text, delimiter, header, names):
    dialect = sniff(text)
    assert (dialect.delimiter, dialect.header, dialect.names) == (delimiter, header, names)


def test_what_is_found_out_can_be_overruled(tmp_path):
    path = tmp_path / "years.csv"
    path.write_text("2019,2020\n1,2\n3,4\n")
    assert len(read_table(path).table) == 3
    assert list(read_table(path, header="yes").table.columns) == ["2019", "2020"]
    assert read_table(path, delimiter="tab").table.shape == (3, 1)
    with pytest.raises(UsageError, match="delimiter must be one of auto, comma"):
        read_table(path, delimiter=",")  # type: ignore[arg-type]


def test_missing_values_and_stray_spaces(tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("a,b,flag\n1, x ,True\n?,NA,\n ,y,False\n4,?  ,True\n")
    frame = read_table(path).table
    assert frame["a"].isna().tolist() == [False, True, True, False]
    assert frame["b"].dropna().tolist() == ["x", "y"]
    assert frame["flag"].dropna().tolist() == [True, False, True]


def test_a_first_line_that_does_not_fit_is_left_out_and_told(tmp_path):
    path = tmp_path / "remark.csv"
    path.write_text("a remark, with, more, commas, than, columns\n1,2,a\n3,4,b\n")
    frame = read_table(path)
    assert frame.table.shape == (2, 3)
    assert "first line left out" in frame.written


def test_comment_lines_are_skipped_and_said(tmp_path):
    path = tmp_path / "remarks.csv"
    path.write_text("# one\r\n#\r\n\r\n# a,b\r\n1,x\r\n3,y\r\n5,x\r\n")
    frame = read_table(path)
    assert list(frame.table.columns) == ["a", "b"]
    assert frame.table["a"].tolist() == [1, 3, 5]
    assert "with a header, 3 comment lines above it skipped" in frame.written
    assert table(path, label="# b").label == "# b"  # as it had to be called before
    assert read_table(path, header="no").table.shape == (3, 2)
    path.write_text("#news,1\nsport,2\nweather,3\n")
    assert "comment" not in read_table(path).written
    assert len(read_table(path).table) == 3


def test_json_with_gaps_and_nesting(tmp_path):
    path = tmp_path / "rows"
    path.write_text('{"a": 1, "who": {"age": 3, "town": " Delft "}}\n\n{"a": null, "who": {"age": 4}, "tags": [1]}\n')
    frame = read_table(path)
    assert frame.written == "JSON"
    assert list(frame.table.columns) == ["a", "who.age", "who.town", "tags"]
    assert frame.table["who.town"].tolist()[0] == "Delft"
    assert frame.table.isna().sum().tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1}\n{"a": 2\n', "cannot be read in line 2"),
        ('{"a": [1, 2], "b": [3, 4]}', "single JSON object and not rows"),
        ('{\n  "a": 1\n}\n', "single JSON object"),
        ("[[1, 2], [3, 4]]", "its row 1 is not an object"),
        ("[1, 2]\n[3, 4]\n", "its row 1 is not an object"),
        ("[]", "has no rows"),
        ("<!DOCTYPE html>\n<html><body>Sign in, please</body></html>", "web page"),
        ("\n<html>\n<table><tr><td>1</td></tr></table></html>", "web page"),
        ("<div>Sign in</div>\n", "web page"),
        ('<?xml version="1.0"?>\n<rows><row a="1"/></rows>', "XML file"),
    ],
)
def test_json_and_markup_that_are_no_table_say_why(tmp_path, text, why):
    path = tmp_path / "file.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=why):
        read_table(path)


def test_sparse_matrices(tmp_path):
    draw = np.random.default_rng(0)
    matrix = scipy.sparse.random(30, 4, 0.5, random_state=1, format="csr")
    labels = draw.choice(["a", "b"], 30)
    expected = table(matrix.toarray(), label=labels).digest
    for sparse in (matrix, matrix.tocoo(), scipy.sparse.csc_array(matrix)):
        assert table(sparse, label=labels).digest == expected
    assert table({"x": matrix, "y": labels}, label="y").digest == expected
    assert table(pd.DataFrame.sparse.from_spmatrix(matrix), label=labels).digest == expected
    rewards = draw.normal(size=(30, 2))
    assert table(matrix, rewards=scipy.sparse.coo_matrix(rewards)).digest == table(matrix, rewards=rewards).digest
    scipy.sparse.save_npz(tmp_path / "matrix.npz", matrix)
    np.testing.assert_array_equal(read_table(tmp_path / "matrix.npz").table.to_numpy(), matrix.toarray())
    with pytest.raises(UsageError, match=r"sparse matrix of 1,000,000 × 1,000,000 would take 7451 GiB"):
        table(scipy.sparse.csr_matrix((10**6, 10**6)), label=labels)


def test_text_that_stops_being_utf8_late_is_read(tmp_path):
    path = tmp_path / "late.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 80_000 + "2,café\n".encode("latin-1"))
    assert read_table(path).table["b"].iloc[-1] == "café"


def test_arff_missing_values_and_sets_of_numbers(tmp_path):
    path = tmp_path / "mixed.arff"
    path.write_text(
        "@relation r\n@attribute code {1,2,3}\n@attribute 'the size' integer\n@attribute y {'a b',c}\n"
        "@data\n1,?,'a b'\n2,<null>,c\n3,7,'a b'\n"
    )
    frame = read_table(path).table
    assert list(frame.columns) == ["code", "the size", "y"]
    assert isinstance(frame["code"].dtype, pd.CategoricalDtype)
    assert frame["the size"].isna().sum() == 2
    assert frame["y"].tolist() == ["a b", "c", "a b"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        (b" \n\n \n", "it is empty"),
        (b"a,b,c\n", "a header and no rows"),
        (bytes(range(256)) * 4, "binary file"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary file"),
        (b"PAR1 is not enough", "not a whole one"),
        (b"\x93NUMPY\x01\x00 and nothing", "cannot be read as a NumPy file"),
        (b"PK\x03\x04 and nothing", "cannot be read as a NumPy file"),
        (gzip.compress(b"a,b\n1,2\n" * 999)[:30], "not a whole gzip file"),
        (b"a,b\n1,2\n1,2,3\n", "not every row has its 2 fields; the first with more is in line 3"),
        (b'a,b\n1,"2\n3,4\n', "never closed"),
        (b"@relation r\n@attribute a real\n", "no @data line"),
        (b"@relation r\n@data\n1\n", "declares no @attribute"),
        (b"@relation r\n@attribute a\n@data\n1\n", "cannot be read: '@attribute a'"),
        (b"@relation r\n@attribute a real\n@data\n", "no rows after @data"),
        (b"@relation r\n@attribute a real\n@data\n{0 1}\n", "sparse"),
        (b"@relation r\n@attribute a real\n@data\nx\n", "declared real and holds 'x'"),
        (b"@relation r\n@attribute a real\n@data\n1,2\n", "not every row has its 1 fields"),
    ],
    ids=range(18),
)
def test_files_that_are_no_table_say_why(tmp_path, content, why):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=why) as caught:
        read_table(path)
    assert str(caught.value).startswith(f"{path} cannot be used: ")


def test_numpy_archives(tmp_path):
    np.savez(tmp_path / "both.npz", x=np.ones((3, 2)), y=np.arange(3))
    assert list(read_table(tmp_path / "both.npz").table.columns) == ["x_0", "x_1", "y"]
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}, None], dtype=object))
    with pytest.raises(UsageError, match="NumPy file"):
        read_table(tmp_path / "objects.npy")


def test_what_is_no_file(tmp_path):
    with pytest.raises(UsageError, match="there is no file"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(UsageError, match="is not a file"):
        read_table(tmp_path)


def test_a_new_file_is_a_new_format(tmp_path, monkeypatch):
    (tmp_path / "pairs.py").write_text(
        "import pandas as pd\n\nfrom showdown.data.formats import TextFormat\n\n"
        "FORMAT = TextFormat('pairs', lambda text: text.startswith('a='), lambda text: pd.DataFrame("
        "[dict(pair.split('=') for pair in line.split()) for line in text.splitlines()]).astype({'a': int}))\n"
    )
    (tmp_path / "rows").write_text("a=1 b=x\na=2 b=y\n")
    formats.formats.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
        frame = read_table(tmp_path / "rows")
    formats.formats.cache_clear()
    assert frame.written == "pairs"
    assert frame.table["a"].tolist() == [1, 2]


def test_the_first_filled_sheet_of_a_workbook_is_read(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "customers.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame().to_excel(book, sheet_name="notes", index=False)
        pd.DataFrame({"age": [31, 45], "bought": ["no", "yes"]}).to_excel(book, sheet_name="data", index=False)
    found = read_table(path)
    assert found.written == "Excel"
    assert found.table.to_dict("list") == {"age": [31, 45], "bought": ["no", "yes"]}


def test_a_workbook_without_its_library_says_what_to_install(tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    path = tmp_path / "customers.xlsx"
    pd.DataFrame({"age": [31, 45]}).to_excel(path, index=False)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UsageError, match=r"bandit-showdown\[excel\]"):
        read_table(path)


def test_a_damaged_workbook_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "old.xls"
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + b"x" * 600)
    with pytest.raises(UsageError, match="cannot be read"):
        read_table(path)
