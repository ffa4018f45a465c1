"""From a store to the page's data: plain lists and numbers, every one of them an analysis function's answer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from showdown import __version__
from showdown.analysis.notes import merged
from showdown.analysis.selection import in_order, select
from showdown.basics.errors import UsageError
from showdown.bench.store import Store
from showdown.policies import policies as known_policies
from showdown.problems import problems as known_problems
from showdown.report.page import subjects
from showdown.report.page.cards import SHOWDOWN
from showdown.report.page.cells import Findings, cells_of
from showdown.report.page.tunings import tunings_of
from showdown.report.unfinished import unfinished

_LONGEST_REASON = 1000  # letters of a failure's reason


def collect(directory: Any, *, command: str, title: str = "", docs: str = "") -> dict[str, Any]:
    """All that the page shows of the store in `directory`; `command` is what made the page, `docs` where the
    documentation is (an address to which the names of its pages are appended)."""
    store = Store(directory)
    records = store.cells()
    frame = store.frame(records)
    texts = frame.select_dtypes(exclude=["number", "bool"]).columns
    frame = frame.astype(dict.fromkeys(texts, object))  # plain objects, on which look-ups are many times faster
    warnings = list(store.warnings)
    if not records:
        raise UsageError(f"{directory} holds no cell to report; `showdown run --out {directory}` makes some")
    by_cell = {record.cell: record for record in records}
    found = cells_of(select(frame), store, by_cell) if len(frame) else Findings()
    failed = unfinished(records)
    shown = {cell["cell"] for cell in found.cells.values()}
    about = subjects.about([by_cell[cell] for cell in shown] or records, records)
    shown_last = sorted(records, key=lambda record: record.cell in shown)  # and the newest of these at the end
    policies, problems = (
        {name: describe(name, shown_last, found) for name in in_order(names, known)}
        for names, known, describe in (
            ([record.policy for record in records], known_policies.names(), subjects.policy),
            ([record.problem for record in records], known_problems.names(), subjects.problem),
        )
    )
    for cell in [*found.cells.values(), *failed]:
        subjects.add_own_configuration(cell, by_cell[cell["cell"]], policies, problems)
    return {
        "title": title or name_of(directory),
        "command": command,
        "docs": docs,
        "paper": SHOWDOWN,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "metrics": [subjects.metric(metric) for metric in found.metrics],
        "policies": list(policies.values()),
        "problems": list(problems.values()),
        "cells": list(found.cells.values()),
        "unfinished": [{**cell, "reason": (cell["reason"] or "")[:_LONGEST_REASON]} for cell in failed],
        "comments": subjects.comments(records),
        "rank_tests": found.rank_tests,
        "agreement": found.agreement["agreement"],
        "agreement_of_readings": found.agreement["agreement_of_readings"],
        "notes": [str(note) for note in merged(found.notes)],
        "verdicts": found.verdicts,
        "no_times": found.no_times,
        "tunings": tunings_of(directory, warnings),
        "warnings": warnings,
        "about": about,
    }


def name_of(directory: Any) -> str:
    """What a page without a title is called: the folder's own name, never its path."""
    name = Path(directory).resolve().name
    return name if name not in ("", "results") else "Showdown results"
