"""The finished cells as the page shows them, and what follows from them about policies and problems."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from showdown.analysis.build_table import build_table
from showdown.analysis.compare import pareto_front, stuck_share
from showdown.analysis.notes import Note
from showdown.analysis.play_details import play_details
from showdown.analysis.published import SOURCES, published
from showdown.analysis.ranks import RANK, REFERENCES, comparable, ranks
from showdown.analysis.selection import Selection
from showdown.analysis.summary import cells_with_metric, per_trial, summarise, summarise_best_fixed
from showdown.analysis.table import Table, TableRequest
from showdown.analysis.validity import cautions, with_times
from showdown.basics.errors import UsageError
from showdown.bench.record import Record
from showdown.bench.store import Store
from showdown.metrics import MAIN, METRICS
from showdown.metrics.metric import Metric
from showdown.metrics.standard import TIME
from showdown.report.page import compact
from showdown.report.page.compact import aggregates_of, number, overviews_of, rank_test, verdicts_of

_KEYS = ["policy", "problem"]
ABSOLUTE = "paper-linear"  # the published numbers that are not relative


@dataclass
class Findings:
    """What is known about a store; the second part of a key is a metric."""

    cells: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # by (policy, problem)
    metrics: list[Metric] = field(default_factory=lambda: list(METRICS.values()))  # of which there is a number
    mean_rank: dict[tuple[str, str], Any] = field(default_factory=dict)  # by (policy, metric)
    ranks: dict[tuple[str, str], list[Any]] = field(default_factory=dict)  # that this is the mean of, sorted
    units: dict[tuple[str, str], str] = field(default_factory=dict)  # by (problem, metric)
    reference: dict[tuple[str, str], Any] = field(default_factory=dict)  # by (problem, metric)
    rank_tests: dict[str, Any] = field(default_factory=dict)
    paper_rank: dict[str, Any] = field(default_factory=dict)
    agreement: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {"agreement": {}, "agreement_of_readings": {}}
    )  # which count, then `source metric`
    notes: list[Note] = field(default_factory=list)
    verdicts: dict[str, Any] = field(default_factory=dict)  # see `compact.verdicts_of`
    overviews: dict[str, Any] = field(default_factory=dict)  # see `compact.overviews_of`
    aggregates: dict[str, Any] = field(default_factory=dict)  # see `compact.aggregates_of`
    no_times: dict[str, str] = field(default_factory=dict)  # problem to why its times cannot be compared


def cells_of(selection: Selection, store: Store, records: dict[str, Record]) -> Findings:
    """All that the page says about the finished cells; `records` are those of the store, by cell."""
    frame = selection.frame
    details = play_details(store, records.values(), frame["cell"])
    # a summary of time needs no Uniform, and says what was left out of every other table as well
    left_out = build_table(selection, TableRequest(metric=TIME.name, absolute=True)).notes
    found = Findings(metrics=[], notes=[*left_out, *cautions(frame, details)])
    for row in frame.drop_duplicates(_KEYS).to_dict("records"):
        found.cells[row["policy"], row["problem"]] = _cell(row, store, records[row["cell"]])
    absolute = {}
    for metric in METRICS.values():
        held, lacking = cells_with_metric(frame, metric)
        if metric.cell:
            held, doubts = with_times(held, details)
            lacking += doubts
            found.no_times = {name: why for doubt in doubts for name, why in doubt.items}
        if len(held):
            found.metrics.append(metric)
            absolute[metric.name] = _add_metric(found, held, metric)
        if len(held) or not metric.needs_labels:  # a store without labels lacks nothing
            found.notes += lacking
    if TIME.name in absolute:
        for row in pareto_front(absolute[MAIN], absolute[TIME.name]).to_dict("records"):
            found.cells[row["policy"], row["problem"]]["front"] = bool(row["on_front"])
    found.verdicts = verdicts_of(frame, details, found.metrics)
    if frame["problem"].nunique() > 1:
        found.overviews = overviews_of(frame, found.metrics)
        found.aggregates = aggregates_of(frame)
    normal = _with_baseline(frame, METRICS[MAIN])
    for row in stuck_share(normal).to_dict("records") if len(normal) else []:
        found.cells[row["policy"], row["problem"]]["stuck"] = number(100 * row["share"], 3)
    _add_paper_ranks(found, normal)
    return found


def _cell(row: dict[str, Any], store: Store, record: Record) -> dict[str, Any]:
    table = store.trials(record)
    assert table is not None  # its rows are in the frame
    columns = [name for name, metric in METRICS.items() if not metric.cell and name in table]
    return {
        **{name: row[name] for name in ("policy", "problem", "cell", "horizon", "seed", "trials")},
        "compile_seconds": number(record.compile_seconds),
        "run_seconds": number(record.run_seconds),
        "step_seconds": number(record.run_seconds / record.trials / record.horizon),
        "beside": record.concurrent,
        "diagnostics": {name: number(value) for name, value in record.diagnostics.items() if value},
        "finished": record.finished,
        "curve": compact.curve(list(record.checkpoints), table["curve"].tolist()),
        "distribution": {name: compact.distribution(table[name].to_numpy()) for name in columns},
        "actions": compact.action_shares(table["action_counts"].tolist()),
        "timeline": compact.timeline(record.timelines),  # only some policies keep one
        "shown": {},  # metric to mean and sem in the unit of its column
        "absolute": {},  # metric to mean and sem as they are
        "rank": {},
        "paper": [],  # published numbers for this cell
    }


def _add_metric(found: Findings, frame: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Add the numbers, ranks and reference of one metric; returns its summary in absolute numbers."""
    summary = summarise(frame, metric.name, absolute=True)
    summary = per_trial(summary) if metric.cell else summary
    for row in summary.to_dict("records"):
        found.cells[row["policy"], row["problem"]]["absolute"][metric.name] = _value(row)
    methods = summary[~summary["policy"].isin(REFERENCES)]
    for row in ranks(methods).to_dict("records"):
        found.cells[row["policy"], row["problem"]]["rank"][metric.name] = number(row["rank"])
    ranked = ranks(comparable(summary, list(summary["problem"].drop_duplicates())))
    for policy, own in ranked.groupby("policy", sort=False)["rank"]:
        found.ranks[policy, metric.name] = [number(rank) for rank in sorted(own)]
        found.mean_rank[policy, metric.name] = number(own.mean())
    for row in summarise_best_fixed(frame, metric.name).to_dict("records"):
        found.reference[row["problem"], metric.name] = _value(row)
    found.rank_tests[metric.name] = rank_test(summary)
    _add_shown(found, frame, metric)
    return summary


