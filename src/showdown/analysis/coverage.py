"""Which policies can be compared over several problems: only those that played the same ones."""

from __future__ import annotations

import itertools
import math
from collections import Counter
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
    """From rows with policy and problem: the largest table without gaps over at least half of the problems.

    Half, because ranks over two problems say little, however many methods played both; where no two methods share half
    of the problems, any two. Sets of problems that are looked at: those that a method played, and what two of these
    have in common. Of two tables with as many cells, the one with more problems. References count for neither rule;
    they are among the policies where they played these problems.
    """
    pairs = cells[["policy", "problem"]].drop_duplicates()
    problems = list(dict.fromkeys(pairs["problem"]))
    sets = {policy: frozenset(group) for policy, group in pairs.groupby("policy", sort=False)["problem"]}
    methods = [policy for policy in sets if policy not in references] or list(sets)
    chosen = frozenset(problems)
    if len(methods) > 1 and any(sets[policy] != chosen for policy in methods):
        chosen = _largest([sets[policy] for policy in methods], len(problems))
    shown = [policy for policy in sets if chosen and chosen <= sets[policy]]
    played = {policy: len(group) for policy, group in sets.items()}
    return Coverage(shown, [name for name in problems if name in chosen], played, len(problems))


def _largest(sets: list[frozenset[str]], total: int) -> frozenset[str]:
    """Of the problems that each method played: those of the largest table of two methods or more; may be empty."""
    count = Counter(sets)
    own = list(count)
    shared = (one & other for one, other in itertools.combinations(own, 2))
    sizes = {
        one: (len(one), sum(number for other, number in count.items() if one <= other))
        for one in dict.fromkeys([*own, *shared, frozenset.intersection(*own)])
    }
    tables = [one for one, (_, methods) in sizes.items() if one and methods > 1]
    wide = [one for one in tables if 2 * len(one) >= total] or tables
    return max(wide, key=lambda one: (math.prod(sizes[one]), len(one)), default=frozenset())
