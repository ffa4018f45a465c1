"""The same policy online: choose, learn, save, load.

    agent = Agent(policies.get("LinFullPost"), context_dim=9, num_actions=7, seed=0)
    action = agent.choose(context)
    agent.learn(context, action, reward)

    agent = Agent.for_table(table("customers.csv", label="bought"), policies.get("LinFullPost"))
    decision = agent.decide({"age": 41, "region": "north", ...})  # id, action, name, propensity
    agent.reward(decision.id, reward)  # when it is known

Choosing and learning alternate exactly as in the compiled loop, so an agent fed a trial's contexts and rewards plays
the trial's actions. Rewards may also come late, in another order, or not at all. One lock guards every call, so threads
may share an agent. docs/deploy.md says how to run one in a service.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import RLock
from typing import Any

import jax

from showdown.agent import checkpoint, codec, records, together
from showdown.agent.action_changes import check_growth, check_room, make_room
from showdown.agent.belief_health import Watch
from showdown.agent.codec import Codec
from showdown.agent.decider import Decider
from showdown.agent.decision import DRAWS, Decision, Pending, Probabilities
from showdown.agent.in_python import PlainDecider, PlainLearner
from showdown.agent.journal import Journal
from showdown.agent.journal_keeper import JournalKeeper
from showdown.agent.learner import Learner
from showdown.agent.learning import Learning
from showdown.agent.offer import check_policy, has_slots
from showdown.agent.replay_buffer import Bound
from showdown.agent.roster import Roster
from showdown.agent.together import Answer, Call, DecideCall
from showdown.basics.errors import UsageError
from showdown.data.encoder import Encoder, HasTable
from showdown.play.memory import check_state
from showdown.protocol.keys import named_key
from showdown.protocol.policy import Policy


class Agent(Learning):
    """A policy with its state, for one stream of decisions."""

    def __init__(
        self,
        policy: Policy,
        *,
        context_dim: int | None = None,
        num_actions: int | None = None,
        action_dim: int | None = None,
        seed: int = 0,
        key: jax.Array | None = None,
        encoder: Encoder | None = None,
        room: int = 0,
        background: bool = False,
        history: Bound = None,
        remember: int = 10_000,
        journal: str | Path | None = None,
        archive_journal: bool = False,
        accept_loss: bool = False,
    ) -> None:
        """`action_dim` is how many features each action has; decisions then name their actions.

        `room` is how many actions can be added before a program is compiled again.
        `background` refits in a thread; `history` bounds what refits see; `remember` decisions wait for rewards.

        `archive_journal` keeps segments of the journal that a save has made needless; `accept_loss` goes on where
        records of it are damaged or gone, and says which in `notes`.
        """
        if not isinstance(policy, Policy):
            raise UsageError(f"an agent decides by a policy: sd.policy({policy!r}) makes one")
        spec = codec.spec_of(context_dim, num_actions, action_dim, encoder)
        policy.check()
        check_policy(policy, spec)
        check_state(policy, spec)
        self.policy, self.spec, self.encoder = policy, spec, encoder
        slotted = has_slots(policy, spec)
        check_room(room, has_slots=slotted)
        names = range(spec.num_actions) if encoder is None else encoder.action_names
        self._codec = Codec(spec, encoder, Roster(list(names)), has_slots=slotted)
        self._lock, self._saving = RLock(), RLock()
        self._key = named_key(seed, "agent", "policy") if key is None else key
        learner, decider = (PlainLearner, PlainDecider) if policy.in_python else (Learner, Decider)
        self._learner: Learner = learner(policy, spec, self._key, history, self._lock, background=background)
        self._decider: Decider = decider(policy, spec, self._key, self._learner, has_slots=slotted)
        self._pending = Pending(remember)
        self._watch = Watch()
        self._keeper = JournalKeeper()
        self._began_with = spec.num_actions
        if room:
            check_growth(policy, spec, spec._replace(num_actions=spec.num_actions + room))
            self._set_spec(spec._replace(num_actions=spec.num_actions + room))
        if journal is not None:
            self._keep_journal(Path(journal), archive=archive_journal, accept_loss=accept_loss)

    @classmethod
    def for_table(cls, problem: HasTable, policy: Policy, **options: Any) -> Agent:
        """An agent for rows of a table of yours: they are encoded as in the benchmark, and actions have names."""
        return cls(policy, encoder=Encoder.for_problem(problem), **options)

    @classmethod
    def recommended(cls, path: str | Path, *, learned: bool = True, **options: Any) -> Agent:
        """An agent of the policy and the table in the file that `showdown recommend` wrote.

        It has learned from the table, unless the file says that it has not, or `learned` is False.
        """
        found = checkpoint.recommended(Path(path))
        if not learned or found.learned is None:
            return cls(found.policy, encoder=found.encoder, **options)
        agent = cls.load(found.learned_beside(), **options)
        if agent.policy != found.policy or agent.encoder != found.encoder:
            agent.close()
            raise UsageError(f"{found.learned} has learned for another agent than {path} names: recommend again")
        return agent

    __repr__ = codec.described

    # Deciding

    def choose(self, context: Any, *, available: Iterable[Any] | None = None, actions: Any = None) -> Any:
        """The action to take for a context: its name, or its number where it has none.

        `available` are the actions that may be taken; `actions` those of an agent whose actions have features, by name:
        `{"a": {"price": 3.5}, …}`, or numbers in place of columns where there is no table. They may be others each
        time. Raises DivergedError where a loaded state is not finite.
        """
        with self._lock:
            vector, offer = self._codec.context(context), self._codec.offer(available, actions)
            action = self._decider.act(vector, offer)
            self._keeper.write(records.chosen(self._codec.slot(action)))
            self._decider.clock.advance()
            return self._codec.name(action, offer)

    def decide(
        self, context: Any, *, available: Iterable[Any] | None = None, actions: Any = None, draws: int = DRAWS
    ) -> Decision:
        """What `choose` would take, with an id for the reward and a propensity to log, exact or from `draws` draws."""
        (made,) = together.answer(self, [DecideCall(context, available, actions)], draws)
        if not isinstance(made, Decision):
            raise made  # type: ignore[misc]
        return made

    def answer_together(self, calls: Sequence[Call], *, draws: int = DRAWS) -> list[Answer]:
        """Answer calls that wait at the same time, rewards first: each answer, or error, is in its call's place."""
        return together.answer(self, calls, draws)

    def choose_many(self, contexts: Any, *, actions: Sequence[Any] | None = None) -> list[Any]:
        """What `choose` would take for each of these contexts, with nothing learned in between."""
        matrix = self._codec.contexts(contexts)
        if not len(matrix):
            return []
        if actions is not None and len(actions) != len(matrix):
            raise UsageError(f"there are {len(matrix)} contexts, and actions for {len(actions)}")
        with self._lock:
            offers = [self._codec.offer(None, None if actions is None else each) for each in actions or [None]]
            if actions is None:
                chosen = self._decider.act_many(matrix, offers[0].available)
                self._keeper.write({"choices": len(chosen)})
                self._decider.clock.advance(len(chosen))
                return [self._codec.name(action, offers[0]) for action in chosen]
        return [self.choose(context, actions=each) for context, each in zip(contexts, actions, strict=True)]

    def probabilities(
        self, context: Any, *, available: Iterable[Any] | None = None, actions: Any = None, draws: int = DRAWS
    ) -> Probabilities:
        """The probability with which each action would be taken now, exact or from `draws` draws; decides nothing.

        They are in the order of `agent.actions`, or of the `actions` given where these are others each time.
        """
        with self._lock:
            vector, offer = self._codec.context(context), self._codec.offer(available, actions)
            found = self._decider.probabilities(vector, offer, draws)
            filled = [place for place, name in enumerate(self._codec.names(offer)) if name is not None]
        return Probabilities(found.values[filled], found.errors[filled], found.draws)

    # Keeping it

    def save(self, path: str | Path) -> None:
        """Write everything to one file, whole or not at all; the journal then begins a new segment.

        Other calls go on meanwhile: they wait only while the state is copied.
        """
        with self._saving:
            with self._lock:
                stored, position = checkpoint.pack(self), self._keeper.position
                names = list(self._codec.roster.names)
            checkpoint.write(Path(path), stored)
            self._keeper.cut(position, names, self._lock)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        background: bool = False,
        history: Bound = None,
        seed: int | None = None,
        remember: int | None = None,
        room: int = 0,
        journal: str | Path | None = None,
        archive_journal: bool = False,
        accept_loss: bool = False,
    ) -> Agent:
        """The agent that `save` wrote, after what its journal holds; raises UsageError for a file that holds none.

        `history`, `seed`, `remember` and `room` are as for a new agent, from now on; without them nothing changes.
        """
        changes: Any = {"history": history, "seed": seed, "remember": remember}
        agent = checkpoint.unpack(cls, Path(path), background=background, **changes)
        if room:
            make_room(agent, room)
        if journal is not None:
            agent._keep_journal(Path(journal), archive=archive_journal, accept_loss=accept_loss)
        return agent

    def _keep_journal(self, path: Path, *, archive: bool, accept_loss: bool) -> None:
        """Do again what the journal holds, then continue it."""
        options: Any = {"archive": archive, "accept_loss": accept_loss, "actions": self._codec.roster.names}
        sizes = self.spec._replace(num_actions=self._began_with)
        journal = Journal(path, self.policy, sizes, self._keeper.last, **options)
        checkpoint.redo(self, journal)
        self._learner.background.wait()
        self._keeper.attach(journal)
