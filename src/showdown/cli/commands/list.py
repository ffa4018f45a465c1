"""`showdown list policies|problems|suites`: what there is to play."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from itertools import groupby
from typing import Annotated, Any

import typer

from showdown.basics.errors import UsageError
from showdown.cli import console
from showdown.cli.inputs import Load, load_files, near

WHAT = ("policies", "problems", "suites")
FAMILIES = {  # whose names are not plain words
    "bbb": "BBB",
    "sgmcmc": "SG-MCMC",
    "bootstrapped": "Bootstrap",
    "gaussian_process": "Gaussian process",
    "sparse_gaussian_process": "Sparse Gaussian process",
    "rich_last_layer": "Rich Bayesian last layer",
    "evidence": "Evidence-tuned last layer",
    "sample_average_uncertainty": "Sample average uncertainty (SAU)",
    "ensemble_plus": "Ensemble+: prior functions",
    "ensemble_plus_network": "Ensemble+: prior functions",
    "neural_tangent": "Neural tangent (NeuralTS, NeuralUCB)",
    "low_rank_filter": "Low-rank filter (HiLoFi, LRKF)",
    "indexed_network": "One network with an index (Ensemble++, epinet)",
    "perturbed_rewards": "Perturbed rewards (NPR, EVILL)",
    "langevin": "Langevin walk (LMC-TS)",
}
NO_YEAR = 9999
NARROWEST, WIDEST = 60, 120  # letters of a line


def register(app: typer.Typer) -> None:
    app.command("list", epilog="Example: showdown list policies")(list_command)


def list_command(
    what: Annotated[str, typer.Argument(help=f"What to list: {', '.join(WHAT)}.")],
    load: Load = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the policies, problems or suites that can be named."""
    if what not in WHAT:
        raise UsageError(f"showdown list shows {', '.join(WHAT)}, not {what!r}{near(what, WHAT)}")
    load_files(load)
    rows = _suites() if what == "suites" else _presets(what)
    if as_json:
        console.data_json([{name: item for name, item in row.items() if name != "family"} for row in rows])
    else:
        console.data("\n".join(_lines([*rows, *_wrappers(what)])))


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    """Names with their summaries, wrapped at words, under a heading for each family."""
    columns = shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else WIDEST
    indent = 2 if rows and rows[0].get("family") else 0
    width = max(len(row["name"]) for row in rows) + indent
    room = min(max(columns, NARROWEST), WIDEST) - width - 2
    lines: list[str] = []
    for family, members in groupby(rows, key=lambda row: row.get("family", "")):
        if family:
            lines += [*([""] if lines else []), family]
        for row in members:
            first, *more = textwrap.wrap(
                row["summary"], max(room, 20), break_long_words=False, break_on_hyphens=False
            ) or [""]
            lines.append(f"{' ' * indent + row['name']:<{width}}  {first}".rstrip())
            lines += [f"{'':<{width}}  {line}" for line in more]
    return lines


def _presets(what: str) -> list[dict[str, Any]]:
    from showdown.config import core
    from showdown.report.describe import preset_summary

    if what == "policies":
        from showdown.policies import policies as registry
    else:
        from showdown.problems import problems as registry  # type: ignore[assignment]
    rows = [
        {
            "name": entry.name,
            "kind": type(core(entry.value)).__name__,
            "base": entry.base,
            "summary": preset_summary(registry, entry),
            "family": _family(core(entry.value)),
        }
        for entry in registry
    ]
    first = {family: number for number, family in reversed(list(enumerate(row["family"] for row in rows)))}
    # one heading for each, by year, then in the order of the registry; what has no year, this project's own, comes last
    return sorted(
        rows, key=lambda row: (_year(row["family"]) or (NO_YEAR * (first[row["family"]] > 0)), first[row["family"]])
    )


def _wrappers(what: str) -> list[dict[str, Any]]:
    """What a preset can be put into; no presets, so the list as JSON leaves it out."""
    if what == "suites":
        return []
    from showdown.policies import policies
    from showdown.problems import problems

    found, heading = policies.wrappers(), "Any policy that has a belief, deciding by another rule"
    if what == "problems":
        found, heading = problems.wrappers(), "Any problem, changed"
    return [{"name": f"NAME/{name}", "summary": summary, "family": heading} for name, summary in found.items()]


def _family(value: Any) -> str:
    """What a preset is listed under: where a problem's data come from; the idea of a policy, and its year.

    The idea is the file in words, of the belief where that is what was published. The year is that of its reference.
    """
    from showdown.protocol.problem import Problem

    if isinstance(value, Problem):
        return "Generated" if type(value).load is Problem.load else "From data"
    belief = getattr(value, "belief", None)
    published = belief if getattr(belief, "reference", "") == value.reference != "" else value
    file = type(published).__module__.rpartition(".")[2]
    year = _year(value.reference)
    return (FAMILIES.get(file) or file.replace("_", " ").capitalize()) + (f", {year}" if year else "")


def _year(text: str) -> int | None:
    found = re.search(r"\b(?:19|20)\d\d\b", text)
    return int(found.group()) if found else None


def _suites() -> list[dict[str, Any]]:
    from showdown.bench.suite import load_suite, suite_names

    rows = []
    for name in suite_names():
        suite = load_suite(name)
        counts = sorted({suite.trials, *suite.trials_of.values()})
        trials = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
        parts = [f"{len(suite.problems)} problems"] if suite.problems else []
        parts += [f"{len(suite.tables_only) or 'all'} tables in {suite.tables}"] if suite.tables else []
        size = f"{len(suite.policies)} policies × {' and '.join(parts)} × {trials} trials"
        if suite.problems_if_available:
            size += f", and {', '.join(suite.problems_if_available)} where the data is available"
        size += "".join(f", and {part.name}" for part in suite.also)
        rows.append({"name": name, "summary": f"{suite.title} ({size})"})
    return rows
