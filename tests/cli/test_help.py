"""What `--help`, the Tab key, progress and errors say."""

from __future__ import annotations

import shlex

import pytest
from typer.main import get_command

from showdown.api.progress import seconds_left
from showdown.cli import completion
from showdown.cli.main import GROUPS, OTHERS, app, summary

COMMANDS = {name: one for name, one in get_command(app).commands.items() if not hasattr(one, "commands")}
COMPLETED = ("policies", "problems", "metric", "suite")


def test_help_is_grouped_whole_and_has_examples_whose_options_exist(showdown):
    text = showdown("--help").out
    assert [title for title in (*GROUPS, OTHERS) if f"{title}:" in text] == list(GROUPS)
    told = " ".join(text.split())
    for name, one in get_command(app).commands.items():
        assert f"{name} {summary(one)}" in told
    for name, one in COMMANDS.items():
        words = shlex.split(one.epilog.removeprefix("Example: "))
        assert words[:2] == ["showdown", name]
        known = {option for parameter in one.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, name


def test_tab_completes_names_also_in_a_list():
    assert completion.policy_names("LinFullPost,NeuralLinear-M") == ["LinFullPost,NeuralLinear-MR"]
    assert completion.problem_names("wheel-0.9") == ["wheel-0.9", "wheel-0.95", "wheel-0.99"]
    assert "quick" in completion.suite_names("")
    assert completion.metric_names("cumu") == ["cumulative"]
    asked = {(name, each.name): each for name, one in COMMANDS.items() for each in one.params if each.name in COMPLETED}
    assert {parameter for _, parameter in asked} == set(COMPLETED)
    lacking = [place for place, parameter in asked.items() if parameter._custom_shell_complete is None]
    assert lacking == [("evaluate", "policies")] or not lacking


def test_the_time_left_is_no_less_than_was_forecast():
    """Cheap cells come first: after 2 of 42 forecast seconds were done in a third of one, six were promised."""
    assert seconds_left(42.0, 2.0, 0.3, in_seconds=True) == 40.0
    assert seconds_left(42.0, 2.0, 4.0, in_seconds=True) == 80.0  # a busy machine
    assert seconds_left(42.0, 0.0, 9.0, in_seconds=True) == 42.0  # compiling
    assert seconds_left(100.0, 25.0, 5.0, in_seconds=False) == 15.0  # per cent of a download
    assert seconds_left(100.0, 0.0, 5.0, in_seconds=False) is None


@pytest.mark.parametrize(
    ("text", "said"), [("{", "it is not JSON: line 1, column 2"), ("{}", "it lacks 'configuration'")]
)
def test_errors_name_no_class_of_python(showdown, tmp_path, text, said):
    (tmp_path / "agent.json").write_text(text)
    answer = showdown("serve", "agent.json", "--port", "0")
    assert answer.code == 2
    assert said in answer.err
    assert "Error" not in answer.err
