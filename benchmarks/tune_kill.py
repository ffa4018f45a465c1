"""A tuner that is killed (SIGKILL) at random moments ends with the same history as one left alone.

python benchmarks/tune_kill.py --kills 20
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
ASKED = ["tune", "LinPost", "--on", "wheel-0.5", "--horizon", "1000", "--trials", "5", "--final-trials", "5"]


def command(folder: Path, budget: int) -> list[str]:
    size = ["--budget", str(budget), "--batch", "8"]
    return [sys.executable, "-m", "showdown", *ASKED, *size, "--out", str(folder)]


def history(folder: Path) -> tuple[dict, list[dict], list[str]]:
    (path,) = (folder / "tuning").glob("*.json")
    with path.with_suffix(".csv").open() as stream:
        rows = [{name: item for name, item in row.items() if name != "seconds"} for row in csv.DictReader(stream)]
    return json.loads(path.read_text()), rows, sorted(each.stem for each in cells(folder))


def cells(folder: Path) -> list[Path]:
    """Not what a killed writer left half done, which every reader ignores."""
    return [path for path in folder.rglob("cells/*.json") if not path.name.startswith(".")]


def _ran_until(process: subprocess.Popen, folder: Path, wanted: int) -> bool:
    """Whether so many cells were stored before the process ended."""
    while process.poll() is None:
        if len(cells(folder)) >= wanted:
            return True
        time.sleep(0.002)
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--budget", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    root, generator = Path(tempfile.mkdtemp()), random.Random(asked.seed)
    began = time.monotonic()
    subprocess.run(command(root / "calm", asked.budget), check=True, capture_output=True)
    whole = time.monotonic() - began
    kills, stored = 0, [0]
    while True:
        process = subprocess.Popen(command(root / "killed", asked.budget), **QUIET)
        if kills < asked.kills and _ran_until(process, root / "killed", stored[-1] + generator.randint(1, 4)):
            time.sleep(generator.uniform(0, 0.3))
            process.kill()
            kills += 1
            stored.append(len(cells(root / "killed")))
        if process.wait() == 0:
            break
    same = history(root / "calm") == history(root / "killed")
    print(f"{kills} kills, with {stored[1:]} cells stored at each; {whole:.0f} s left alone; same history: {same}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
