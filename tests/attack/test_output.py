"""Text from tables, records and file names: it moves no cursor, starts no formula and leaves no comment or cell."""

from __future__ import annotations

import json

import pytest

from attacks import output
from showdown.basics.errors import UsageError
from showdown.bench.suite import load_suite
from showdown.cli import console
from showdown.config import override
from showdown.config.registry import Registry, parse_name
from showdown.policies import policies
from showdown.problems.own_table import Table


def test_stored_names_cannot_break_out_of_a_table(tmp_path):
    assert output.names_in_tables(tmp_path, every=14).withstood


def test_headings_and_file_names_reach_no_terminal(tmp_path):
    assert output.headings_of_tables(tmp_path, every=14).withstood


def test_what_we_print_ourselves_stays(capsys):
    console.data("a\tb\nÅ ± δ ✓ 日本")
    console.warn("x\x1b[2Jy\x9b\u202e\ud800\r")
    assert capsys.readouterr() == ("a\tb\nÅ ± δ ✓ 日本\n", "x\\u001b[2Jy\\u009b\\u202e\\ud800\\u000d\n")


def test_json_holds_the_text_itself(capsys):
    console.data_json({"name": "a\x1b\x9b\u202eb"})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {"name": "a\x1b\x9b\u202eb"}
    assert shown.isascii()


BAD = ["a\nb", "a\rb", "a\0b", "\x1b[31mred", "a\tb", "a\x85b", "a\u2028b", "\u202eevil", "x" * 201]


@pytest.mark.parametrize("name", BAD)
def test_bad_names_are_refused_in_one_sentence(name):
    for naming in (
        lambda: Registry("policy").add(name, policies.get("Uniform")),
        lambda: parse_name(name),
        lambda: parse_name(f"{name}[a=1]"),
        lambda: override(Table(), {name: "1"}),
    ):
        with pytest.raises(UsageError, match=r"may not hold line ends|may have at most 200") as caught:
            naming()
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("value", [*BAD[:-1], "x" * 4001])
def test_bad_values_of_overrides_and_suites_are_refused(value):
    for naming in (
        lambda: override(Table(), {"path": value}),
        lambda: parse_name(f"table[path={value}x]"),
        lambda: load_suite(value),
    ):
        with pytest.raises(UsageError, match=r"may not hold line ends|may have at most 4000"):
            naming()


def test_a_long_path_is_no_bad_name():
    path = "/".join(["folder"] * 100)
    assert parse_name(f"table[path={path}]") == ("table", {"path": path})
