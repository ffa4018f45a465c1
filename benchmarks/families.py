"""Methods published since 2018, beside those of 2018, on the protocols that papers used; resumable.

    python benchmarks/families.py learn   [NAMES]  # does each learn? 1,000 steps of four problems; greedy twins
    python benchmarks/families.py short   [NAMES]  # Wang and Zhou 2020, Table 1: 2,000 steps, seven problems
    python benchmarks/families.py binary  [NAMES]  # NeuralTS: contexts of unit length, rewards 0 and 1, 10,000 steps
    python benchmarks/families.py wheel   [NAMES]  # the wheels at 20,000 steps, beside rows of VBLL and Rich-BLL
    python benchmarks/families.py speed   [NAMES]  # seconds of 50 trials of statlog in one process, beside NeuralLinear

NAMES are policies, with a comma between them; the default is every preset of a method published after 2018, the rules,
and references. Names that no policy has are left out with a line. Cells are kept in `--out`, so a second call plays
only what is missing; `--seconds` gives a cell up. Data: SHOWDOWN_DATA, or `shared/data` of this checkout.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REFERENCES = ("Uniform", "LinFullPost", "NeuralLinear", "NeuralLinear-Dropout", "Council")
RULES = (
    "LinUCB",
    "LinSquareCB",
    "LinIDS",
    "LinSampledIDS",
    *(f"NeuralLinear-{rule}" for rule in ("UCB", "SquareCB", "IDS", "Greedy")),
)
TWINS = (  # greedy ones of what has no preset of that; `learn_table.py` reads the cells
    *("LinFullPost/Greedy", "Evidence-Net/Greedy", "Rich-BLL-Net/Greedy", "VBLL-Net/Greedy", "SAU-Net/Greedy"),
    *("NeuralTS/Greedy", "NeuralTS-Net/Greedy", "HiLoFi/Greedy", "HiLoFi-Net/Greedy", "LRKF/Greedy", "LRKF-Net/Greedy"),
    *("Ensemble+-Net/Greedy", "Ensemble++/Greedy", "Ensemble++-Net/Greedy", "Epinet-Net/Greedy"),
    *("NPR[scale=0]", "NPR-Net[scale=0]", "LMC-TS[temperature=0]", "LMC-TS-Net[temperature=0]"),
)
WHEELS = tuple(f"wheel-{delta}" for delta in (0.5, 0.7, 0.9, 0.95, 0.99))
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Mode:
    problems: tuple[str, ...]
    horizon: int
    trials: int
    against: str | None = None  # published numbers
    more: tuple[str, ...] = ()  # policies played besides


MODES = {
    "learn": Mode(("statlog", "wheel-0.5", "financial", "mushroom"), 1000, 10, more=TWINS),
    "short": Mode(
        ("mushroom", "statlog", "financial", "jester", "covertype", "wheel-0.95", "adult"),
        2000,
        50,
        "short-track",
        ("NeuralLinear-1x50", "BBB-1x50"),
    ),
    "binary": Mode(
        tuple(f"{name}/zero-one" for name in ("mushroom", "statlog", "covertype", "{magic}", "adult-income")),
        10_000,
        20,
        "zero-one",
    ),
    "wheel": Mode(WHEELS, 20_000, 50, "later-wheels"),
    "speed": Mode(("statlog",), 2000, 50),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("policies", nargs="?", help="names, with a comma between them")
    parser.add_argument("--problems", help="instead of the mode's own")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--horizon", type=int)
    parser.add_argument("--seconds", type=float, help="give a cell up after so many")
    parser.add_argument("--processes", type=int, default=1, help="cells at the same time; 1 where seconds matter")
    parser.add_argument("--twins", action="store_true", help="greedy twins and UCB of every family, too")
    parser.add_argument("--out", type=Path, default=Path("results-families"))
    asked = parser.parse_args()
    mode = MODES[asked.mode]
    everything = [*REFERENCES, *mode.more, *since_2018(asked.twins or asked.mode == "learn"), *RULES]
    names = playable(asked.policies.split(",") if asked.policies else everything)
    data = Path(os.environ.setdefault("SHOWDOWN_DATA", str(ROOT / "shared" / "data")))
    tables = {name: f"table[path={data}/tables/{name}.dat.gz,label=-1,name={name}]" for name in ("satimage", "magic")}
    problems = asked.problems.split(",") if asked.problems else [name.format(**tables) for name in mode.problems]
    command = [sys.executable, "-m", "showdown", "run", "--policies", ",".join(["Uniform", *names])]
    command += ["--problems", ",".join(problems), "--trials", str(asked.trials or mode.trials)]
    command += ["--horizon", str(asked.horizon or mode.horizon), "--out", str(asked.out / asked.mode)]
    command += ["--cell-seconds", str(asked.seconds)] if asked.seconds else []
    command += ["--processes", str(asked.processes)] if asked.processes > 1 else []
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)  # a cell that fails is told below
    show(asked.out / asked.mode, mode.against)


def since_2018(twins: bool) -> list[str]:
    """Presets of methods whose reference is of a later year."""
    from showdown.policies import policies

    years = {name: re.search(r"\b(?:19|20)\d\d\b", policies.get(name).reference) for name in policies.names()}
    found = [name for name, year in years.items() if year and int(year.group()) > 2018]
    return found if twins else [name for name in found if not name.endswith(("-Greedy", "-UCB"))]


def playable(names: list[str]) -> list[str]:
    from showdown.basics.errors import UsageError
    from showdown.policies import policies

    found = []
    for name in dict.fromkeys(names):
        try:
            policies.get(name)
            found.append(name)
        except UsageError as error:
            print(f"left out: {error}", file=sys.stderr)
    return [name for name in found if name != "Uniform"]


def show(folder: Path, against: str | None) -> None:
    """Regret, beside published numbers, then seconds; of cells that did not finish, why."""
    table = [sys.executable, "-m", "showdown", "table", str(folder), "--format", "markdown"]
    print(subprocess.run([*table, *(["--against", against] if against else [])], capture_output=True, text=True).stdout)
    from showdown.bench.store import Store

    records = Store(folder).cells()
    seconds = {(record.problem, record.policy): record.run_seconds for record in records if record.is_done}
    print("| problem | policy | seconds | × NeuralLinear |\n|---|---|---|---|")
    for (problem, policy), spent in seconds.items():
        base = seconds.get((problem, "NeuralLinear"))
        print(f"| {problem} | {policy} | {spent:.1f} | {f'{spent / base:.2f}' if base else ''} |")
    for record in records:
        if not record.is_done:
            print(f"{record.policy} on {record.problem}: {record.status}, {record.reason}")


if __name__ == "__main__":
    main()
