"""The verdict about stored cells with what makes it doubtful, as tables, the page, `run` and `recommend` use it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from showdown.analysis.cautions import Caution, FewProblems
from showdown.analysis.facts import Facts
from showdown.analysis.measured import measured
from showdown.analysis.over_problems import problems_needed
from showdown.analysis.validity import about_play, catching_up, few_trials, no_times, unequal_coverage
from showdown.analysis.verdict import Verdict, verdict
from showdown.metrics import MAIN, metric_named


def judge(
    frame: pd.DataFrame,
    facts: Facts,
    metric: str = MAIN,
    *,
    expected: bool = False,
    problems: Sequence[str] | None = None,
    decide_seconds: Mapping[str, float] | None = None,
) -> Verdict:
    """Of cells that `selection.select` chose; over `problems`, or all that the frame holds.

    The cheapest is the fastest to play or, where `decide_seconds` has it by policy, the fastest to decide.
    """
    rows = frame if problems is None else frame[frame["problem"].isin(problems)]
    cells = rows.drop_duplicates(["policy", "problem"])
    seconds = {
        (str(policy), str(problem)): facts[cell].step_seconds
        for policy, problem, cell in zip(cells["policy"], cells["problem"], cells["cell"], strict=True)
        if cell in facts
    }
    refused = no_times(rows, facts)
    if decide_seconds is not None:
        seconds, refused = {key: decide_seconds.get(key[0], math.nan) for key in seconds}, ""
    found = verdict(rows, metric, expected=expected, seconds=seconds, no_times=refused)
    asked = metric_named(metric)
    held = rows if asked.cell else measured(rows, asked, expected).frame
    of_cells = held.drop_duplicates(["policy", "problem"])  # whose trials are not looked at any more
    return replace(found, warnings=tuple(map(str, _cautions(of_cells, facts, found))))


def _cautions(rows: pd.DataFrame, facts: Facts, found: Verdict) -> list[Caution]:
    """About the cells that the verdict rests on, the most serious first."""
    meant = rows[rows["problem"].isin(found.problems) & ~rows["policy"].isin(found.left_out)]
    leading = meant if found.best is None else meant[meant["policy"].isin(found.ties)]
    # few trials are enough for a policy that they put clearly behind, and coverage is about all policies
    doubts = about_play(meant, facts)
    doubts += [caution for caution in (few_trials(leading), *unequal_coverage(rows)) if caution.items]
    methods, needed = len(found.rivals) + 1, problems_needed(max(2, len(found.rivals) + 1))
    if found.best is not None and 1 < len(found.problems) < needed:
        doubts = [FewProblems(((len(found.problems), methods, needed),)), *doubts]
    if found.best is not None and len(found.problems) == 1:
        crossing = catching_up(meant, facts, found.best, [rival.policy for rival in found.rivals])
        doubts = [*([crossing] if crossing.items else []), *doubts]
    return doubts
