"""Which published cells are compared, and what came of it: the reproduction in one table, from stored cells alone.

The linear family was played before cells were kept; its means are in two CSV files. Its rows of the linear-model tables
are published as absolute regret and are compared as ours in % of Uniform times Uniform's mean.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd

from showdown.analysis import preset_of
from showdown.analysis.published import against, published
from showdown.analysis.summary import summarise
from showdown.bench.store import Store

RESULTS = Path(__file__).parent / "results"
STORES = ("neural", "neural-more", "gaussian-process", "linear-models")
CSV = ("wheel-linear-cumulative.csv", "real-linear-cumulative.csv")
NOT_HERE = ("census", "song")  # their files could not be had


def findings() -> pd.DataFrame:
    """A row per published cell: source, policy, problem, and the finding; missing where it was not played."""
    stores = [Store(RESULTS / name) for name in STORES if (RESULTS / name).exists()]
    played = [summarise(frame, absolute=True) for store in stores if len(frame := store.frame(store.cells()))]
    absolute = pd.concat(played, ignore_index=True)
    uniform = absolute[absolute["policy"] == "Uniform"].groupby("problem")["mean"].first()
    linear = pd.concat([pd.read_csv(RESULTS / name) for name in CSV])[list(absolute.columns)]
    parts = ("mean", "sem")
    relative = absolute.assign(**{part: 100 * absolute[part] / absolute["problem"].map(uniform) for part in parts})
    in_full = linear.assign(**{part: linear[part] * linear["problem"].map(uniform) / 100 for part in parts})
    return pd.concat([_compared("paper", linear, relative), _compared("paper-linear", in_full, absolute)])


def _compared(source: str, *ours: pd.DataFrame) -> pd.DataFrame:
    theirs = published(source, "cumulative")
    theirs = theirs[~theirs["problem"].isin(NOT_HERE) & (theirs["policy"] != "Uniform")]
    rows = against(pd.concat(ours, ignore_index=True), theirs).dropna(subset="finding")
    rows = rows.assign(policy=rows["policy"].map(preset_of)).drop_duplicates(["policy", "problem"], keep="last")
    joined = theirs.merge(rows[["policy", "problem", "finding"]], how="left", on=["policy", "problem"])
    return joined.assign(source=source, finding=joined["finding"].fillna("missing"))


def published_cells() -> list[str]:
    """Compared and missing cells by problem, as a Markdown table."""
    found = findings()
    rows = ["| problem | published | compared | agree | too noisy | differ | missing |", f"|{'---|' * 7}"]
    groups = [*((name, own) for name, own in found.groupby("problem", sort=False)), ("**all**", found)]
    for name, own in groups:
        count = Counter(own["finding"])
        kinds = [count[finding] for finding in ("agrees", "noisy", "differs", "missing")]
        rows.append(f"| {name} | {' | '.join(map(str, (len(own), sum(kinds[:3]), *kinds)))} |")
    return rows
