"""Census: which of 9 occupations a person of the 1990 US census has, from 67 coded attributes, each one-hot.

The right occupation (dOccup) pays 1, any other 0. On the device a row stays 67 one-byte codes (about 165 MB for all
2,458,285), and a context is spread out to zeros and ones, and standardised, only when a step needs it.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, appendix on real-world datasets.
Data: Meek, Thiesson, Heckerman, "US Census Data (1990)", UCI Machine Learning Repository.

Differences from the paper
1. d is counted in the file: one column for every value that occurs in any attribute but dOccup and caseid. The paper
   says 389.
2. 250,000 steps as in the paper; the authors' sampler stops at 150,000.
3. The columns are those of the whole file, so d does not vary by trial. A value that no row of a trial has is a column
   of zeros there.

Redrawn every trial: which 250,000 of the rows are played, and their order.
"""

from __future__ import annotations

from typing import BinaryIO, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from showdown.basics.errors import InvalidProblemError
from showdown.config import at_least, config, param
from showdown.data.parsed_cache import Arrays, parsed
from showdown.problems.registry import problems
from showdown.problems.rows import LabelledRows, check_horizon
from showdown.protocol.problem import ProblemSpec

OCCUPATION, IDENTITY = "dOccup", "caseid"
NUM_ACTIONS = 9
_CHUNK_ROWS = 200_000


class CensusTables(NamedTuple):
    codes: jax.Array | np.ndarray  # (rows, attributes) uint8 position of a value among those of its attribute
    attributes: jax.Array | np.ndarray  # (context_dim,) int32 attribute of each one-hot column
    values: jax.Array | np.ndarray  # (context_dim,) uint8 code that the column marks
    labels: jax.Array | np.ndarray  # (rows,) int32
    payoffs: jax.Array | np.ndarray  # (NUM_ACTIONS, NUM_ACTIONS) float32 identity


def parse(stream: BinaryIO) -> Arrays:
    import pandas

    labels, people = [], []
    for chunk in pandas.read_csv(stream, chunksize=_CHUNK_ROWS):
        chunk = chunk.dropna()
        labels.append(chunk[OCCUPATION].to_numpy(np.int32))
        people.append(chunk.drop(columns=[OCCUPATION, IDENTITY]).to_numpy(np.int16))
    written = np.concatenate(people)
    codes, attributes, values = np.empty(written.shape, np.uint8), [], []
    for attribute in range(written.shape[1]):
        known, positions = np.unique(written[:, attribute], return_inverse=True)
        if len(known) > 256:
            raise InvalidProblemError(
                f"attribute {attribute} of the census has {len(known)} values; one byte holds 256"
            )
        codes[:, attribute] = positions
        attributes.append(np.full(len(known), attribute, np.int32))
        values.append(np.arange(len(known), dtype=np.uint8))
    return {
        "codes": codes,
        "attributes": np.concatenate(attributes),
        "values": np.concatenate(values),
        "labels": np.concatenate(labels),
    }


@config
class Census(LabelledRows):
    horizon: int = param(250_000, "steps of one trial", at_least(1))

    def load(self) -> CensusTables:
        return CensusTables(**parsed("census", parse), payoffs=np.eye(NUM_ACTIONS, dtype=np.float32))

    def spec(self, tables: CensusTables) -> ProblemSpec:
        check_horizon(self.horizon, tables.labels.shape[0])
        return ProblemSpec(tables.attributes.shape[0], NUM_ACTIONS)

    def raw_contexts(self, rows: jax.Array, tables: CensusTables) -> jax.Array:
        return (tables.codes[rows][..., tables.attributes] == tables.values).astype(jnp.float32)


problems.add("census", Census())
