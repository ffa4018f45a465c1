"""A real browser, a small store as a page, and pages that fail a test on any error and on any request.

Needs Chromium (Debian: `apt-get install chromium`) and Playwright for Python; the tests are skipped where either is
missing.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from showdown.report.page.collect import collect
from showdown.report.page.render import render, write


@pytest.hookimpl(tryfirst=True)  # before that of tests/conftest.py, which gives each file a worker
def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))  # Playwright's own pipes, at the end


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SIZES = {"desk": {"width": 1280, "height": 860}, "phone": {"width": 390, "height": 844}}
SWITCHES = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NASTY = "<script>window.hacked = 1</script><img src=x onerror='window.hacked=1'>\"'Жπ"
PROBLEMS = ("wheel-0.5", "wheel-0.9", "linear")
REGRETS = {  # per problem: LinGreedy wins the first, LinFullPost the others
    "Uniform": (5000.0, 900.0, 400.0),
    "LinFullPost": (90.0, 300.0, 20.0),
    "LinGreedy": (40.0, 700.0, 60.0),
    "BBB": (200.0, 650.0, 90.0),
}


@pytest.fixture(scope="module")  # not longer: while it lives, an event loop runs in this thread, and asyncio.run fails
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def page_file(stored, write_tuning, tmp_path_factory):
    folder = tmp_path_factory.mktemp("web")
    finished = {
        (policy, problem): [regret * (0.9 + 0.05 * trial) for trial in range(5)]
        for policy, regrets in REGRETS.items()
        for problem, regret in zip(PROBLEMS, regrets, strict=True)
    }
    finished[NASTY, "wheel-0.5"] = [60.0] * 5
    failed = {("LinPost", "wheel-0.9"): ("diverged", f"it blew up {NASTY}")}
    path = folder / "report.html"
    (folder / "store" / "cells").mkdir(parents=True)
    (folder / "store" / "cells" / "<b>foreign.json").write_text("not a record")
    write_tuning(folder / "store", policy=NASTY, field=NASTY)
    write(render(collect(stored(folder / "store", finished, failed), command="showdown report", title=NASTY)), path)
    return path


@pytest.fixture
def open_page(browser):
    """Call with a file and a size (`desk`, `phone`) for a context manager that gives the page."""

    @contextmanager
    def opened(path: Path, size: str = "desk", address: str = "#view=leaderboard", **settings):
        context = browser.new_context(viewport=SIZES[size], accept_downloads=True, **settings)
        page = context.new_page()
        troubles: list[str] = []
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))

        def asked(request):
            own = request.url.split("#")[0] == path.as_uri()
            if not own and not request.url.startswith(("data:", "blob:")):  # made in the page, for a file to save
                troubles.append(f"request: {request.url}")

        page.on("request", asked)
        page.set_default_timeout(10_000)
        page.goto(path.as_uri() + address)
        yield page
        hacked = page.evaluate("window.hacked")
        context.close()
        assert troubles == []
        assert hacked is None

    return opened


@pytest.fixture(params=SIZES)
def page(open_page, page_file, request):
    with open_page(page_file, request.param) as page:
        yield page
