"""`sd.list`: what there is to play, as a DataFrame; `showdown list` prints the same rows."""

from __future__ import annotations

import fnmatch
import re
from typing import Any, Literal

import pandas as pd

from showdown.basics.errors import UsageError
from showdown.basics.text import near
from showdown.bench.suite import load_suite, suite_names
from showdown.config import core
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.problem import Problem
from showdown.report.describe import preset_summary

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


def listing(what: Literal["policies", "problems", "suites"] = "policies", like: str = "*") -> pd.DataFrame:
    """What can be named in `sd.run`: a row for each, with its name and what it is. `like` is a pattern: `Lin*`."""
    if what not in WHAT:
        raise UsageError(f"sd.list shows {', '.join(WHAT)}, not {what!r}{near(str(what), WHAT)}")
    rows = [row for row in rows_of(what) if fnmatch.fnmatch(row["name"].lower(), like.lower())]
    if not rows:
        raise UsageError(f"none of the {what} is called like {like!r}")
    return pd.DataFrame(rows)[[name for name in ("name", "summary", "family") if name in rows[0]]]


def rows_of(what: str) -> list[dict[str, Any]]:
    """The rows of a list, in the order in which they are shown."""
    return _suites() if what == "suites" else _presets(what)


def _presets(what: str) -> list[dict[str, Any]]:
    registry: Any = policies if what == "policies" else problems
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


def wrappers(what: str) -> list[dict[str, Any]]:
    """What a preset can be put into; no presets, so the list as JSON leaves it out."""
    if what == "suites":
        return []
    found, heading = policies.wrappers(), "Any policy that has a belief, deciding by another rule"
    if what == "problems":
        found, heading = problems.wrappers(), "Any problem, changed"
    return [{"name": f"NAME/{name}", "summary": summary, "family": heading} for name, summary in found.items()]


def _family(value: Any) -> str:
    """What a preset is listed under: where a problem's data come from; the idea of a policy, and its year.

    The idea is the file in words, of the belief where that is what was published. The year is that of its reference.
    """
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
