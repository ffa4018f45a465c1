"""A small table in every format: what is in it, what is marked, what is escaped."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import pandas as pd
import pytest

from showdown.analysis import SUMMARY
from showdown.analysis.build_table import build_table
from showdown.analysis.notes import RankedOver
from showdown.analysis.published import RANKED_PROBLEMS, judged
from showdown.analysis.selection import select
from showdown.analysis.table import Table, TableRequest
from showdown.basics.errors import UsageError
from showdown.metrics import BEST_FIXED, METRICS
from showdown.report.formats import FORMATS, latex, load, markdown, text
from showdown.report.formats import csv as csv_format
from showdown.report.formats import json as json_format
from showdown.report.grid import footer_lines, grid, records

NASTY = r"a_b|c&d%<e>\f*[g=1]"


def summary_row(policy, problem, mean, sem=0.5, unit="% of Uniform") -> dict:
    row = (policy, problem, 100, 0, "cumulative", unit, mean, sem, 4)
    return dict(zip(SUMMARY, row, strict=True))


@pytest.fixture
def table() -> Table:
    rows = pd.DataFrame(
        [
            summary_row("A", "x", 3.0),
            summary_row("B", "x", 1.25, math.nan),
            summary_row(NASTY, "x", 2.0),
            summary_row("B", "y", 7.0),
            summary_row(NASTY, "y", 7.0),
        ]
    )
    failed = {
        "policy": "A",
        "problem": "y",
        "horizon": 100,
        "seed": 0,
        "trials": 4,
        "status": "timeout",
        "reason": "slow",
    }
    best = {"x": ("B",), "y": ("B", NASTY)}
    return Table(
        "a title, % of Uniform", rows, ["B", "A", NASTY], ["y", "x"], [RankedOver(("x",))], [failed], best=best
    )


@pytest.fixture
def compared(table) -> Table:
    paper = table.rows.assign(paper_mean=[3.1, 9.9, math.nan, 7.0, 8.0], paper_sem=0.1)
    paper["agrees"] = pd.Series([True, False, None, True, None], dtype=object)  # the last is of other steps
    paper = judged(paper)
    return Table(table.title, paper, table.policies, table.problems, best=table.best)


def test_the_grid_marks_all_that_tie_for_the_best(table):
    content = grid(table)
    assert content.headings == ["y", "x"]
    best = {
        (policy, problem) for policy, cells in content.body for problem, e in zip("yx", cells, strict=True) if e.best
    }
    assert best == {("B", "x"), ("B", "y"), (NASTY, "y")}
    written = {policy: [entry.ours for entry in cells] for policy, cells in content.body}
    assert written == {"B": ["7.00 ± 0.50", "1.25"], "A": ["", "3.00 ± 0.50"], NASTY: ["7.00 ± 0.50", "2.00 ± 0.50"]}


def test_a_wide_table_is_set_smaller_in_latex():
    def written(columns: int) -> str:
        names = [f"p{number}" for number in range(columns)]
        rows = pd.DataFrame([summary_row("A", name, 1.0) for name in names])
        return latex.write(Table("a title", rows, ["A"], names))

    assert "footnotesize" not in written(5)
    assert "footnotesize" in written(6)


def test_units_are_in_the_headings_where_they_differ(table):
    rows = table.rows.assign(unit=["% of RMS" if problem == "x" else "seconds" for problem in table.rows["problem"]])
    content = grid(Table("time", rows, table.policies, table.problems, metric=METRICS["time"]))
    assert content.headings == ["y (seconds)", "x (% of RMS)"]
    assert content.body[0][1][0].ours == "7.000 ± 0.500"


def test_text_is_aligned_and_says_everything(table):
    lines = text.write(table).splitlines()
    assert lines[0] == table.title
    heading, rule, *body = lines[2:7]
    assert heading.split() == ["policy", "y", "x"]
    assert set(rule) == {"─"}
    ends = {line.rstrip("* ").rfind("0") for line in body if line.split()[0] != "B"}
    assert len(ends) == 1
    assert lines[7] == "* best, or cannot be told from the best"
    assert lines[8:] == ["mean rank over x", "not shown: A on y (horizon 100, 4 trials, seed 0): timeout, slow"]


def test_text_goes_on_in_a_second_block_when_it_is_too_wide(table):
    narrow = text.write(table, width=45)
    assert narrow.count("policy") == 2
    assert max(map(len, narrow.splitlines()[:-1])) <= 45
    assert text.write(table, width=10).count("policy") == 2  # one column at least
    assert text.write(table, width=200) == text.write(table)


def test_text_beside_the_paper(compared):
    lines = text.write(compared).splitlines()
    assert lines[2].split() == ["policy", "y", "paper", "x", "paper"]
    assert re.split(r"\s{2,}", lines[4].strip()) == ["B", "7.00 ± 0.50* 7.00 ± 0.10 ✓", "1.25* 9.90 ± 0.10 ✗"]
    assert "8.00 ± 0.10 ≠" in lines[6]  # another number of steps: marked, and not counted
    assert lines[-1] == "agreement: 2 of 3 cells"


def test_markdown_has_as_many_cells_in_every_line_and_escapes_names(table, compared):
    for one, width in ((table, 3), (compared, 5)):
        lines = [line for line in markdown.write(one).splitlines() if line.startswith("|")]
        cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
        assert {len(line) for line in cells} == {width}
        assert len(lines) == 2 + 3
        assert cells[2][0].strip() == "B"
        assert cells[-1][0].strip() == r"a\_b\|c&amp;d%&lt;e>\\f\*\[g=1\]"
    assert "**7.00 ± 0.50** | 7.00 ± 0.10 ✓" in markdown.write(compared)
    assert markdown.write(compared).endswith("agreement: 2 of 3 cells")


def test_latex_is_booktabs_with_the_best_in_bold(table, compared):
    for one, columns in ((table, 2), (compared, 4)):
        lines = latex.write(one).splitlines()
        assert [line for line in lines if line.endswith("rule")] == [r"\toprule", r"\midrule", r"\bottomrule"]
        assert rf"\begin{{tabular}}{{l{'r' * columns}}}" in lines
        rows = [line for line in lines if line.endswith(r"\\")]
        assert len(rows) == 1 + 3
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {columns}
        name = r"a\_b\textbar{}c\&d\%\textless{}e\textgreater{}\textbackslash{}f*{[}g=1]"
        assert rows[-1].startswith(name + " & ")
        assert r"\caption{a title, \% of Uniform. Bold: best, or cannot be told from the best.}" in lines
    assert rows[1] == (
        r"B & $\mathbf{7.00 \pm 0.50}$ & $7.00 \pm 0.10 \checkmark$ & $\mathbf{1.25}$ & $9.90 \pm 0.10 \times$ \\"
    )
    assert latex.write(table).splitlines()[-2:] == [
        "% mean rank over x",
        "% not shown: A on y (horizon 100, 4 trials, seed 0): timeout, slow",
    ]


def test_csv_and_json_hold_the_same_tidy_rows(compared):
    value = json_format.value(compared)
    assert value["agreement"] == {"agree": 2, "noisy": 0, "compared": 3}
    rows = value["rows"]
    assert rows == records(compared)
    assert [(row["policy"], row["problem"]) for row in rows] == [
        ("B", "y"),
        ("B", "x"),
        ("A", "x"),
        (NASTY, "y"),
        (NASTY, "x"),
    ]
    assert rows[1]["sem"] is None
    assert [row["agrees"] for row in rows] == [True, False, True, None, None]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    read = list(csv.DictReader(io.StringIO(csv_format.write(compared))))
    assert [row["policy"] for row in read] == [row["policy"] for row in rows]
    assert [row["mean"] for row in read] == [str(row["mean"]) for row in rows]
    assert [row["agrees"] for row in read] == ["True", "False", "True", "", ""]
    assert list(read[0]) == [*SUMMARY, "paper_mean", "paper_sem", "agrees", "z", "finding", "best"]
    assert [row["best"] for row in rows] == [True, True, False, True, False]


def test_without_the_paper_there_is_no_agreement(table):
    assert "agreement" not in json_format.value(table)
    assert json_format.value(table)["not_shown"][0]["status"] == "timeout"
    assert set(json_format.value(table)["rows"][0]) == {*SUMMARY, "best"}


@pytest.fixture
def frame(frame_of) -> pd.DataFrame:
    wheel = {"LinPost": [2, 4], "LinFullPost": [1, 3], "Uniform": [190, 210], "New": [9, 11]}
    cells = {(policy, "wheel-0.5"): regrets for policy, regrets in wheel.items()}
    return frame_of({**cells, ("LinPost", "linear"): [5, 5], ("Uniform", "linear"): [10, 10]}, horizon=20_000)


def test_leaving_out_rows_and_columns_changes_no_number(frame):
    everything = build_table(select(frame), TableRequest(rank=True, source="paper"))
    few = build_table(
        select(frame), TableRequest(rank=True, source="paper", policies=["LinPost", "New"], problems=["wheel-0.5"])
    )
    full = {(row["policy"], row["problem"]): row for row in records(everything)}
    assert [(row["policy"], row["problem"]) for row in records(few)] == [
        ("LinPost", "mean_rank"),
        ("LinPost", "wheel-0.5"),
        ("New", "mean_rank"),
        ("New", "wheel-0.5"),
    ]
    assert all(
        {**row, "best": None} == {**full[row["policy"], row["problem"]], "best": None} for row in records(few)
    )  # which is the best is said of what is shown


def test_rank_rows(frame):
    rows = {
        row["policy"]: row
        for row in records(build_table(select(frame), TableRequest(rank=True, source="paper")))
        if row["metric"] == "mean_rank"
    }
    # ours among the three that are published, to compare with theirs; New as if it alone joined them
    assert {policy: row["mean"] for policy, row in rows.items()} == {
        "LinFullPost": 1,
        "LinPost": 2,
        "New": 3,
        "Uniform": 3,
    }
    # published on the wheel at 0.5: LinPost 1.10, LinFullPost 1.63, Uniform 100
    assert {policy: row["paper_mean"] for policy, row in rows.items()} == {
        "LinFullPost": 2,
        "LinPost": 1,
        "New": None,
        "Uniform": 3,
    }
    assert all(row["agrees"] is None and row["trials"] is None for row in rows.values())


def test_a_problem_without_published_cells_ranks_nobody(frame_of):
    """Nothing is published on the wheel for linear models, and New would be first of one there."""
    cells = {(policy, "statlog"): [regret] * 2 for policy, regret in (("LinPost", 1), ("Uniform", 9), ("New", 5))}
    frame = frame_of({**cells, ("New", "wheel-0.5"): [1, 1], ("Uniform", "wheel-0.5"): [2, 2]}, horizon=43_500)
    table = build_table(select(frame), TableRequest(rank=True, source="paper-linear"))
    ranks = {row["policy"]: row["mean"] for row in records(table) if row["metric"] == "mean_rank"}
    assert ranks == {"LinPost": 1, "New": 2, "Uniform": 2}
    assert "mean rank over statlog among published cells" in map(str, table.notes)


def test_ranks_beside_the_paper_need_one_of_its_ten_problems(frame):
    only = select(frame[frame["problem"] == "linear"])
    with pytest.raises(UsageError, match=RANKED_PROBLEMS[0]):
        build_table(only, TableRequest(rank=True, source="paper"))
    assert next(str(note) for note in build_table(only, TableRequest(rank=True)).notes) == "mean rank over linear"


def test_ranks_are_over_the_problems_shown(frame):
    def ranks(problems) -> dict[str, float]:
        table = build_table(select(frame), TableRequest(rank=True, problems=problems))
        return {row["policy"]: row["mean"] for row in records(table) if row["metric"] == "mean_rank"}

    assert ranks(["wheel-0.5"]) == {"LinFullPost": 1, "LinPost": 2, "New": 3}  # Uniform is no method
    assert ranks(["linear"]) == {"LinPost": 1, "Uniform": 2}
    # on both problems there is one method: ranks are over the larger set of cells that can be compared
    assert ranks(None) == ranks(["wheel-0.5"])


def test_order_of_rows_known_asked_or_sorted(frame):
    def policies(**changes) -> list[str]:
        return build_table(select(frame), TableRequest(known_policies=["Uniform", "LinPost"], **changes)).policies

    assert policies() == ["Uniform", "LinPost", "LinFullPost", "New"]
    assert policies(policies=["New", "LinPost"]) == ["New", "LinPost"]
    assert policies(sort="wheel-0.5") == ["LinFullPost", "LinPost", "New", "Uniform"]
    assert policies(sort="linear") == ["LinPost", "Uniform", "LinFullPost", "New"]
    assert policies(sort="rank", rank=True) == ["LinFullPost", "LinPost", "New", "Uniform"]
    with pytest.raises(UsageError, match="sort by 'adult'"):
        policies(sort="adult")


def test_the_linear_tables_are_compared_in_absolute_numbers(frame_of):
    frame = frame_of({("LinFullPost", "statlog"): [1900, 1950]}, horizon=43_500)  # and no Uniform is needed
    (row,) = records(build_table(select(frame), TableRequest(source="paper-linear")))
    assert (row["mean"], row["unit"]) == (1925, "regret")
    assert row["paper_mean"] is not None


def test_times_in_seconds_are_not_held_against_the_paper(frame_of):
    cells = {("RMS", "statlog"): [0], ("BBB", "statlog"): [0], ("BBB", "adult"): [0]}
    table = build_table(
        select(frame_of(cells, seconds={"RMS": 2.0, "BBB": 6.0}, horizon=43_500)),
        TableRequest(metric="time", source="paper"),
    )
    rows = {(row["policy"], row["problem"]): row for row in records(table)}
    assert rows["BBB", "statlog"]["mean"] == pytest.approx(300)
    assert rows["BBB", "statlog"]["agrees"] is True  # the paper's is 326
    assert rows["BBB", "adult"]["unit"] == "seconds"
    assert rows["BBB", "adult"]["paper_mean"] is None
    assert rows["BBB", "adult"]["agrees"] is None


def test_notes_say_what_was_left_out_and_what_is_not_as_in_the_paper(frame, frame_of):
    more = frame_of({("Uniform", "wheel-0.5"): [1], ("LinPost", "wheel-0.5"): [1]}, horizon=500)
    both = pd.concat([frame, more], ignore_index=True)
    assert str(build_table(select(both), TableRequest(source="paper")).notes[0]) == (
        "left out: 2 cells with horizon 500 on wheel-0.5 "
        "(the longest horizon is shown; `showdown table --horizon` chooses)"
    )
    short = build_table(select(both, horizon=500), TableRequest(source="paper"))
    assert str(short.notes[0]) == (
        "not compared with the paper (≠), which played another number of steps: wheel-0.5 (500, not 20000)"
    )
    assert short.agreement["agreement"] == {"agree": 0, "noisy": 0, "compared": 0}
    assert " ≠" in text.write(short)


def test_each_line_below_a_table_has_the_kind_that_colours_it(frame, frame_of):
    """Whatever its words are: a caution is a caution, and the verdict and the count of agreement are not."""
    more = frame_of({("LinPost", "digits"): [1, 2], ("LinGreedy", "digits"): [2, 4]})  # without Uniform
    table = build_table(select(pd.concat([frame, more], ignore_index=True)), TableRequest(source="paper", rank=True))
    table.not_shown.append(
        {"policy": "A", "problem": "x", "horizon": 9, "trials": 1, "seed": 0, "status": "failed", "reason": ""}
    )
    kinds = {line.text.split()[0]: line.kind for line in footer_lines(table)}
    assert table.verdict is not None
    assert kinds == {
        "On": "note",
        "Worst": "note",
        "fewer": "caution",
        "no": "caution",
        "ranked": "caution",
        "mean": "note",
        "not": "caution",
        "agreement:": "note",
    }
    written = text.parts(table, width=40)
    assert [part.kind for part in written] == ["table", *(line.kind for line in footer_lines(table))]
    assert "\n".join(part.text for part in written) == text.write(table, width=40)


@pytest.fixture
def rewards(frame_of) -> Table:
    """Rewards are 1000 minus these: B is best on x, A on y, and on y nobody reaches the best fixed action."""
    cells = {("A", "x"): [70, 80], ("B", "x"): [10, 20], ("A", "y"): [200, 202], ("B", "y"): [300, 302]}
    return build_table(select(frame_of(cells)), TableRequest(metric="reward", rank=True))


def test_the_largest_reward_is_best_in_every_format(rewards):
    assert rewards.title == "mean reward, mean ± standard error over 2 trials"
    best = {(policy, number) for policy, cells in grid(rewards).body for number, e in enumerate(cells) if e.best}
    assert best == {("B", 1), ("A", 2)}  # two problems say nothing about mean ranks, so none is marked
    lines = {line.split()[0]: line for line in text.write(rewards).splitlines() if line[:2] in ("A ", "B ", "al")}
    assert re.split(r"\s{2,}", lines["B"].strip()) == ["B", "1.5", "985.0000 ± 5.0000*", "699.0000 ± 1.0000"]
    assert "*" not in lines["always"]  # though it beats both on y
    assert "| B | 1.5 | **985.0000 ± 5.0000** | 699.0000 ± 1.0000 |" in markdown.write(rewards)
    assert r"A & $1.5$ & $925.0000 \pm 5.0000$ & $\mathbf{799.0000 \pm 1.0000}$ \\" in latex.write(rewards)


def test_rewards_are_sorted_from_the_largest(frame_of):
    frame = frame_of({("A", "x"): [70], ("B", "x"): [10], ("C", "x"): [40]})
    for sort in ("x", "rank"):
        request = TableRequest(metric="reward", sort=sort, rank=True)
        assert build_table(select(frame), request).policies == ["B", "C", "A"]


def test_the_best_fixed_action_stands_last_in_every_format(rewards):
    name, cells = grid(rewards).body[-1]
    assert (name, [entry.ours for entry in cells]) == (BEST_FIXED, ["", "900.5000 ± 0.5000", "900.5000 ± 0.5000"])
    value = json_format.value(rewards)
    assert [(row["policy"], row["problem"], row["mean"]) for row in value["reference"]] == [
        (BEST_FIXED, "x", 900.5),
        (BEST_FIXED, "y", 900.5),
    ]
    assert BEST_FIXED not in {row["policy"] for row in value["rows"]}
    assert set(value["reference"][0]) == set(value["rows"][0])
    read = list(csv.DictReader(io.StringIO(csv_format.write(rewards))))
    assert [row["policy"] for row in read[-2:]] == [BEST_FIXED] * 2
    assert f"| {BEST_FIXED} | – | 900.5000 ± 0.5000 |" in markdown.write(rewards)
    assert rf"{BEST_FIXED} & -- & $900.5000 \pm 0.5000$" in latex.write(rewards)


def test_a_regret_has_no_reference(frame):
    assert "reference" not in json_format.value(build_table(select(frame), TableRequest()))


def test_a_format_is_a_file():
    assert set(FORMATS) == {"text", "markdown", "latex", "csv", "json", "html"}
    assert all(callable(load(name).write) for name in FORMATS)
