"""Digits: which of 10 digits was written, from an image of 8 × 8 pixels. Real data without a download.

The right digit pays 1, any other 0. The 1,797 images ship inside scikit-learn.

Reference: not in the paper; here so that real data can be played at once, on any machine.
Data: Alpaydin, Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository (CC BY 4.0), its
test part as scikit-learn keeps it.

Differences from the paper
1. The paper has no such problem. Pixels are standardised over the rows of the trial, as in its classification problems.

Redrawn every trial: the order of the rows.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from showdown.basics.errors import MissingDataError
from showdown.config import at_least, config, param
from showdown.problems.registry import problems
from showdown.problems.rows import LabelledRows, LabelledTables, classification_tables

NUM_ACTIONS = 10


@cache
def _images() -> tuple[np.ndarray, np.ndarray]:
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingDataError(
            "the digits ship inside scikit-learn, which is not installed; get it with "
            "`pip install 'bandit-showdown[digits]'`"
        ) from error
    return load_digits(return_X_y=True)


@config
class Digits(LabelledRows):
    horizon: int = param(1_797, "steps of one trial", at_least(1))

    def load(self) -> LabelledTables:
        return classification_tables(*_images(), num_classes=NUM_ACTIONS)


problems.add("digits", Digits())
