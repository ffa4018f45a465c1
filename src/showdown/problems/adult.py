"""Adult: which of 14 occupations a person has, from 94 census features.

The right occupation pays 1, any other 0. Rows with a missing value are left out; 45,222 of both parts remain.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, appendix on real-world datasets.
Data: Becker, Kohavi, UCI Machine Learning Repository, 1996.

Differences from the paper
1. None known. d = 94 because the second part of the data writes income with a trailing period: it has four categories
   where two are meant. They are kept apart, as in the paper; all columns are standardised over the rows of the trial.

Redrawn every trial: the order of the rows.
"""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from showdown.config import at_least, config, param
from showdown.data.parsed_cache import Arrays, parsed
from showdown.problems.registry import problems
from showdown.problems.rows import LabelledRows, LabelledTables, classification_tables

OCCUPATION, INCOME = 6, 14
INCOME_VERSION = 1001  # of what is kept of the same files for the other label; not one that `Adult` will ever have
NUMERIC = (0, 2, 4, 10, 11, 12)  # age, weight, years of education, capital gain and loss, hours a week
NUM_ACTIONS = 14


def _people(*streams: BinaryIO) -> Any:
    """The rows of both parts without those that lack a value, as a DataFrame."""
    import pandas

    parts = [
        pandas.read_csv(stream, header=None, skipinitialspace=True, comment="|", na_values="?", keep_default_na=False)
        for stream in streams
    ]
    return pandas.concat(parts, ignore_index=True).dropna()


def parse(*streams: BinaryIO) -> Arrays:
    import pandas

    people = _people(*streams)
    numbers = people[list(NUMERIC)].to_numpy(np.float32)
    categories = people.drop(columns=[OCCUPATION, *NUMERIC]).astype(str)
    contexts = np.concatenate([numbers, pandas.get_dummies(categories).to_numpy(np.float32)], axis=1)
    occupations = np.unique(people[OCCUPATION].to_numpy(str), return_inverse=True)[1]
    return {"contexts": contexts, "labels": occupations.astype(np.int32)}


@config
class Adult(LabelledRows):
    horizon: int = param(45_222, "steps of one trial", at_least(1))

    def load(self) -> LabelledTables:
        return classification_tables(**parsed("adult", parse), num_classes=NUM_ACTIONS)


def parse_income(*streams: BinaryIO) -> Arrays:
    import pandas

    people = _people(*streams)
    numbers = people[list(NUMERIC)].to_numpy(np.float32)
    categories = people.drop(columns=[INCOME, *NUMERIC]).astype(str)
    contexts = np.concatenate([numbers, pandas.get_dummies(categories).to_numpy(np.float32)], axis=1)
    rich = people[INCOME].astype(str).str.startswith(">").to_numpy()
    return {"contexts": contexts, "labels": rich.astype(np.int32)}


@config
class AdultIncome(LabelledRows):
    """Whether a person earns more than 50,000 dollars: the Adult of NeuralUCB and NeuralTS, with two actions."""

    horizon: int = param(45_222, "steps of one trial", at_least(1))

    def load(self) -> LabelledTables:
        return classification_tables(**parsed("adult", parse_income, INCOME_VERSION), num_classes=2)


problems.add("adult", Adult())
problems.add("adult-income", AdultIncome())
