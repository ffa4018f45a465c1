"""Song: in which of 10 spans of years a song came out, from 90 features of its timbre.

The years are cut into ten buckets of neighbouring years, as equal in number of songs as whole years allow. A song of
bucket i pays exp(−(i − j)²/2) to action j: 1 for the right bucket, 0.61 next to it, 0.14 two away.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, appendix on real-world datasets.
Data: Bertin-Mahieux and others, "The Million Song Dataset", 2011; YearPredictionMSD, UCI Machine Learning Repository.

Differences from the paper
1. The paper says "decreasing Gaussian rewards" of the distance between buckets and lists them as deterministic, without
   a width; this code was never released. The width of one bucket and the deterministic reward are our choice.
2. So are the features: all 90 (12 averages and 78 covariances), standardised over the rows of the trial.
3. Rows are those of the data set's own training part, its first 463,715.

Redrawn every trial: which 250,000 of the rows are played, and their order.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from showdown.config import at_least, config, param
from showdown.data.parsed_cache import Arrays, parsed
from showdown.problems.registry import problems
from showdown.problems.rows import LabelledRows, LabelledTables

TRAINING_ROWS = 463_715
NUM_ACTIONS = 10


def parse(stream: BinaryIO) -> Arrays:
    import pandas

    rows = pandas.read_csv(stream, header=None, nrows=TRAINING_ROWS, dtype=np.float32).to_numpy()
    return {"contexts": np.ascontiguousarray(rows[:, 1:]), "labels": year_buckets(rows[:, 0].astype(np.int32))}


def year_buckets(years: np.ndarray) -> np.ndarray:
    """Each year's bucket is where the middle of its songs falls when all are put in order of year, (rows,) int32."""
    _, positions, counts = np.unique(years, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - counts / 2
    return np.floor(NUM_ACTIONS * middles / len(years)).astype(np.int32)[positions]


@config
class Song(LabelledRows):
    horizon: int = param(250_000, "steps of one trial", at_least(1))

    def load(self) -> LabelledTables:
        distance = np.subtract.outer(np.arange(NUM_ACTIONS), np.arange(NUM_ACTIONS))
        return LabelledTables(**parsed("song", parse), payoffs=np.exp(-(distance**2) / 2).astype(np.float32))


problems.add("song", Song())
