"""The examples run, and the one-file policy of the documentation is the one that is tested."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from showdown.basics.errors import UsageError
from showdown.config.registry import load_file

ROOT = Path(__file__).parents[2]


def module(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_simulation_example(capsys):
    module("run_simulation").main(trials=2, horizon=50)
    assert capsys.readouterr().out.count("stuck trials") == 6


def test_agent_example_learns():
    assert module("run_agent").main() < 0.05


def test_a_table_becomes_a_service_that_survives_a_kill(capsys):
    example = module("from_table_to_service")
    # all rows, and trials as `recommend` plays them first: the benchmark needs no program of its own
    agent, benchmark = example.main(steps=500, trials=2, budget="30s", names=["LinFullPost", "Uniform"])
    assert abs(agent - benchmark) < 0.08  # 3 deviations of 500 decisions
    said = capsys.readouterr()
    assert "LinFullPost, 500 raw rows" in said.out
    back = int(re.search(r"killed; (\d+) decisions are back", said.err)[1])
    assert 250 <= back < 500


def test_a_policy_in_one_file(showdown):
    policy = str(ROOT / "examples" / "my_policy.py")
    tiny = ("--problems", "wheel-0.5", "--trials", "2", "--horizon", "30", "--json")
    answer = showdown("run", "--load", policy, "--policies", "Uniform,GaussianBandit[noise=2]", *tiny)
    assert [cell["status"] for cell in answer.json["cells"]] == ["done", "done"]
    assert "standard deviation of rewards" in showdown("show", "GaussianBandit", "--load", policy).out
    assert "GaussianBandit" in showdown("list", "policies", "--load", policy).out


def test_the_page_shows_that_same_policy():
    page = (ROOT / "docs" / "write-a-policy.md").read_text(encoding="utf-8")
    example = (ROOT / "examples" / "my_policy.py").read_text(encoding="utf-8")
    body = example[example.index("@config") : example.index("policies.add")]
    assert body in page


def test_files_that_cannot_be_loaded_are_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="there is no file"):
        load_file(tmp_path / "none.py")
    (tmp_path / "broken.py").write_text("import nonesuch_package")
    with pytest.raises(UsageError, match="cannot be loaded: ModuleNotFoundError"):
        load_file(tmp_path / "broken.py")
    (tmp_path / "data.csv").write_text("1,2")
    with pytest.raises(UsageError, match="not a Python file"):
        load_file(tmp_path / "data.csv")
