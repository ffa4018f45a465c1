"""Mushroom: eat it or leave it, from 22 attributes coded as 117 zeros and ones.

Leaving a mushroom (action 0) pays 0. Eating it (action 1) pays 5 if it is edible; if it is poisonous, 5 or −35 with
equal probability, −15 on average. Of the 8,124 mushrooms 4,208 are edible. Uniform's mean regret per step is 4.91.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, appendix on real-world datasets.
Data: Schlimmer, UCI Machine Learning Repository, 1987.

Differences from the paper
1. None known. "22 attributes" are 117 one-hot columns ("?" is a category of its own), not standardised.

Redrawn every trial: the rows, with replacement, and the coin of each.
"""

from __future__ import annotations

from typing import BinaryIO, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from showdown.config import at_least, config, param
from showdown.data.parsed_cache import Arrays, parsed
from showdown.problems.registry import problems
from showdown.protocol.keys import role_key
from showdown.protocol.problem import Problem, ProblemSpec, Round

GOOD, BAD = 5.0, -35.0


class MushroomTables(NamedTuple):
    contexts: jax.Array | np.ndarray  # (rows, context_dim) float32
    edible: jax.Array | np.ndarray  # (rows,) bool


class MushroomEpisode(NamedTuple):
    order: jax.Array  # (horizon,) int32 row of each step
    lucky: jax.Array  # (horizon,) bool: eating it, if it is poisonous, goes well this time


def parse(stream: BinaryIO) -> Arrays:
    import pandas

    letters = pandas.read_csv(stream, header=None, dtype=str, keep_default_na=False)
    contexts = pandas.get_dummies(letters.iloc[:, 1:]).to_numpy(np.float32)
    return {"contexts": contexts, "edible": (letters[0] == "e").to_numpy(bool)}


@config
class Mushroom(Problem):
    horizon: int = param(50_000, "steps of one trial", at_least(1))

    def load(self) -> MushroomTables:
        return MushroomTables(**parsed("mushroom", parse))

    def spec(self, tables: MushroomTables) -> ProblemSpec:
        return ProblemSpec(tables.contexts.shape[1], 2)

    def begin(self, key: jax.Array, tables: MushroomTables) -> MushroomEpisode:
        rows = tables.contexts.shape[0]
        return MushroomEpisode(
            order=jax.random.randint(role_key(key, "order"), (self.horizon,), 0, rows, jnp.int32),
            lucky=jax.random.bernoulli(role_key(key, "lucky"), shape=(self.horizon,)),
        )

    def context(self, step: jax.Array, episode: MushroomEpisode, tables: MushroomTables) -> jax.Array:
        return tables.contexts[episode.order[step]]

    def round(self, step: jax.Array, episode: MushroomEpisode, tables: MushroomTables) -> Round:
        edible = tables.edible[episode.order[step]]
        eaten = jnp.where(edible | episode.lucky[step], GOOD, BAD)
        eaten_mean = jnp.where(edible, GOOD, (GOOD + BAD) / 2)
        zero = jnp.zeros_like(eaten)
        return Round(self.context(step, episode, tables), jnp.stack([zero, eaten]), jnp.stack([zero, eaten_mean]))


problems.add("mushroom", Mushroom())
