"""How long the first `showdown run quick` takes, against another source tree: with nothing compiled before.

    python benchmarks/first_run.py /path/to/the/other/tree
    python benchmarks/first_run.py /path/to/the/other/tree --rounds 3

Each tree plays the cells of the suite `quick` of the *other* tree, from start to end of the command, in a process, a
store and a cache of its own. The trees take turns. Prints the seconds of each run, what it says it spent on compiling
and playing, and the ratio of the medians. On a busy machine only the ratio means anything, and little.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="the other source tree: the folder that holds src/")
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
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
