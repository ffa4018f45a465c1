"""Which policies can be compared over several problems: only those that played the same ones."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from showdown.analysis.summary import BASELINE

# What every method should beat. It is shown, but a verdict never counts it among the methods it chooses from.
REFERENCES = frozenset({BASELINE})


class Coverage(NamedTuple):
    policies: list[str]  # that played all of `problems`
    problems: list[str]
    played: dict[str, int]  # policy to the number of all problems that it played
    total: int  # of all problems

    @property
    def left_out(self) -> list[str]:
        return [policy for policy in self.played if policy not in self.policies]


def coverage(cells: pd.DataFrame, references: frozenset[str] = REFERENCES) -> Coverage:
    """From rows with policy and problem: the policies that played every problem, and all problems.

    Where fewer than two methods played every problem: the problems and methods that fill the largest complete table,
    among the sets of problems that some method played. References count for neither rule; they are among the policies
    where they played these problems.
    """
    pairs = cells[["policy", "problem"]].drop_duplicates()
    problems = list(dict.fromkeys(pairs["problem"]))
    sets = {policy: frozenset(group) for policy, group in pairs.groupby("policy", sort=False)["problem"]}
    methods = [policy for policy in sets if policy not in references] or list(sets)

    def complete(chosen: frozenset[str]) -> list[str]:
        return [policy for policy in methods if chosen <= sets[policy]]

    chosen = frozenset(problems)
    if len(methods) > 1 and len(complete(chosen)) < 2:
        shared = frozenset.intersection(*(sets[policy] for policy in methods))
        tables = [one for one in dict.fromkeys([*(sets[policy] for policy in methods), shared]) if one]
        comparable = [one for one in tables if len(complete(one)) > 1]
        chosen = max(comparable, key=lambda one: (len(one) * len(complete(one)), len(one)), default=frozenset())
    shown = [policy for policy in sets if chosen and chosen <= sets[policy]]
    played = {policy: len(group) for policy, group in sets.items()}
    return Coverage(shown, [name for name in problems if name in chosen], played, len(problems))
