"""Tune policies on problems and report on all, without the command line's packages: for a machine with an accelerator.

One process tunes one policy on one problem; many of them share a store. A last one finds all tunings stored, plays the
comparisons and prints the tables. `benchmarks/tune_gpu.sh` starts them all.

    python benchmarks/tune_study.py --policies LinFullPost --tune-on mushroom --budget 200 --batch 50 --out DIR
    python benchmarks/tune_study.py --policies LinFullPost --tune-on mushroom,statlog --report-on adult,jester --out DIR
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict

from showdown.bench.store import Store
from showdown.config.registry import split_outside_brackets as split
from showdown.play import memory
from showdown.tuning.request import playable, request_for
from showdown.tuning.tune import tune
from showdown.tuning.tuned_study import sentences, study, table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", required=True)
    parser.add_argument("--tune-on", required=True)
    parser.add_argument("--report-on", default="", help="nothing: only tune")
    parser.add_argument("--budget", default="200")
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--report-trials", type=int, default=50)
    parser.add_argument("--fields", default="")
    parser.add_argument("--horizon", type=int)
    parser.add_argument("--sampler", default="gp")
    parser.add_argument("--halving", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="results")
    parser.add_argument("--sharers", type=int, default=1, help="processes that share the machine")
    parser.add_argument("--json", help="where the rows of the report are written")
    asked = parser.parse_args()
    memory.sharers = asked.sharers
    store = Store(asked.out)
    requests = [
        request_for(
            policy,
            [problem],
            split(asked.fields),
            horizon=asked.horizon,
            budget=asked.budget,
            trials=asked.trials,
            final_trials=asked.report_trials,
            batch=asked.batch,
            sampler=asked.sampler,
            halving=asked.halving,
            seed=asked.seed,
            objective="cumulative",
        )
        for policy in split(asked.policies)
        for problem in split(asked.tune_on)
    ]
    began = time.monotonic()
    for request in requests if not asked.report_on else []:
        history, result = tune(request, store, _watch(began))
        row = result.problems[0]
        change = f"{row.difference:+.5g} [{row.low:+.5g}, {row.high:+.5g}]"
        seconds = f"{time.monotonic() - began:.0f} s, of playing {history.seconds:.0f}"
        print(f"{result.spelled} on {row.problem}: {row.chosen:.5g} default {row.default:.5g} {change} ({seconds})")
    if asked.report_on:
        reported = {name: playable(name, asked.horizon) for name in split(asked.report_on)}
        rows = study(requests, reported, store, asked.report_trials, _watch(began))
        print(table(rows), *sentences(rows), f"{time.monotonic() - began:.0f} s", sep="\n")
        if asked.json:
            with open(asked.json, "w") as stream:
                json.dump([asdict(row) for row in rows], stream, indent=1)


def _watch(began: float):
    last = [""]

    def watch(amount: float, label: str) -> None:
        if label != last[0]:
            last[0] = label
            print(f"[{time.monotonic() - began:.0f} s] {label}", flush=True)

    return watch


if __name__ == "__main__":
    main()
