"""Columns that give the answer away, or that name their rows: a method would look far better here than in use.

A column decides the label where somebody who knows only this column, and has seen other rows with the same value (or,
for a number, the next smaller one), names the right class in 99 of 100 rows and avoids nine of ten mistakes of always
naming the commonest class. Looked at in a sample of rows, so that wide and long tables take no time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from showdown.data.column_values import as_numbers

SAMPLE = 5000  # rows
FEWEST = 50  # rows below which chance could look like a leak
DECIDES = 0.99  # share of rows in which the column names the class
MISTAKES = 0.1  # of those that are made without it


def columns_that_decide(frame: pd.DataFrame, context: list[str], labels: np.ndarray) -> Iterator[tuple[str, float]]:
    """The context columns that decide the label, with the share of rows in which they do."""
    if len(frame) < FEWEST:
        return
    rows = np.random.default_rng(0).permutation(len(frame))[:SAMPLE]
    sample, classes = frame.iloc[rows], labels[rows]
    counts = np.bincount(classes)
    for name in context:
        codes, values = pd.factorize(sample[name])
        held = codes >= 0
        if held.sum() < FEWEST or len(values) < 2:
            continue
        repeats = len(values) <= held.sum() / 3
        share = _by_value(codes[held], classes[held]) if repeats else _by_neighbour(sample[name][held], classes[held])
        chance = counts.max() / len(classes) if repeats else float(((counts / len(classes)) ** 2).sum())
        if share >= DECIDES and 1 - share <= MISTAKES * (1 - chance):
            yield name, share


def _by_value(codes: np.ndarray, classes: np.ndarray) -> float:
    """The share of rows whose class is that of most other rows with the same value."""
    table = np.zeros((codes.max() + 1, classes.max() + 1))
    np.add.at(table, (codes, classes), 1)
    table = table[table.sum(axis=1) > 1]
    return float((table.max(axis=1) - 1).sum() / max(1.0, (table.sum(axis=1) - 1).sum()))


def _by_neighbour(series: pd.Series, classes: np.ndarray) -> float:
    """The share of rows with the class of the next smaller number; 0 for what is no number."""
    numbers = as_numbers(series)
    if numbers is None or not np.isfinite(numbers).all():
        return 0.0
    ordered = classes[np.argsort(numbers, kind="stable")]
    return float((ordered[1:] == ordered[:-1]).mean())


def likely_identifiers(frame: pd.DataFrame, context: list[str]) -> list[str]:
    """The context columns with a different whole number in every row, which may name the row and not describe it."""
    found = []
    for name in context:
        if len(frame) < FEWEST or frame[name].iloc[:SAMPLE].duplicated().any() or frame[name].duplicated().any():
            continue
        numbers = as_numbers(frame[name])
        if numbers is not None and np.isfinite(numbers).all() and (numbers == np.round(numbers)).all():
            found.append(name)
    return found
