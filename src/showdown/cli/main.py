"""The command `showdown`: gathers the commands and turns errors into one sentence and an exit code.

Exit codes: 0 all done, 1 something failed, 2 the request was wrong, 130 stopped by Ctrl-C, 143 by SIGTERM.
"""

from __future__ import annotations

import errno
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from showdown import __version__
from showdown.basics.discover import defined, import_modules
from showdown.basics.errors import ShowdownError, UsageError
from showdown.cli import commands, console

GROUPS = {
    "A table of your own": ("inspect", "recommend", "evaluate", "serve"),
    "Play methods": ("run", "plan", "tune", "study", "check"),
    "Look at results": ("table", "compare", "report", "figure", "verify", "sync"),
    "What there is": ("list", "show", "data"),
}
OTHERS = "More"  # commands that no group names: a file in `cli/commands/` is enough for one


class GroupedHelp(TyperGroup):
    """The commands of `showdown --help` by group."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        listed = {name: command for name, command in self.commands.items() if not command.hidden}
        grouped = {name for names in GROUPS.values() for name in names}
        groups = {**GROUPS, OTHERS: tuple(sorted(set(listed) - grouped))}
        for title, names in groups.items():
            rows = [(name, summary(listed[name])) for name in names if name in listed]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def summary(command: Any) -> str:
    """The first sentence of a command's help, on one line; paragraphs after it are for the command's own page."""
    first = (command.help or "").strip().split("\n\n")[0]
    return " ".join(first.split())


app = typer.Typer(
    name="showdown",
    cls=GroupedHelp,
    help="Play exploration methods for contextual bandits against each other.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _gather() -> None:
    """Add every command. This runs while the module is imported, where `main` cannot catch an error yet."""
    try:
        for command in import_modules(commands.__name__, commands.__path__).values():
            defined(command, "register")(app)
    except UsageError as error:
        console.warn(f"showdown: {error}")
        sys.exit(2)


_gather()


@app.callback(invoke_without_command=True)
def _root(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        console.data(__version__)
        raise typer.Exit


def main() -> None:
    try:
        try:
            app()
        finally:
            console.finish()
    except UsageError as error:
        console.warn(f"showdown: {error}")
        sys.exit(2)
    except ShowdownError as error:
        console.warn(f"showdown: {error}")
        sys.exit(1)
    except BrokenPipeError:
        console.abandon()  # the reader left; say nothing about it
        sys.exit(0)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        console.abandon()
        console.warn(f"showdown: cannot write: {error.strerror}")
        sys.exit(1)
