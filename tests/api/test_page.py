"""docs/api.md is true: its blocks run, one after another; a typed script with the same calls passes mypy --strict."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import showdown as sd

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.timeout(400)
def test_every_block_of_the_page_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "a_page"}
    for block in BLOCKS:
        exec(compile(block, "docs/api.md", "exec"), names)
    assert {path.name for path in tmp_path.iterdir()} >= {"overview.png", "report.html", "kept", "trials.csv"}
    assert "did you mean 'LinFullPost'" in capsys.readouterr().out


def test_every_public_name_has_an_example():
    code = "\n".join(BLOCKS)
    about = {"Results", "ShowdownError", "ShowdownWarning"}  # what comes back, and what is said in words
    lacking = [name for name in dir(sd) if not name.startswith("_") and name not in about and f"sd.{name}" not in code]
    assert not lacking
    assert all(f"sd.{name}" in PAGE for name in about)


SCRIPT = """
import numpy as np
import pandas as pd

import showdown as sd

frame = pd.DataFrame({"x": np.arange(10), "kind": ["a", "b"] * 5})
results: sd.Results = sd.run(["LinGreedy"], frame, label="kind", trials=2, ignore=["x"], progress=False)
table: pd.DataFrame = results.table("reward")
best: str | None = results.verdict.best
sentence: str = results.compare("LinGreedy", "Uniform").sentence
results.plot.curves(path="curves.png")
page: str = results.report("page.html").name
opened = sd.open("results").select("Lin*", horizon=10)
found = sd.recommend(frame, label="kind", budget="1m")
agent: sd.Agent = found.agent()
name: str | None = found.policy
tuned = sd.tune("LinGreedy", "linear", budget=4)
again = sd.run(tuned.policy, sd.problem("wheel", delta=0.9), trials=2)
value: str = sd.evaluate("uniform", frame, action="kind", reward="x").verdict()
names: list[str] = list(sd.list("policies")["name"])
try:
    sd.policy("nothing")
except sd.UsageError as error:
    print(error)
"""
WRONG = ('sd.run("LinGreedy", "linear", trails=2)', "sd.open(3)", 'sd.run("A", "B").tabel()')


def test_a_typed_script_passes_mypy_strict_and_a_wrong_one_does_not(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "wrong.py").write_text("import showdown as sd\n\n" + "\n".join(WRONG) + "\n")
    told = {name: _mypy(tmp_path, name) for name in ("script.py", "wrong.py")}
    assert "Success" in told["script.py"], told["script.py"]
    assert all(f"wrong.py:{line}: error" in told["wrong.py"] for line in (3, 4, 5)), told["wrong.py"]


def _mypy(folder: Path, name: str) -> str:
    pytest.importorskip("mypy")
    ours = "[mypy-showdown.*]\nfollow_imports = silent\n"  # `make check` has checked what is ours
    config = folder / "mypy.ini"
    config.write_text(f"[mypy]\nstrict = True\nignore_missing_imports = True\n{ours}")
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), "--cache-dir", str(folder / "cache"), name]
    path = {**os.environ, "PYTHONPATH": str(Path(sd.__file__).parents[1])}
    done = subprocess.run(command, cwd=folder, env=path, capture_output=True, text=True, timeout=300, check=False)
    return done.stdout
