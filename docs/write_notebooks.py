"""Run the notebooks of examples/notebooks and write each with its output, as a page and for Jupyter: `make docs`.

A notebook is a Python file in the percent format, which VS Code, PyCharm, Spyder and jupytext open as a notebook:
`# %% [markdown]` begins text, `# %%` code, and `# %% language="bash"` lines for a shell. All of them run in this one
process, since a kernel for each would import and compile everything again. Shell lines are calls of `showdown`.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

HERE = Path(__file__).parent
SOURCES = HERE.parent / "examples" / "notebooks"
PAGES = HERE / "notebooks"
FENCES = {"python": "python", "bash": "sh"}
SECONDS = re.compile(  # they would make every page new at every run
    r" \(compiling [\d.]+ s, running [\d.]+ s\)|(?<=\S) \([\d.]+ [µm]?s per step\)|^It decides in .*\n", re.MULTILINE
)


class Done(NamedTuple):
    """What a cell printed, and the picture that its last expression is, as PNG."""

    printed: str = ""
    picture: bytes = b""


class Cell(NamedTuple):
    kind: str  # markdown, python or bash
    text: str


def cells(source: str) -> list[Cell]:
    """The cells of a notebook in the percent format, in order."""
    found = []
    for part in re.split(r"^# %%", source, flags=re.MULTILINE)[1:]:
        mark, _, body = part.partition("\n")
        kind = "markdown" if "[markdown]" in mark else "bash" if 'language="bash"' in mark else "python"
        if kind != "python":
            body = re.sub(r"^# ?", "", body, flags=re.MULTILINE)
        found.append(Cell(kind, body.strip()))
    return found


def run(cell: Cell, names: dict[str, Any]) -> Done:
    """What a cell prints, and the value of its last expression."""
    printed, picture = io.StringIO(), b""
    with contextlib.redirect_stdout(printed):
        if cell.kind == "bash":
            for line in cell.text.replace("\\\n", " ").splitlines():
                run_command(shlex.split(line, comments=True))
        elif cell.kind == "python":
            body = ast.parse(cell.text).body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            exec(compile(ast.Module(body, []), "notebook", "exec"), names)
            value = None if last is None else eval(compile(ast.Expression(last.value), "notebook", "eval"), names)
            if hasattr(value, "_repr_png_"):
                picture = value._repr_png_()
            elif value is not None:
                print(value if isinstance(value, str) else repr(value))
    return Done(SECONDS.sub("", printed.getvalue().rstrip()), picture)


def run_command(words: list[str]) -> None:
    """Call the command line in this process."""
    from showdown.cli.main import main

    if words[:1] != ["showdown"]:
        raise ValueError(f"only `showdown` can be called here, not {words}")
    with mock.patch.object(sys, "argv", words):
        try:
            main()
        except SystemExit as stop:
            if stop.code:
                raise RuntimeError(f"{shlex.join(words)}: exit code {stop.code}") from None


def page(name: str, done: list[tuple[Cell, Done]]) -> str:
    """A notebook with its output as Markdown; pictures are files beside it."""
    (title, *rest), head = done, f"`examples/notebooks/{name}.py`, run by `make docs`. [For Jupyter]({name}.ipynb)."
    first, _, more = title[0].text.partition("\n")
    blocks = [first, head, more.strip()]
    for number, (cell, (printed, picture)) in enumerate(rest, 1):
        fence = FENCES.get(cell.kind)
        blocks.append(f"```{fence}\n{cell.text}\n```" if fence else cell.text)
        if printed:
            blocks.append(f"```text\n{printed}\n```")
        if picture:
            blocks.append(f"![what the cell shows]({picture_name(name, number)})")
    return "\n\n".join(block for block in blocks if block) + "\n"


def picture_name(name: str, number: int) -> str:
    return f"{name}-{number}.png"


def jupyter(done: list[tuple[Cell, Done]]) -> str:
    """A notebook with its output as Jupyter stores it."""
    stored = []
    for number, (cell, (printed, picture)) in enumerate(done):
        text = f"%%bash\n{cell.text}" if cell.kind == "bash" else cell.text
        written: dict[str, Any] = {"cell_type": "markdown", "id": f"cell-{number}", "metadata": {}, "source": text}
        if cell.kind != "markdown":
            outputs: list[dict[str, Any]] = []
            if printed:
                outputs.append({"output_type": "stream", "name": "stdout", "text": printed})
            if picture:
                data = {"image/png": base64.b64encode(picture).decode()}
                outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
            written |= {"cell_type": "code", "execution_count": None, "outputs": outputs}
        stored.append(written)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": stored}, indent=1) + "\n"


def main() -> None:
    chosen = sys.argv[1:] or sorted(path.stem for path in SOURCES.glob("*.py"))
    for name in chosen:
        began, names = time.perf_counter(), {"__name__": "__main__"}
        parts = cells((SOURCES / f"{name}.py").read_text())
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            done = [(cell, run(cell, names)) for cell in parts]
        for old in PAGES.glob(f"{name}-*.png"):
            old.unlink()
        for number, (_, made) in enumerate(done):
            if made.picture:
                (PAGES / picture_name(name, number)).write_bytes(made.picture)
        (PAGES / f"{name}.md").write_text(page(name, done))
        (PAGES / f"{name}.ipynb").write_text(jupyter(done))
        print(f"{name}: {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "110")
    main()
