"""A journal: what had returned before a kill is not lost, and what is damaged is said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from showdown.agent import Agent
from showdown.basics.errors import UsageError
from showdown.policies import policies

PROGRAM = """
import sys
from showdown.agent import Agent
from showdown.policies import policies
folder = sys.argv[1]
agent = Agent(policies.get("Uniform"), context_dim=2, num_actions=3, journal=folder + "/journal")
for step in range(100_000):
    decision = agent.decide([1.0, step])
    if step % 2:
        agent.learn(decision.id, 0.5)
    if step == 5:
        agent.save(folder + "/agent.npz")
    print(decision.id, decision.action, flush=True)
"""


def test_a_killed_process_loses_nothing_that_had_returned(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        answered = [process.stdout.readline().split() for _ in range(20)]
        os.kill(process.pid, signal.SIGKILL)
        answered += [line.split() for line in process.stdout.read().splitlines() if len(line.split()) == 2]
    agent = Agent.load(tmp_path / "agent.npz", journal=tmp_path / "journal")
    assert agent.decisions - len(answered) in (0, 1)  # one may have been made and not printed
    assert abs(agent.observations - len(answered) // 2) <= 1
    assert agent.learn(answered[2][0], 1.0)  # decided before the save
    assert agent.learn(answered[14][0], 1.0)  # and after it
    agent.close()
    from_nothing = Agent(policies.get("Uniform"), context_dim=2, num_actions=3, journal=tmp_path / "journal")
    assert (from_nothing.decisions, from_nothing.observations) == (agent.decisions, agent.observations)


@pytest.fixture
def used(tmp_path) -> Path:
    """The journal of an agent that has done everything once, and its file, saved on the way."""
    with Agent(policies.get("LinFullPost"), context_dim=2, num_actions=3, journal=tmp_path / "journal") as agent:
        agent.learn_many(np.eye(2), [0, 1], [0.5, -0.5])
        agent.choose_many(np.eye(2))
        waiting = agent.decide([1.0, 2.0])
        agent.save(tmp_path / "agent.npz")
        agent.learn([1.0, 0.5], agent.choose([1.0, 0.5]), 0.25)
        agent.learn(waiting.id, 1.0)
        agent.save(tmp_path / "whole.npz")
    return tmp_path / "journal"


def test_a_journal_does_all_of_it_again(used):
    whole = Agent.load(used.parent / "whole.npz")
    again = Agent.load(used.parent / "agent.npz", journal=used)
    with pytest.raises(UsageError, match="another agent writes the journal"):
        Agent.load(used.parent / "agent.npz", journal=used)
    again.close()
    afresh = Agent(policies.get("LinFullPost"), context_dim=2, num_actions=3, journal=used)
    afresh.close()
    for agent in (again, afresh):
        assert (agent.decisions, agent.observations) == (whole.decisions, whole.observations) == (4, 4)
        assert agent._decider.clock.owed == whole._decider.clock.owed
        np.testing.assert_allclose(agent._state[0].mean, whole._state[0].mean, rtol=1e-6)
    # the first agent's file knows the last record, so nothing is done twice
    assert Agent.load(used.parent / "whole.npz", journal=used).observations == 4


def test_a_torn_last_line_is_cut_off(used):
    content = used.read_bytes()
    used.write_bytes(content[:-7])
    with Agent.load(used.parent / "agent.npz", journal=used) as agent:
        assert agent.observations == 3
        agent.learn([1.0, 0.5], 1, 0.25)
    assert Agent.load(used.parent / "agent.npz", journal=used).observations == 4


def test_a_journal_that_does_not_fit_is_refused(used):
    lines = used.read_text().splitlines(keepends=True)
    too_large = {"n": 1, "rows": {"contexts": [[0, 0]], "rewards": [0], "actions": [1 << 40]}}
    for content, sentence in (
        ("".join([lines[0].replace('"num_actions": 3', '"num_actions": 4'), *lines[1:]]), "of another agent"),
        ("".join([*lines[:3], *lines[4:]]), r"line 4 of the journal .* is record 4, and record 3 is lost"),
        ("".join([lines[0], *lines[5:]]), r"line 2 .* is record 5, and record 1 is lost"),
        ("hello\n", "not the journal of an agent, by its first line: move it away"),
        (lines[0] + json.dumps({"n": 1}) + "\n", r"line 2 .* cannot be done again \(KeyError\)"),
        (lines[0] + json.dumps(too_large) + "\n", r"line 2 .* cannot be done again \(OverflowError\)"),
        (
            "".join([*lines[:4], lines[4].replace("{", "[", 1), *lines[5:]]),
            r"line 5 .* is damaged: .*head -n 4.* or move",
        ),
    ):
        used.write_text(content)
        with pytest.raises(UsageError, match=sentence) as held:  # the lock must not live as long as the error
            Agent(policies.get("LinFullPost"), context_dim=2, num_actions=3, journal=used)
        used.write_text("".join(lines))
        Agent(policies.get("LinFullPost"), context_dim=2, num_actions=3, journal=used).close()
        del held
    with pytest.raises(UsageError, match="cannot write the journal"):
        Agent(policies.get("Uniform"), context_dim=2, num_actions=3, journal=used.parent / "no" / "journal")


def test_what_a_damaged_journal_says_helps(used):
    """Cut before the damaged line it is read again, and goes on, though the agent was saved after the cut."""
    used.write_bytes(b"".join(used.read_bytes().splitlines(keepends=True)[:3]))
    whole, later = used.parent / "whole.npz", used.parent / "later.npz"
    with Agent.load(whole, journal=used) as agent:
        agent.learn([1.0, 0.5], 1, 0.25)
        agent.save(later)
    assert Agent.load(whole, journal=used).observations == Agent.load(later).observations == 5
    with pytest.raises(UsageError, match=r"record 3 is lost"):  # from nothing it cannot be done again
        Agent(policies.get("LinFullPost"), context_dim=2, num_actions=3, journal=used)
