"""`showdown check FILE.py`: does a policy or problem of your own keep the promises that the simulator relies on?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from showdown.basics.errors import MissingDataError, ShowdownError, UsageError
from showdown.cli import console

if TYPE_CHECKING:
    from collections.abc import Callable

    from showdown.config.registry import Registered, Registry
    from showdown.testing.promise import Promise


NOT_RUN = "not run, because an earlier check failed"


class Subject(NamedTuple):
    """One policy or problem to check, made small."""

    name: str
    noun: str
    value: Any
    promises: tuple[Promise, ...]


def register(app: typer.Typer) -> None:
    app.command("check", epilog="Example: showdown check my_policy.py")(check_command)


def check_command(
    file: Annotated[Path, typer.Argument(help="A Python file that registers policies or problems.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check the policies and problems of a file; exit code 1 if one is wrong.

    They are made small and played at tiny sizes, which takes seconds.
    """
    subjects = _subjects(file)
    findings = []
    with console.progress(sum(len(subject.promises) for subject in subjects), "compiling") as advance:
        for subject in subjects:
            stop = False
            for promise in subject.promises:
                advance(0, f"{subject.name} {promise.sentence}")
                finding = _not_run(subject, promise) if stop else _finding(subject, promise)
                stop = stop or finding.pop("stop", False)
                findings.append(finding)
                advance(1, None)
    wrong = sum(finding["wrong"] is not None for finding in findings)
    if as_json:
        console.data_json({"file": str(file), "wrong": wrong, "checks": findings})
    else:
        console.data(_text(findings, wrong))
    if wrong:
        raise typer.Exit(1)


def _subjects(file: Path) -> list[Subject]:
    from showdown.config import core
    from showdown.policies import policies
    from showdown.problems import problems
    from showdown.testing import PLAIN_POLICY_PROMISES, PLAIN_PROBLEM_PROMISES, POLICY_PROMISES, PROBLEM_PROMISES
    from showdown.testing.problem_promises import shortened

    new = _registered_by(file, policies, problems)
    found = [
        Subject(
            entry.name,
            "policy",
            entry.value.small(),
            PLAIN_POLICY_PROMISES if entry.value.in_python else POLICY_PROMISES,
        )
        for entry in policies
        if new(entry)
    ]
    found += [
        Subject(
            entry.name,
            "problem",
            shortened(entry.value),
            PLAIN_PROBLEM_PROMISES if core(entry.value).in_python else PROBLEM_PROMISES,
        )
        for entry in problems
        if new(entry)
    ]
    if not found:
        raise UsageError(f"{file} registers nothing: call policies.add(NAME, policy) or problems.add(NAME, problem)")
    return found


def _registered_by(file: Path, *registries: Registry[Any]) -> Callable[[Registered[Any]], bool]:
    """Load a file; the answer says of an entry of the registries whether this file added it."""
    import showdown
    from showdown.config import core
    from showdown.config.registry import load_file

    package = Path(showdown.__file__).resolve().parent
    if file.resolve().is_relative_to(package):  # a part of this project, which is loaded already
        parts = file.resolve().relative_to(package).with_suffix("").parts
        module = ".".join((package.name, *parts))
        return lambda entry: type(core(entry.value)).__module__ == module
    known = {entry.name for registry in registries for entry in registry}
    load_file(file)
    return lambda entry: entry.name not in known


def _blank(subject: Subject, promise: Promise) -> dict[str, Any]:
    return {"name": subject.name, "what": subject.noun, "promise": promise.sentence, "wrong": None, "skipped": None}


def _not_run(subject: Subject, promise: Promise) -> dict[str, Any]:
    return {**_blank(subject, promise), "skipped": NOT_RUN}


def _finding(subject: Subject, promise: Promise) -> dict[str, Any]:
    """What one check found; `stop` is set where the others would fail for the same reason."""
    from showdown.testing.promise import RaisedError

    finding = _blank(subject, promise)
    try:
        subject.value.check()
        promise.check(subject.value)
    except MissingDataError as error:
        finding["skipped"] = str(error)
    except ShowdownError as error:
        finding["wrong"] = str(error)
        finding["stop"] = promise.needed or isinstance(error, RaisedError)
    return finding


def _text(findings: list[dict[str, Any]], wrong: int) -> str:
    lines = []
    for number, finding in enumerate(findings):
        if not number or findings[number - 1]["name"] != finding["name"]:
            lines.append(f"{finding['name']}, a {finding['what']}")
        if finding["skipped"] == NOT_RUN:
            if findings[number - 1]["wrong"]:
                lines.append("  skip   the other checks: " + NOT_RUN)
            continue
        mark = "WRONG" if finding["wrong"] else "skip" if finding["skipped"] else "ok"
        reason = finding["wrong"] or finding["skipped"]
        lines.append(f"  {mark:<5}  {finding['promise']}" + (f": {reason}" if reason else ""))
    lines.append(f"{wrong} of {len(findings)} checks failed" if wrong else f"all {len(findings)} checks passed")
    return "\n".join(lines)
