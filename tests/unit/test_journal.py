"""A journal: what had returned before a kill is not lost, a failed write changes nothing, and damage is said."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from showdown.agent import Agent, JournalError, JournalLossError, UnknownDecisionError, journal_segment
from showdown.agent.journal import Journal
from showdown.agent.journal_format import Mark, mark_line
from showdown.basics.errors import UsageError
from showdown.config import to_json
from showdown.policies import policies
from showdown.protocol.problem import ProblemSpec

UNIFORM, SPEC = policies.get("Uniform"), ProblemSpec(2, 3)
SIZES = {"context_dim": 2, "num_actions": 3}

PROGRAM = """
import sys
from showdown.agent import Agent
from showdown.policies import policies
folder = sys.argv[1]
agent = Agent(policies.get("Uniform"), context_dim=2, num_actions=3, journal=folder + "/journal")
for step in range(100_000):
    decision = agent.decide([1.0, step])
    if step % 2:
        agent.reward(decision.id, 0.5)
    if step % 6 == 5:
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
    assert agent.reward(answered[2][0], 1.0)  # decided before the first save
    assert agent.reward(answered[14][0], 1.0)  # and later
    with pytest.raises(UnknownDecisionError):  # a reward that was taken before the kill is there once
        agent.reward(answered[3][0], 1.0)


@pytest.fixture
def used(tmp_path) -> Path:
    """The journal of an agent that has done everything once, and its file, saved on the way."""
    options = {"journal": tmp_path / "journal", "archive_journal": True}
    with Agent(policies.get("LinFullPost"), **SIZES, **options) as agent:
        agent.learn_many(np.eye(2), [0, 1], [0.5, -0.5])
        agent.choose_many(np.eye(2))
        waiting = agent.decide([1.0, 2.0])
        agent.save(tmp_path / "agent.npz")
        agent.learn([1.0, 0.5], agent.choose([1.0, 0.5]), 0.25)
        agent.reward(waiting.id, 1.0)
        agent.save(tmp_path / "whole.npz")
    return tmp_path / "journal"


def test_a_journal_does_all_of_it_again(used):
    whole = Agent.load(used.parent / "whole.npz")
    again = Agent.load(used.parent / "agent.npz", journal=used)
    with pytest.raises(UsageError, match="another agent writes the journal"):
        Agent.load(used.parent / "agent.npz", journal=used)
    again.close()
    afresh = Agent(policies.get("LinFullPost"), **SIZES, journal=used)
    afresh.close()
    for agent in (again, afresh):
        assert (agent.decisions, agent.observations) == (whole.decisions, whole.observations) == (4, 4)
        assert agent._decider.clock.owed == whole._decider.clock.owed
        np.testing.assert_allclose(agent._state[0].mean, whole._state[0].mean, rtol=1e-6)
    # the last file knows the last record, so nothing is done twice
    assert Agent.load(used.parent / "whole.npz", journal=used).observations == 4
    for segment in used.parent.glob("journal.segment-*"):
        segment.unlink()
    with pytest.raises(JournalLossError, match="begins at record 7, and the agent's file ends before record 4"):
        Agent.load(used.parent / "agent.npz", journal=used)


def test_a_save_begins_a_new_segment(tmp_path):
    path, saved = tmp_path / "journal", tmp_path / "agent.npz"
    with Agent(UNIFORM, **SIZES, journal=path) as agent:
        before = [agent.decide([0, 1]) for _ in range(100)]
        os.link(path, tmp_path / "other name")
        grown = path.stat().st_size
        agent.save(saved)
        assert path.stat().st_size < grown / 10
        agent.reward(before[7].id, 1.0)
    with pytest.raises(UsageError, match="an old segment of a journal that goes on in another file"):
        Agent.load(saved, journal=tmp_path / "other name")
    with Agent.load(saved, journal=path) as again:
        assert (again.decisions, again.observations) == (100, 1)
    assert {file.name for file in tmp_path.iterdir()} == {"journal", "other name", "agent.npz"}


# A write that fails changes nothing


