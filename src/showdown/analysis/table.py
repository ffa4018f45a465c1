"""A table of policies × problems: tidy rows and how to arrange them. `report/formats` writes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from showdown.analysis import SUMMARY
from showdown.analysis.agreement import count_findings
from showdown.analysis.notes import Note
from showdown.analysis.summary import BASELINE
from showdown.analysis.verdict import Verdict
from showdown.metrics import MAIN, METRICS
from showdown.metrics.metric import Metric

RANK = "mean_rank"  # the column (and metric) of mean ranks, where there is one


def _no_rows() -> pd.DataFrame:
    return pd.DataFrame(columns=list(SUMMARY))


@dataclass(frozen=True)
class Table:
    title: str
    rows: pd.DataFrame  # a summary; with the columns of `against` when it is compared with the paper
    policies: list[str]  # every policy of the rows, in the order they are shown
    problems: list[str]  # every problem of the rows, likewise
    notes: list[Note] = field(default_factory=list)  # sentences below the table
    not_shown: list[dict[str, Any]] = field(default_factory=list)  # cells that were tried and are not done
    metric: Metric = METRICS[MAIN]
    reference: pd.DataFrame = field(default_factory=_no_rows)  # a summary of the best fixed action; ranked nowhere
    verdict: Verdict | None = None  # about all that is shown
    best: dict[str, tuple[str, ...]] = field(default_factory=dict)  # problem to its best policies: all that tie

    @property
    def is_compared(self) -> bool:
        return "agrees" in self.rows

    @property
    def agreement(self) -> dict[str, dict[str, int]]:
        """How many cells agree with the paper, are too noisy to tell, and were compared: of presets, and of readings.

        Uniform, and what the metric is relative to, are no evidence: they agree with themselves.
        """
        no_evidence = {BASELINE, self.metric.baseline} - {None}

        def count(readings: bool) -> dict[str, int]:
            return count_findings(self.rows, readings=readings, without=no_evidence)

        return {"agreement": count(readings=False), "agreement_of_readings": count(readings=True)}

    def smaller_is_better(self, problem: str) -> bool:
        return problem == RANK or self.metric.smaller_is_better
