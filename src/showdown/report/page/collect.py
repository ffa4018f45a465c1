"""From a store to the page's data: plain lists and numbers, every one of them an analysis function's answer."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from showdown import __version__
from showdown.analysis.compare import pareto_front, stuck_share
from showdown.analysis.elapsed import elapsed
from showdown.analysis.ranks import mean_ranks, ranks
from showdown.analysis.regret import BASELINE, REGRETS, summarise
from showdown.analysis.selection import Selection, in_order, select
from showdown.bench.record import Record
from showdown.bench.store import Store
from showdown.errors import UsageError
from showdown.policies import policies as known_policies
from showdown.problems import problems as known_problems
from showdown.report.assemble import Request, assemble
from showdown.report.page import compact, configuration
from showdown.report.page.compact import number
from showdown.report.page.ranking import rank_test
from showdown.report.tables import RANK, Table
from showdown.report.unfinished import unfinished

METRICS = (*REGRETS, "time")
_KEYS = ["policy", "problem"]
_LONGEST_REASON = 1000  # letters of a failure's reason


class _ReadOnce(Store):
    """Each table is needed twice, for its numbers and for its curve, and reading is most of the time."""

    def __init__(self, directory: Any) -> None:
        super().__init__(directory)
        self._tables: dict[str, pd.DataFrame | None] = {}

    def trials(self, record: Record) -> pd.DataFrame | None:
        if record.cell not in self._tables:
            self._tables[record.cell] = super().trials(record)
        return self._tables[record.cell]


def collect(directory: Any, *, command: str, title: str = "") -> dict[str, Any]:
    """All that the page shows of the store in `directory`; `command` is what made the page."""
    store = _ReadOnce(directory)
    frame = store.frame().astype(dict.fromkeys(["cell", *_KEYS], object))  # on which look-ups are many times faster
    warnings = list(store.warnings)  # which `cells` starts anew
    records = store.cells()
    if not records:
        raise UsageError(f"{directory} holds no cell to report; `showdown run --out {directory}` makes some")
    selection = select(frame) if len(frame) else Selection(frame, frame.assign(because=""))
    failed = unfinished(records)
    policy_names = in_order([record.policy for record in records], known_policies.names())
    problem_names = in_order([record.problem for record in records], known_problems.names())
    by_cell = {record.cell: record for record in records}
    cells, facts = _cells(selection, store, by_cell) if len(frame) else ({}, _no_facts())
    shown = {cell["cell"] for cell in cells.values()}
    about = _about([by_cell[cell] for cell in shown] or records)
    shown_last = sorted(records, key=lambda record: record.cell in shown)  # and the newest of these at the end
    policies = {name: _policy(name, shown_last, facts) for name in policy_names}
    problems = {name: _problem(name, shown_last, facts) for name in problem_names}
    for cell in [*cells.values(), *failed]:
        _add_own_configuration(cell, by_cell[cell["cell"]], policies, problems)
    return {
        "title": title or str(directory),
        "command": command,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "metrics": list(METRICS),
        "policies": list(policies.values()),
        "problems": list(problems.values()),
        "cells": list(cells.values()),
        "unfinished": [{**cell, "reason": (cell["reason"] or "")[:_LONGEST_REASON]} for cell in failed],
        "comments": _comments(records),
        "rank_tests": facts["rank_tests"],
        "agreement": facts["agreement"],
        "agreement_of_readings": facts["agreement_of_readings"],
        "notes": _without_repeats(facts["notes"] + _hardware_notes(about["hardware"])),
        "warnings": warnings,
        "about": about,
    }


def _cells(
    selection: Selection, store: Store, records: dict[str, Record]
) -> tuple[dict[tuple[str, str], dict[str, Any]], dict[str, Any]]:
    """The finished cells by (policy, problem), and what is known about policies and problems as wholes."""
    frame = selection.frame
    cells = {
        (row["policy"], row["problem"]): _cell(row, store, records[row["cell"]])
        for row in frame.drop_duplicates(_KEYS).to_dict("records")
    }
    # a summary of time needs no Uniform, and says what was left out of every other table as well
    facts = {**_no_facts(), "notes": list(assemble(selection, Request(metric="time", absolute=True)).notes)}
    absolute = {metric: summarise(frame, metric, absolute=True) for metric in REGRETS}
    seconds = elapsed(frame, absolute=True)
    absolute["time"] = seconds.assign(mean=seconds["mean"] / seconds["trials"], unit="seconds per trial")
    for metric, summary in absolute.items():
        for row in summary.to_dict("records"):
            cells[row["policy"], row["problem"]]["absolute"][metric] = _value(row)
        for row in ranks(summary).to_dict("records"):
            cells[row["policy"], row["problem"]]["rank"][metric] = number(row["rank"])
        mean = mean_ranks(summary, list(summary["problem"].drop_duplicates()))
        facts["mean_rank"][metric] = {row.policy: number(row.mean_rank) for row in mean.itertuples()}
        facts["rank_tests"][metric] = rank_test(summary)
        _add_shown(cells, facts, frame, metric)
    for row in pareto_front(absolute["cumulative"], absolute["time"]).to_dict("records"):
        cells[row["policy"], row["problem"]]["front"] = bool(row["on_front"])
    normal = _with_baseline(frame, "cumulative")
    for row in stuck_share(normal).to_dict("records") if len(normal) else []:
        cells[row["policy"], row["problem"]]["stuck"] = number(100 * row["share"], 3)
    _add_paper_ranks(facts, normal)
    return cells, facts


def _no_facts() -> dict[str, Any]:
    return {
        "notes": [],
        "mean_rank": {metric: {} for metric in METRICS},
        "units": {metric: {} for metric in METRICS},
        "rank_tests": {},
        "agreement": {},
        "agreement_of_readings": {},
        "paper_rank": {},
    }


def _cell(row: dict[str, Any], store: Store, record: Record) -> dict[str, Any]:
    table = store.trials(record)
    assert table is not None  # its rows are in the frame
    return {
        **{name: row[name] for name in ("policy", "problem", "cell", "horizon", "seed", "trials")},
        "compile_seconds": number(record.compile_seconds),
        "run_seconds": number(record.run_seconds),
        "step_seconds": number(record.run_seconds / record.trials / record.horizon),
        "beside": record.concurrent,
        "diagnostics": {name: number(value) for name, value in record.diagnostics.items() if value},
        "finished": record.finished,
        "curve": compact.curve(list(record.checkpoints), table["curve"].tolist()),
        "distribution": {metric: compact.distribution(table[metric].to_numpy()) for metric in REGRETS},
        "actions": compact.action_shares(table["action_counts"].tolist()),
        "shown": {},  # metric to mean and sem in the unit of its column
        "absolute": {},  # metric to mean and sem as they are
        "rank": {},
        "paper": [],  # published numbers for this cell
    }


def _value(row: dict[str, Any]) -> dict[str, Any]:
    """Mean and sem of a row, with digits to spare: the page rounds again, to those of the table on the terminal."""
    return {"mean": number(row["mean"], 7), "sem": number(row["sem"], 5)}


def _with_baseline(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The rows of problems that have a Uniform to be relative to."""
    summary = summarise(frame, metric, absolute=True)
    usable = summary[(summary["policy"] == BASELINE) & (summary["mean"] > 0)]["problem"]
    return frame[frame["problem"].isin(usable)]


