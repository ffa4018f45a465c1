"""Nothing that a user can name is undocumented: commands, options, presets, problems, figures, metrics, engines."""

from __future__ import annotations

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import showdown.agent
import showdown.testing
from showdown.bench.engine import engine_names
from showdown.metrics import METRICS
from showdown.policies import policies
from showdown.problems import problems
from showdown.report.figures import figures
from showdown.report.formats import FORMATS

DOCS = Path(__file__).parents[2] / "docs"


def script(name: str):
    spec = spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_command_and_option_is_in_the_reference():
    page = script("write_commands").page()
    assert (DOCS / "commands.md").read_text() == page, "docs/commands.md is out of date: run `make docs`"


def test_every_notebook_is_shown_as_it_is():
    """Running them is left to `make docs`, which writes their output; here their code is compared."""
    writer = script("write_notebooks")
    for source in sorted(writer.SOURCES.glob("*.py")):
        page = (DOCS / "notebooks" / f"{source.stem}.md").read_text()
        stored = json.loads((DOCS / "notebooks" / f"{source.stem}.ipynb").read_text())["cells"]
        cells = writer.cells(source.read_text())
        assert len(cells) == len(stored)
        for cell, shown in zip(cells, stored, strict=True):
            assert shown["source"].removeprefix("%%bash\n") == cell.text, (
                f"{source.stem} is out of date: run `make docs`"
            )
            assert all(line in page for line in cell.text.splitlines()), (
                f"{source.stem} is out of date: run `make docs`"
            )


def test_what_a_program_may_use_is_on_the_page_of_python():
    page = {name.removeprefix("sd.").rstrip(".") for name in names_in(DOCS / "api.md")}
    public = {*showdown._LATER, *showdown.agent.__all__, *showdown.testing.__all__}
    assert not public - page, "not in docs/api.md"


def names_in(*pages: Path) -> set[str]:
    return set(re.findall(r"[A-Za-z0-9][\w@.+\-]*", "\n".join(page.read_text() for page in pages)))


def built_in(registry) -> list[str]:
    """Not those that another test registered."""
    return [entry.name for entry in registry if type(entry.value).__module__.startswith("showdown.")]


@pytest.mark.parametrize(
    ("names", "pages"),
    [
        (built_in(policies), sorted((DOCS / "policies").glob("*.md"))),
        (built_in(problems), [DOCS / "problems.md", DOCS / "your-own-data.md"]),
        (figures(), [DOCS / "figures.md"]),
        (METRICS, [DOCS / "tables.md"]),
        (FORMATS, [DOCS / "tables.md"]),
        (engine_names(), [DOCS / "guide.md"]),
    ],
    ids=["policies", "problems", "figures", "metrics", "formats", "engines"],
)
def test_every_name_is_on_its_page(names, pages):
    missing = sorted(set(names) - names_in(*pages))
    assert not missing, f"not documented in {', '.join(str(page.relative_to(DOCS)) for page in pages[:3])}: {missing}"


def test_the_architecture_lists_every_part_of_the_package():
    source = DOCS.parent / "src" / "showdown"
    page = (DOCS / "design" / "architecture.md").read_text()
    for path in source.iterdir():
        if path.suffix == ".py" and path.name != "__init__.py":
            assert f"`{path.name}`" in page, f"docs/design/architecture.md does not say what {path.name} is"
        elif (path / "__init__.py").exists():
            assert f"`{path.name}/`" in page, f"docs/design/architecture.md does not say what {path.name}/ is"


def test_links_between_pages_lead_somewhere():
    for page in (*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")):
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if not target.startswith(("http:", "https:")):
                assert (page.parent / target).exists(), f"{page.relative_to(DOCS.parent)} links to {target}"
