"""run, list and show, as a user types them."""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from showdown.basics.errors import MissingDataError
from showdown.cli import console
from showdown.cli.run_output import Board
from showdown.policies import policies
from showdown.problems import problems

TINY = ("--policies", "Uniform,LinPost", "--problems", "wheel-0.5", "--trials", "2", "--horizon", "30")


def test_run_plays_keeps_and_then_has_nothing_to_do(showdown, tmp_path):
    first = showdown("run", *TINY)
    assert first.code == 0
    lines = first.out.splitlines()
    assert lines[0].startswith("2 done in results")
    assert [line.split()[0] for line in lines[5:7]] == ["LinPost", "Uniform"]  # the best first
    assert any(line.startswith("On wheel-0.5: LinPost has the lowest cumulative regret (") for line in lines)
    assert "not played to the end: wheel-0.5 (30 of 20,000 steps); more steps may change who is best" in lines
    assert lines[-3:] == [
        "in short: LinPost won on wheel-0.5",
        "as a page: showdown report results --open",
        "on a table of your own: showdown recommend FILE --label COLUMN",
    ]
    assert "compiling" not in first.err  # not a terminal: no bar
    again = showdown("run", *TINY)
    assert again.out.startswith("nothing to do: all 2 cells are already in results\n")
    assert again.out.splitlines()[1:] == lines[1:]
    one = showdown("run", *TINY, "--policies", "Uniform")
    assert one.out.startswith("nothing to do: the cell is already in results\n")
    assert (tmp_path / "results" / "cells").is_dir()


def test_a_problem_shorter_than_the_horizon_is_played_at_its_own_length(showdown):
    answer = showdown(
        "run", "--problems", "digits,wheel-0.5", "--policies", "Uniform", "--horizon", "5000", "--dry-run"
    )
    assert answer.code == 0
    assert answer.err == "digits has 1,797 rows: played for that many steps, not 5,000\n"
    assert "1797 steps" in answer.out
    assert "5000 steps" in answer.out


def test_a_skipped_cell_is_exit_1(showdown, monkeypatch):
    def missing(self):
        raise MissingDataError("covertype is not here")

    monkeypatch.setattr(type(problems.get("covertype")), "load", missing)
    answer = showdown("run", "--problems", "covertype", "--policies", "Uniform", "--trials", "2")
    assert answer.code == 1
    assert answer.out.startswith("1 skipped in results")


def test_a_pipe_hears_of_the_cell_and_its_phase(showdown, monkeypatch):
    monkeypatch.setattr("showdown.cli.console.PULSE_SECONDS", 0.01)
    said = showdown("run", *TINY, "--seed", "7").err
    assert "on wheel-0.5: compiling (" in said
    assert "% of all)" in said


def test_nothing_of_the_inside_leaks_into_messages(showdown):
    assert "list[" not in showdown("run", "--help").out
    told = showdown("list", "policie")
    assert told.code == 2
    assert (
        told.err
        == "showdown: showdown list shows policies, problems, suites, not 'policie'; did you mean 'policies'?\n"
    )


def test_lists_are_grouped_and_wrapped_at_words(showdown):
    lines = showdown("list", "policies").out.splitlines()
    assert max(map(len, lines)) <= 120
    assert lines[0] == "Uniform"
    assert "Neural linear, 2018" in lines
    assert "BBB, 2015" in lines
    assert lines.index("Linear, 2018") < lines.index("Greedy network, 2018")
    assert "From data" in showdown("list", "problems").out


def test_a_preset_that_differs_by_a_wrapper_alone_is_not_called_the_same(showdown):
    told = {row["name"]: row["summary"] for row in showdown("list", "policies", "--json").json}
    assert told["LinFullPost-Duel"] == "LinFullPost wrapped in Duel"
    assert told["EpsGreedyRMS"].endswith("Wrapped in EpsilonGreedy.")
    assert told["RMS2"] == "the same as RMS"


