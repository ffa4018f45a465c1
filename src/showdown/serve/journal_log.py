"""The journal of an agent as a log: its decisions with their propensities, joined with rewards that came later.

A reward belongs to its decision however late it came. Decisions whose reward never came cannot be judged and are left
out, which biases estimates where a missing reward is no accident (no click means 0: send the 0). What others decided
(`learn` with a context) has no propensity and is left out too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from showdown.agent.journal import headed_records
from showdown.agent.records import Unfolded, rename, unfolded
from showdown.basics.errors import UsageError
from showdown.logged.log import Log
from showdown.logged.read_log import FEWEST

MOST_NAMES = 2000  # actions that a log tells apart by name; with more, by their places in a decision
MOST_NUMBERS = 1 << 28  # of features in all: 1 GiB


def is_journal(path: Path) -> bool:
    """Whether a file is the journal of an agent, by its first bytes."""
    try:
        with open(path, "rb") as stream:
            start = stream.read(40)
    except OSError:
        return False
    return start[16:28] == b' {"format": ' and start[:16].isalnum()


class _Counts(NamedTuple):
    unrewarded: int
    others: int  # rewards without a decision of this journal


def journal_log(path: str | Path) -> Log:
    """The decisions of a journal, and of its older segments that were kept, that have had their reward."""
    path = Path(path)
    try:
        decided, rewards, counts = _collected(path)
    except OSError as error:
        raise UsageError(f"cannot read the journal {path}: {error.strerror}") from None
    if len(decided) < FEWEST:
        raise UsageError(
            f"the journal {path} has {len(decided)} decisions with a reward, and nothing can be said from fewer than "
            f"{FEWEST}: a save begins a new file, unless the agent keeps old ones (archive_journal, --archive-journal)"
        )
    names, places = _columns(decided)
    offered, allowed = _offered(decided, names, places)
    return Log(
        contexts=np.stack([one.context for one in decided]),
        actions=np.array([place[one.taken] for one, place in zip(decided, places, strict=True)], np.int32),
        rewards=np.array(rewards, np.float64),
        propensities=np.array([one.propensity for one in decided], np.float64),
        action_names=tuple(names),
        available=None if allowed.all() else allowed,
        timed=True,
        offered=offered,
        notes=_notes(counts),
    )


def _collected(path: Path) -> tuple[list[Unfolded], list[float], _Counts]:
    """The decisions that have a reward, in the order they were made, and their rewards."""
    decided: dict[str, Unfolded] = {}
    rewards: dict[str, float] = {}
    names: list[Any] = []
    others, segment = 0, None
    for header, record in headed_records(path):
        if header != segment:  # older segments may be missing, with what they added and removed
            names, segment = list(header.actions), header
        rename(names, record)
        made = unfolded(record, names, header.action_dim)
        if made is not None:
            decided[made.id] = made
        elif record.get("decision") in decided and "reward" in record:
            rewards.setdefault(record["decision"], record["reward"])
        else:
            others += "reward" in record or len(record.get("rows", {}).get("rewards", ()))
    judged = [one for id, one in decided.items() if id in rewards]
    return judged, [rewards[one.id] for one in judged], _Counts(len(decided) - len(judged), int(others))


def _columns(decided: list[Unfolded]) -> tuple[list[str], list[list[int]]]:
    """The names of all actions, and for each decision which of them stands at each of its places."""
    known: dict[str, int] = {}
    places = [[known.setdefault(str(name), len(known)) for name in one.names] for one in decided]
    if len(known) <= MOST_NAMES:
        return list(known), places
    most = max(len(one.names) for one in decided)
    return [f"place {number}" for number in range(most)], [list(range(len(one.names))) for one in decided]


def _offered(
    decided: list[Unfolded], names: list[str], places: list[list[int]]
) -> tuple[np.ndarray | None, np.ndarray]:
    """The features of each action at each decision, None where they have none, and which could be taken."""
    allowed = np.zeros((len(decided), len(names)), bool)
    dim = 0 if decided[0].features is None else decided[0].features.shape[1]
    if allowed.size * dim > MOST_NUMBERS:
        raise UsageError(
            f"{len(decided):,} decisions among {len(names):,} actions with {dim} features do not fit memory"
        )
    offered = np.zeros((*allowed.shape, dim), np.float32)
    for row, (one, place) in enumerate(zip(decided, places, strict=True)):
        allowed[row, place] = True
        if one.features is not None:
            offered[row, place] = one.features
    return offered if dim else None, allowed


def _notes(counts: _Counts) -> tuple[str, ...]:
    notes = []
    if counts.unrewarded:
        notes.append(
            f"{counts.unrewarded:,} decisions without a reward are left out: where no reward means that nothing was "
            "earned, the estimates are too high (send a reward of 0)."
        )
    if counts.others:
        notes.append(f"{counts.others:,} rewards without a decision of this journal are left out.")
    return tuple(notes)
