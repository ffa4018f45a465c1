"""Covertype: which of 7 kinds of forest grows on a patch of land, from 54 cartographic features.

The right class pays 1, any other 0.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, appendix on real-world datasets.
Data: Blackard, UCI Machine Learning Repository, 1998.

Differences from the paper
1. None known. As in the authors' sampler, which took it for a header, the first row of the file is left out (581,011
   remain), and all 54 columns are standardised over the rows of the trial.

Redrawn every trial: which 150,000 of the rows are played, and their order.
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

    rows = pandas.read_csv(stream, header=0, dtype=np.int16).to_numpy()
    return {"contexts": rows[:, :-1].astype(np.float32), "labels": rows[:, -1].astype(np.int32) - 1}


@config
class Covertype(LabelledRows):
    horizon: int = param(150_000, "steps of one trial", at_least(1))

    def load(self) -> LabelledTables:
        return classification_tables(**parsed("covertype", parse), num_classes=NUM_ACTIONS)


problems.add("covertype", Covertype())
