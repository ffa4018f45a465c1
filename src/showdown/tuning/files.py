"""What a tuning leaves in `DIR/tuning`: NAME.json (proposals and result), NAME.csv (history), NAME.toml (a preset).

The result says which fields mattered: the part of the variation of what was measured that each explains, alone or with
others. It is taken from the mean of the Gaussian process that fits the history (total-effect indices of Sobol, by
Jansen's formula): a field with 0 could have been left alone, and where fields act together their parts add up to more
than 1.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from showdown.basics.files import write_together
from showdown.tuning.fresh_choice import TuningResult
from showdown.tuning.history import TuningHistory, write_record
from showdown.tuning.samplers.gp import fit, normal_scores
from showdown.tuning.samplers.sobol import spread

POINTS = 512


def importance(history: TuningHistory) -> dict[str, float]:
    """The importance of each field by name; empty where too little was measured."""
    space, values = history.request.space, history.values()
    known = np.isfinite(values)
    dimensions = len(space.dimensions)
    if known.sum() < 2 * (dimensions + 1):
        return {}
    places = space.places([entry.candidate for entry in history.entries])[known]
    process = fit(places, normal_scores(values[known]))
    drawn = spread(POINTS, 2 * dimensions, 0)
    one, other = drawn[:, :dimensions], drawn[:, dimensions:]
    base, _ = process.predict(one)
    variance = float(base.var())
    found = {}
    for number, row in enumerate(space.dimensions):
        changed = one.copy()
        changed[:, number] = other[:, number]
        moved, _ = process.predict(changed)
        found[row.name] = float(((base - moved) ** 2).mean() / (2 * variance)) if variance > 1e-12 else 0.0
    return found


def write_result(path: Path, history: TuningHistory, result: TuningResult) -> None:
    """Write the history, the preset and the result; `path` is the file of the proposals, which gets the result too."""
    frame, request = history_frame(history), history.request
    files = {path.with_suffix(".csv"): frame.to_csv(index=False).encode()}
    write_together({**files, path.with_suffix(".toml"): preset_text(history, result).encode()})
    batches: list[list[dict[str, Any]]] = [[] for _ in {entry.batch for entry in history.entries}]
    for entry in history.entries:
        batches[entry.batch].append(entry.candidate)
    found = {
        "preset": request.preset,
        "values": history.values().tolist(),
        "parts": [entry.part for entry in history.entries],
        "importance": importance(history),
        "result": asdict(result),
    }
    write_record(path, request, batches, **_plain(found))


def history_frame(history: TuningHistory) -> pd.DataFrame:
    """One row per candidate, in the order of proposals."""
    request, values = history.request, history.values()
    sign = -1 if request.objective == "reward" else 1
    rows = []
    for number, (entry, value) in enumerate(zip(history.entries, values, strict=True)):
        measured = entry.measured or [np.array([math.nan])] * len(request.problems)
        means = {
            f"{request.objective} on {name}": sign * float(trials.mean())
            for name, trials in zip(request.problems, measured, strict=True)
        }
        status = "diverged" if entry.measured is None else "done" if entry.part == 1.0 else "given up"
        told: dict[str, Any] = {"number": number, "batch": entry.batch, "status": status, "part": entry.part}
        rows.append({**told, **entry.candidate, "value": float(value), **means, "seconds": entry.seconds})
    return pd.DataFrame(rows)


def preset_text(history: TuningHistory, result: TuningResult) -> str:
    """The text of a TOML file for `--load`. Strings are written as JSON does, which TOML reads too."""
    request = history.request
    lines = [
        f"# Tuned by `showdown tune` on {', '.join(request.problems)}: {len(history.entries)} candidates,",
        f"# {request.trials} trials, seed {request.seed}, objective {request.objective}. Rename it as you like.",
        "# Use: showdown run quick --load THIS_FILE --policies NAME",
        f"[policy.{json.dumps(request.preset)}]",
        f"base = {json.dumps(request.space.name, ensure_ascii=False)}",
        "",
        f"[policy.{json.dumps(request.preset)}.fields]",
        *(f"{json.dumps(name)} = {_toml(value)}" for name, value in result.candidate.items()),
    ]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


def _plain(value: Any) -> Any:
    """The value with None for NaN and infinities, which JSON cannot write."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
