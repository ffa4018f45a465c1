"""The shape of the source tree: short files, short functions, nothing listed by hand that a folder already lists."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "showdown"
FILES = sorted(SOURCE.rglob("*.py"))
MAX_FILE, MAX_FUNCTION = 300, 60  # lines


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_are_short(path):
    text = path.read_text()
    assert len(text.splitlines()) <= MAX_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = node.end_lineno - node.lineno + 1
            assert lines <= MAX_FUNCTION, f"{node.name} has {lines} lines"


def test_the_median_file_is_near_a_hundred_lines():
    lengths = sorted(len(path.read_text().splitlines()) for path in FILES if path.name != "__init__.py")
    assert 50 <= lengths[len(lengths) // 2] <= 120
