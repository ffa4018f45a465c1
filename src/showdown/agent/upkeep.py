"""Looking after an agent: what it has done and learned, what was unusual, and the time that it needs."""

from __future__ import annotations

import gc
from contextlib import AbstractContextManager
from threading import RLock
from typing import Any

import numpy as np

from showdown.agent import action_changes, programs, records
from showdown.agent.action_changes import MOST_ACTIONS
from showdown.agent.belief_health import Watch, dead_features
from showdown.agent.codec import Codec
from showdown.agent.decider import Decider
from showdown.agent.decision import DRAWS, Pending
from showdown.agent.journal_keeper import JournalKeeper
from showdown.agent.learner import Learner
from showdown.data.encoder import Encoder
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec


class Upkeep(AbstractContextManager):
    """The part of `Agent` that neither decides nor learns; it is not used alone."""

    policy: Policy
    spec: ProblemSpec
    encoder: Encoder | None
    _lock: RLock
    _codec: Codec
    _decider: Decider
    _learner: Learner
    _pending: Pending
    _watch: Watch
    _keeper: JournalKeeper
    _is_warm = False  # whether programs were compiled ahead of their need

    @property
    def decisions(self) -> int:
        """How often it chose."""
        return self._decider.clock.decisions

    @property
    def actions(self) -> list[Any]:
        """The actions that it has: their names, or numbers where they have none."""
        return list(self._codec.roster)

    @property
    def observations(self) -> int:
        """How often it learned."""
        return self._learner.observations

    @property
    def trouble(self) -> str:
        """Why the journal could not be written the last time; empty where it could."""
        return self._keeper.trouble

    @property
    def notes(self) -> list[str]:
        """What whoever starts the agent should read: what its journal has lost."""
        return self._keeper.notes

    @property
    def _state(self) -> State:
        return self._learner.state

    def add_action(self, name: str | int, *, most: int = MOST_ACTIONS) -> None:
        """Let an action be taken from now on. It starts as the policy starts, and from what its features say.

        Where a policy plays each action some times at first, it plays this one as often. Raises UsageError for a name
        that is taken, where there are `most` actions already, and where the policy cannot have more.
        """
        with self._lock:
            checked = action_changes.check_addition(self, name, most)
            slot = action_changes.slot_of_next(self)
            self._keeper.write(records.added(checked, slot))
            action_changes.add(self, checked, slot)

    def remove_action(self, name: str | int) -> None:
        """Never take an action again. What was learned of it is forgotten when another one gets its place."""
        with self._lock:
            checked = action_changes.check_removal(self, name)
            self._keeper.write(records.removed(checked, self._codec.roster.slot(checked)))
            self._codec.roster.remove(checked)

    def _set_spec(self, spec: ProblemSpec) -> None:
        """Have slots for so many actions; what is learned is made to fit by the caller."""
        self.spec = self._codec.spec = self._learner.spec = spec
        self._codec.roster.widen(spec.num_actions)
        self._decider.resize(spec)

    def counts(self) -> dict[str, Any]:
        """What has happened so far: decisions, rewards, what was refused or dropped, and unusual values of rows."""
        with self._lock:
            return {
                "decisions": self.decisions,
                "observations": self.observations,
                "waiting": len(self._pending),
                "dropped": self._pending.dropped,
                "unknown": self._pending.unknown,
                **self._learner.tally._asdict(),
                **self._watch.counts(),
                **({"encoder": self._codec.counts.as_dict()} if self.encoder else {}),
            }

    def diagnostics(self) -> dict[str, float | list[float]]:
        """What the policy says of its state: scalars such as the jitter its matrices needed, and timelines."""
        with self._lock:
            return {name: np.asarray(value).tolist() for name, value in self.policy.diagnostics(self._state).items()}

    def dead_features(self) -> int | None:
        """How many learned features are zero for all of the last 64 contexts; None for a policy without such."""
        with self._lock:
            state, contexts = programs.copied(self._state), self._watch.recent
        return dead_features(self.policy, state, contexts)

    def warm(self, *, rows: int = 0, draws: int = DRAWS, together_only: bool = False) -> None:
        """Compile all that single calls need, and from now on larger refits ahead of their need.

        `together_only` compiles only what `decide` and `answer_together` need. `rows` makes room for so many
        observations, so that nothing is compiled before they have come. What exists by then is taken out of Python's
        garbage collection, which would take more than 100 ms to look through it in the middle of a request.
        """
        with self._lock:
            self._decider.warm(draws, choose=not together_only)
            self._learner.warm(rows, single=not together_only)
            self._is_warm = True
        gc.collect()
        gc.freeze()

    def wait(self) -> None:
        """Until no refit runs in the background."""
        self._learner.background.wait()

    def close(self) -> None:
        """Wait for the background and close the journal. The agent goes on without one."""
        self._learner.background.close()
        with self._lock:
            self._keeper.close()

    def __exit__(self, *_: object) -> None:
        self.close()
