"""Attacks on an agent's journal: damage, cuts, edits, a file that is moved, and several names for one file."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from attacks import Score
from showdown.agent import Agent, JournalError, JournalLossError, UnknownDecisionError
from showdown.agent.journal import Journal
from showdown.basics.errors import UsageError
from showdown.policies import policies
from showdown.protocol.problem import ProblemSpec

UNIFORM, SPEC = policies.get("Uniform"), ProblemSpec(2, 3)
SIZES = {"context_dim": 2, "num_actions": 3}


def written(folder: Path, decisions: int = 50) -> Path:
    """A journal of decisions, each with its reward."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "journal"
    with Agent(UNIFORM, **SIZES, journal=path) as agent:
        for number in range(decisions):
            agent.reward(agent.decide([0.5, number]).id, number)
    return path


def contents(path: Path) -> list[dict]:
    """What an agent would do again; raises UsageError where it refuses."""
    journal = Journal(path, UNIFORM, SPEC)
    try:
        return [record.content for record in journal.replay()]
    finally:
        journal.close()


def damaged(folder: Path, what: str, change: Callable[[bytes, random.Random], bytes], tries: int) -> Score:
    """Silent where a changed journal gives other records than it had, or fewer, and nothing is said."""
    score, draw = Score(f"the journal: {what}"), random.Random(0)
    path = written(folder)
    whole, content = contents(path), path.read_bytes()
    for _ in range(tries):
        changed = change(content, draw)
        path.write_bytes(changed)
        with score.attempt():
            try:
                score.silent += contents(path) != whole
            except UsageError as refused:
                score.silent += not _says_what(str(refused))
    return score


def _says_what(sentence: str) -> bool:
    return any(words in sentence for words in ("damaged", "gone", "not the journal", "another agent", "not known"))


def flipped(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    changed[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def edited(content: bytes, draw: random.Random) -> bytes:
    """A record with another reward, repeated, left out, or in another place."""
    lines = content.splitlines(keepends=True)
    rewards = [place for place, line in enumerate(lines) if b'"reward"' in line]
    place, kind = draw.choice(rewards), draw.randrange(4)
    if kind == 0:
        lines[place] = lines[place].replace(b'"reward": ', b'"reward": 1')
    elif kind == 1:
        lines.insert(place, lines[place])
    elif kind == 2:
        del lines[place]
    else:
        lines[place], lines[place - 1] = lines[place - 1], lines[place]
    return b"".join(lines)


def moved(folder: Path, tries: int) -> Score:
    """A journal is moved, deleted, replaced, cut or lengthened while it is written: a call that returned is in it."""
    score = Score("the journal is moved, deleted, replaced, cut or lengthened while in use")
    for number in range(tries):
        path = written(folder / str(number), 2)
        with score.attempt(), Agent(UNIFORM, **SIZES, journal=path) as agent:
            decision = agent.decide([0.5, 0.5])
            mend = _disturb(path, number % 5)
            try:
                agent.reward(decision.id, 1.0)
                score.silent += 1  # it returned though nobody will find it
            except JournalError:
                pass
            if mend is not None:
                mend()
                score.lost += not agent.reward(decision.id, 1.0)
                agent.close()
                score.lost += contents(path)[-1].get("reward") != 1.0
    return score


def _disturb(path: Path, kind: int) -> Callable[[], object] | None:
    """Do something to the file; how to undo it, where that can be done."""
    away = path.with_name("away")
    if kind in (0, 1):
        path.rename(away)
        if kind == 1:
            path.write_bytes(away.read_bytes())  # another file in its place
        return lambda: away.replace(path)
    if kind == 2:
        path.unlink()
        return None
    size = path.stat().st_size
    os.truncate(path, size + (3 if kind == 3 else -3))
    return (lambda: os.truncate(path, size)) if kind == 3 else None


def second_writers(folder: Path) -> Score:
    """A second agent on one journal, by every name, before and after a save."""
    score = Score("two agents on one journal: same name, symlink, hard link, lock file deleted, after a save")
    path = written(folder)
    (folder / "symlink").symlink_to(path)
    os.link(path, folder / "hard link")
    with Agent(UNIFORM, **SIZES, journal=path) as agent:
        for _ in range(3):
            for name in ("journal", "symlink", "hard link"):
                with score.attempt():
                    try:
                        Agent(UNIFORM, **SIZES, journal=folder / name).close()
                        score.silent += 1
                    except UsageError:
                        pass
            for lock in folder.glob(".lock*"):
                lock.unlink()
            agent.decide([0.5, 0.5])
            agent.save(folder / "agent.npz")
    return score


def full_disks(folder: Path, tries: int) -> Score:
    """Each kind of call on a disk without room, which then has some: the call is refused, and its repetition works."""
    score = Score("calls on a full disk, repeated when there is room")
    path = written(folder)
    agent = Agent(UNIFORM, **SIZES, journal=path)
    for call in _calls(agent, agent.decide([0.5, 0.5]).id):  # compiled now: the cache of programs is on the disk too
        call()
    for number in range(tries):
        with score.attempt():
            decision = agent.decide([0.5, number])
            before = agent.decisions, agent.observations
            with _without_room():
                for call in _calls(agent, decision.id):
                    with suppress(JournalError):
                        call()
                        score.silent += 1
            score.lost += (agent.decisions, agent.observations) != before
            score.silent += not agent.trouble
            for call in _calls(agent, decision.id):
                call()
            score.silent += bool(agent.trouble)
            try:
                agent.reward(decision.id, 1.0)
                score.silent += 1  # it was taken twice
            except UnknownDecisionError:
                pass
    decisions, observations = agent.decisions, agent.observations
    agent.close()
    with Agent(UNIFORM, **SIZES, journal=path) as again:
        score.lost += (again.decisions, again.observations) != (decisions, observations)
    return score


def _calls(agent: Agent, id: str) -> Iterator[Callable[[], object]]:
    yield lambda: agent.reward(id, 1.0)
    yield lambda: agent.learn([0.5, 0.5], 1, 1.0)
    yield lambda: agent.decide([0.5, 0.5])
    yield lambda: agent.choose([0.5, 0.5])


class _without_room:
    """No file of this process may grow, as on a full disk."""

    def __enter__(self) -> None:
        import resource

        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, self.before[1]))

    def __exit__(self, *_: object) -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, self.before)


def accepted_losses(folder: Path, tries: int) -> Score:
    """Damage that is accepted: what is lost is named, everything before it is there, and the agent goes on."""
    score, draw = Score("the journal: damage that is accepted is named"), random.Random(1)
    path = written(folder)
    whole, content = contents(path), path.read_bytes()
    for _ in range(tries):
        path.write_bytes(flipped(content, draw) if draw.random() < 0.5 else cut(content, draw))
        with score.attempt():
            try:
                agent = Agent(UNIFORM, **SIZES, journal=path, accept_loss=True)
            except UsageError as refused:  # without a first line there is nothing to go on from
                score.silent += not (isinstance(refused, JournalLossError) or _says_what(str(refused)))
                continue
            with agent:
                left = agent.decisions + agent.observations
                score.silent += left < len(whole) and not agent.notes
                agent.reward(agent.decide([0.5, 0.5]).id, 1.0)
            score.lost += contents(path)[:left] != whole[:left]
        for kept in folder.glob("journal.damaged-*"):
            kept.unlink()
    return score
