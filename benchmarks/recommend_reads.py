"""How often `recommend` reads its store: whole-store reads, record reads and cost models built, for two methods.

python benchmarks/recommend_reads.py [--rounds 2,4,8,16,32]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from showdown import recommend
from showdown.bench import estimate, reader, record_file


def count(target: object, name: str, counted: Counter[str], called: str) -> None:
    """Count the calls of a function or a method from now on."""
    original = getattr(target, name)

    def counting(*given, **named):
        counted[called] += 1
        return original(*given, **named)

    setattr(target, name, counting)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", default="2,4,8,16,32")
    arguments = parser.parse_args()
    draw = np.random.default_rng(0)
    contexts = draw.standard_normal((400, 3))
    scores = contexts @ np.array([[1.0, -1, 0], [0, 1, -1], [1, 0, 1]])
    frame = pd.DataFrame(contexts, columns=["a", "b", "c"]).assign(
        kind=np.array(["x", "y", "z"])[scores.argmax(axis=1)]
    )
    counted: Counter[str] = Counter()
    count(reader.Reader, "cells", counted, "whole_store_reads")
    count(record_file, "read_file", counted, "record_reads")
    count(estimate, "calibration", counted, "cost_models")  # read once for each model
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kinds.csv"
        frame.to_csv(file, index=False)
        rounds = tuple(map(int, arguments.rounds.split(",")))
        out = Path(folder) / "out"
        found = recommend(
            str(file),
            label="kind",
            policies=["LinFullPost", "LinGreedy"],
            budget="90s",
            rounds=rounds,
            out=out,
            page=False,
        )
    print(json.dumps({"policy": found.policy, "rounds": len(rounds), **counted}))


if __name__ == "__main__":
    main()