def _value(row: dict[str, Any]) -> dict[str, Any]:
    """Mean and sem of a row, with digits to spare: the page rounds again, to those of the table on the terminal."""
    return {"mean": number(row["mean"], 7), "sem": number(row["sem"], 5)}


def _with_baseline(frame: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """The rows of problems on which the metric can be relative to its baseline; time decides by itself."""
    if metric.cell:
        return frame
    summary = summarise(frame, metric.name, absolute=True)
    usable = summary[(summary["policy"] == metric.baseline) & (summary["mean"] > 0)]["problem"]
    return frame[frame["problem"].isin(usable)]


def _add_shown(found: Findings, frame: pd.DataFrame, metric: Metric) -> None:
    """Add values in the unit of their column, relative where that is possible, and the published ones beside them."""
    relative = _with_baseline(frame, metric)
    rest = frame[~frame["problem"].isin(relative["problem"])]
    sources = _published(metric)
    if len(relative):
        found_in = "paper" if "paper" in sources else None
        _add_table(found, _table(relative, metric, source=found_in), found_in or "", metric)
    if len(rest):
        _add_table(found, _table(rest, metric, absolute=True), "", metric)
    if ABSOLUTE in sources:
        _add_table(found, _table(frame, metric, source=ABSOLUTE), ABSOLUTE, metric)


def _published(metric: Metric) -> list[str]:
    """The sources that have numbers of the metric."""
    sources = []
    for source in SOURCES if metric.published else ():
        try:
            published(source, metric.published)
        except UsageError:
            continue
        sources.append(source)
    return sources


def _add_table(found: Findings, table: Table, source: str, metric: Metric) -> None:
    for row in table.rows.to_dict("records"):
        cell = found.cells[row["policy"], row["problem"]]
        if source != ABSOLUTE:
            cell["shown"][metric.name] = _value(row)
            found.units[row["problem"], metric.name] = row["unit"]
        if number(row.get("paper_mean")) is not None:
            cell["paper"].append({"source": source, "metric": metric.name, "unit": row["unit"], **_compared(row)})
    if table.is_compared:
        for name, count in table.agreement.items():
            found.agreement[name][f"{source} {metric.name}"] = count
        found.notes += table.notes


def _compared(row: dict[str, Any]) -> dict[str, Any]:
    """Ours, the published number, and what follows from both."""
    paper = {"paper_mean": number(row["paper_mean"], 6), "paper_sem": number(row["paper_sem"])}
    return {**_value(row), **paper, "finding": row["finding"], "z": number(row["z"], 3)}


def _table(frame: pd.DataFrame, metric: Metric, **request: Any) -> Table:
    """A table of cells that were chosen before, so that nothing is left out."""
    nothing = pd.DataFrame(columns=[*_KEYS, "because"])
    return build_table(Selection(frame, nothing), TableRequest(metric=metric.name, judged=False, **request))


def _add_paper_ranks(found: Findings, frame: pd.DataFrame) -> None:
    """Add our mean rank and the paper's over the same cells of its ten problems."""
    try:
        rows = _table(frame, METRICS[MAIN], source="paper", rank=True).rows
    except UsageError:  # none of the ten is there
        return
    for row in rows[rows["problem"] == RANK].to_dict("records"):
        both = {"ours": number(row["mean"]), "paper": number(row["paper_mean"])}
        if both["paper"] is not None:
            found.paper_rank[row["policy"]] = both
