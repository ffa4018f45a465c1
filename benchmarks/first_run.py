"""How long the first `showdown run quick` takes, against another source tree: with nothing compiled before.

    python benchmarks/first_run.py /path/to/the/other/tree
    python benchmarks/first_run.py /path/to/the/other/tree --rounds 3
    python benchmarks/first_run.py /path/to/the/other/tree --make [--only other|this]

With `--make` it is `make run` in a fresh copy of each tree, installation included; pip's cache is left as it is, so run
one round more than counts where it is empty. `--only` times one of the two.

Without it, each tree plays the cells of the suite `quick` of the *other* tree, from start to end of the command, in a
process, a store and a cache of its own. The trees take turns. Prints the seconds of each run, what it says it spent on
compiling and playing, and the ratio of the medians. On a busy machine only the ratio means anything, and little.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).parents[1]


def seconds(tree: Path, suite: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(tree.resolve() / "src"), "XDG_CACHE_HOME": f"{folder}/cache"}
        code = "from showdown.cli.main import main; main()"
        command = [sys.executable, "-c", code, "run", str(suite.resolve()), "--out", f"{folder}/out", "--json"]
        began = time.perf_counter()
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
        took = time.perf_counter() - began
    cells = json.loads(done.stdout)["cells"]
    compiling, running = (sum(cell[name] for cell in cells) for name in ("compile_seconds", "run_seconds"))
    print(
        f"{tree}: {took:.1f} s ({len(cells)} cells: compiling {compiling:.1f} s, playing {running:.1f} s)", flush=True
    )
    return took


def seconds_of_make(tree: Path) -> float:
    """Of `make run` in a copy of what git knows of the tree, with caches of its own; pip keeps its downloads."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        copy.mkdir()
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=tree, capture_output=True, check=True).stdout
        subprocess.run(["tar", "x", "-C", str(copy)], input=archive, check=True)
        pip = os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip")
        environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache", "PIP_CACHE_DIR": pip}
        environment.pop("PYTHONPATH", None)
        began = time.perf_counter()
        with open(Path(folder) / "log", "w+") as log:
            done = subprocess.run(["make", "run"], cwd=copy, env=environment, stdout=log, stderr=log, check=False)
            took = time.perf_counter() - began
            log.seek(0)
            last = "\n".join(log.read().splitlines()[-3:])
    print(f"{tree}: make run {took:.1f} s, exit code {done.returncode}\n{last}", flush=True)
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="the other source tree: the folder that holds src/")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--make", action="store_true", help="time `make run` from nothing, installation included")
    parser.add_argument("--only", choices=("other", "this"), help="one of the two trees")
    chosen = parser.parse_args()
    if chosen.make:
        trees = [tree for name, tree in (("other", chosen.tree), ("this", HERE)) if chosen.only in (None, name)]
        found = {tree: [seconds_of_make(tree) for _ in range(chosen.rounds)] for tree in trees}
        if len(found) > 1:
            old, new = (statistics.median(times) for times in found.values())
            print(f"this tree takes {new / old:.0%} of the other's time ({new:.1f} s and {old:.1f} s)")
        return
    suite = chosen.tree / "src/showdown/suites/quick.toml"
    print(f"policies: {', '.join(tomllib.loads(suite.read_text())['policies'])}")
    took: dict[Path, list[float]] = {chosen.tree: [], HERE: []}
    for _ in range(chosen.rounds):
        for tree, times in took.items():
            times.append(seconds(tree, suite))
    old, new = (statistics.median(times) for times in took.values())
    print(f"this tree takes {new / old:.0%} of the other's time ({new:.1f} s and {old:.1f} s)")


if __name__ == "__main__":
    main()
