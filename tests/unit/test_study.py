"""The study's page: counts of who is ahead, its tables as the stored cells have them, and the page as a PDF."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from showdown.analysis.wins import ERRORS, wins
from showdown.basics.errors import UsageError

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def docs(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    for name in ("write_study", "study_counts", "study_pdf", "council_tables"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def test_wins_are_paired_differences_of_so_many_standard_errors():
    generator = np.random.default_rng(0)
    rows, expected = [], {"better": [], "worse": [], "open": []}
    for number in range(12):
        luck = generator.normal(100, 20, 20)  # the same for both: only the paired difference can show anything
        other = luck + generator.normal(0, 1, 20)
        one = luck + generator.normal(0.3 * (number - 6), 1, 20)
        z = (one - other).mean() / stats.sem(one - other)
        kind = "open" if abs(z) <= ERRORS else "better" if z < 0 else "worse"
        expected[kind].append(f"p{number}")
        for name, values in (("one", one), ("other", other)):
            rows += [
                {"policy": name, "problem": f"p{number}", "trial": trial, "cumulative": value, "reward": -value}
                for trial, value in enumerate(values)
            ]
    frame = pd.DataFrame(rows)
    assert all(expected.values())  # or nothing would be shown
    assert wins(frame, "one", "other")._asdict() == {kind: tuple(names) for kind, names in expected.items()}
    assert wins(frame, "one", "other", "reward") == wins(frame, "one", "other")  # less regret is more reward
    assert wins(frame, "one", lambda problem: "one" if problem == "p0" else "other").better == tuple(
        expected["better"][1:]
    )
    assert wins(frame, "one", "nobody") == ((), (), ())
    assert wins(frame[frame["trial"] == 0], "one", "other").better == ()
    with pytest.raises(UsageError, match="one number per cell"):
        wins(frame, "one", "other", "time")


def test_the_page_says_what_the_stored_cells_say(docs):
    import write_study

    for path, name in (
        (write_study.STUDY, "published"),
        (write_study.STUDY, "tables"),
        (write_study.COUNCIL, "unseen"),
    ):
        block = "\n".join(write_study.PAGES[path][name]())
        text = path.read_text(encoding="utf-8")
        assert f"<!-- begin {name} -->\n\n{block}\n\n<!-- end {name} -->" in text, "make study"


def test_a_page_without_a_place_for_a_table_is_refused(docs):
    import write_study

    with pytest.raises(SystemExit, match="has no place for counts"):
        write_study.page(write_study.STUDY, "# The study")


def test_a_page_becomes_a_pdf(docs, tmp_path):
    import study_pdf

    rows = "\n".join(f"| policy {number} | {number / 7:.2f} [0.1, 0.2] |" for number in range(90))
    (tmp_path / "page.md").write_text(
        f"# A title\n\nWords with **bold**, `code` and [a link](other.md).\n\n<!-- a comment -->\n\n"
        f"- one\n- two\n\n```\nmake study\n```\n\n| a | b |\n|---|---|\n{rows}\n\n![picture](p.png)\n"
    )
    from matplotlib.image import imsave

    imsave(tmp_path / "p.png", np.zeros((20, 60, 3)))
    assert study_pdf.write_pdf(tmp_path / "page.md", tmp_path / "page.pdf") == 2  # ninety rows need a second page
    first = (tmp_path / "page.pdf").read_bytes()
    assert first.startswith(b"%PDF")
    study_pdf.write_pdf(tmp_path / "page.md", tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes() == first  # no date in it
    assert study_pdf.plain("**a** `b` [c](d) *e* 2 * 3 * 4") == "a b c e 2 * 3 * 4"
