"""CONTRIBUTING.md is true: each file of its code, put in its place and listed nowhere, is found and works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n# (?P<path>src/\S+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
KINDS = (
    *("policies", "problems", "metrics", "studies", "report/figures", "cli/commands", "bench/engines"),
    *("data/formats", "report/formats"),
)


@pytest.fixture(scope="module")
def extended(tmp_path_factory) -> Path:
    """A copy of the package with the files of CONTRIBUTING.md in it."""
    folder = tmp_path_factory.mktemp("extended")
    shutil.copytree(ROOT / "src", folder / "src")  # with what Python has compiled of it
    added = set()
    for block in BLOCK.finditer((ROOT / "CONTRIBUTING.md").read_text()):
        path = folder / block["path"]
        assert not path.exists(), f"{block['path']} is already a file of the project"
        path.write_text(block["code"])
        added.add(str(path.parent.relative_to(folder / "src" / "showdown")))
    assert added == set(KINDS)
    rows = [{"size": number / 7, "colour": "blue" if number % 3 else "red"} for number in range(40)]
    (folder / "rows").write_text("\n".join(map(json.dumps, rows)))
    (folder / "use.py").write_text(USE)
    return folder


USE = """
import sys

from showdown.cli.main import main
from showdown.policies import policies
from showdown.problems import problems
from showdown.testing import check_policy, check_problem
from showdown.testing.problem_promises import shortened

for line in (
    "count",
    "run --policies Uniform,LastReward --problems coins --trials 2 --horizon 30 --engine last_first",
    "table --metric mistakes --format yaml",
    "table --metric switches --format yaml",
    "figure coin-posterior --seed 3",
    "inspect rows --label colour",
):
    sys.argv = ["showdown", *line.split()]
    try:
        main()
    except SystemExit as stop:
        if stop.code:
            raise
check_policy(policies.get("LastReward"))
check_problem(shortened(problems.get("coins")))
"""


def test_every_file_is_enough(extended):
    environment = {**os.environ, "PYTHONPATH": str(extended / "src")}
    command = [sys.executable, "use.py"]
    done = subprocess.run(command, cwd=extended, env=environment, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    words = (" policies, ", "2 done in", "policy: LastReward, mean: ", "coin-posterior.png", "rows: JSON lines")
    for expected in words:
        assert expected in done.stdout, done.stdout
    assert done.stdout.count("policy: LastReward, mean: ") == 2  # mistakes and switches
    assert (extended / "coin-posterior.png").is_file()


def test_the_projects_own_tests_allow_them(extended):
    """Tests that look at a whole list; the others know nothing of what is added."""
    environment = {**os.environ, "PYTHONPATH": str(extended / "src")}
    tests = ["unit/test_metrics.py", "unit/test_figures.py", "cli/test_report.py"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", "-k", "list or new_file"]
    command += [str(ROOT / "tests" / test) for test in tests]
    done = subprocess.run(command, cwd=extended, env=environment, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_a_command_without_register_is_one_sentence(extended, tmp_path):
    shutil.copytree(extended / "src", tmp_path / "src")
    (tmp_path / "src" / "showdown" / "cli" / "commands" / "half.py").write_text("")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    command = [sys.executable, "-c", "from showdown.cli.main import main; main()", "--help"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "half.py does not define 'register'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_table_lists_only_folders_that_exist():
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("| to add | files |")[2].partition("\n\n")[0]
    for place in re.findall(r"`([\w./-]+/[\w./-]*)`", table):
        here = ROOT / place if place.startswith("docs/") else ROOT / "src" / "showdown" / place
        assert here.exists(), place
