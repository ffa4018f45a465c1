"""`showdown recommend` on eleven kinds of tables: whether each gets an answer within the budget, and whether it holds.

    python benchmarks/recommend_tables.py --list
    python benchmarks/recommend_tables.py wide long --budget 1m             answers, in recommend-tables/
    python benchmarks/recommend_tables.py wide long --check --budget 3m     the same question with more time
    python benchmarks/recommend_tables.py --table                           a Markdown table of what was found

A check goes on from the answer's store with its longer budget. It says how far the method that was recommended is
behind the best of the longer run, and whether that is the same. An answer's time is that of the whole command, Python's
start and reading the table included; run tables one by one on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

from showdown.recommendation.budget import seconds_of

FOLDER = Path("recommend-tables")
LATE = 1.15  # times the budget: what still counts as within it, for Python's start and the machine's noise
Made = tuple[pd.DataFrame, list[str]]  # a table and the options that say what it means


def labelled(rows: int, columns: int, classes: int, *, seed: int, useful: int = 10, noise: float = 1.0) -> Made:
    """Classes by the largest of some rectified sums of the first columns, with noise: a network beats a line."""
    draw = np.random.default_rng(seed)
    contexts = draw.standard_normal((rows, columns)).astype(np.float32)
    used = min(useful, columns)
    hidden = np.maximum(contexts[:, :used] @ draw.standard_normal((used, 20)), 0)
    scores = hidden @ draw.standard_normal((20, classes)) + noise * draw.standard_normal((rows, classes))
    scores -= scores.mean(axis=0)
    frame = pd.DataFrame(contexts.round(3), columns=[f"c{number}" for number in range(columns)])
    return frame.assign(kind=np.array([f"k{number}" for number in range(classes)])[scores.argmax(axis=1)]), KIND


KIND = ["--label", "kind"]


def rare() -> Made:
    frame, _ = labelled(6000, 8, 2, seed=3)
    keep = (frame["kind"] == "k0") | (np.random.default_rng(0).random(len(frame)) < 0.03)
    return frame[keep], [*KIND, "--costs", "k1:20"]


def payoffs() -> Made:
    draw = np.random.default_rng(4)
    contexts = draw.standard_normal((4000, 6))
    paid = contexts @ draw.standard_normal((6, 4)) + draw.standard_normal((4000, 4))
    frame = pd.DataFrame(contexts.round(3), columns=[f"c{number}" for number in range(6)])
    for number in range(4):
        frame[f"pays_{number}"] = paid[:, number].round(3)
    return frame, ["--rewards", "pays_*"]


def mixed() -> Made:
    frame, _ = labelled(5000, 6, 3, seed=5)
    draw = np.random.default_rng(5)
    towns, tiers = np.array(["Rome", "Oslo", "Lima", "Cairo"]), np.array(["basic", "plus", "premium"])
    agrees = draw.random(len(frame)) < 0.7
    tier = np.where(agrees, frame["kind"].str[1:].astype(int), draw.integers(3, size=len(frame)))
    return frame.assign(town=draw.choice(towns, len(frame)), tier=tiers[tier]), KIND


def missing() -> Made:
    frame, _ = labelled(5000, 10, 3, seed=6)
    gone = np.random.default_rng(6).random((len(frame), 10)) < 0.2
    frame.iloc[:, :10] = frame.iloc[:, :10].mask(gone)
    return frame, KIND


def bundled(loader: Callable[..., object]) -> Made:
    frame = loader(as_frame=True).frame  # type: ignore[attr-defined]
    return frame.rename(columns={"target": "kind"}).assign(kind=lambda table: "k" + table["kind"].astype(str)), KIND


TABLES: dict[str, tuple[str, Callable[[], Made]]] = {
    "narrow": ("5,000 × 5, 3 classes", lambda: labelled(5000, 5, 3, seed=0)),
    "wide": ("8,190 × 1,504, 3 classes", lambda: labelled(8190, 1504, 3, seed=1, useful=60)),
    "long": ("300,000 × 10, 4 classes", lambda: labelled(300_000, 10, 4, seed=2)),
    "rare": ("a class of 3 %, with costs", rare),
    "payoffs": ("4,000 × 6, payoffs of 4 actions", payoffs),
    "many": ("8,000 × 12, 26 classes", lambda: labelled(8000, 12, 26, seed=7)),
    "mixed": ("5,000 × 8, numbers and text", mixed),
    "missing": ("5,000 × 10, a fifth missing", missing),
    "tiny": ("60 × 4, 2 classes", lambda: labelled(60, 4, 2, seed=8, noise=0.1)),
    "digits": ("scikit-learn: 1,797 × 64, 10 classes", lambda: bundled(datasets.load_digits)),
    "cancer": ("scikit-learn: 569 × 30, 2 classes", lambda: bundled(datasets.load_breast_cancer)),
}


def file_of(name: str) -> tuple[Path, list[str]]:
    """The table's file, written once, and the options that say what it means."""
    frame, options = TABLES[name][1]()
    path = FOLDER / f"{name}.csv"
    if not path.exists():
        frame.to_csv(path, index=False)
    return path, options


