"""NumPy's own files: one array (.npy), or several by name (.npz); and the sparse matrices that SciPy keeps in such."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from showdown.basics.errors import UsageError
from showdown.data.formats import BinaryFormat, first_line
from showdown.data.gzipped import check_unpacked
from showdown.data.in_memory import from_arrays


def read(path: Path) -> pd.DataFrame:
    try:
        with path.open("rb") as stream:
            held = np.load(stream, allow_pickle=False)
            if isinstance(held, np.ndarray):
                return from_arrays({"column": held})
            if not held.files or not all(name.endswith(".npy") for name in held.zip.namelist()):
                raise UsageError("it is a zip archive and not NumPy's; unpack it first")
            check_unpacked(path.stat().st_size, sum(member.file_size for member in held.zip.infolist()))
            if {"format", "shape", "data"} <= set(held.files):  # written by scipy.sparse.save_npz
                from scipy.sparse import load_npz

                return from_arrays({"column": load_npz(path)})
            return from_arrays({name: held[name] for name in held.files})
    except UsageError:
        raise
    except Exception as error:  # headers and archives that lie make NumPy and zipfile raise anything
        raise UsageError(f"it cannot be read as a NumPy file: {first_line(error)}") from error


FORMAT = BinaryFormat("NumPy", (b"\x93NUMPY", b"PK\x03\x04"), read)
