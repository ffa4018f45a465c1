"""`showdown evaluate`, as a user types it: the example of docs/logged-data.md, JSON, and what is refused."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from showdown.agent import Agent
from showdown.policies import policies

PAGE = (Path(__file__).parents[2] / "docs" / "logged-data.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def decisions(showdown) -> str:
    """The log of the page, made in the folder of the test."""
    exec(next(block for block in BLOCKS if "to_csv" in block), {})
    return "decisions.csv"


def test_the_page_shows_what_the_command_prints(showdown, decisions, capsys):
    shown = re.search(r"```text\n\$ showdown (.*?)\n(decisions.csv: .*?)```", PAGE, re.DOTALL)
    assert shown is not None
    answer = showdown(*shlex.split(shown[1].replace("\\\n", " ")))
    assert answer.code == 0

    def exact(text: str) -> list[str]:  # what a policy learns may differ in the last digit on another machine
        return [" ".join(line.split()) for line in text.splitlines() if "LinFullPost" not in line]

    assert exact(answer.out) == exact(shown[2])
    learned = {line.split()[2]: float(line.split()[3]) for line in answer.out.splitlines() if "  learning " in line}
    assert learned["replay"] == pytest.approx(0.37, abs=0.06)
    assert "Best is LinFullPost (frozen, doubly robust)" in answer.out
    names: dict = {}
    exec(next(block for block in BLOCKS if "import showdown" in block), names)
    assert names["found"].of("always letter", "doubly robust").value == pytest.approx(0.3585, abs=1e-4)
    assert "always letter" in capsys.readouterr().out


def test_json_and_columns_found_by_name(showdown, decisions):
    answer = showdown(
        "evaluate", decisions, "--policy", "uniform", "--policy", "always app", "--level", "0.9", "--json"
    )
    found = answer.json
    assert (found["rows"], found["level"], found["messages"]) == (4000, 0.9, [])
    assert {row["policy"] for row in found["estimates"]} == {"uniform", "always app"}
    assert [row["estimator"] for row in found["estimates"]][:4] == ["IPS", "SNIPS", "direct method", "doubly robust"]
    assert all(row["low"] < row["value"] < row["high"] for row in found["estimates"])


def test_inspect_sends_a_log_here(showdown, decisions):
    answer = showdown("inspect", decisions)
    command = answer.out.splitlines()[-1].strip()
    assert command == "showdown evaluate decisions.csv --action action --reward reward --propensity propensity"
    again = showdown(*shlex.split(command)[1:], "--policy", "uniform")
    assert "uniform  fixed  doubly robust" in re.sub(" {3,}", "  ", again.out)
    assert "could be the label" not in answer.out
    assert "play it" not in showdown("inspect", decisions, "--label", "action").out
    assert "play it" in showdown("inspect", decisions, "--label", "action", "--keep", "propensity").out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--action", "acton"], "did you mean 'action'"),
        (["--propensity", "age"], "a propensity is the probability of the action taken"),
        (["--policy", "always pigeon"], "the log has no action 'pigeon'; its actions are app, email, letter"),
        (["--policy", "LinFulPost"], "no policy is called 'LinFulPost'"),
        (["--level", "95"], "between 0 and 1"),
    ],
)
def test_requests_that_are_wrong_are_one_sentence(showdown, decisions, arguments, sentence):
    answer = showdown("evaluate", decisions, *arguments)
    assert answer.code == 2
    assert sentence in answer.err
    assert answer.err.count("\n") == 1


def test_the_journal_of_an_agent_is_a_log(showdown, tmp_path):
    with Agent(policies.get("Uniform"), context_dim=1, num_actions=2, journal=tmp_path / "journal") as agent:
        for number in range(30):
            made = agent.decide([number / 10])
            agent.reward(made.id, float(made.action))
    answer = showdown("evaluate", "journal", "--policy", "uniform,always 1")
    assert answer.code == 0
    assert "always 1" in answer.out
    answer = showdown("evaluate", "journal", "--action", "x")
    assert answer.code != 0
    assert "journal is the journal of an agent, which needs no --action: leave it out" in answer.err
