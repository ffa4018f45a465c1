"""axe-core finds nothing to complain about: landmarks, names, contrast, in every view, light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest

AXE = Path(__file__).parent / "axe-core" / "axe.min.js"
VIEWS = ("overview", "leaderboard", "heatmap", "curves", "ranks", "compare", "time", "reproduction", "tuning")


def violations(page) -> list[str]:
    page.evaluate(AXE.read_text() + ";0")
    found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    return [f"{one['id']}: {node['html'][:120]} {node['failureSummary']}" for one in found for node in one["nodes"][:3]]


@pytest.mark.parametrize(("size", "scheme"), [("desk", "light"), ("phone", "dark")])
def test_no_view_has_a_violation(open_page, page_file, size, scheme):
    with open_page(page_file, size, color_scheme=scheme) as page:
        page.click("#guide summary")
        for view in VIEWS:
            page.click(f"#tab-{view}")
            assert violations(page) == [], view
        page.click("#tab-leaderboard")
        page.click("button.cell[aria-label^='LinFullPost on wheel-0.5']")
        assert violations(page) == [], "detail"
