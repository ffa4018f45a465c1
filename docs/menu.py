"""What MkDocs is told beyond mkdocs.yml: a hook, so that new pages need no line in the menu and every link is checked.

- A pattern in the menu (`policies/*.md`) stands for every page it matches, by name, `index.md` first.
- A page of docs/ that is nowhere in the menu is an error.
- CONTRIBUTING.md and CHANGELOG.md, which are beside docs/, are pages of the site.
- What a page links to in docs/results, data that the site does not have, is text there instead of a link.
"""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

BESIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}  # in the checkout: in the site
DATA = re.compile(r"\[([^\]]*)\]\((?:\.\./)*(?:results(?:/[^)]*)?|pages/?)\)")


def on_files(files: Files, config: Any) -> Files:
    for name, page in BESIDE.items():
        text = (Path(config.config_file_path).parent / name).read_text().replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    pages = sorted(file.src_uri for file in files.documentation_pages() if not file.inclusion.is_excluded())
    config.nav = expanded(config.nav, [page for page in pages if page not in named(config.nav)])
    if lost := set(pages) - set(named(config.nav)):
        raise PluginError(f"no entry of `nav` in mkdocs.yml shows {', '.join(sorted(lost))}")
    return files


def expanded(nav: list[Any], pages: list[str]) -> list[Any]:
    """The menu with every pattern replaced by those of the pages that it matches, in the same folder."""
    found: list[Any] = []
    for entry in nav:
        if isinstance(entry, dict):
            ((title, below),) = entry.items()
            found.append({title: expanded(below, pages) if isinstance(below, list) else below})
        elif "*" in entry:
            matches = [page for page in pages if fnmatch(page, entry) and page.count("/") == entry.count("/")]
            found += sorted(matches, key=lambda page: (not page.endswith("index.md"), page))
        else:
            found.append(entry)
    return found


def named(nav: list[Any]) -> list[str]:
    """Every page that the menu names."""
    found = []
    for entry in nav:
        below = next(iter(entry.values())) if isinstance(entry, dict) else entry
        found += named(below) if isinstance(below, list) else [below]
    return found


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    up = "../" * page.file.src_uri.count("/")
    for name, there in BESIDE.items():
        markdown = re.sub(rf"\]\((?:\.\./)*{name}", f"]({up}{there}", markdown)
    return DATA.sub(r"\1", markdown)