def _add_shown(
    cells: dict[tuple[str, str], dict[str, Any]], facts: dict[str, Any], frame: pd.DataFrame, metric: str
) -> None:
    """Values in the unit of their column, relative where that is possible, and the published ones beside them."""
    relative = frame if metric == "time" else _with_baseline(frame, metric)
    rest = frame[~frame["problem"].isin(relative["problem"])]
    tables = [("paper", _table(relative, metric, source="paper"))] if len(relative) else []
    tables += [("", _table(rest, metric, absolute=True))] if len(rest) else []
    tables += [("paper-linear", _table(frame, metric, source="paper-linear"))] if metric != "time" else []
    for source, table in tables:
        for row in table.rows.to_dict("records"):
            cell = cells[row["policy"], row["problem"]]
            value = _value(row)
            if source != "paper-linear":
                cell["shown"][metric] = value
                facts["units"][metric][row["problem"]] = row["unit"]
            paper = number(row.get("paper_mean"), 6)
            if paper is not None:
                published = {"paper_mean": paper, "paper_sem": number(row["paper_sem"]), "agrees": bool(row["agrees"])}
                cell["paper"].append({"source": source, "metric": metric, "unit": row["unit"], **value, **published})
        if table.is_compared:
            for name, count in table.agreement.items():
                facts[name][f"{source} {metric}"] = count
            facts["notes"] += table.notes


