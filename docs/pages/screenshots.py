"""Take the pictures of this folder: python docs/pages/screenshots.py report.html

Needs Chromium and Playwright for Python (`apt-get install chromium`, `pip install playwright`).
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
SIZES = {1280: 860, 390: 844}
VIEWS = ("leaderboard", "heatmap", "curves", "ranks", "compare", "time", "reproduction", "detail")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def main() -> None:
    address = Path(sys.argv[1]).resolve().as_uri()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES)
        for width, height in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(address)
            for view in VIEWS:
                show(page, view)
                keep(page, HERE / f"{view}-{width}.png")
            page.close()
        page = browser.new_page(viewport={"width": 1280, "height": SIZES[1280]}, color_scheme="dark")
        page.goto(address)
        for view in ("leaderboard", "curves"):
            show(page, view)
            keep(page, HERE / f"{view}-dark-1280.png")
        browser.close()


def show(page: Page, view: str) -> None:
    if view == "detail":
        page.click("#tab-leaderboard")
        cells = page.locator("button.cell")
        cells.nth(min(7, cells.count() - 1)).click()
    else:
        page.click(f"#tab-{view}")
    if view == "curves":
        names = page.locator("#view select option").all_inner_texts()
        page.locator("#view select").first.select_option("statlog" if "statlog" in names else names[0])
        page.locator("#view .chart").hover()
    page.wait_for_timeout(200)  # drawings follow the width of the page, one frame later


def keep(page: Page, path: Path) -> None:
    """The visible part, in 256 colours: it looks the same and is a fraction of the size."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path)


main()
