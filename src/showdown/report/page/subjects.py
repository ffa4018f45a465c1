"""What the page says about metrics, policies, problems and machines, each as a whole."""

from __future__ import annotations

from typing import Any

from showdown.bench.record import Record
from showdown.metrics.metric import Metric
from showdown.report.page import configuration
from showdown.report.page.cards import policy_card, problem_card
from showdown.report.page.cells import Findings


def metric(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "title": metric.title,
        "smaller_is_better": metric.smaller_is_better,
        "per_cell": bool(metric.cell),
    }


def policy(name: str, records: list[Record], found: Findings) -> dict[str, Any]:
    configured = next(record for record in reversed(records) if record.policy == name).identity["policy"]
    return {
        "name": name,
        "family": configuration.family(configured),
        **policy_card(name, configured),
        "configuration": configuration.rows(configured),
        "mean_rank": {metric.name: found.mean_rank.get((name, metric.name)) for metric in found.metrics},
        "ranks": {metric.name: found.ranks.get((name, metric.name), []) for metric in found.metrics},
        "paper_rank": found.paper_rank.get(name),
    }


def problem(name: str, records: list[Record], found: Findings) -> dict[str, Any]:
    mine = [record for record in reversed(records) if record.problem == name]
    references = {metric.name: found.reference.get((name, metric.name)) for metric in found.metrics}
    return {
        "name": name,
        **problem_card(name, mine[0].identity["problem"]),
        "configuration": configuration.rows(mine[0].identity["problem"]),
        "context_dim": next((record.context_dim for record in mine if record.context_dim is not None), None),
        "num_actions": next((record.num_actions for record in mine if record.num_actions is not None), None),
        "units": {metric.name: found.units.get((name, metric.name)) for metric in found.metrics},
        "reference": {metric: value for metric, value in references.items() if value},
    }


def add_own_configuration(
    cell: dict[str, Any], record: Record, policies: dict[str, Any], problems: dict[str, Any]
) -> None:
    """A name can have stood for something else when the cell was played; most cells need nothing of their own."""
    common = {"policy": policies[cell["policy"]], "problem": problems[cell["problem"]]}
    own = {part: configuration.rows(record.identity[part]) for part in common}
    differing = {part: rows for part, rows in own.items() if rows != common[part]["configuration"]}
    if differing:
        cell["configuration"] = differing


def comments(records: list[Record]) -> dict[str, str]:
    """`Class.field` to what is said about it, for every class that a cell was made with."""
    found: dict[str, str] = {}
    kinds = set()
    for record in records:
        for stored in (record.identity[part] for part in ("policy", "problem")):
            shape = tuple((row["of"], row["field"]) for row in configuration.rows(stored))
            if shape not in kinds:
                kinds.add(shape)
                found.update(configuration.comments(stored))
    return {field: comment for field, comment in found.items() if comment}


def about(records: list[Record], all_records: list[Record]) -> dict[str, list[str]]:
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
