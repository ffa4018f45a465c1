"""The data sets of the paper, and tables of others: files, checksums, terms, where to fetch them, where they are here.

A checksum is that of the content that is parsed, after unpacking, since mirrors pack differently. Two of the authors'
files (adult.full, jester_data_40jokes_19181users.npy) are in other forms than those here and have no checksum that
could be held against them, so they are not mirrors.

Files are looked for in a folder the user names, then in the cache; both have the layout DATASET/FILE. The named folder
(`SHOWDOWN_DATA`, or `--data-dir` on the command line) may hold files packed or unpacked.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

from showdown.basics.errors import MissingDataError, UsageError
from showdown.basics.files import cache_folder
from showdown.data import known_tables

_UCI = "https://archive.ics.uci.edu/static/public"
_UCI_OLD = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_AUTHORS = "https://storage.googleapis.com/bandits_datasets"
_CC_BY = "CC BY 4.0 (UCI Machine Learning Repository)"


@dataclass(frozen=True)
class DataFile:
    name: str  # in its data set's folder, unpacked
    sha256: str  # of the unpacked content
    size: int  # bytes, unpacked; a round figure where only that is known
    mirrors: tuple[str, ...]  # tried in order
    packed_names: tuple[str, ...] = ()  # what else it may be called, in a folder or inside an archive


@dataclass(frozen=True)
class Dataset:
    name: str
    title: str
    terms: str
    files: tuple[DataFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def dataset(name: str) -> Dataset:
    """The data set called `name`."""
    if name not in CATALOGUE:
        near = difflib.get_close_matches(name.lower(), CATALOGUE, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(CATALOGUE)}"
        raise UsageError(f"no data set is called {name!r}; {hint}")
    return CATALOGUE[name]


_DATASETS = (
    Dataset(
        "mushroom",
        "Mushroom: 8,124 mushrooms by 22 attributes, edible or poisonous",
        _CC_BY,
        (
            DataFile(
                "agaricus-lepiota.data",
                "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e",
                373_704,
                (
                    f"{_UCI}/73/mushroom.zip",
                    f"{_UCI_OLD}/mushroom/agaricus-lepiota.data",
                    f"{_AUTHORS}/mushroom.data",
                ),
            ),
        ),
    ),
    Dataset(
        "statlog",
        "Statlog (Shuttle), the training part: 43,500 sensor readings in 7 classes",
        _CC_BY,
        (
            DataFile(
                "shuttle.trn",
                "87b24ee9fb5137e1d417659cf905d84d0e15342bbaa60770f1ae83da1a38200a",
                1_153_518,
                (f"{_UCI}/148/statlog+shuttle.zip", f"{_AUTHORS}/shuttle.trn"),
            ),
        ),
    ),
    Dataset(
        "covertype",
        "Covertype: 581,012 patches of forest in 7 cover types",
        _CC_BY,
        (
            DataFile(
                "covtype.data",
                "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
                75_169_317,
                (
                    f"{_UCI}/31/covertype.zip",
                    f"{_UCI_OLD}/covtype/covtype.data.gz",
                    f"{_AUTHORS}/covtype.data",
                ),
            ),
        ),
    ),
    Dataset(
        "financial",
        "Financial: 3,713 days of price differences of 21 stocks",
        "no licence stated; published by the paper's authors",
        (
            DataFile(
                "raw_stock_contexts",
                "cf468e5aae150dfd5c6b096464cd11e85f8b01198f8e49bedb941948850a6315",
                1_987_117,
                (f"{_AUTHORS}/raw_stock_contexts",),
            ),
        ),
    ),
    Dataset(
        "jester",
        "Jester 1: 24,983 users' ratings of 100 jokes",
        "free for research when Goldberg, Roeder, Gupta, Perkins (2001) is cited",
        (
            DataFile(
                "jester-data-1.csv",
                "4692895acc91263ec11592cb94687725e28afdd451845ab46c2ac6ba3ebc414e",
                11_712_553,
                ("https://eigentaste.berkeley.edu/dataset/jester_dataset_1_1.zip",),
                packed_names=("jester-data-1.zip", "jester_dataset_1_1.zip", "jester-data-1.xls"),
            ),
        ),
    ),
    Dataset(
        "adult",
        "Adult: 48,842 people of the 1994 census, both parts",
        _CC_BY,
        (
            DataFile(
                "adult.data",
                "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                3_974_305,
                (f"{_UCI}/2/adult.zip", f"{_UCI_OLD}/adult/adult.data"),
            ),
            DataFile(
                "adult.test",
                "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
                2_003_153,
                (f"{_UCI}/2/adult.zip", f"{_UCI_OLD}/adult/adult.test"),
            ),
        ),
    ),
    Dataset(
        "census",
        "US Census 1990: 2,458,285 people by 68 coded attributes",
        _CC_BY,
        (
            DataFile(
                "USCensus1990.data.txt",
                "38e99f50855ddc03167b715b36519ef40b77295ae4e85dfef0c6429ac79ed799",
                361_344_227,
                (
                    f"{_UCI}/116/us+census+data+1990.zip",
                    f"{_UCI_OLD}/census1990-mld/USCensus1990.data.txt",
                    f"{_AUTHORS}/USCensus1990.data.txt",
                ),
            ),
        ),
    ),
    Dataset(
        "song",
        "YearPredictionMSD: 515,345 songs by 90 features of timbre, and their year",
        _CC_BY,
        (
            DataFile(
                "YearPredictionMSD.txt",
                "4b6f8e50235b359e01689ae7fb33ad0f89677e9a15f25f3d6259327a6bb927bb",
                449_000_000,
                (f"{_UCI}/203/yearpredictionmsd.zip", f"{_UCI_OLD}/00203/YearPredictionMSD.txt.zip"),
            ),
        ),
    ),
)

_TABLES = Dataset(
    "tables",
    f"{len(known_tables.FILES)} tables of KEEL to play with `showdown run tables`",
    known_tables.TERMS,
    tuple(DataFile(name, sha256, size, (known_tables.PACKAGE,)) for name, sha256, size in known_tables.FILES),
)

CATALOGUE: dict[str, Dataset] = {entry.name: entry for entry in (*_DATASETS, _TABLES)}


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
