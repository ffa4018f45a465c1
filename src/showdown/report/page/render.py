"""The page's data, styles and scripts in one HTML file.

Nothing from a store is ever markup: the data is JSON in a script element that is not run, in which no `<` can occur,
and the scripts write it into the page as text. A content security policy names the page's own script by its hash and
allows nothing else, neither other scripts nor the network.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from showdown.report import write_file

SCRIPTS = (  # in the order they build on each other
    *("dom", "data", "state", "colors", "scale", "download", "sheet", "interval", "table", "columns"),
    *(
        "leaderboard",
        "heatmap",
        "curves",
        "multiples",
        "ranks",
        "overview",
        "aggregates",
        "compare",
        "time",
        "reproduction",
        "tuning",
    ),
    *("guide", "verdict", "timeline", "detail", "main"),
)
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def render(data: dict[str, Any]) -> str:
    """The whole page as text."""
    script = "(() => {\n" + '"use strict";\n' + "\n".join(_asset(f"{name}.js") for name in SCRIPTS) + "})();"
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    parts = {
        "title": html.escape(f"{data['title']} · showdown"),
        "style": _asset("page.css"),
        "script": script,
        "script_hash": f"sha256-{digest}",
        "data": embedded(data),
    }
    # one pass, so that a name that looks like a place to fill in is left as it is
    return re.sub(r"\{\{ (\w+) \}\}", lambda match: parts[match[1]], _asset("page.html"))


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element whatever the strings in it are."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda match: _ESCAPES[match[0]], text)


def _asset(name: str) -> str:
    return (files("showdown.report.page") / "assets" / name).read_text(encoding="utf-8")


def write(page: str, path: Path) -> None:
    # a name with half a surrogate pair (a file name that is not UTF-8) must not cost the page
    write_file(path, page.encode("utf-8", errors="backslashreplace"))
