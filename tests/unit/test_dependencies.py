"""Every package that is imported is declared, and the tested versions are within the declared bounds."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGE_OF = {"PIL": "pillow", "sklearn": "scikit-learn", "scikit_posthocs": "scikit-posthocs"}  # import: package
OF_THE_NOTEBOOK = {"ipython"}  # imported only where a notebook runs, which has it
HANDED_IN = {"coba", "vowpalwabbit"}  # imported for an object of theirs alone: whoever has one has the package
EXTRAS = PROJECT["optional-dependencies"]
DECLARED = [Requirement(text) for group in (PROJECT["dependencies"], *EXTRAS.values()) for text in group]


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").split(".")[0])
    return found - set(sys.stdlib_module_names) - {"showdown"}


def test_every_import_is_declared():
    groups = [PROJECT["dependencies"], *(texts for name, texts in EXTRAS.items() if name != "dev")]
    declared = {Requirement(text).name for texts in groups for text in texts}
    for path in (ROOT / "src").rglob("*.py"):
        packages = {canonicalize_name(PACKAGE_OF.get(name, name)) for name in imported(path)}
        packages -= OF_THE_NOTEBOOK | HANDED_IN
        assert packages <= declared, f"{path} imports {packages - declared}, which pyproject.toml does not declare"


@pytest.mark.parametrize("requirement", DECLARED, ids=lambda requirement: requirement.name)
def test_every_dependency_has_bounds_that_hold_the_tested_version(requirement):
    if requirement.name == PROJECT["name"]:
        return
    assert {clause.operator for clause in requirement.specifier} == {">=", "<"}
    assert requirement.specifier.contains(versions()[requirement.name])


def versions() -> dict[str, Version]:
    lines = (line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#"))
    return {canonicalize_name(name): Version(version) for name, version in (line.split("==") for line in lines)}


LOCKED = re.compile(r"^([\w.-]+)==(\S+)( ; .+)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)


def test_the_lock_of_the_service_has_every_version_with_its_hashes():
    lock = (ROOT / "requirements-serve.txt").read_text()
    assert "://" not in lock  # whoever installs chooses the index
    locked = {canonicalize_name(name): Version(version) for name, version, _, _ in LOCKED.findall(lock)}
    assert len(locked) == lock.count("==") - lock.count(" == ")  # no version without a hash
    wanted = [Requirement(text) for text in (*PROJECT["dependencies"], *EXTRAS["serve"])]
    assert {canonicalize_name(each.name) for each in wanted} <= locked.keys()
    others = {name: version for name, version in locked.items() if versions().get(name, version) != version}
    assert not others, "`make lock` after `make constraints`"
