"""What a person should know before playing a table: what reads well and is still likely to mislead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from showdown.data.column_rules import CategoryRule, NumberRule, Rule
from showdown.data.leaks import columns_that_decide, likely_identifiers
from showdown.data.written_values import UNCLEAR_DAY_FIRST

FEW_ROWS = 20  # below this many, a column that agrees with the label proves little
LOOKED_AT = 1000  # first rows, in which a column with more values than there are classes shows itself
SHOWN = 5  # names in a sentence


def warnings_of(
    frame: pd.DataFrame, rules: tuple[Rule, ...], labels: np.ndarray, classes: dict[str, int], rewards: list[str]
) -> tuple[str, ...]:
    """Sentences. `frame` holds the rows that are played; `classes` or `rewards`, the reward columns, may be empty."""
    context = [rule.name for rule in rules]
    dims = sum(rule.dims for rule in rules)
    return (
        *(_leaks(frame, context, labels, len(classes)) if classes else ()),
        *_identifiers(frame, context),
        *_equal_to_rewards(frame, context, rewards),
        *_classes_of_one_row(classes),
        *_wide(dims, len(frame)),
        *_spellings("the label", classes),
        *(each for rule in rules if isinstance(rule, CategoryRule) for each in _spellings(rule.name, rule.categories)),
        *_unclear_dates(rules),
    )


def _leaks(frame: pd.DataFrame, context: list[str], labels: np.ndarray, classes: int) -> Iterator[str]:
    """A warning for each column that equals the label or decides it."""
    equal = dict(_equal_to_label(frame, context, labels, classes))
    yield from equal.values()
    others = [name for name in context if name not in equal]
    for name, share in columns_that_decide(frame, others, labels):
        yield (
            f"the column {name!r} decides the label in {share:.1%} of the rows, so the answer may be in the context: "
            "leave the column out with ignore, unless it is known before the decision"
        )


def _identifiers(frame: pd.DataFrame, context: list[str]) -> Iterator[str]:
    found = likely_identifiers(frame, context)
    if found:
        have = "the column" if len(found) == 1 else "the columns"
        yield (
            f"{have} {_listed(found)} may name the rows (a different whole number in each): "
            "leave out with ignore what says nothing about the answer"
        )


def _equal_to_label(
    frame: pd.DataFrame, context: list[str], labels: np.ndarray, classes: int
) -> Iterator[tuple[str, str]]:
    """The columns of which each value stands for one class, with a warning for each."""
    if len(frame) < FEW_ROWS:
        return
    for name in context:
        if frame[name].iloc[:LOOKED_AT].nunique() > classes:  # which spares most columns the full count
            continue
        codes, values = pd.factorize(frame[name])
        present = codes >= 0
        if len(values) != classes or not present.any():
            continue
        pairs = len(np.unique(codes[present].astype(np.int64) * classes + labels[present]))
        if pairs == len(values) and len(np.unique(labels[present])) == classes:
            yield (
                name,
                f"the column {name!r} equals the label (each of its values stands for one class), so the answer is in "
                "the context: leave the column out with ignore, unless it is known before the decision",
            )


def _equal_to_rewards(frame: pd.DataFrame, context: list[str], rewards: list[str]) -> Iterator[str]:
    for name in context:
        same = next((reward for reward in rewards if frame[name].equals(frame[reward])), None)
        if same is not None:
            yield f"the column {name!r} equals the reward column {same!r}, so the answer is in the context"


def _classes_of_one_row(classes: dict[str, int]) -> Iterator[str]:
    single = [name for name, count in classes.items() if count == 1]
    if single:
        are = "class has" if len(single) == 1 else "classes have"
        yield f"{len(single)} {are} one row only ({_listed(single)}): nothing can be learned about them"


def _wide(dims: int, rows: int) -> Iterator[str]:
    if 2 * dims >= rows:
        yield (
            f"the context has {dims:,} dimensions and the table {rows:,} rows: too few to learn from; "
            "leave columns out, or bring more rows"
        )


def _spellings(where: str, names: Iterable[str]) -> Iterator[str]:
    """A warning for each group of names that differ by upper case or spaces alone."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike["".join(name.split()).casefold()].append(name)
    groups = [group for group in alike.values() if len(group) > 1]
    if groups:
        shown = "; ".join(" and ".join(map(repr, group[:SHOWN])) for group in groups[:SHOWN])
        where = where if where == "the label" else f"the column {where!r}"
        yield f"{where} has values that differ only by upper case or spaces and count as different: {shown}"


def _unclear_dates(rules: tuple[Rule, ...]) -> Iterator[str]:
    unclear = [rule.name for rule in rules if isinstance(rule, NumberRule) and rule.writing == UNCLEAR_DAY_FIRST]
    if unclear:
        yield (
            f"the dates in {_listed(unclear)} could be day/month or month/day and were read as day/month: "
            "write them as 2020-04-03 if that is wrong"
        )


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:SHOWN])) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