def ask(name: str, budget: str) -> dict:
    """What `recommend` answered, and the seconds of the whole command."""
    path, options = file_of(name)
    command = [sys.executable, "-m", "showdown", "recommend", str(path), *options, "--budget", budget, "--json"]
    began = time.monotonic()
    done = subprocess.run([*command, "--out", str(FOLDER / name)], capture_output=True, text=True, check=False)
    took = time.monotonic() - began
    if done.returncode:
        return {"seconds": took, "error": done.stderr.strip().splitlines()[-1:]}
    return {"seconds": took, "budget": seconds_of(budget), **json.loads(done.stdout)}


def answered(name: str, budget: str) -> dict:
    found = ask(name, budget)
    played = [one["policy"] for one in found.get("standings", ()) if one["trials"] and one["policy"] != "Uniform"]
    return {
        "seconds": found["seconds"],
        "budget": seconds_of(budget),
        "within": found["seconds"] <= LATE * seconds_of(budget),
        "policy": found.get("policy"),
        "said": found.get("error") or found["lines"][0],
        "value": _value(found, found.get("policy")),
        "steps": [found.get("horizon"), found.get("rows")],
        "played": played,
    }


def checked(name: str, budget: str, answer: dict) -> dict:
    """Whether the method that was recommended holds in a longer run: its distance from the best there."""
    found = ask(name, budget)
    best, own = found.get("verdict", {}).get("best"), answer["policy"]
    values = {one["policy"]: one["value"] for one in found.get("standings", ()) if one["trials"]}
    behind = values[best] - values[own] if best in values and own in values else None
    return {
        "seconds": found["seconds"],
        "policy": found.get("policy"),
        "best": best,
        "behind": behind,
        "values": values,
    }


def _value(found: dict, policy: str | None) -> float | None:
    return next((one["value"] for one in found.get("standings", ()) if one["policy"] == policy), None)


def markdown(results: dict[str, dict]) -> str:
    lines = [
        "| table | seconds (budget) | answer | steps | longer run | behind its best |",
        "|---|---|---|---|---|---|",
    ]
    for name, one in results.items():
        check = one.get("check", {})
        behind = "–" if check.get("behind") is None else f"{check['behind']:.4f}"
        steps = "{:,} of {:,}".format(*one["steps"]) if one["steps"][0] else "–"
        value = "" if one["value"] is None else f", {one['value']:.4g}"
        longer = f"{check['policy']} ({check['seconds']:.0f} s)" if check else "–"
        lines.append(
            f"| {name}: {TABLES[name][0]} | {one['seconds']:.0f} ({one['budget']:.0f}) | {one['policy']}{value} "
            f"| {steps} | {longer} | {behind} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", help="names of tables; see --list")
    parser.add_argument("--budget", default="1m")
    parser.add_argument("--check", action="store_true", help="ask again with this budget, and compare")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--table", action="store_true", help="print what was found so far as Markdown")
    given = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    kept = FOLDER / "found.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    if given.list:
        print("\n".join(f"{name}: {what}" for name, (what, _) in TABLES.items()))
    for name in given.tables:
        if given.check:
            results[name]["check"] = checked(name, given.budget, results[name])
        else:
            results[name] = answered(name, given.budget)
        print(json.dumps({name: results[name]}), flush=True)
        kept.write_text(json.dumps(results, indent=1))
    if given.table:
        print(markdown({name: results[name] for name in TABLES if name in results}))


if __name__ == "__main__":
    main()
