"""What an agent takes in: rewards of its decisions, what others decided, histories, tables and logs."""

from __future__ import annotations

from typing import Any

import numpy as np

from showdown.agent import codec, records, table_rows
from showdown.agent.learner import Refits
from showdown.agent.upkeep import Upkeep
from showdown.basics.errors import UsageError


class Learning(Upkeep):
    """The part of `Agent` that learns; it is not used alone."""

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
        _check_refits(refits)
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
        _check_refits(refits)
        if (bool(label or rewards) + bool(action and reward)) != (not hasattr(data, "bandit_table")):
            raise UsageError("name the label, or the reward columns, of a table; or the action and the reward of a log")
        if options and (action or hasattr(data, "bandit_table")):
            raise UsageError(f"{min(options)} goes with the label, or the reward columns, of a table")
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


def _check_refits(refits: Any) -> None:
    if refits != "all" and (type(refits) is not int or refits < 1):
        raise UsageError(f"refits must be a whole number of at least 1 or 'all', not {refits!r}")
