"""A plan in words: its cells, how long they should take, and how they are divided between machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from showdown.cli import console

if TYPE_CHECKING:
    from showdown.bench.cell import Cell
    from showdown.bench.plan import Planned
    from showdown.bench.store import Store


def measure_speed(planned: list[Planned]) -> None:
    """A short run of every family of policies in the plan; what is measured is kept for later estimates."""
    from showdown.bench.calibrate import calibrate

    for name, measured in calibrate([item.cell for item in planned]):
        step, operation = measured.rates
        per_operation = f", {operation * 1e9:.3g} ns per operation" if operation else ""
        console.warn(f"{name}: {step * 1e6:.3g} µs per step and trial{per_operation}")


def print_plan(name: str, planned: list[Planned], store: Store, as_json: bool) -> None:
    from showdown.bench.estimate import estimate_seconds

    todo = [item.cell for item in planned if not item.done]
    seconds, known = estimate_seconds(todo, store) if todo else (0.0, 0)
    if as_json:
        rows = [{**row(item.cell), "done": item.done} for item in planned]
        console.data_json({"cells": rows, "estimated_seconds": seconds, "measured_cells": known})
        return
    for item in planned:
        cell = item.cell
        size = f"{cell.trials} trials × {cell.problem.horizon} steps, seed {cell.seed}"
        console.data(f"{'done ' if item.done else 'to do'}  {cell.label}  ({size})")
    basis = "from measured rates" if todo and known == len(todo) else "a rough guess for what was never run here"
    summary = f"about {duration(seconds)}, {basis}" if todo else "nothing to do"
    console.data(f"{name}: {len(planned)} cells, {len(planned) - len(todo)} already done; {summary}")


def print_shards(name: str, shards: list[list[Planned]], store: Store, as_json: bool) -> None:
    """What each shard plays; seconds are those of its cells that are not stored yet."""
    from showdown.bench.estimate import estimate_seconds

    rows: list[dict[str, Any]] = []
    for number, cells in enumerate(shards, 1):
        todo = [item.cell for item in cells if not item.done]
        seconds = estimate_seconds(todo, store)[0] if todo else 0.0
        listed = [{**row(item.cell), "done": item.done} for item in cells]
        rows.append({"shard": f"{number}/{len(shards)}", "estimated_seconds": seconds, "cells": listed})
    if as_json:
        console.data_json({"shards": rows})
        return
    for each in rows:
        done = sum(cell["done"] for cell in each["cells"])
        about = f"about {duration(each['estimated_seconds'])}" if len(each["cells"]) > done else "nothing to do"
        console.data(f"shard {each['shard']}: {len(each['cells'])} cells, {done} already done; {about}")
    longest = max(each["estimated_seconds"] for each in rows)
    console.data(f"{name}: {sum(map(len, shards))} cells; the longest shard about {duration(longest)}")


def row(cell: Cell) -> dict[str, Any]:
    """What a cell is, as data."""
    return {
        "policy": cell.policy_name,
        "problem": cell.problem_name,
        "horizon": cell.problem.horizon,
        "trials": cell.trials,
        "seed": cell.seed,
        "cell": cell.hash,
    }


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
