"""`showdown show NAME`: everything there is to know about a policy, a problem or a suite."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import sys
from collections import Counter
from typing import Annotated, Any

import typer

from showdown.basics.errors import UsageError
from showdown.cli import console
from showdown.cli.completion import all_names
from showdown.cli.inputs import Load, load_files


def register(app: typer.Typer) -> None:
    app.command("show", epilog="Example: showdown show LinFullPost")(show_command)


def show_command(
    name: Annotated[
        str,
        typer.Argument(
            help="A policy, problem or suite; overrides may follow: LinPost[pulls=1].", autocompletion=all_names
        ),
    ],
    load: Load = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show the fields of a policy, problem or suite, and their meaning.

    How a preset differs from its base and where the method comes from are shown too.
    """
    load_files(load)
    about = describe(name)
    if as_json:
        console.data_json(about)
    else:
        console.data(_text(about))


def describe(text: str) -> dict[str, Any]:
    from showdown.bench.suite import load_suite, suite_names
    from showdown.config.registry import parse_name, split_at_slashes
    from showdown.policies import policies
    from showdown.problems import problems

    name, _ = parse_name(split_at_slashes(text)[0])
    for registry in (policies, problems):
        if name in registry:
            return _describe_preset(registry, text, name)
    if text in suite_names() or text.endswith(".toml"):
        suite = load_suite(text)
        fields = dataclasses.asdict(suite) | {"also": [part.name for part in suite.also]}
        return {"name": text, "what": "suite", **fields}
    known = {known.lower(): known for known in [*policies.names(), *problems.names(), *suite_names()]}
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f"; did you mean {known[near[0]]!r}?" if near else "; see `showdown list policies`, `problems` or `suites`"
    raise UsageError(f"no policy, problem or suite is called {name!r}{hint}")


def _describe_preset(registry: Any, text: str, name: str) -> dict[str, Any]:
    from showdown.config import all_fields, core, layers, parameters
    from showdown.report.describe import preset_summary

    entry = registry.entry(name)
    value = registry.get(text)
    base = registry.entry(entry.base).value if entry.base else None
    if text != name:
        base, base_name = entry.value, name
    else:
        base_name = entry.base
    fields = _fields(value)
    if base is None:
        before = {field["path"]: field["value"] for field in fields}
    else:  # where the base has other layers, by name
        places, names = {each.path: each.value for each in parameters(base)}, all_fields(base)
        before = {field["path"]: places.get(field["path"], names.get(field["name"])) for field in fields}
    fields = [{**field, "base": before[field["path"]]} for field in fields]
    module = sys.modules[type(core(value)).__module__]
    return {
        "name": text,
        "what": registry.noun,
        "kind": " of ".join(type(layer).__name__ for layer in layers(value)),
        "summary": preset_summary(registry, entry),
        "base": base_name,
        "fields": fields,
        "reference": value.reference,
        "about": inspect.cleandoc(module.__doc__ or ""),
    }


def _fields(value: Any) -> list[dict[str, Any]]:
    from showdown.config import parameters

    return [
        {
            "name": each.field,
            "path": each.path,
            "value": each.value,
            "comment": each.explanation,
            "of": each.of,
            "search": each.search.plain() if each.search else None,
        }
        for each in parameters(value)
    ]


def _text(about: dict[str, Any]) -> str:
    if about["what"] == "suite":
        return "\n".join(
            f"{name}: {', '.join(item) if isinstance(item, list | tuple) else item}" for name, item in about.items()
        )
    lines = [f"{about['name']}: a {about['what']}, {about['kind']}"]
    lines.append(f"differs from {about['base']} where marked *" if about["base"] else "")
    names = _spelled(about["fields"])
    name_width = max(map(len, names), default=0)
    value_width = max((len(str(field["value"])) for field in about["fields"]), default=0)
    for name, field in zip(names, about["fields"], strict=True):
        changed = about["base"] and field["base"] != field["value"]
        was = f"  (was {field['base']})" if changed and field["base"] is not None else ""  # None: a new field
        mark = "*" if changed else " "
        lines.append(f"  {mark} {name:<{name_width}} = {field['value']!s:<{value_width}}  {field['comment']}{was}")
    lines += ["", about["about"]]
    if about["reference"]:
        lines += ["", f"Reference: {about['reference']}"]
    return "\n".join(lines)


def _spelled(fields: list[dict[str, Any]]) -> list[str]:
    """Names as an override takes them; where several members have a field of the name, with the member's place."""
    count = Counter(field["name"] for field in fields)
    return [_of_member(field["path"]) if count[field["name"]] > 1 else field["name"] for field in fields]


def _of_member(path: str) -> str:
    """`members.1.prior_precision` of `inner.members.1.belief.prior_precision`."""
    parts = path.split(".")
    places = [number for number, part in enumerate(parts) if part.isdigit()]
    return ".".join([*parts[places[0] - 1 : places[0] + 1], parts[-1]]) if places else path