def test_a_failed_write_changes_nothing_and_a_retry_works(tmp_path, monkeypatch):
    agent = Agent(policies.get("LinFullPost"), **SIZES, journal=tmp_path / "journal")
    waiting, other = agent.decide([1.0, 2.0]), agent.decide([1.0, 2.0])
    size = (tmp_path / "journal").stat().st_size
    before = agent.counts()

    def full(handle, content, offset):
        os.ftruncate(handle, offset + 3)  # a part of it was written
        raise OSError(errno.ENOSPC, "No space left on device")

    calls = [
        lambda: agent.reward(waiting.id, 1.0),
        lambda: agent.learn([1.0, 2.0], 1, 1.0),
        lambda: agent.learn_many([[1.0, 2.0]], [1], [1.0]),
        lambda: agent.decide([1.0, 2.0]),
        lambda: agent.choose([1.0, 2.0]),
        lambda: agent.choose_many([[1.0, 2.0]]),
    ]
    with monkeypatch.context() as patched:
        patched.setattr(journal_segment.os, "pwrite", full)
        for call in calls:
            with pytest.raises(JournalError, match="No space left"):
                call()
            assert "No space left" in agent.trouble
    assert agent.counts() == before
    assert (tmp_path / "journal").stat().st_size == size
    assert agent.reward(waiting.id, 1.0)
    assert agent.trouble == ""
    agent.close()
    with Agent(policies.get("LinFullPost"), **SIZES, journal=tmp_path / "journal") as again:
        assert (again.decisions, again.observations) == (2, 1)
        assert again.reward(other.id, 1.0)


def test_a_journal_that_is_moved_deleted_or_changed_is_an_error(tmp_path):
    path = tmp_path / "journal"
    agent = Agent(UNIFORM, **SIZES, journal=path)
    decision = agent.decide([0, 1])
    path.rename(tmp_path / "moved")
    with pytest.raises(JournalError, match="was moved or deleted"):
        agent.reward(decision.id, 1.0)
    (tmp_path / "moved").rename(path)
    assert agent.reward(decision.id, 1.0)  # put back, it goes on
    content = path.read_bytes()
    with open(path, "ab") as stream:
        stream.write(b"x")
    with pytest.raises(JournalError, match="was changed by another program"):
        agent.decide([0, 1])
    os.truncate(path, len(content))
    agent.decide([0, 1])
    path.unlink()
    path.write_bytes(content)  # another file of the same name
    with pytest.raises(JournalError, match="was moved or deleted"):
        agent.decide([0, 1])
    agent.close()


def test_one_journal_has_one_writer_under_every_name(tmp_path):
    path = tmp_path / "journal"
    agent = Agent(UNIFORM, **SIZES, journal=path)
    (tmp_path / "symbolic").symlink_to(path)
    os.link(path, tmp_path / "hard")
    for name in ("journal", "symbolic", "hard"):
        with pytest.raises(UsageError, match="another agent writes the journal"):
            Agent(UNIFORM, **SIZES, journal=tmp_path / name)
    agent.decide([0, 1])
    agent.close()
    with Agent(UNIFORM, **SIZES, journal=tmp_path / "symbolic") as through:
        through.save(tmp_path / "agent.npz")  # the link stays one
        with pytest.raises(UsageError, match="another agent writes"):
            Agent(UNIFORM, **SIZES, journal=path)
    assert (tmp_path / "symbolic").is_symlink()


# Damage


@pytest.fixture
def records(tmp_path) -> Path:
    """A journal with 12 records, the last of them a reward."""
    path = tmp_path / "journal"
    with Agent(UNIFORM, **SIZES, journal=path) as agent:
        decisions = [agent.decide([0, number]) for number in range(6)]
        for number, decision in enumerate(decisions):
            agent.reward(decision.id, number)
    return path


def replayed(path: Path, **options) -> list:
    journal = Journal(path, UNIFORM, SPEC, **options)
    try:
        return [record.content for record in journal.replay()]
    finally:
        journal.close()


