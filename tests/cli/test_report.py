"""`showdown report` and `showdown figure` as a user calls them."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.fixture
def results(stored, tmp_path):
    finished = {
        (policy, problem): [level, level + 2]
        for policy, level in (("Uniform", 100.0), ("LinPost", 10.0), ("LinGreedy", 30.0))
        for problem in ("wheel-0.5", "wheel-0.9")
    }
    return stored(tmp_path / "results", finished, {("BBB", "wheel-0.5"): ("timeout", "too slow")})


def test_report_writes_a_page_and_prints_its_path(showdown, results):
    answer = showdown("report")  # ./results, as `showdown run` writes it
    assert (answer.code, answer.out, answer.err) == (0, "report.html\n", "")
    text = (results.parent / "report.html").read_text()
    assert text.startswith("<!doctype html>")
    assert "showdown report results --out report.html" in text
    answer = showdown("report", "results", "--out", "deep/page.html", "--title", "My <title>")
    assert answer.out == "deep/page.html\n"
    assert "<title>My &lt;title&gt; · showdown</title>" in (results.parent / "deep" / "page.html").read_text()


def test_broken_files_are_named_and_the_page_is_written(showdown, results):
    (results / "cells" / "half.json").write_text('{"format": 1')
    answer = showdown("report", "results")
    assert answer.code == 0
    assert answer.err.count("half.json") == 1
    assert (results.parent / "report.html").is_file()


def test_open(showdown, results, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    assert showdown("report", "--open").code == 0
    assert opened == [(results.parent / "report.html").as_uri()]
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    assert "open report.html yourself" in showdown("report", "--open").err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["report", "nowhere"], "there is no folder nowhere"),
        (["report", "empty"], "empty holds no cell to report"),
        (["report", "results", "--out", "page.pdf"], "a page is written to a .html file, not to 'page.pdf'"),
        (["figure"], "say which figure to draw: posterior-feedback"),
        (["figure", "whel"], "no figure is called 'whel'; did you mean 'wheel'?"),
        (["figure", "wheel", "--out", "wheel.gif"], ".png, .svg or .pdf file, not to 'wheel.gif'"),
        (["figure", "wheel", "--problem", "x"], "--problem means nothing to the figure wheel, only to regret"),
        (["figure", "regret", "--published"], "--published means nothing to the figure regret, only to ranks"),
        (["figure", "regret"], "say which problem to draw with --problem; there are"),
        (["figure", "regret", "--problem", "wheel-0.5", "--policies", "LinPots"], "did you mean 'LinPost'"),
        (["figure", "regret", "--problem", "song"], "no cell of the problem 'song'"),
        (["figure", "ranks", "empty"], "empty holds no finished cell to draw"),
    ],
)
def test_a_wrong_request_is_one_sentence(showdown, results, arguments, told):
    (results.parent / "empty").mkdir()
    answer = showdown(*arguments)
    assert answer.code == 2
    assert told in answer.err
    assert len(answer.err.splitlines()) == 1
    assert answer.out == ""


def test_figures_are_listed(showdown):
    answer = showdown("figure", "--list")
    names = [line.split()[0] for line in answer.out.splitlines()]
    paper = ["posterior-feedback", "posterior-approximations", "wheel", "bbb-linear", "ranks", "qualitative"]
    assert names[: len(paper)] == paper
    assert "regret" in names[len(paper) :]


@pytest.mark.parametrize(
    "arguments",
    [
        ["regret", "--problem", "wheel-0.5", "--policies", "Lin*"],
        ["ranks"],
        ["ranks", "--published", "--policies", "BBB*,Lin*"],
        ["wheel"],
    ],
)
def test_a_figure_is_drawn_and_its_path_printed(showdown, results, arguments):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    name = arguments[0]
    answer = showdown("figure", *arguments)
    assert (answer.code, answer.out, answer.err) == (0, f"{name}.png\n", "")
    assert (results.parent / f"{name}.png").stat().st_size > 5_000


def test_a_figure_goes_where_it_is_told(showdown, results):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    assert showdown("figure", "ranks", "--out", "drawn/it.svg").out == "drawn/it.svg\n"
    assert "<svg" in (results.parent / "drawn" / "it.svg").read_text()[:500]


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from showdown.cli import main; "
        "print([name for name in ('jax', 'pandas', 'matplotlib', 'numpy') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
