"""Rewrite a store that is kept with the docs in the smallest form that `showdown table` reads.

    python benchmarks/shrink_results.py docs/results/neural [--every 5]

Curves keep every fifth checkpoint: 40 of 200, with the ends of the quarters, which the warnings of tables use. Tables
are packed as far as zstd goes. All other numbers stay as they are; records get the checksum of the new table.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from showdown.basics.files import write_together
from showdown.bench import record_file, table_file
from showdown.bench.record import Record
from showdown.bench.store import Store
from showdown.metrics import per_checkpoint

LEVEL = 19  # of zstd
FEWEST = 20  # checkpoints that a curve keeps


def shrink(store: Store, record: Record, every: int) -> tuple[int, int]:
    """Rewrite one cell; return the bytes of its table before and after."""
    path = store.folder / f"{record.cell}.parquet"
    before = path.read_bytes()
    table = pq.read_table(pa.BufferReader(before))
    kept = np.arange(every - 1, len(record.checkpoints), every)
    thin = len(kept) >= FEWEST and kept[-1] == len(record.checkpoints) - 1
    if thin:
        for name in per_checkpoint():
            curves = np.stack(table[name].to_numpy())[:, kept]
            ends = pa.array(np.arange(0, curves.size + 1, len(kept), dtype=np.int32))
            lists = pa.ListArray.from_arrays(ends, pa.array(np.ascontiguousarray(curves).ravel()))
            table = table.set_column(table.column_names.index(name), name, lists)
    after = table_file.encoded(table, LEVEL)
    fields = record_file.read_fields(path.with_suffix(".json"))
    fields["checkpoints"] = [fields["checkpoints"][place] for place in kept] if thin else fields["checkpoints"]
    fields = record_file.sealed({**fields, "table_sha256": record_file.sha256(after)})
    table_file.from_bytes(after, record_file.checked(fields, record.cell))  # raises if it cannot be read back
    write_together({path: after, path.with_suffix(".json"): record_file.to_bytes(fields)})
    return len(before), len(after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--every", type=int, default=5, help="keep every so many checkpoints")
    arguments = parser.parse_args()
    store = Store(arguments.store)
    done = {record.cell: record for record in store.cells() if record.is_done}
    sizes = [shrink(store, record, arguments.every) for record in done.values() if store.is_done(record.cell)]
    before, after = (sum(column) for column in zip(*sizes, strict=True))
    print(f"{len(sizes)} cells: tables of {before / 1e6:.2f} MB are {after / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
