"""Which methods learn, and beat what: a table in Markdown from a store of short trials.

    python benchmarks/learn_table.py docs/results/families/learn

Cumulative regret in % of Uniform's mean, ± standard error. A letter says what a method is ahead of by 3.3 standard
errors of the difference trial by trial (trials of one number see the same contexts): u Uniform, l LinFullPost, n
NeuralLinear, g its own greedy twin. A letter in brackets: behind by as much.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from showdown.bench.store import Store

ERRORS = 3.3
RIVALS = {"u": "Uniform", "l": "LinFullPost", "n": "NeuralLinear"}
TWINS = {"NPR": "NPR[scale=0]", "EVILL": "NPR[scale=0]", "LMC-TS": "LMC-TS[temperature=0]"}
SAME_BELIEF = {
    **dict.fromkeys(("LinUCB", "LinSquareCB", "LinIDS", "LinSampledIDS"), "LinFullPost"),
    **dict.fromkeys(("NeuralUCB-Net", "NeuralTS-Joint"), "NeuralTS-Net"),
    "VBLL-Continual": "VBLL",
    "FG-LMC-TS": "LMC-TS",
    "FG-LMC-TS-Net": "LMC-TS-Net",
}


def twin_of(name: str, names: list[str]) -> str | None:
    """The twin of a method that was played too: the same belief, or the same network, without exploration."""
    name = SAME_BELIEF.get(name, name)
    plain, net = (name[:-4], "-Net") if name.endswith("-Net") else (name, "")
    if plain in TWINS:
        base, _, fields = TWINS[plain].partition("[")
        candidates = [f"{base}{net}[{fields}"]
    else:
        candidates = [f"{name}-Greedy", f"{name}/Greedy"]
    return next((each for each in candidates if each in names), None)


def ahead(regrets: dict[str, np.ndarray], name: str, rival: str | None) -> int:
    """1 where `name` is ahead of the rival, −1 where it is behind, 0 where it cannot be told."""
    if rival is None or rival not in regrets or name not in regrets or rival == name:
        return 0
    difference = regrets[rival] - regrets[name]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return int(np.sign(difference.mean())) if abs(difference.mean()) > ERRORS * error else 0


def cell(regrets: dict[str, np.ndarray], name: str, rivals: dict[str, str | None]) -> str:
    if name not in regrets:
        return ""
    share = 100 * regrets[name] / regrets["Uniform"].mean()
    found = {letter: ahead(regrets, name, rival) for letter, rival in rivals.items()}
    better = "".join(letter for letter, sign in found.items() if sign > 0)
    worse = "".join(letter for letter, sign in found.items() if sign < 0)
    marks = f" {better}" * bool(better) + f" ({worse})" * bool(worse)
    return f"{share.mean():.1f} ± {share.std(ddof=1) / np.sqrt(len(share)):.1f}{marks}"


def main() -> None:
    frame: pd.DataFrame = Store(Path(sys.argv[1])).frame()
    by_problem = {
        str(problem): {
            str(policy): rows.sort_values("trial")["cumulative"].to_numpy() for policy, rows in part.groupby("policy")
        }
        for problem, part in frame.groupby("problem")
    }
    names = list(frame["policy"].unique())
    means = {
        name: np.mean([found[name].mean() / found["Uniform"].mean() for found in by_problem.values() if name in found])
        for name in names
    }
    print("| | " + " | ".join(by_problem) + " |\n|---" + "|---" * len(by_problem) + "|")
    for name in sorted(names, key=lambda each: float(means[each])):
        rivals = {**RIVALS, "g": twin_of(name, names)}
        print(f"| {name} | " + " | ".join(cell(found, name, rivals) for found in by_problem.values()) + " |")


if __name__ == "__main__":
    main()
