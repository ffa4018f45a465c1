"""Where data files are: in a folder the user names, then in the cache; both have the layout DATASET/FILE.

The named folder (`SHOWDOWN_DATA`, or `--data-dir` on the command line) may hold files packed or unpacked.
"""

from __future__ import annotations

import os
from pathlib import Path

from showdown.basics.errors import MissingDataError
from showdown.basics.folders import cache_folder
from showdown.data.catalogue import DataFile, Dataset

FOLDER_VARIABLE = "SHOWDOWN_DATA"
_PACKED_ENDINGS = ("", ".gz", ".Z", ".zip")


def named_folder() -> Path | None:
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named).expanduser() if named else None


def folders(data_dir: Path | None = None) -> list[Path]:
    """The folders to look in, in order. The first is where a download goes."""
    named = data_dir or named_folder()
    return [*([named] if named else []), cache_folder() / "data"]


def names_of(file: DataFile) -> tuple[str, ...]:
    """What `file` may be called, packed or not, in a folder or inside an archive."""
    return (*(file.name + ending for ending in _PACKED_ENDINGS), *file.packed_names)


def find(dataset: Dataset, file: DataFile, data_dir: Path | None = None) -> Path | None:
    for folder in folders(data_dir):
        for name in names_of(file):
            path = folder / dataset.name / name
            if path.is_file():
                return path
    return None


def require(dataset: Dataset, data_dir: Path | None = None) -> list[Path]:
    """The path of every file of a data set, or one sentence on how to get them."""
    found = [find(dataset, file, data_dir) for file in dataset.files]
    missing = [file.name for file, path in zip(dataset.files, found, strict=True) if path is None]
    if missing:
        raise MissingDataError(
            f"the data set {dataset.name!r} is not on this machine (no {' and no '.join(missing)}); "
            f"get it with `showdown data fetch {dataset.name}`, "
            f"or point {FOLDER_VARIABLE} at a folder that holds {dataset.name}/{missing[0]}"
        )
    return [path for path in found if path is not None]
