"""Write what docs/study.md and docs/council.md show of the stored cells: `make study`.

    python docs/write_study.py           # docs/figures/study-*.png, the tables of both pages, build/study.pdf
    python docs/write_study.py --check   # fails where a table of a page is not what the stored cells say

What stands between `<!-- begin NAME -->` and `<!-- end NAME -->` is written here; all other words are written by hand.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd

from council_tables import each_table, over_tables
from showdown.analysis.aggregates import Aggregates, aggregates
from showdown.analysis.published import published
from showdown.analysis.ranks import REFERENCES
from showdown.analysis.selection import select
from showdown.analysis.summary import summarise
from showdown.analysis.wins import wins
from showdown.bench.store import Store
from showdown.report.drawing.style import save
from showdown.report.figures.aggregates import drawn
from study_counts import published_cells
from study_pdf import write_pdf

DOCS = Path(__file__).parent
RESULTS = DOCS / "results"
STUDY = DOCS / "study.md"
COUNCIL = DOCS / "council.md"
FIVE = ("contraceptive", "german", "titanic", "yeast1", "yeast3")  # on which most methods were played
SMALL = (*FIVE, "digits", "segment", "segment0")
LARGE = ("banana", "letter", "marketing", "optdigits", "page-blocks0", "penbased", "phoneme", "texture", "twonorm")
WHEELS = tuple(f"wheel-{delta}" for delta in ("0.5", "0.7", "0.9", "0.95", "0.99"))
MOST = 24  # lines of a table


SECOND = {"Council": "Council, 2nd edition", "Council-fast": "Council-fast, 2nd edition"}  # as council2 holds them


@cache
def cells(stores: tuple[str, ...], problems: tuple[str, ...], horizon: int | None = None) -> pd.DataFrame:
    """One cell per policy and problem of these stores, seed 0; the edition of Council before this one is called so."""
    frames = []
    for name in stores:
        store = Store(RESULTS / name)
        frame = store.frame(store.cells())
        frames.append(frame.assign(policy=frame["policy"].replace(SECOND)) if name == "council2" else frame)
    frame = pd.concat(frames, ignore_index=True)
    frame = frame[frame["problem"].isin(problems) & (frame["seed"] == 0)]
    return select(frame.drop_duplicates(["cell", "policy", "problem", "trial"]), horizon=horizon).frame


def tables() -> pd.DataFrame:
    """The methods that were played on all of them."""
    return played_on_all((*SMALL, *LARGE))


def small_tables() -> pd.DataFrame:
    return played_on_all(SMALL)


def five_tables() -> pd.DataFrame:
    return played_on_all(FIVE)


def played_on_all(problems: tuple[str, ...]) -> pd.DataFrame:
    frame = cells(("council3", "council2", "study-tables"), problems)
    played = frame.groupby("policy")["problem"].nunique()
    return frame[frame["policy"].isin(played.index[played == len(problems)])]


def council_tables(problems: tuple[str, ...]) -> pd.DataFrame:
    """All that was played on these tables, with the network of the second edition alone but not its other parts."""
    frame = cells(("council3", "council2", "council2-ablation", "study-tables"), problems)
    return frame[~frame["policy"].str.match(r"Council(-fast)?\[")]


def council_beside(problems: tuple[str, ...]) -> list[str]:
    """Council beside the best of the others on each table."""
    played = [one for one in Store(RESULTS / "council3").cells() if one.problem in problems]
    sizes = {one.problem: (one.rows or one.horizon, one.num_actions) for one in played}
    return each_table(council_tables(problems), sizes, SECOND)


def wheels() -> pd.DataFrame:
    return cells(("council2", "neural", "neural-more", "families/wheel"), WHEELS, 20_000)


@cache
def rows_of_2018() -> frozenset[str]:
    return frozenset(published("paper", "cumulative")["policy"]) - REFERENCES


def of_2018(name: str) -> bool:
    """Whether a preset is a published row of the paper."""
    return name in rows_of_2018()


def lines(found: Aggregates) -> list[str]:
    """The aggregates as a short Markdown table: without the intervals of ranks, which `showdown table` has."""
    rows = ["| method | mean ratio | worst | within 5 % | better than the first | mean rank |", f"|{'---|' * 6}"]
    for one in found.methods[:MOST]:
        better = "–" if one.improvement is None else f"{one.improvement.value:.2f}"
        rows.append(
            f"| {one.policy} | {one.mean_ratio.value:.2f} {ends(one.mean_ratio.trials, '[]')} "
            f"{ends(one.mean_ratio.problems, '{}')} | {one.worst_ratio.value:.2f} {one.worst_problem} | "
            f"{one.near.value:.2f} {ends(one.near.problems, '{}')} | {better} | {one.mean_rank.value:.1f} |"
        )
    more = len(found.methods) - MOST
    return [*rows, f"| and {more} more | | | | | |"] if more > 0 else rows


def ends(pair: tuple[float, float] | None, marks: str) -> str:
    return "" if pair is None else f"{marks[0]}{pair[0]:.2f}, {pair[1]:.2f}{marks[1]}"


def aggregated(frame: pd.DataFrame) -> list[str]:
    found = aggregates(frame)
    count = frame.loc[frame["policy"].isin([one.policy for one in found.methods]), "trials"]
    trials = " to ".join(dict.fromkeys((str(count.min()), str(count.max()))))
    said = (
        f"{len(found.methods)} methods on {len(found.problems)} problems ({', '.join(found.problems)}), "
        f"{trials} trials. Critical difference of mean ranks: {found.critical_difference:.1f}."
    )
    return [said, "", *lines(found)]


def against_2018(frame: pd.DataFrame) -> list[str]:
    """Each later method against the best published row, and against the best of each problem."""
    found = aggregates(frame)
    names = [one.policy for one in found.methods]
    frame = frame[frame["policy"].isin(names) & frame["problem"].isin(found.problems)]
    best = next(name for name in names if of_2018(name))
    means = summarise(frame[frame["policy"].map(of_2018)], absolute=True)
    each = means.loc[means.groupby("problem")["mean"].idxmin()].set_index("problem")["policy"]
    rows = [
        f"| method | against {best}: better, worse, open | against the best 2018 row of each problem |",
        "|---|---|---|",
    ]
    for name in (name for name in names if not of_2018(name)):
        one, other = wins(frame, name, best), wins(frame, name, lambda problem: str(each[problem]))
        rows.append(f"| {name} | {counted(one)} | {counted(other)} |")
    return rows


TWINS = (
    ("LinFullPost", "LinFullPost/Greedy"),
    *((name, "LinFullPost/Greedy") for name in ("LinUCB", "LinSquareCB", "LinIDS", "LinSampledIDS")),
    *((f"NeuralLinear{rule}", "NeuralLinear-Greedy") for rule in ("", "-UCB", "-SquareCB", "-IDS")),
    *((name, f"{name}-Greedy") for name in ("Evidence", "SAU", "Rich-BLL", "VBLL")),
)


def greedy_twins(*frames: pd.DataFrame) -> list[str]:
    """Each pair on the first of the frames that holds both."""
    rows = ["| method | its greedy twin | problems | better, worse, open |", "|---|---|---|---|"]
    for one, twin in TWINS:
        frame = next((frame for frame in frames if {one, twin} <= set(frame["policy"])), None)
        if frame is not None:
            rows.append(f"| {one} | {twin} | {frame['problem'].nunique()} | {counted(wins(frame, one, twin))} |")
    return rows


def counted(found) -> str:
    return f"{len(found.better)}, {len(found.worse)}, {len(found.open)}"


def counts() -> list[str]:
    """How many cells and trials are stored."""
    rows = ["| store | cells | trials | problems | policies |", "|---|---|---|---|---|"]
    for path in sorted(RESULTS.glob("**/cells")):
        done = [record for record in Store(path.parent).cells() if record.is_done]
        named = f"{len({one.problem for one in done})} | {len({one.policy for one in done})}"
        rows.append(
            f"| {path.parent.relative_to(RESULTS)} | {len(done):,} | {sum(one.trials for one in done):,} | {named} |"
        )
    return rows


BLOCKS: dict[str, Callable[[], list[str]]] = {
    "counts": counts,
    "published": published_cells,
    "tables": lambda: aggregated(tables()),
    "five": lambda: aggregated(five_tables()),
    "since": lambda: against_2018(five_tables()),
    "small": lambda: aggregated(small_tables()),
    "wheels": lambda: aggregated(wheels()),
    "wheels-since": lambda: against_2018(wheels()),
    "twins": lambda: greedy_twins(small_tables(), five_tables()),
}
COUNCIL_BLOCKS: dict[str, Callable[[], list[str]]] = {
    "unseen": lambda: council_beside((*SMALL, *LARGE)),
    "vowel": lambda: council_beside(("vowel",)),
    "ratios": lambda: over_tables(council_tables((*SMALL, *LARGE))),
}
PAGES = {STUDY: BLOCKS, COUNCIL: COUNCIL_BLOCKS}
FIGURES = {"tables": tables, "five": five_tables, "wheels": wheels}


def page(path: Path, text: str) -> str:
    """The text of a page with all its blocks as the stored cells have them."""
    for name, write in PAGES[path].items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        if begin not in text or end not in text:
            raise SystemExit(f"{path} has no place for {name}: {begin} … {end}")
        block = "\n".join([begin, "", *write(), "", end])
        text = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _, block=block: block, text, flags=re.DOTALL)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--pdf", type=Path, default=DOCS.parent / "build" / "study.pdf")
    asked = parser.parse_args()
    old = {path: path.read_text(encoding="utf-8") for path in PAGES}
    new = {path: page(path, text) for path, text in old.items()}
    if asked.check:
        wrong = [path.name for path in PAGES if new[path] != old[path]]
        sys.exit(f"{' and '.join(wrong)}: not what the cells say; make study" if wrong else 0)
    for path, text in new.items():
        path.write_text(text, encoding="utf-8")
    for name, frame in FIGURES.items():
        save(drawn(aggregates(frame())), DOCS / "figures" / f"study-{name}.png")
    asked.pdf.parent.mkdir(parents=True, exist_ok=True)
    print(f"{asked.pdf}: {write_pdf(STUDY, asked.pdf)} pages")


if __name__ == "__main__":
    main()
