"""Text that a terminal, a spreadsheet, LaTeX or Markdown would obey, in stored records and in tables of one's own."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from attacks import Score, made_cell, made_outcome
from showdown.bench.store import Store
from showdown.report.formats import FORMATS

CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F))]
SEQUENCES = ("\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\r\n\\input{/etc/passwd}\n", "\n| forged | 0.00 |\n", "a\rb")
FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1", "＝1+1")
ALLOWED = {"\n", "\t"}


def hostile_texts() -> list[str]:
    return [*(f"a{letter}b" for letter in CONTROLS), *SEQUENCES, *FORMULAS]


def names_in_tables(folder: Path, every: int = 1) -> Score:
    """A record holds the text as the names of its policy and problem; every format of a table shows it."""
    score = Score("control characters and formulas: stored names")
    lines = {form: len(shown_table(folder / "plain", "plain", form)[1].splitlines()) for form in FORMATS}
    for number, text in enumerate(hostile_texts()[::every]):
        for form in FORMATS:
            with score.attempt():
                code, shown, said = shown_table(folder / str(number), text, form)
                harmless = code == 0 and not controls_in(shown + said) and _holds_together(form, shown)
                if not harmless or len(shown.splitlines()) != lines[form]:
                    score.silent += 1
                    print(f"not withstood: {text!r} in {form}", file=sys.stderr)
    return score


def shown_table(directory: Path, name: str, form: str) -> tuple[int, str, str]:
    if not directory.exists():
        about: Any = {"finished": "2026-01-01T00:00:00+00:00", "versions": {"showdown": "0"}}
        Store(directory).write_done(made_cell(0), [(name, name)], made_outcome(0), about)
    return called("table", str(directory), "--absolute", "--format", form)


def _holds_together(form: str, shown: str) -> bool:
    if form == "json":
        return len(json.loads(shown)["rows"]) == 1
    if form == "csv":
        cells = [cell for row in csv.reader(io.StringIO(shown)) for cell in row]
        return not any(cell.startswith(tuple("=+-@\t\r＝")) and not _is_number(cell) for cell in cells)
    return True


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def headings_of_tables(folder: Path, every: int = 1) -> Score:
    """The headings, values and name of a file that is inspected, and of one that cannot be."""
    score = Score("control characters: headings, values and names of files")
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(hostile_texts()[::every]):
        quoted = text.replace('"', '""')
        rows = "".join(f'{row % 7},{row * row % 11},"{quoted}{row % 2}"\n' for row in range(40))
        name = f"{number}{text}.csv".replace("/", "_").replace("\0", "_")
        path = folder / name
        path.write_text(f'"{quoted}",x,label\n{rows}', encoding="utf-8", newline="")
        for options in _options(text):
            with score.attempt():
                code, shown, said = called("inspect", str(path), *options)
                if code not in (0, 2) or controls_in(shown + said):
                    score.silent += 1
                    print(f"not withstood: {text!r} {options}", file=sys.stderr)
    return score


def _options(text: str) -> Iterator[list[str]]:
    yield []
    yield ["--label", "label"]
    yield ["--label", "0"]
    yield ["--label", f"no such {text}"]


def controls_in(text: str) -> set[str]:
    return (set(CONTROLS) & set(text)) - ALLOWED


def called(*arguments: str) -> tuple[int, str, str]:
    """A command in this process: its exit code and what it wrote."""
    from showdown.cli.main import main

    sys.argv = ["showdown", *arguments]
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, out.getvalue(), err.getvalue()
