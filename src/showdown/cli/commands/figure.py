"""`showdown figure`: draw a figure of the paper, from a small experiment of its own or from a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from showdown.basics.errors import UsageError
from showdown.basics.text import near
from showdown.cli import console
from showdown.cli.completion import policy_names, problem_names
from showdown.cli.inputs import DataFolder, Load, chosen, load_files, use_data_folder


def register(app: typer.Typer) -> None:
    app.command("figure", epilog="Example: showdown figure wheel --out wheel.svg")(figure_command)


def figure_command(
    name: Annotated[str | None, typer.Argument(help="Which figure; see --list.")] = None,
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The store to draw; experiments are kept in DIR/figures.")
    ] = Path("results"),
    out: Annotated[Path | None, typer.Option(help="A .png, .svg or .pdf file.", show_default="NAME.png")] = None,
    full: Annotated[bool, typer.Option("--full", help="The size for print, not the one of about a minute.")] = False,
    seed: Annotated[int | None, typer.Option(help="Of the figure's own experiment.", show_default="0")] = None,
    policies: Annotated[
        str | None, typer.Option("--policies", "--policy", help="Only these: A,Lin*", autocompletion=policy_names)
    ] = None,
    problem: Annotated[str | None, typer.Option(help="The problem to draw.", autocompletion=problem_names)] = None,
    published: Annotated[bool, typer.Option("--published", help="The paper's numbers, not a store's.")] = False,
    data_dir: DataFolder = None,
    load: Load = None,
    as_list: Annotated[bool, typer.Option("--list", help="Print the figures and stop.")] = False,
) -> None:
    """Draw a figure of the paper and print the path of the file."""
    if as_list:
        _print_list()
        return
    from showdown.report import figures

    known = figures.figures()
    if name is None:
        raise UsageError(f"say which figure to draw: {', '.join(known)}")
    if name not in known:
        raise UsageError(f"no figure is called {name!r}{near(name, known) or '; see `showdown figure --list`'}")
    given = {"full": full, "seed": seed is not None, "policies": policies, "problem": problem, "published": published}
    for option, value in given.items():
        if value and option not in known[name].options:
            others = ", ".join(other for other, figure in known.items() if option in figure.options)
            raise UsageError(f"--{option} means nothing to the figure {name}, only to {others}")
    use_data_folder(data_dir)
    load_files(load)
    path = out or Path(f"{name}.png")

    from showdown.report.drawing import FigureRequest, style

    style.check_suffix(path)
    request = FigureRequest(
        directory=directory,
        full=full,
        seed=seed or 0,
        policies=chosen(policies, "policy", _known_policies(directory, published)) if policies else None,
        problem=problem,
        published=published,
        bar=console.progress,
        warn=console.warn,
    )
    style.save(figures.draw(name, request), path)
    console.data(str(path))


def _known_policies(directory: Path, published: bool) -> list[str]:
    if published:
        from showdown.analysis.published import published as numbers

        return list(numbers("paper", "cumulative")["policy"])
    from showdown.bench.store import Store

    return [record.policy for record in Store(directory).cells()]


def _print_list() -> None:
    from showdown.report.figures import figures

    known = figures()
    width = max(map(len, known))
    for name, figure in known.items():
        takes = ", ".join(f"--{option}" for option in figure.options)
        console.data(f"{name:<{width}}  {figure.summary} ({takes})")
