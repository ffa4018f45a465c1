"""Statlog (Shuttle): which of 7 states the shuttle's radiator is in, from 9 sensor readings.

The right class pays 1, any other 0. One class holds 78.4 % of the 43,500 rows, so always playing it is hard to leave.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, appendix on real-world datasets.
Data: Statlog (Shuttle), UCI Machine Learning Repository; the training part.

Differences from the paper
1. None known. Features are standardised over the rows of the trial, as in the authors' sampler.

Redrawn every trial: the order of the rows.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from showdown.config import at_least, config, param
from showdown.data.parsed_cache import Arrays, parsed
from showdown.problems.registry import problems
from showdown.problems.rows import LabelledRows, LabelledTables, classification_tables

NUM_ACTIONS = 7


def parse(stream: BinaryIO) -> Arrays:
    import pandas

    rows = pandas.read_csv(stream, sep=" ", header=None).to_numpy()
    return {"contexts": rows[:, :-1].astype(np.float32), "labels": rows[:, -1].astype(np.int32) - 1}


@config
class Statlog(LabelledRows):
    horizon: int = param(43_500, "steps of one trial", at_least(1))

    def load(self) -> LabelledTables:
        return classification_tables(**parsed("statlog", parse), num_classes=NUM_ACTIONS)


problems.add("statlog", Statlog())