def test_no_flipped_bit_is_silent(records):
    content, whole = records.read_bytes(), replayed(records)
    draw = random.Random(0)
    for _ in range(400):
        damaged = bytearray(content)
        damaged[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        records.write_bytes(damaged)
        with pytest.raises(UsageError, match=r"damaged|not the journal|gone|put a copy back"):
            replayed(records)
    records.write_bytes(content)
    assert replayed(records) == whole
    records.write_bytes(content[:-1] + b"\x0b")  # the last line end
    with pytest.raises(JournalLossError, match=r"line 14 .* is damaged: record 12 and those after it, 1 in all"):
        replayed(records)


def test_a_cut_says_how_many_records_are_gone(records):
    content = records.read_bytes()
    ends = [place + 1 for place, byte in enumerate(content) if byte == 10]
    for gone in (1, 5, 12):
        records.write_bytes(content[: ends[-1 - gone]])
        with pytest.raises(JournalLossError, match=rf"ends after record {12 - gone}, and 12 were written: {gone} rec"):
            replayed(records)
    for size in [0, 10, ends[0], ends[0] + 5, ends[1] - 1, ends[5] + 3]:
        records.write_bytes(content[:size])
        with pytest.raises(UsageError):
            replayed(records)


def test_an_edited_moved_or_repeated_record_is_refused(records):
    lines = records.read_bytes().splitlines(keepends=True)
    for changed in (
        [*lines[:9], lines[9].replace(b'"reward": 1', b'"reward": 9'), *lines[10:]],
        [*lines[:4], lines[5], lines[4], *lines[6:]],
        [*lines[:4], lines[4], *lines[4:]],
        [*lines[:4], *lines[5:]],
    ):
        records.write_bytes(b"".join(changed))
        with pytest.raises(JournalLossError, match="is damaged: record"):
            replayed(records)


def test_what_a_killed_writer_left_unfinished_is_cut_off(records):
    content = records.read_bytes()
    records.write_bytes(content + b'0123456789abcdef {"n": 13, "deci')  # never acknowledged: the mark says 12
    assert len(replayed(records)) == 12
    assert records.read_bytes() == content
    head, mark = content.splitlines(keepends=True)[:2]
    older = mark_line(head[:16], Mark(9, True))
    records.write_bytes(content.replace(mark, older))  # killed after the records and before the mark
    assert len(replayed(records)) == 12
    assert records.read_bytes() == content


def test_a_loss_is_accepted_when_it_is_said(records):
    content = bytearray(records.read_bytes())
    content[content.index(b'"n": 9')] ^= 1
    records.write_bytes(content)
    with Agent(UNIFORM, **SIZES, journal=records, accept_loss=True) as agent:
        (note,) = agent.notes
        assert "record 9 and those after it, 4 in all, cannot be read" in note
        assert (agent.decisions, agent.observations, agent.counts()["waiting"]) == (6, 2, 4)
        agent.decide([0, 1])
    assert (records.parent / "journal.damaged-1").read_bytes() == content
    assert len(replayed(records)) == 9


def test_a_journal_of_another_agent_or_run_is_refused(records, tmp_path):
    with pytest.raises(UsageError, match="of another agent"):
        Agent(UNIFORM, context_dim=2, num_actions=4, journal=records)
    with Agent(UNIFORM, **SIZES, journal=records) as agent:
        agent.save(tmp_path / "agent.npz")
    records.unlink()
    with Agent(UNIFORM, **SIZES, journal=records) as other:
        for _ in range(20):
            other.decide([0, 1])
    with pytest.raises(UsageError, match="belongs to another run"):
        Agent.load(tmp_path / "agent.npz", journal=records)
    records.unlink()
    with Agent.load(tmp_path / "agent.npz", journal=records) as agent:
        assert "there was no journal" in agent.notes[0]
    (tmp_path / "text").write_text("hello\n")
    with pytest.raises(UsageError, match="not the journal of an agent, by its first line"):
        Agent(UNIFORM, **SIZES, journal=tmp_path / "text")
    with pytest.raises(UsageError, match="cannot write the journal"):
        Agent(UNIFORM, **SIZES, journal=tmp_path / "no" / "journal")


# Other ages


def test_a_journal_of_the_first_format_is_read_and_goes_on(tmp_path):
    path = tmp_path / "journal"
    lines = [
        {"format": 1, "policy": to_json(UNIFORM), "spec": SPEC._asdict()},
        {"n": 1, "decision": "word-1", "context": [0.0, 1.0], "action": 2, "propensity": 0.3},
        {"n": 2, "decision": "word-2", "context": [0.0, 1.0], "action": 1, "propensity": 0.3},
        {"n": 3, "decision": "word-1", "reward": 0.5},
    ]
    old = "".join(json.dumps(line) + "\n" for line in lines) + '{"n": 4, "dec'
    path.write_text(old)
    for decisions in (2, 3):
        with Agent(UNIFORM, **SIZES, journal=path) as agent:
            assert (agent.decisions, agent.observations) == (decisions, 1)
            agent.decide([0, 1])
    assert (tmp_path / "journal.format-1-1").read_text() == old
    path.write_text(old.replace('"n": 3', '"n": 5'))
    with pytest.raises(UsageError, match=r"line 4 of the journal .* is damaged: .*head -n 3"):
        Agent(UNIFORM, **SIZES, journal=path)


def test_counters_go_beyond_32_bits(tmp_path):
    agent = Agent(policies.get("LinFullPost"), **SIZES, journal=tmp_path / "journal")
    agent.save(tmp_path / "agent.npz")
    agent.close()
    (tmp_path / "journal").unlink()
    many = (1 << 31) + 5
    arrays = dict(np.load(tmp_path / "agent.npz"))
    about = json.loads(arrays.pop("about").tobytes())
    about |= {"decisions": many, "observations": many, "last_check": "0" * 16}
    about["service"]["last_record"] = 2 * many
    np.savez(tmp_path / "agent.npz", about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)
    for again in range(2):
        with Agent.load(tmp_path / "agent.npz", journal=tmp_path / "journal") as agent:
            assert (agent.decisions, agent.observations) == (many + again, many + again)
            assert agent.reward(agent.decide([0.5, 1.0]).id, 1.0)
            agent.save(tmp_path / "agent.npz")
            assert agent._keeper.last[0] == 2 * many + 2 * (again + 1)
