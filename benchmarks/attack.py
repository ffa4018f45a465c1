"""Attack everything that comes from outside, at length, and print the table of docs/reliability.md.

About fifteen minutes on two cores.

python benchmarks/attack.py            # all
python benchmarks/attack.py damage     # one kind, or several, by their names in `ATTACKS`

The kind `remote` needs s3fs and moto, and is left out without them: benchmarks/s3_store.py installs both in .venv-s3.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

from attacks import (
    Score,
    actions,
    damage,
    degenerate,
    downloads,
    drivers,
    inputs,
    journal,
    lies,
    output,
    precision,
    ranges,
    remote,
    service,
    sharing,
    users,
)

FLIPS, KILLS = 3000, 40
Attack = Callable[[Path], Score | None]  # None where it cannot be tried here
ATTACKS: dict[str, list[Attack]] = {
    "damage": [
        lambda folder: damage.damaged_files(folder, ".parquet", damage.flip, FLIPS),
        lambda folder: damage.damaged_files(folder, ".json", damage.flip, FLIPS),
        lambda folder: damage.damaged_files(folder, ".parquet", damage.cut, FLIPS // 10),
        lambda folder: damage.damaged_files(folder, ".json", damage.cut, FLIPS // 10),
        lambda folder: damage.swaps(folder, ".parquet", cells=12),
        lambda folder: damage.swaps(folder, ".json", cells=12),
        lambda folder: damage.damaged_cache(folder, FLIPS),
    ],
    "lies": [lies.lying_records],
    "sharing": [
        sharing.names_of_writers,
        sharing.runs_on_one_store,
        lambda folder: sharing.killed_writers(folder, KILLS),
    ],
    "inputs": [inputs.odd_files, inputs.damaged_inputs, inputs.bombs],
    "remote": [remote.faulty_network, remote.damaged_records, remote.killed_uploads],
    "drivers": [drivers.killed_drivers],
    "users": [users.shared_folders, users.odd_locks, users.stopped_holder],
    "downloads": [
        lambda folder: downloads.damaged_downloads(folder, FLIPS),
        downloads.bad_servers,
        downloads.bombs,
    ],
    "precision": [precision.far_rewards, precision.far_contexts, ranges.unsaid, degenerate.sweep],
    "journal": [
        lambda folder: journal.damaged(folder, "a bit flips", journal.flipped, FLIPS),
        lambda folder: journal.damaged(folder, "cut short", journal.cut, FLIPS // 10),
        lambda folder: journal.damaged(folder, "edited, repeated, left out, moved", journal.edited, FLIPS // 10),
        lambda folder: journal.accepted_losses(folder, FLIPS // 10),
        lambda folder: journal.moved(folder, 100),
        lambda folder: journal.full_disks(folder, 100),
        journal.second_writers,
    ],
    "service": [
        lambda folder: service.kills(folder, 50),
        lambda folder: service.kills_on_small_disk(folder, 50),
        lambda folder: actions.kills_while_actions_change(folder, 10, 2.0),
        lambda folder: service.deaf_clients(folder, 20),
        service.rude_requests,
        lambda folder: service.stalls(folder, 20.0),
        lambda folder: service.stalls(folder, 20.0, "LinFullPost", 200),
        lambda folder: service.stalls(folder, 20.0, "Council-fast", 200),
    ],
    "output": [output.names_in_tables, output.headings_of_tables],
}


def scores(kinds: list[str]) -> Iterator[Score]:
    for kind in kinds:
        if kind == "remote" and not (find_spec("s3fs") and find_spec("moto")):
            print("remote: left out, since s3fs or moto is not installed", file=sys.stderr)
            continue
        for attack in ATTACKS[kind]:
            with tempfile.TemporaryDirectory() as folder:
                began = time.monotonic()
                score = attack(Path(folder) / "store")
                if score is not None:
                    yield score
                print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)


def main() -> int:
    print("| attack | tried | silent | lost | crashed | hung |\n|---|---:|---:|---:|---:|---:|")
    withstood = True
    for score in scores(sys.argv[1:] or list(ATTACKS)):
        withstood &= score.withstood
        found = " | ".join(str(number) for number in (score.silent, score.lost, score.crashed, score.hung))
        print(f"| {score.attack} | {score.tried:,} | {found} |", flush=True)
    return 0 if withstood else 1


if __name__ == "__main__":
    sys.exit(main())
