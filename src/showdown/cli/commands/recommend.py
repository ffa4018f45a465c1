"""`showdown recommend FILE`: which method to use on a table of your own, with a live leaderboard on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from showdown.cli import console
from showdown.cli.completion import policy_names
from showdown.cli.inputs import (
    Categorical,
    Costs,
    Delimiter,
    Features,
    File,
    Header,
    Ignore,
    Keep,
    Label,
    Load,
    Payoff,
    RewardMatrix,
    Rewards,
    load_files,
)

if TYPE_CHECKING:
    from showdown.recommendation.board import Board, Show, Standing


def register(app: typer.Typer) -> None:
    app.command("recommend", epilog="Example: showdown recommend customers.csv --label bought --budget 2m")(
        recommend_command
    )


Policies = Annotated[
    str | None,
    typer.Option(
        "--policies", "--policy", help="Instead of the usual set: A,B[field=value]", autocompletion=policy_names
    ),
]


Out = Annotated[Path, typer.Option(help="Where results, the page and the agent's file are kept.")]
Learn = Annotated[bool, typer.Option(help="Write an agent that has learned from the table.")]


def recommend_command(
    file: File,
    label: Label = "",
    rewards: Rewards = "",
    reward_matrix: RewardMatrix = "",
    costs: Costs = "",
    ignore: Ignore = "",
    categorical: Categorical = "",
    keep: Keep = "",
    features: Features = "",
    payoff: Payoff = "",
    delimiter: Delimiter = "auto",
    header: Header = "auto",
    budget: Annotated[str, typer.Option(help="How long it may take: 90s, 2m, 1h.")] = "5m",
    policies: Policies = None,
    seed: Annotated[int, typer.Option(help="The seed; the same one gives the same numbers.")] = 0,
    out: Out = Path("recommendation"),
    learn: Learn = True,
    load: Load = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Say which method to use on a table of your own.

    A sensible set of methods is played on it, and what is clearly behind is dropped.
    """
    began = time.monotonic()  # importing JAX is part of what a person waits for
    load_files(load)

    from showdown.api.recommend import recommend
    from showdown.report.formats.text import wrapped

    with leaderboard() as show:
        found = recommend(
            file,
            label=label,
            rewards=rewards,
            reward_matrix=reward_matrix,
            costs=costs,
            ignore=ignore,
            categorical=categorical,
            keep=keep,
            features=features,
            payoff=payoff,
            delimiter=delimiter,  # type: ignore[arg-type]
            header=header,  # type: ignore[arg-type]
            budget=budget,
            policies=policies or None,
            seed=seed,
            out=out,
            show=show,
            load=tuple(load or ()),
            began=began,
            learn=learn,
        ).answer
    if as_json:
        console.data_json(found.to_json())
    else:
        console.data("\n".join(wrapped(line, console.width()) for line in found.lines))


REFRESH_SECONDS = 0.25


@contextmanager
def leaderboard() -> Iterator[Show]:
    """Show a live leaderboard. Yields the function to give to `recommend(show=…)`."""
    if sys.stderr is None or not sys.stderr.isatty():
        with console.pulse() as beat:
            yield lambda board, line: _say(board, line, beat)
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:
        last = [0.0]

        def show(board: Board, line: str) -> None:
            if line or time.monotonic() - last[0] > REFRESH_SECONDS:
                last[0] = time.monotonic()
                live.update(_table(board), refresh=True)

        yield show


def _say(board: Board, line: str, beat: Any) -> None:
    if line:
        console.warn(line)
    playing = [f"{one.policy} ({_state(one)})" for one in board.standings.values() if one.status in _ACTIVE]
    beat(f"{board.trials} trials: {', '.join(playing) or 'comparing'}")


_ACTIVE = ("compiling", "playing")


def _state(standing: Standing) -> str:
    return f"playing, {standing.share:.0%}" if standing.status == "playing" else standing.status


def _table(board: Board) -> Any:
    from rich.table import Table
    from rich.text import Text

    limit = f"{board.budget:.0f} s" if board.budget < 120 else f"{board.budget / 60:.3g} minutes"
    table = Table(title=f"{board.trials} trials each; at most {limit}", title_justify="left")
    for heading in ("method", board.metric, "95 % interval", "trials", ""):
        table.add_column(heading, justify="left" if heading in ("method", "") else "right")
    leading = set(board.verdict.ties) if board.verdict is not None else set()
    for one in board.best_first():
        value = "–" if one.value is None else f"{one.value:.4f}"
        known = one.low is not None and one.high is not None and one.low == one.low  # not NaN
        interval = f"{one.low:.4f} to {one.high:.4f}" if known else "–"
        style = "dim" if one.status.startswith("behind") else "bold" if one.policy in leading else ""
        cells = (one.policy, value, interval, str(one.trials or "–"), _state(one))
        table.add_row(*(Text(cell, style=style) for cell in cells))
    return table
