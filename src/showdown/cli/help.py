"""The help of `showdown`: commands in groups by what they are for, each with a summary that is not cut."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

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
