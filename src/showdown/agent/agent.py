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
import numpy as np

from showdown.agent import checkpoint, codec, records, table_rows, together
from showdown.agent.belief_health import Watch
from showdown.agent.codec import Codec
from showdown.agent.decider import Decider
from showdown.agent.decision import DRAWS, Decision, Pending, Probabilities
from showdown.agent.journal import Journal
from showdown.agent.journal_keeper import JournalKeeper
from showdown.agent.learner import Learner, Refits
from showdown.agent.offer import check_policy, has_slots
from showdown.agent.replay_buffer import Bound
from showdown.agent.roster import Roster
from showdown.agent.together import Answer, Call, DecideCall
from showdown.agent.upkeep import Upkeep
from showdown.basics.errors import UsageError
from showdown.data.encoder import Encoder, HasTable
from showdown.play.memory import check_state
from showdown.protocol.keys import named_key
from showdown.protocol.policy import Policy


class Agent(Upkeep):
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
        background: bool = False,
        history: Bound = None,
        remember: int = 10_000,
        journal: str | Path | None = None,
        archive_journal: bool = False,
        accept_loss: bool = False,
    ) -> None:
        """`action_dim` is how many features each action has; decisions then name their actions.

        `background` refits in a thread; `history` bounds what refits see; `remember` decisions wait for rewards.

        `archive_journal` keeps segments of the journal that a save has made needless; `accept_loss` goes on where
        records of it are damaged or gone, and says which in `notes`.
        """
        spec = codec.spec_of(context_dim, num_actions, action_dim, encoder)
        policy.check()
        check_policy(policy, spec)
        check_state(policy, spec)
        self.policy, self.spec, self.encoder = policy, spec, encoder
        slotted = has_slots(policy, spec)
        names = range(spec.num_actions) if encoder is None else encoder.action_names
        self._codec = Codec(spec, encoder, Roster(list(names)), has_slots=slotted)
        self._lock, self._saving = RLock(), RLock()
        self._key = named_key(seed, "agent", "policy") if key is None else key
        self._learner = Learner(policy, spec, self._key, history, self._lock, background=background)
        self._decider = Decider(policy, spec, self._key, self._learner, has_slots=slotted)
        self._pending = Pending(remember)
        self._watch = Watch()
        self._keeper = JournalKeeper()
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

    def known_as(self, decision: Decision) -> Any:
        """The action of a decision as it is to be named to this agent: by its name, or by a number."""
        return self._codec.roster.names[decision.action] if self._codec.has_slots else decision.name

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
        """The probability with which each action would be taken now, exact or from `draws` draws; decides nothing."""
        with self._lock:
            vector, offer = self._codec.context(context), self._codec.offer(available, actions)
            found = self._decider.probabilities(vector, offer, draws)
        count = len(self._codec.names(offer))
        return Probabilities(found.values[:count], found.errors[:count], found.draws)

    # Learning

    def reward(self, decision_id: str, reward: float) -> bool:
        """Take in what a decision of `decide` paid; what comes back is that of `learn`.

        Raises UnknownDecisionError, and counts it, for a decision that does not wait for a reward.
        """
        paid = codec.reward_number(reward)
        with self._lock:
            waiting = self._pending.find(decision_id)
            self._keeper.write(records.reward(decision_id, paid))
            self._pending.remove(decision_id)
            return self._learner.learn(*waiting, paid)

    def learn(self, context: Any, action: Any, reward: float, *, features: Any = None) -> bool:
        """Take in what an action paid that `choose` or others took; with the features that it had, where it has any.

        False where this would leave a state that is not finite: it is then counted, and the agent stays as it was.
        """
        paid = codec.reward_number(reward)
        with self._lock:
            inputs, slot = self._codec.outcome(context, action, features)
            self._keeper.write(records.learned(inputs, slot, paid))
            return self._learner.learn(inputs, slot, paid)

    def learn_many(
        self, contexts: Any, actions: Any, rewards: Any, *, features: Any = None, refits: Refits = 10
    ) -> int:
        """Take in a history that others decided, oldest first; the number of rows taken in.

        A policy that refits does so `refits` times at the end; "all" refits where `learn` would, which takes as long.
        Its rows count as steps, and as warm-up pulls of their actions.
        """
        if refits != "all" and (type(refits) is not int or refits < 1):
            raise UsageError(f"refits must be a whole number of at least 1 or 'all', not {refits!r}")
        with self._lock:
            inputs, slots = self._codec.outcomes(contexts, actions, features)
            paid = codec.reward_vector(rewards, len(inputs))
            if not len(inputs):
                return 0
            rows = {"contexts": inputs.tolist(), "actions": slots.tolist(), "rewards": paid.tolist()}
            self._keeper.write({"rows": rows, "refits": refits})
            return self._take_in(inputs, slots, paid, refits)

    def learn_table(
        self,
        data: Any,
        *,
        label: str = "",
        rewards: str = "",
        action: str = "",
        reward: str = "",
        refits: Refits = 10,
        **options: Any,
    ) -> int:
        """Take in a table: a file, a DataFrame or a problem made of one; the number of rewards taken in.

        `label` or `rewards` name its columns as for `showdown.problems.table`, whose `costs`, `reward_matrix`, `payoff`
        and `features` go with them: each row then teaches what every action pays. `action` and `reward` name those of a
        log of decisions, whose rows teach what the action taken paid. A journal does not hold them: save the agent.
        """
        if (bool(label or rewards) + bool(action and reward)) != (not hasattr(data, "bandit_table")):
            raise UsageError("name the label, or the reward columns, of a table; or the action and the reward of a log")
        with self._lock:
            if hasattr(data, "bandit_table"):
                found = table_rows.of_problem(self._codec, data)
            elif action:
                found = table_rows.of_log(self._codec, table_rows.frame_of(data), action, reward)
            else:
                found = table_rows.of_table(self._codec, table_rows.frame_of(data), label, rewards, options)
            return self._take_in(*found, refits)

    def _take_in(self, inputs: np.ndarray, slots: np.ndarray, paid: np.ndarray, refits: Refits) -> int:
        """Learn rows that others decided, with the lock held; the number of rows taken in."""
        shared = not self._codec.has_slots
        self._decider.clock.give(np.arange(len(slots)) % self.spec.num_actions if shared else slots)
        return self._learner.learn_many(inputs, slots, paid, refits)

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
        journal: str | Path | None = None,
        archive_journal: bool = False,
        accept_loss: bool = False,
    ) -> Agent:
        """The agent that `save` wrote, after what its journal holds; raises UsageError for a file that holds none.

        `history`, `seed` and `remember` are as for a new agent, from now on; without them they are what they were.
        """
        changes: Any = {"history": history, "seed": seed, "remember": remember}
        agent = checkpoint.unpack(cls, Path(path), background=background, **changes)
        if journal is not None:
            agent._keep_journal(Path(journal), archive=archive_journal, accept_loss=accept_loss)
        return agent

    def _keep_journal(self, path: Path, *, archive: bool, accept_loss: bool) -> None:
        """Do again what the journal holds, then continue it."""
        options: Any = {"archive": archive, "accept_loss": accept_loss, "actions": self._codec.roster.names}
        journal = Journal(path, self.policy, self.spec, self._keeper.last, **options)
        checkpoint.redo(self, journal)
        self._learner.background.wait()
        self._keeper.attach(journal)
