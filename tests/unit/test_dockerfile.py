"""The Dockerfile, read without an engine: what it copies exists and is sent, and what it starts is our command."""

from __future__ import annotations

import fnmatch
import json
import re
import tomllib
from pathlib import Path

import typer.main
from packaging.specifiers import SpecifierSet

from showdown.cli.main import app
from showdown.serve.app import PATHS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def instructions() -> list[tuple[str, str]]:
    """Every instruction with what follows it, continued lines joined."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in joined.splitlines() if line.strip()]


def all_of(name: str) -> list[str]:
    return [rest for instruction, rest in instructions() if instruction == name]


def copied() -> list[str]:
    """What is copied from the checkout."""
    lines = [rest.split() for rest in all_of("COPY") if "--from=" not in rest]
    return [source for line in lines for source in line[:-1]]


def test_what_is_copied_exists_is_sent_and_suffices():
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    sent = [line[1:] for line in lines if line.startswith("!")]
    for source in copied():
        assert (ROOT / source).exists(), source
        assert any(fnmatch.fnmatch(source, pattern) for pattern in sent), f".dockerignore leaves {source} out"
    needed = {"pyproject.toml", "src", PROJECT["readme"], *PROJECT["license-files"]}  # to build the package
    assert needed <= set(copied())


def test_versions_are_checked_by_their_hashes_on_a_python_that_is_supported():
    installs = [rest for rest in all_of("RUN") if "pip install" in rest]
    assert all("--no-deps" in each or "--require-hashes -r requirements-serve.txt" in each for each in installs)
    assert len(installs) == 2
    for base in all_of("FROM"):
        version = re.match(r"python:([\d.]+)-", base)
        assert version is not None
        assert SpecifierSet(PROJECT["requires-python"]).contains(version[1])


def test_it_serves_as_a_user_of_its_own_and_says_whether_it_is_well():
    names = [name for name, _ in instructions()]
    (user,), (port,), (health,) = all_of("USER"), all_of("EXPOSE"), all_of("HEALTHCHECK")
    assert f"useradd --uid 10001 --user-group --no-create-home {user}" in all_of("RUN")[-1]
    assert names.index("USER") < names.index("ENTRYPOINT")
    (asked,) = re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)", health)
    assert asked[0] == port
    assert asked[1] in {path.name for path in PATHS}
    program, command, *options = json.loads(all_of("ENTRYPOINT")[0]) + json.loads(all_of("CMD")[0])
    assert (program, command) == ("showdown", "serve")
    assert options[options.index("--port") + 1] == port
    known = {option for each in typer.main.get_command(app).commands[command].params for option in each.opts}
    assert {option for option in options if option.startswith("--")} <= known
