"""Write docs/commands.md, the reference of the command line, from the commands themselves: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from showdown.cli.main import app

PAGE = Path(__file__).parent / "commands.md"


HEAD = (
    "Written by `make docs` from the commands themselves; `showdown COMMAND --help` says the same. After\n"
    "`showdown --install-completion` the Tab key completes names of policies, problems, suites and metrics."
)


def page() -> str:
    root: Any = typer.main.get_command(app)
    lines = ["# Commands", "", HEAD]
    for path, command in commands(root, "showdown"):
        arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
        options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
        usage = " ".join([path, *(name_of(parameter) for parameter in arguments), "[OPTIONS]"])
        lines += ["", f"## {path}", "", " ".join((command.help or "").split()), "", f"`{usage}`", ""]
        if command.epilog:
            lines += [f"Example: `{command.epilog.removeprefix('Example: ')}`", ""]
        rows = [row(parameter) for parameter in (*arguments, *options) if parameter.name != "help"]
        lines += ["| argument or option | meaning |", "|---|---|", *rows]
    return "\n".join(lines) + "\n"


def commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command with its full name, those of nested groups too, by name."""
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def name_of(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return ", ".join(parameter.opts)
    return parameter.metavar or parameter.name.upper()


def row(parameter: Any) -> str:
    meaning = " ".join((parameter.help or "").replace("|", "\\|").split())
    default = parameter.default
    if not callable(default) and default not in (None, False, "", ()):
        meaning += f" Default: `{default}`."
    return f"| `{name_of(parameter)}` | {meaning} |"


if __name__ == "__main__":
    PAGE.write_text(page())
