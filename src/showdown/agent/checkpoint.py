"""An agent as the parts that its file holds, and back; and what a journal's records stand for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from showdown.agent import action_changes, checkpoint_file, programs, records
from showdown.agent.decision import Waiting
from showdown.agent.journal import Journal
from showdown.agent.journal_format import JournalLossError, JournalRecord
from showdown.agent.learner import Tally, takes_bound
from showdown.agent.replay_buffer import Bound
from showdown.agent.roster import Roster
from showdown.basics.errors import UsageError, why
from showdown.basics.files import read_plain
from showdown.config import from_json
from showdown.data.encode_counts import EncodeCounts
from showdown.data.encoder import Encoder
from showdown.protocol.policy import Policy

if TYPE_CHECKING:
    from showdown.agent.agent import Agent

write = checkpoint_file.write
EXPECTED = (KeyError, IndexError, TypeError, ValueError, OverflowError, UsageError)  # of a record that makes no sense
AT_ONCE = 1024  # rewards of a journal that are learned together
MOST_BYTES = 1 << 28  # of a recommendation: an encoder with many categories


def pack(agent: Agent) -> checkpoint_file.Saved:
    """All that the agent is made of, at this moment; the caller holds its lock."""
    learner, clock, pending = agent._learner, agent._decider.clock, agent._pending
    rows = learner.history.rows()
    waiting = dict(pending.items())
    inputs = [decision.inputs for decision in waiting.values()]
    return checkpoint_file.Saved(
        policy=agent.policy,
        spec=agent.spec,
        key=learner.key,
        state=programs.copied(learner.state),
        decisions=clock.decisions,
        observations=learner.observations,
        inputs=rows.inputs[: rows.filled],
        actions=rows.actions[: rows.filled],
        rewards=rows.rewards[: rows.filled],
        service=checkpoint_file.SavedCounts(
            seen=learner.history.seen,
            **learner.tally._asdict(),
            given=clock.given,
            dropped=pending.dropped,
            unknown=pending.unknown,
            last_record=agent._keeper.last[0],
        ),
        last_check=agent._keeper.last[1],
        bound=learner.history.bound,
        owed=None if clock.owed is None else list(clock.owed),
        remember=pending.most,
        began_with=agent._began_with,
        names=list(agent._codec.roster.names),
        freed=list(agent._codec.roster.freed),
        waiting=list(waiting),
        waiting_inputs=np.array(inputs, np.float32).reshape(-1, agent.spec.input_dim),
        waiting_actions=np.array([decision.action for decision in waiting.values()], np.int32),
        encoder=agent.encoder,
        encode_counts=EncodeCounts.from_dict(agent._codec.counts.as_dict()),
    )


def unpack(
    kind: type[Agent],
    path: Path,
    *,
    background: bool,
    history: Bound = None,
    seed: int | None = None,
    remember: int | None = None,
) -> Agent:
    """The agent of a file, before anything that its journal holds; changed where that is asked for."""
    stored = checkpoint_file.read(path)
    agent = kind(
        stored.policy,
        context_dim=stored.spec.context_dim,
        num_actions=stored.began_with,
        action_dim=stored.spec.action_dim,
        key=stored.key if seed is None else None,
        seed=seed or 0,
        encoder=stored.encoder,
        background=background,
        # older versions took one that changes nothing
        history=history or (stored.bound if takes_bound(stored.policy) else None),
        remember=stored.remember if remember is None else remember,
    )
    agent._codec.roster = Roster(stored.names, stored.freed)
    agent._set_spec(stored.spec)
    learner, clock, pending, service = agent._learner, agent._decider.clock, agent._pending, stored.service
    learner.history.fill(stored.inputs, stored.actions, stored.rewards, service.seen)
    learner.restore(
        stored.state, stored.observations, Tally(**{name: getattr(service, name) for name in Tally._fields})
    )
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(stored.state)]  # not in JAX, which would compile for each
    agent._decider.usable = all(np.isfinite(leaf).all() for leaf in leaves if leaf.dtype.kind == "f")
    clock.decisions, clock.given, clock.owed = stored.decisions, service.given, stored.owed
    pending.dropped, pending.unknown = service.dropped, service.unknown
    decisions = zip(stored.waiting_inputs, stored.waiting_actions.tolist(), strict=True)
    for id, decision in zip(stored.waiting, decisions, strict=True):
        pending.add(id, Waiting(*decision))
    agent._codec.counts = stored.encode_counts
    agent._keeper.last = service.last_record, stored.last_check
    return agent


class Recommended(NamedTuple):
    """What the file says that `showdown recommend` writes."""

    policy: Policy
    encoder: Encoder
    learned: Path | None  # a saved agent that has learned from the table
    data: dict[str, Any]  # the table's options, by which it was read

    def learned_beside(self) -> Path:
        """The saved agent, which must be there."""
        assert self.learned is not None
        if not self.learned.exists():
            raise UsageError(f"what the agent has learned is in {self.learned}, which is not there: copy both files")
        return self.learned


def recommended(path: Path) -> Recommended:
    """The file that `showdown recommend` writes; raises UsageError for everything else."""
    try:
        content = json.loads(read_plain(path, MOST_BYTES))
        policy = from_json(content["configuration"])
        encoder = Encoder.from_json(content["encoder"])
        learned, data = content.get("learned"), content.get("data")
        beside = None if learned is None else path.with_name(Path(str(learned["file"])).name)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is not a recommendation ({why(error)})") from None
    if not isinstance(policy, Policy):
        raise UsageError(f"{path} names no policy")
    return Recommended(policy, encoder, beside, data if isinstance(data, dict) else {})


def redo(agent: Agent, journal: Journal) -> None:
    """Do again what the records of a journal stand for, one at a time; rewards that follow each other in few calls."""
    rewards: list[tuple[np.ndarray, int, np.float32]] = []
    record = None
    try:
        for record in journal.replay():
            if not record.content.keys().isdisjoint(("rows", "added", "removed")) or len(rewards) == AT_ONCE:
                _learn(agent, rewards)
            if "reward" in record.content:
                rewards.append(_reward(agent, record.content))
            else:
                _redo(agent, record.content)
        _learn(agent, rewards)
    except BaseException as error:
        journal.close()  # so that it can be opened again once it is mended, while somebody holds the error
        if record is None or isinstance(error, JournalLossError) or not isinstance(error, EXPECTED):
            raise
        raise _not_done_again(journal, record, error) from None


def _not_done_again(journal: Journal, record: JournalRecord, error: BaseException) -> UsageError:
    return UsageError(
        f"line {record.line} of the journal {journal.path} cannot be done again ({why(error)}): move the journal away, "
        "which loses what came after the agent was saved"
    )


def _reward(agent: Agent, record: dict[str, Any]) -> tuple[np.ndarray, int, np.float32]:
    """What a record says was learned."""
    if "decision" in record:
        waiting = agent._pending.find(record["decision"])
        agent._pending.remove(record["decision"])
    else:
        waiting = Waiting(np.array(record["context"], np.float32), record["action"])
    return waiting.inputs, waiting.action, np.float32(record["reward"])


def _learn(agent: Agent, rewards: list[tuple[np.ndarray, int, np.float32]]) -> None:
    """Learn what was collected, and forget it."""
    if rewards:
        inputs, actions, paid = zip(*rewards, strict=True)
        agent._learner.learn_rows(np.stack(inputs), np.array(actions, np.int32), np.array(paid, np.float32))
        rewards.clear()


def _redo(agent: Agent, record: dict[str, Any]) -> None:
    """Do what a record without a reward stands for."""
    if "added" in record:
        action_changes.add_again(agent, record["added"], record["slot"])
    elif "removed" in record:
        agent._codec.roster.remove(action_changes.check_removal(agent, record["removed"]))
    elif "rows" in record:
        rows = record["rows"]
        inputs, rewards = (np.array(rows[name], np.float32) for name in ("contexts", "rewards"))
        agent._take_in(inputs, np.array(rows["actions"], np.int32), rewards, record["refits"])
    elif "choices" in record:
        agent._decider.clock.advance(record["choices"])
    else:
        agent._decider.clock.advance()
        if record["decision"] is not None:
            inputs = records.inputs_of(record, agent.spec.action_dim)
            agent._pending.add(record["decision"], Waiting(inputs, record["action"]))
