"""Add new presets to identities.json: `make identities`.

An entry of the file says under which name stored cells are found. It changes only when the `numerics` of its family was
raised; then run this script with `--moved`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from showdown.bench.cell import Cell
from showdown.policies import policies
from showdown.problems import problems

FILE = Path(__file__).parent / "identities.json"
NEEDS_A_FILE = "table"  # a problem that is made of a user's file has no identity without one


def main() -> None:
    known = json.loads(FILE.read_text())
    wheel, post = problems.get("wheel-0.5"), policies.get("LinFullPost")
    now = {
        "policies": {entry.name: Cell(entry.name, "wheel-0.5", entry.value, wheel, 50, 0).hash for entry in policies},
        "problems": {
            entry.name: Cell("LinFullPost", entry.name, post, entry.value, 50, 0).hash
            for entry in problems
            if entry.name != NEEDS_A_FILE
        },
    }
    for kind, found in now.items():
        moved = [name for name, value in found.items() if known[kind].get(name, value) != value]
        if moved and "--moved" not in sys.argv:
            sys.exit(
                f"the identity of {', '.join(moved)} moved, so stored cells would not be found: undo that, or raise "
                f"`numerics` and run: python {Path(__file__).name} --moved"
            )
    FILE.write_text(json.dumps(now, indent=1) + "\n")


if __name__ == "__main__":
    main()
