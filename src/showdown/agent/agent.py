"""The same policy online: choose, learn, save, load.

    agent = Agent(policies.get("LinFullPost"), context_dim=9, num_actions=7, seed=0)
    action = agent.choose(context)
    agent.learn(context, action, reward)

    agent = Agent.for_table(table("customers.csv", label="bought"), policies.get("LinFullPost"))
    decision = agent.decide({"age": 41, "region": "north", ...})  # id, action, name, propensity
    agent.learn(decision.id, reward)  # when it is known

Choosing and learning alternate exactly as in the compiled loop, so an agent fed a trial's contexts and rewards plays
the trial's actions. Rewards may also come late, in another order, or not at all. One lock guards every call, so threads
may share an agent. docs/deploy.md says how to run one in a service.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from pathlib import Path
from threading import RLock
from typing import Any

import jax
import numpy as np

from showdown.agent import check_call, checkpoint
from showdown.agent.codec import Codec
from showdown.agent.decider import Decider
from showdown.agent.decision import Decision, Pending, Waiting
from showdown.agent.journal import Journal
from showdown.agent.learner import Learner, Refits
from showdown.agent.propensity import Probabilities
from showdown.agent.replay_buffer import Bound
from showdown.basics.errors import UsageError
from showdown.data.encoder import Encoder, HasTable
from showdown.play.memory import check_state
from showdown.protocol.keys import named_key
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec

DRAWS = 1000  # for a propensity that has no closed form
_NOT_GIVEN: Any = object()


class Agent:
    """A policy with its state, for one stream of decisions."""

    def __init__(
        self,
        policy: Policy,
        *,
        context_dim: int | None = None,
        num_actions: int | None = None,
        seed: int = 0,
        key: jax.Array | None = None,
        encoder: Encoder | None = None,
        background: bool = False,
        history: Bound = None,
        remember: int = 10_000,
        journal: str | Path | None = None,
    ) -> None:
        """`background` refits in a thread; `history` bounds what refits see; `remember` decisions wait for rewards."""
        spec = _spec(context_dim, num_actions, encoder)
        policy.check()
        policy.check_problem(spec)
        check_state(policy, spec)
        self.policy, self.spec, self.encoder = policy, spec, encoder
        self._codec = Codec(spec, encoder)
        self._lock = RLock()
        self._key = named_key(seed, "agent", "policy") if key is None else key
        self._learner = Learner(policy, spec, self._key, history, self._lock, background=background)
        self._decider = Decider(policy, spec, self._key, self._learner)
        self._pending = Pending(remember)
        self._journal: Journal | None = None
        self._last_record = 0
        if journal is not None:
            self._keep_journal(Path(journal))

    @classmethod
    def for_table(cls, problem: HasTable, policy: Policy, **options: Any) -> Agent:
        """For rows of a table of yours: they are encoded as in the benchmark, and actions have names."""
        return cls(policy, encoder=Encoder.for_problem(problem), **options)

    @classmethod
    def recommended(cls, path: str | Path, **options: Any) -> Agent:
        """Of the policy and the table in the file that `showdown recommend` wrote, `recommendation/agent.json`."""
        policy, encoder = checkpoint.recommended(Path(path))
        return cls(policy, encoder=encoder, **options)

    # Deciding

    def choose(self, context: Any, *, available: Iterable[Any] | None = None) -> Any:
        """The action to take for a context: its number, or its name where the agent has an encoder.

        `available` are the actions that may be taken; all by default. Raises DivergedError where the agent was loaded
        from a file with a state that is not finite.
        """
        vector, mask = self._codec.context(context), self._codec.mask(available)
        with self._lock:
            action = self._decider.act(vector, mask)
            self._record({"decision": None, "action": action})
        return self._codec.name(action)

    def decide(self, context: Any, *, available: Iterable[Any] | None = None, draws: int = DRAWS) -> Decision:
        """As `choose`, with an id for the reward and the propensity to log.

        A propensity without a closed form is the share of `draws` draws of the policy.
        """
        vector, mask = self._codec.context(context), self._codec.mask(available)
        with self._lock:
            chances = self._decider.probabilities(vector, mask, draws)
            action = self._decider.act(vector, mask)
            decision = Decision(self._pending.new_id(), action, str(self._codec.name(action)), *chances.taken(action))
            self._pending.add(decision.id, Waiting(vector, action))
            self._record({"decision": decision.id, "context": vector.tolist(), **_logged(decision)})
        return decision

    def choose_many(self, contexts: Any) -> list[Any]:
        """What `choose` would take for each of these contexts, with nothing learned in between."""
        matrix = self._codec.contexts(contexts)
        if not len(matrix):
            return []
        with self._lock:
            actions = self._decider.act_many(matrix)
            self._record({"choices": len(actions)})
        return [self._codec.name(action) for action in actions]

    def probabilities(
        self, context: Any, *, available: Iterable[Any] | None = None, draws: int = DRAWS
    ) -> Probabilities:
        """With what probability each action would be taken now, exact or from `draws` draws; decides nothing."""
        vector, mask = self._codec.context(context), self._codec.mask(available)
        with self._lock:
            return self._decider.probabilities(vector, mask, draws)

    # Learning

    def learn(self, context: Any, action: Any = _NOT_GIVEN, reward: Any = _NOT_GIVEN) -> bool:
        """Take in what an action paid: `learn(context, action, reward)`, or `learn(decision.id, reward)`.

        False where this would leave a state that is not finite: it is then counted, and the agent stays as it was.
        Raises UnknownDecisionError, and counts it, for a decision that does not wait for a reward.
        """
        if action is _NOT_GIVEN or reward is _NOT_GIVEN:
            given = reward if action is _NOT_GIVEN else action
            if given is _NOT_GIVEN:
                raise UsageError("learn needs a decision's id and its reward, or a context, an action and a reward")
            paid = check_call.reward_number(given)
            with self._lock:
                waiting = self._pending.take(context)
                self._record({"decision": context, "reward": float(paid)})
                return self._learner.learn(*waiting, paid)
        vector, number = self._codec.context(context), self._codec.action(action)
        paid = check_call.reward_number(reward)
        with self._lock:
            self._record({"context": vector.tolist(), "action": number, "reward": float(paid)})
            return self._learner.learn(vector, number, paid)

    def learn_many(self, contexts: Any, actions: Any, rewards: Any, *, refits: Refits = 10) -> int:
        """Take in a history that others decided, oldest first; the number of rows taken in.

        A policy that refits does so `refits` times at the end; "all" refits where `learn` would, which takes as long.
        Its rows count as steps, and as warm-up pulls of their actions.
        """
        if refits != "all" and (type(refits) is not int or refits < 1):
            raise UsageError(f"refits must be a whole number of at least 1 or 'all', not {refits!r}")
        matrix = self._codec.contexts(contexts)
        numbers = self._codec.actions(actions, len(matrix))
        paid = check_call.reward_vector(rewards, len(matrix))
        if not len(matrix):
            return 0
        with self._lock:
            rows = {"contexts": matrix.tolist(), "actions": numbers.tolist(), "rewards": paid.tolist()}
            self._record({"rows": rows, "refits": refits} if self._journal else {})
            self._decider.clock.give(numbers)
            return self._learner.learn_many(matrix, numbers, paid, refits)

    # Looking after it

    @property
    def decisions(self) -> int:
        """How often it chose."""
        return self._decider.clock.decisions

    @property
    def observations(self) -> int:
        """How often it learned."""
        return self._learner.observations

    @property
    def _state(self) -> State:
        return self._learner.state

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
                **({"encoder": self._codec.counts.as_dict()} if self.encoder else {}),
            }

    def diagnostics(self) -> dict[str, float | list[float]]:
        """What the policy says of its state: scalars such as the jitter its matrices needed, and timelines."""
        with self._lock:
            return {name: np.asarray(value).tolist() for name, value in self.policy.diagnostics(self._state).items()}

    def warm(self, *, rows: int = 0, draws: int = DRAWS) -> None:
        """Compile all that `choose`, `decide` and `learn` need, and from now on larger refits ahead of their need.

        `rows` makes room for so many observations at once, so that nothing is compiled before they have come. What
        exists by then is taken out of Python's garbage collection (`gc.freeze`): looking through all that compiling
        leaves behind takes more than 100 ms, in the middle of a request.
        """
        with self._lock:
            self._decider.warm(draws)
            self._learner.warm(rows)
        gc.collect()
        gc.freeze()

    def wait(self) -> None:
        """Until no refit runs in the background."""
        self._learner.background.wait()

    def close(self) -> None:
        """Wait for the background and close the journal. The agent goes on without one."""
        self._learner.background.close()
        with self._lock:
            if self._journal is not None:
                self._last_record = self._journal.last
                self._journal.close()
                self._journal = None

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Keeping it

    def save(self, path: str | Path) -> None:
        """Write everything to one file, whole or not at all."""
        with self._lock:
            stored = checkpoint.pack(self)
        checkpoint.write(Path(path), stored)

    @classmethod
    def load(cls, path: str | Path, *, background: bool = False, journal: str | Path | None = None) -> Agent:
        """The agent that `save` wrote; raises UsageError, in one sentence, for a file that holds none.

        With a journal, what it holds after the save is done again and the journal is continued.
        """
        return checkpoint.unpack(cls, Path(path), background=background, journal=journal)

    def _record(self, record: dict[str, Any]) -> None:
        if self._journal is not None:
            self._journal.write(record)

    def _keep_journal(self, path: Path) -> None:
        """Do again what the journal holds, then continue it."""
        journal = Journal(path, self.policy, self.spec, self._last_record)
        checkpoint.redo(self, journal)
        self._learner.background.wait()
        journal.last += len(journal.records)
        journal.records = []
        self._journal = journal


def _spec(context_dim: int | None, num_actions: int | None, encoder: Encoder | None) -> ProblemSpec:
    if encoder is not None:
        spec = ProblemSpec(encoder.context_dim, len(encoder.action_names))
        if context_dim not in (None, spec.context_dim) or num_actions not in (None, spec.num_actions):
            raise UsageError(f"the encoder makes {spec.context_dim} features and has {spec.num_actions} actions")
        return spec
    if context_dim is None or num_actions is None:
        raise UsageError("an agent needs context_dim and num_actions, or an encoder that knows them")
    if context_dim < 1 or num_actions < 2:
        raise UsageError(f"an agent needs a context and a choice, not {context_dim} features, {num_actions} actions")
    return ProblemSpec(context_dim, num_actions)


def _logged(decision: Decision) -> dict[str, Any]:
    return {"action": decision.action, "propensity": decision.propensity}
