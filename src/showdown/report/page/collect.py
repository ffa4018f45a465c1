"""Collect the page's data from a store: plain lists and numbers, every one of them an analysis function's answer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from showdown import __version__
from showdown.analysis.notes import merged
from showdown.analysis.selection import in_order, select
from showdown.basics.errors import UsageError
from showdown.bench.record import Record
from showdown.bench.store import Store
from showdown.metrics.metric import Metric
from showdown.policies import policies as known_policies
from showdown.problems import problems as known_problems
from showdown.report.describe import SHOWDOWN, configuration_rows, family, field_comments, policy_card, problem_card
from showdown.report.grid import unfinished
from showdown.report.page.answer import read_answer
from showdown.report.page.cells import Findings, cells_of
from showdown.report.page.tunings import tunings_of

_LONGEST_REASON = 1000  # letters of a failure's reason


def collect(
    directory: Any, *, command: str, title: str = "", docs: str = "", store: Store | None = None, whole: bool = True
) -> dict[str, Any]:
    """All that the page shows of the store in `directory`, or of `store`, a part of it.

    Unless `whole`, that is neither tunings nor a recommendation that the folder holds.

    `command` is what made the page, `docs` where the documentation is (an address to which the names of its pages are
    appended).
    """
    store = store or Store(directory)
    records = store.cells()
    frame = store.frame(records)
    texts = frame.select_dtypes(exclude=["number", "bool"]).columns
    frame = frame.astype(dict.fromkeys(texts, object))  # plain objects, on which look-ups are many times faster
    warnings = list(store.warnings)
    tunings = tunings_of(directory, warnings, is_store=bool(records)) if whole else []
    if not records and not tunings:
        raise UsageError(f"{directory} holds no cell to report; `showdown run --out {directory}` makes some")
    by_cell = {record.cell: record for record in records}
    found = cells_of(select(frame), store, by_cell) if len(frame) else Findings()
    failed = unfinished(records)
    shown = {cell["cell"] for cell in found.cells.values()}
    about = _about_runs([by_cell[cell] for cell in shown] or records, records)
    shown_last = sorted(records, key=lambda record: record.cell in shown)  # and the newest of these at the end
    policies, problems = (
        {name: describe(name, shown_last, found) for name in in_order(names, known)}
        for names, known, describe in (
            ([record.policy for record in records], known_policies.names(), _about_policy),
            ([record.problem for record in records], known_problems.names(), _about_problem),
        )
    )
    for cell in [*found.cells.values(), *failed]:
        _add_own_configuration(cell, by_cell[cell["cell"]], policies, problems)
    return {
        "title": title or name_of(directory),
        "command": command,
        "docs": docs,
        "paper": SHOWDOWN,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "metrics": [_about_metric(metric) for metric in found.metrics],
        "policies": list(policies.values()),
        "problems": list(problems.values()),
        "cells": list(found.cells.values()),
        "unfinished": [{**cell, "reason": (cell["reason"] or "")[:_LONGEST_REASON]} for cell in failed],
        "comments": _comments(records),
        "rank_tests": found.rank_tests,
        "agreement": found.agreement["agreement"],
        "agreement_of_readings": found.agreement["agreement_of_readings"],
        "notes": [str(note) for note in merged(found.notes)],
        "verdicts": found.verdicts,
        "overviews": found.overviews,
        "aggregates": found.aggregates,
        "answer": read_answer(directory, warnings) if whole else None,
        "no_times": found.no_times,
        "tunings": tunings,
        "warnings": warnings,
        "about": about,
    }


def name_of(directory: Any) -> str:
    """What a page without a title is called: the folder's own name, never its path."""
    name = Path(directory).resolve().name
    return name if name not in ("", "results") else "Showdown results"


def _about_metric(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "title": metric.title,
        "smaller_is_better": metric.smaller_is_better,
        "per_cell": bool(metric.cell),
    }


def _about_policy(name: str, records: list[Record], found: Findings) -> dict[str, Any]:
    configured = next(record for record in reversed(records) if record.policy == name).identity["policy"]
    return {
        "name": name,
        "family": family(configured),
        **policy_card(name, configured),
        "configuration": configuration_rows(configured),
        "mean_rank": {metric.name: found.mean_rank.get((name, metric.name)) for metric in found.metrics},
        "ranks": {metric.name: found.ranks.get((name, metric.name), []) for metric in found.metrics},
        "paper_rank": found.paper_rank.get(name),
    }


def _about_problem(name: str, records: list[Record], found: Findings) -> dict[str, Any]:
    mine = [record for record in reversed(records) if record.problem == name]
    references = {metric.name: found.reference.get((name, metric.name)) for metric in found.metrics}
    return {
        "name": name,
        **problem_card(name, mine[0].identity["problem"]),
        "configuration": configuration_rows(mine[0].identity["problem"]),
        "context_dim": next((record.context_dim for record in mine if record.context_dim is not None), None),
        "num_actions": next((record.num_actions for record in mine if record.num_actions is not None), None),
        "units": {metric.name: found.units.get((name, metric.name)) for metric in found.metrics},
        "reference": {metric: value for metric, value in references.items() if value},
    }


def _add_own_configuration(
    cell: dict[str, Any], record: Record, policies: dict[str, Any], problems: dict[str, Any]
) -> None:
    """Add a cell's own configuration where its names stood for something else when it was played; most need none."""
    common = {"policy": policies[cell["policy"]], "problem": problems[cell["problem"]]}
    own = {part: configuration_rows(record.identity[part]) for part in common}
    differing = {part: rows for part, rows in own.items() if rows != common[part]["configuration"]}
    if differing:
        cell["configuration"] = differing


def _comments(records: list[Record]) -> dict[str, str]:
    """What is said about each field, by `Class.field`, for every class that a cell was made with."""
    found: dict[str, str] = {}
    kinds = set()
    for record in records:
        for stored in (record.identity[part] for part in ("policy", "problem")):
            shape = tuple((row["of"], row["field"]) for row in configuration_rows(stored))
            if shape not in kinds:
                kinds.add(shape)
                found.update(field_comments(stored))
    return {field: comment for field, comment in found.items() if comment}


def _about_runs(records: list[Record], all_records: list[Record]) -> dict[str, list[str]]:
    """Every version, machine and seed behind the numbers, each once, and the seeds of the store that are not shown."""
    seeds = {record.seed for record in records}

    def each(name: str) -> list[str]:
        texts = (", ".join(f"{key} {value}" for key, value in getattr(record, name).items()) for record in records)
        return sorted({text for text in texts if text})

    return {
        "versions": each("versions"),
        "hardware": each("hardware"),
        "seeds": [str(seed) for seed in sorted(seeds)],
        "other_seeds": [str(seed) for seed in sorted({record.seed for record in all_records} - seeds)],
    }
