"""The protocol's table as text, and in a sentence each what tuning gained."""

from __future__ import annotations

import math
from collections.abc import Sequence

from showdown.analysis.compare_trials import BETTER, NO_DIFFERENCE, WORSE
from showdown.tuning.protocol import Reported


def table(rows: Sequence[Reported]) -> str:
    """A row per configuration, a column per problem: its loss in % of the default's."""
    problems = list(dict.fromkeys(row.problem for row in rows))
    by_name: dict[str, dict[str, Reported]] = {}
    for row in _with_default(rows):
        by_name.setdefault(row.configuration, {})[row.problem] = row
    lines = [["configuration", *problems]]
    lines += [[name, *(_entry(found.get(problem)) for problem in problems)] for name, found in by_name.items()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = ["  ".join(_padded(word, widths, place) for place, word in enumerate(line)).rstrip() for line in lines]
    legend = "in % of the default's; + better, − worse than the default (95 % interval, paired); (…) tuned on it"
    return "\n".join([*text, legend])


def _padded(word: str, widths: Sequence[int], place: int) -> str:
    return word.ljust(widths[0]) if place == 0 else word.rjust(widths[place])


def _entry(row: Reported | None) -> str:
    if row is None:
        return ""
    if math.isnan(row.mean):
        return "diverged"
    if not row.other:
        return f"{row.mean:.4g}"
    text = f"{100 * row.mean / row.other:.1f}"
    mark = {BETTER: "+", WORSE: "−"}.get(row.verdict, " ")
    return f"({text}){mark}" if row.kind == "own" else f"{text}{mark}"


def sentences(rows: Sequence[Reported]) -> list[str]:
    """One for each tuned configuration."""
    found = []
    for name in dict.fromkeys(row.configuration for row in rows if row.kind != "default"):
        mine = [row for row in _with_default(rows) if row.configuration == name]
        rivals = [row for row in rows if row.configuration == name and row.compared_with != row.policy]
        own = [_gain(row) for row in mine if row.kind == "own"]
        others = [row for row in mine if row.kind == "transferred"]
        better = sum(row.verdict == BETTER for row in others)
        worse = sum(row.verdict == WORSE for row in others)
        same = len(others) - better - worse
        travels = f"elsewhere better on {better}, worse on {worse}, not to be told apart on {same} of {len(others)}"
        found.append(f"{name}: {'; '.join([*own, *([travels] if others else [])])}")
        found += [f"{name} against {row.compared_with}: {_gain(row)}{_verdict(row)}" for row in rivals]
    return found


def _with_default(rows: Sequence[Reported]) -> list[Reported]:
    """Those that are compared with the default, and not with a published row."""
    return [row for row in rows if row.compared_with == row.policy]


def _verdict(row: Reported) -> str:
    return ": not to be told apart" if row.verdict == NO_DIFFERENCE else f": {row.verdict}"


def _gain(row: Reported) -> str:
    if math.isnan(row.mean):
        return f"diverges on {row.problem}"
    size = abs(row.other) or 1.0
    low, high = 100 * row.low / size, 100 * row.high / size
    return f"{100 * row.difference / size:+.1f} % on {row.problem} (95 % interval {low:+.1f} to {high:+.1f})"
