"""Take the pictures of this folder from stores of this repository: `make screenshots`.

The overview is of Council on tables of users (docs/results/council2), the other views of the neural methods
(docs/results/neural). Needs Chromium and Playwright for Python (`apt-get install chromium`, `pip install playwright`).
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
STORES = HERE.parent / "results"
SIZES = {1280: 860, 390: 844}
OVERVIEW = 1240  # pixels: the first chart of the overview, too
VIEWS = ("leaderboard", "heatmap", "curves", "ranks", "compare", "time", "reproduction", "detail")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES)
        take(browser, written("council2", "Council beside other methods", folder), ("overview",), ("overview",))
        take(browser, written("neural", "The neural methods", folder), VIEWS, ("leaderboard", "curves"))
        browser.close()


def written(store: str, title: str, folder: str) -> str:
    """The address of a page that `showdown report` has just written."""
    page = Path(folder) / f"{store}.html"
    command = [sys.executable, "-m", "showdown", "report", str(STORES / store), "--title", title, "--out", str(page)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return page.as_uri()


def take(browser: Browser, address: str, views: tuple[str, ...], dark: tuple[str, ...]) -> None:
    """One picture of each view on a desk and on a phone, and of some in dark."""
    for width, scheme, shown in ((1280, "light", views), (390, "light", views), (1280, "dark", dark)):
        page = browser.new_page(viewport={"width": width, "height": SIZES[width]}, color_scheme=scheme)
        page.goto(address)
        for view in shown:
            show(page, view)
            keep(page, HERE / (f"{view}-{width}.png" if scheme == "light" else f"{view}-dark-{width}.png"))
        page.close()


def show(page: Page, view: str) -> None:
    if view == "detail":
        page.click("#tab-leaderboard")
        cells = page.locator("button.cell")
        cells.nth(min(7, cells.count() - 1)).click()
    else:
        page.click(f"#tab-{view}")
    if view == "overview":
        page.set_viewport_size({"width": page.viewport_size["width"], "height": OVERVIEW})
    if view == "curves" and page.locator("#view select").count():
        names = page.locator("#view select option").all_inner_texts()
        page.locator("#view select").first.select_option("statlog" if "statlog" in names else names[0])
        page.locator("#view .chart").first.hover()
    page.wait_for_timeout(200)  # drawings follow the width of the page, one frame later


def keep(page: Page, path: Path) -> None:
    """The visible part, in 256 colours: it looks the same and is a fraction of the size."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path)


if __name__ == "__main__":
    main()