def _table(frame: pd.DataFrame, metric: str, **request: Any) -> Table:
    """A table of cells that were chosen before, so that nothing is left out."""
    nothing = pd.DataFrame(columns=[*_KEYS, "because"])
    return assemble(Selection(frame, nothing), Request(metric=metric, **request))


def _add_paper_ranks(facts: dict[str, Any], frame: pd.DataFrame) -> None:
    """Our mean rank and the paper's over the same cells of its ten problems."""
    try:
        rows = _table(frame, "cumulative", source="paper", rank=True).rows
    except UsageError:  # none of the ten is there
        return
    for row in rows[rows["problem"] == RANK].to_dict("records"):
        both = {"ours": number(row["mean"]), "paper": number(row["paper_mean"])}
        if both["paper"] is not None:
            facts["paper_rank"][row["policy"]] = both


def _policy(name: str, records: list[Record], facts: dict[str, Any]) -> dict[str, Any]:
    configured = next(record for record in reversed(records) if record.policy == name).identity["policy"]
    return {
        "name": name,
        "family": configuration.family(configured),
        "configuration": configuration.rows(configured),
        "mean_rank": {metric: facts["mean_rank"][metric].get(name) for metric in METRICS},
        "paper_rank": facts["paper_rank"].get(name),
    }


def _problem(name: str, records: list[Record], facts: dict[str, Any]) -> dict[str, Any]:
    mine = [record for record in reversed(records) if record.problem == name]
    return {
        "name": name,
        "configuration": configuration.rows(mine[0].identity["problem"]),
        "context_dim": next((record.context_dim for record in mine if record.context_dim is not None), None),
        "num_actions": next((record.num_actions for record in mine if record.num_actions is not None), None),
        "units": {metric: facts["units"][metric].get(name) for metric in METRICS},
    }


def _add_own_configuration(
    cell: dict[str, Any], record: Record, policies: dict[str, Any], problems: dict[str, Any]
) -> None:
    """A name can have stood for something else when the cell was played; most cells need nothing of their own."""
    common = {"policy": policies[cell["policy"]], "problem": problems[cell["problem"]]}
    own = {part: configuration.rows(record.identity[part]) for part in common}
    differing = {part: rows for part, rows in own.items() if rows != common[part]["configuration"]}
    if differing:
        cell["configuration"] = differing


def _comments(records: list[Record]) -> dict[str, str]:
    told: dict[str, str] = {}
    kinds = set()
    for record in records:
        for stored in (record.identity[part] for part in ("policy", "problem")):
            shape = tuple((row["of"], row["field"]) for row in configuration.rows(stored))
            if shape not in kinds:
                kinds.add(shape)
                told.update(configuration.comments(stored))
    return {field: comment for field, comment in told.items() if comment}


def _about(records: list[Record]) -> dict[str, list[str]]:
    """Every version, machine and seed behind the numbers, each once."""

    def each(name: str) -> list[str]:
        told = (", ".join(f"{key} {value}" for key, value in getattr(record, name).items()) for record in records)
        return sorted({text for text in told if text})

    return {
        "versions": each("versions"),
        "hardware": each("hardware"),
        "seeds": sorted({str(record.seed) for record in records}),
    }


def _without_repeats(notes: list[str]) -> list[str]:
    """Each table tells of its own problems, so one note can be a part of another: all its clauses are there too."""
    clauses = {note: set(re.split("[:,] ", note)) for note in notes}
    return [note for note in clauses if not any(clauses[note] < other for other in clauses.values())]


def _hardware_notes(hardware: list[str]) -> list[str]:
    told = f"cells were run on {len(hardware)} kinds of hardware, so their times are not comparable"
    return [told] if len(hardware) > 1 else []
