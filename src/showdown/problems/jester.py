"""Jester: which of 8 jokes a user will like best, from the user's ratings of 32 others.

Ratings run from −10 to 10 and are used as they are, for contexts and for rewards. The 40 jokes rated most often are
kept, and the 19,181 users who rated all of them.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, appendix on real-world datasets.
Data: Goldberg, Roeder, Gupta, Perkins, "Eigentaste", Information Retrieval 4(2), 2001; the first of its three files.

Differences from the paper
1. None known. Which jokes are context and which are actions is redrawn every trial, as the published standard errors
   show; the paper does not say so.

Redrawn every trial: the roles of the 40 jokes and the order of the users.
"""

from __future__ import annotations

from typing import BinaryIO, NamedTuple

import jax
import numpy as np

from showdown.config import at_least, config, param
from showdown.data.parsed_cache import Arrays, parsed
from showdown.problems.registry import problems
from showdown.problems.rows import check_horizon, shuffled
from showdown.protocol.keys import role_key
from showdown.protocol.problem import Problem, ProblemSpec, Round

NUM_JOKES, CONTEXT_DIM = 40, 32
UNRATED = 99


class JesterTables(NamedTuple):
    ratings: jax.Array | np.ndarray  # (users, NUM_JOKES) float32


class JesterEpisode(NamedTuple):
    order: jax.Array  # (horizon,) int32 user of each step
    jokes: jax.Array  # (NUM_JOKES,) int32: first those of the context, then those to choose from


def parse(stream: BinaryIO) -> Arrays:
    import pandas

    ratings = pandas.read_csv(stream, header=None, dtype=np.float32).to_numpy()[:, 1:]  # column 0 counts ratings
    rated = ratings != UNRATED
    most_rated = np.sort(np.argsort(-rated.sum(axis=0), kind="stable")[:NUM_JOKES])
    complete = rated[:, most_rated].all(axis=1)
    return {"ratings": np.ascontiguousarray(ratings[complete][:, most_rated])}


@config
class Jester(Problem):
    horizon: int = param(19_181, "steps of one trial", at_least(1))

    def load(self) -> JesterTables:
        return JesterTables(**parsed("jester", parse))

    def spec(self, tables: JesterTables) -> ProblemSpec:
        check_horizon(self.horizon, tables.ratings.shape[0])
        return ProblemSpec(CONTEXT_DIM, NUM_JOKES - CONTEXT_DIM)

    def longest(self, tables: JesterTables) -> int:
        return tables.ratings.shape[0]

    def begin(self, key: jax.Array, tables: JesterTables) -> JesterEpisode:
        order = shuffled(role_key(key, "order"), tables.ratings.shape[0], self.horizon)
        return JesterEpisode(order, shuffled(role_key(key, "jokes"), NUM_JOKES, NUM_JOKES))

    def context(self, step: jax.Array, episode: JesterEpisode, tables: JesterTables) -> jax.Array:
        return tables.ratings[episode.order[step]][episode.jokes[:CONTEXT_DIM]]

    def round(self, step: jax.Array, episode: JesterEpisode, tables: JesterTables) -> Round:
        ratings = tables.ratings[episode.order[step]][episode.jokes]
        rewards = ratings[CONTEXT_DIM:]
        return Round(ratings[:CONTEXT_DIM], rewards, rewards)


problems.add("jester", Jester())