def test_tables_have_colours_on_a_terminal_only(capsys, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    parts = [
        ("policy  x\nA  1.00 ± 0.10*", "table"),
        ("not doubtful*", "note"),
        ("doubtful ✓\nin two", "caution"),
    ]
    plain = "policy  x\nA  1.00 ± 0.10*\nnot doubtful*\ndoubtful ✓\nin two\n"
    console.data_table(parts)
    assert capsys.readouterr().out == plain
    monkeypatch.setattr(console, "width", lambda: 80)
    console.data_table(parts)
    coloured = capsys.readouterr().out
    assert "\x1b[1;32m1.00 ± 0.10*" in coloured
    assert "\nnot doubtful*\n" in coloured  # by its kind, whatever it says
    assert coloured.splitlines()[3:] == ["\x1b[33mdoubtful ✓\x1b[0m", "\x1b[33min two\x1b[0m"]
    monkeypatch.setenv("NO_COLOR", "1")
    console.data_table(parts)
    assert capsys.readouterr().out == plain


def test_run_as_json(showdown):
    answer = showdown("run", *TINY, "--json")
    cells = answer.json["cells"]
    assert not any(any(cell["diagnostics"].values()) for cell in cells)  # these policies have nothing to tell
    assert [cell["status"] for cell in cells] == ["done", "done"]
    assert {cell["policy"] for cell in cells} == {"Uniform", "LinPost"}
    assert all(cell["new"] and cell["trials"] == 2 and cell["horizon"] == 30 for cell in cells)


def test_dry_run_plays_nothing(showdown, tmp_path):
    answer = showdown("run", "--dry-run")
    assert answer.code == 0
    assert "LinFullPost on wheel-0.9" in answer.out
    assert "0 already done; about" in answer.out
    assert not (tmp_path / "results").exists()
    showdown("run", *TINY)
    told = showdown("run", *TINY, "--dry-run")
    assert told.out.count("done   ") == 2
    assert "nothing to do" in told.out
    more = showdown("run", *TINY, "--seed", "1", "--dry-run", "--json").json
    assert more["measured_cells"] == 2
    assert more["estimated_seconds"] > 0
    assert [cell["done"] for cell in more["cells"]] == [False, False]


def test_failed_cell_is_exit_1_and_the_rest_is_kept(showdown):
    answer = showdown("run", *TINY, "--cell-seconds", "0")
    assert answer.code == 1
    assert answer.out.startswith("2 timeout in results")
    assert "LinPost on wheel-0.5: timeout: took longer" in answer.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run", "wheel-linaer"), "no suite is called 'wheel-linaer'; did you mean 'wheel-linear'?"),
        (("run", "--policies", "LinFulPost"), "did you mean 'LinFullPost'?"),
        (("run", "--problems", "wheel-0.55"), "did you mean 'wheel-0.5'?"),
        (("run", "--policies", "LinPost[noise=1]"), "LinPost has no field 'noise'; its fields are covariance"),
        (("run", "--policies", "LinPost[pulls=x]"), "pulls must be int, not 'x'"),
        (("run", "--problems", "wheel[delta=2]"), "delta must lie strictly between 0 and 1, not 2.0"),
        (("run", "--trials", "0"), "trials must be at least 1, not 0"),
        (("run", "--horizon", "-5"), "horizon must be at least 1, not -5"),
        (("run", *TINY, "--batch-trials", "0"), "batch_trials must be at least 1, not 0"),
        (("run", *TINY, "--cell-seconds", "-1"), "cell_seconds must not be negative"),
        (("run", "--policies", ","), "there is nothing to play: no policy was named"),
        (("run", "--problems", "wheel[horizon=0]"), "horizon must be at least 1, not 0"),
        (("run", "--problems", "wheel[horizon=99999999999]"), "horizon must be at most 2147483647 in size"),
        (("run", "--problems", "wheel-0.5,table[path=nope.csv,label=y]"), "nope.csv"),
        (("run", *TINY, "--out", "/proc/none"), "cannot write to /proc/none"),
        (("show", "whel"), "did you mean 'wheel'?"),
        (("run", "no/such.toml"), "there is no suite file no/such.toml"),
    ],
)
def test_wrong_requests_are_one_sentence_and_exit_2(showdown, arguments, sentence):
    answer = showdown(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert sentence in answer.err
    assert "Traceback" not in answer.err


def test_list_names_everything(showdown):
    assert {row["name"] for row in showdown("list", "policies", "--json").json} == set(policies.names())
    assert {row["name"] for row in showdown("list", "problems", "--json").json} == set(problems.names())
    suites = showdown("list", "suites").out
    assert "quick" in suites
    assert "wheel-linear" in suites
    assert "LinPost-MR" in showdown("list", "policies").out
    assert showdown("list", "nonsense").code == 2


@pytest.mark.parametrize("name", [*policies.names(), *problems.names()])
def test_show_explains_every_preset(showdown, name):
    about = showdown("show", name, "--json").json
    assert about["about"]
    assert all(field["comment"] for field in about["fields"])


def test_show_marks_what_a_preset_changes(showdown):
    text = showdown("show", "LinFullPost-MR").out
    assert "* prior_precision = 20.0" in text
    assert "(was 0.25)" in text
    assert "arxiv" in text
    assert "delta       = 0.8" in showdown("show", "wheel[delta=0.8]").out
    assert "trials: 50" in showdown("show", "wheel-linear").out


def test_show_says_which_member_a_field_is_of(showdown):
    text = showdown("show", "Council-fast").out
    assert re.search(r"  members\.0\.prior_precision = 0\.01 ", text)
    assert re.search(r"  members\.1\.prior_precision = 0\.05 ", text)
    assert "(was 0.01)" not in text  # which is the other member's
    assert "* hidden_layers " in text
    spelled = showdown("show", "Council-fast[members.1.prior_precision=0.2]").out  # as it is shown
    assert re.search(r"\* members\.1\.prior_precision = 0\.2 .*\(was 0\.05\)", spelled)


def test_list_counts_what_a_suite_plays(showdown):
    text = " ".join(showdown("list", "suites").out.split())
    assert "(5 policies × 3 problems × 10 trials, and digits where the data is available)" in text
    assert "× 10 to 50 trials)" in text


@pytest.mark.parametrize("command", ["fetch", "verify"])
def test_help_does_not_speak_python(showdown, command):
    text = showdown("data", command, "-h").out
    assert "list[" not in text
    assert "NAME}..." in text or "[NAME]..." in text


def test_help_is_quick_and_loads_no_jax():
    program = (
        "import sys; sys.argv = ['showdown', '--help']\n"
        "from showdown.cli.main import main\n"
        "try: main()\n"
        "finally: assert not {'jax', 'pandas', 'numpy'} & set(sys.modules)"
    )
    best = 9.0
    for _ in range(3):  # the machine may be busy: processor time counts, of the quickest of three
        before = processor_seconds()
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
        best = min(best, processor_seconds() - before)
    assert best < 0.5


def processor_seconds() -> float:
    """That child processes have used so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize(
    ("command", "at_work"),
    [
        (("run", *TINY), "showdown.bench.play_cell.simulate"),
        (("tune", "LinPost", "--on", "wheel-0.5"), "showdown.tuning.tune.tune"),
        (("study", "tuned", "--policies", "LinPost", "--tune-on", "wheel-0.5"), "showdown.tuning.tuned_study.study"),
    ],
    ids=["run", "tune", "study"],
)
def test_sigterm_is_143_and_says_what_is_kept(showdown, monkeypatch, command, at_work):
    for user in ("showdown.api.tune", "showdown.tuning.tuned_study"):
        import_module(user)  # imported during the test it would keep the stand-in, and end a later test's process
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(at_work, lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    answer = showdown(*command)
    assert answer.code == 143
    assert " kept in results, and the same command continues from there" in answer.err
    assert signal.getsignal(signal.SIGTERM) is before


def test_ctrl_c_is_130_and_says_what_is_kept(showdown, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("showdown.bench.play_cell.simulate", interrupt)
    answer = showdown("run", *TINY)
    assert answer.code == 130
    assert "every finished cell is kept" in answer.err


def test_the_board_fills_as_cells_finish():
    """The first line of a leaderboard came at the end of `make run`."""
    regrets = {"Uniform": 200.0, "LinPost": 50.0, "LinGreedy": 20.0, "RMS": None}
    store = SimpleNamespace(
        record=lambda cell: cell if regrets[cell] is not None else None,
        trials=lambda cell: pd.DataFrame({"cumulative": [regrets[cell]]}),
    )
    board = Board(store, 4)

    def said(name: str, status: str = "done") -> str:
        cell = SimpleNamespace(policy_name=name, problem_name="x", label=f"{name} on x", hash=name)
        return board.line(SimpleNamespace(cell=cell, status=status))

    assert said("Uniform") == "1/4 Uniform on x: regret 200, which counts as 100 %"
    assert said("LinPost") == "2/4 LinPost on x: 25.0 % of Uniform, place 1 of 1 so far"
    assert said("LinGreedy") == "3/4 LinGreedy on x: 10.0 % of Uniform, place 1 of 2 so far"
    assert said("RMS", "failed") == "4/4 RMS on x: failed"


def test_make_run_installs_only_what_it_uses():
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    assert "\nrun: $(RUN_STAMP)\n" in makefile
    recipe = makefile.split("\n$(RUN_STAMP):")[1].split("\n\n")[0]
    assert "[digits]" in recipe
    assert "[dev]" not in recipe
