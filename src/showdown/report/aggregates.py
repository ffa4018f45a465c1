"""Aggregates over problems as text, Markdown, CSV or JSON: a line per method, each number with its two intervals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from showdown.analysis.aggregates import NEAR, Aggregate, Aggregates, Interval, Number
from showdown.basics.errors import UsageError
from showdown.basics.text import one_line
from showdown.metrics import METRICS
from showdown.report.formats.csv import harmless
from showdown.report.formats.markdown import escape

_SHARE = f"within {100 * (NEAR - 1):.0f} %"
HEAD = ("policy", "mean ratio", "worst ratio", _SHARE, "better than the first", "mean rank")
FORMATS = ("text", "markdown", "csv", "json")


def write(found: Aggregates, form: str) -> str:
    """The aggregates in one of `FORMATS`."""
    if form not in FORMATS:
        raise UsageError(f"aggregates are written as {', '.join(FORMATS)}, not as {form}")
    if form == "json":
        return json.dumps(plain(found), indent=2, ensure_ascii=False)
    if form == "csv":
        return _csv(found)
    rows = [HEAD, *map(_cells, found.methods)]
    return _markdown(found, rows) if form == "markdown" else _text(found, rows)


def notes(found: Aggregates) -> list[str]:
    """What a reader must know besides the numbers."""
    title = METRICS[found.metric].title if found.metric in METRICS else found.metric
    count = len(found.problems)
    best = ", ".join(f"{name} {times}" for name, times in Counter(found.best.values()).most_common())
    lines = [
        f"{title} over {count} {'problem' if count == 1 else 'problems'}: {', '.join(found.problems)}",
        "each number: [95 % over trials: these problems] {95 % over problems: problems like these}; a ratio is the "
        "mean divided by that of the best method of the problem, 1 for the best itself",
        f"the best of a problem: {best}",
    ]
    if found.friedman is not None and found.critical_difference is not None:
        size = f"{found.friedman:.2g}" if found.friedman >= 1e-4 else "below 0.0001"
        lines.append(
            f"mean ranks closer than {found.critical_difference:.2f} cannot be told apart "
            f"(Nemenyi, all pairs at once); Friedman's test that all are equal: p {size}"
        )
    return lines + [f"left out: {sentence}" for sentence in found.left_out]


def plain(found: Aggregates) -> dict[str, Any]:
    """The aggregates as plain values, with fields named as in the classes."""
    return {
        "metric": found.metric,
        "problems": list(found.problems),
        "best": found.best,
        "levels": list(found.levels),
        "friedman_p": found.friedman,
        "critical_difference": found.critical_difference,
        "left_out": list(found.left_out),
        "methods": [{**_record(method, _three), "profile": list(method.profile)} for method in found.methods],
    }


def _record(method: Aggregate, write_number: Callable[[Number], Any]) -> dict[str, Any]:
    return {
        "policy": method.policy,
        "mean_ratio": write_number(method.mean_ratio),
        "worst_ratio": write_number(method.worst_ratio),
        "worst_problem": method.worst_problem,
        "near": write_number(method.near),
        "improvement": None if method.improvement is None else write_number(method.improvement),
        "mean_rank": write_number(method.mean_rank),
    }


def _three(number: Number) -> dict[str, Any]:
    return {name: list(part) if isinstance(part, tuple) else part for name, part in number._asdict().items()}


def _csv(found: Aggregates) -> str:
    """A row per method; of each number the value and both ends of both intervals, in columns of their own."""
    import pandas as pd

    rows = []
    for method in found.methods:
        row: dict[str, Any] = {}
        for name, value in _record(method, lambda number: number).items():
            if isinstance(value, str):
                row[name] = harmless(value)
                continue
            row[name] = None if value is None else value.value
            for over in ("trials", "problems"):
                low, high = (value and getattr(value, over)) or (None, None)
                row |= {f"{name}_{over}_low": low, f"{name}_{over}_high": high}
        rows.append(row)
    return pd.DataFrame(rows, dtype=object).to_csv(index=False)


def _cells(method: Aggregate) -> tuple[str, ...]:
    better = "–" if method.improvement is None else _shown(method.improvement, 2)
    return (
        one_line(method.policy),
        _shown(method.mean_ratio, 2),
        f"{_shown(method.worst_ratio, 2)} {one_line(method.worst_problem)}",
        _shown(method.near, 2),
        better,
        _shown(method.mean_rank, 1),
    )


def _shown(number: Number, places: int) -> str:
    def ends(pair: Interval, marks: str) -> str:
        return "" if pair is None else f" {marks[0]}{pair[0]:.{places}f}, {pair[1]:.{places}f}{marks[1]}"

    return f"{number.value:.{places}f}{ends(number.trials, '[]')}{ends(number.problems, '{}')}"


def _markdown(found: Aggregates, rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(map(escape, row))} |" for row in rows]
    lines.insert(1, f"|{' --- |' * len(HEAD)}")
    return "\n".join(lines) + "\n\n" + "\n\n".join(map(escape, notes(found)))


def _text(found: Aggregates, rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "─" * max(map(len, lines)))
    return "\n".join([*lines, "", *map(one_line, notes(found))])
