"""The page in a real browser: no error, no request, and every view works, on a desk and on a phone."""

from __future__ import annotations

import gc
import json
import time

import numpy as np
import pytest

from showdown.analysis.published import HORIZONS
from showdown.bench.store import Store
from showdown.policies import policies
from showdown.report.page.collect import collect
from showdown.report.page.render import render, write

NASTY = "<script>window.hacked = 1</script><img src=x onerror='window.hacked=1'>\"'Жπ"  # as in conftest.py


@pytest.fixture(scope="module")
def odd_file(stored, change_cell, tmp_path_factory):
    """Single trials of one checkpoint, nothing but Uniform above zero, problems that are called as columns are."""
    folder = tmp_path_factory.mktemp("odd")
    regrets = {"Uniform": 100.0, "alpha": 0.0, "zeta": 0.0}
    names = ("rank", "time", "name")
    finished = {(policy, problem): [regret] for policy, regret in regrets.items() for problem in names}
    stored(folder / "store", finished, checkpoints=1)
    for path in (folder / "store" / "cells").glob("*.json"):
        change_cell(path, beside=1, diagnostics={"jitter": 1e-9, "restarts": 0.0})
    data = collect(folder / "store", command="")
    data["agreement"] = {
        "paper cumulative": {"agree": 3, "noisy": 1, "compared": 5},
        "paper time": {"agree": 0, "noisy": 0, "compared": 9},
    }
    write(render(data), folder / "report.html")
    return folder / "report.html"


@pytest.fixture
def odd(open_page, odd_file):
    with open_page(odd_file) as page:
        yield page


def rows(page) -> list[str]:
    return page.locator("tbody tr:visible > th").all_inner_texts()


def view(page, name: str) -> None:
    page.click(f"#tab-{name}")


def tab_to(page, selector: str) -> str:
    """Press Tab until it has the focus; returns its label."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return page.evaluate("document.activeElement.ariaLabel")
    raise AssertionError(f"no Tab leads to {selector}")


def assert_fits(page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_sorting_changes_the_table(page):
    best = ["LinFullPost", "LinGreedy", "BBB", "Uniform", NASTY, "LinPost"]
    assert set(rows(page)) == set(best)
    assert set(rows(page)[-2:]) == {"LinPost", NASTY}  # they did not play the same problems, so they have no mean rank
    page.click('th[data-key="problem wheel-0.5"] button')
    assert rows(page) == ["LinGreedy", NASTY, "LinFullPost", "BBB", "Uniform", "LinPost"]
    assert page.get_attribute('th[data-key="problem wheel-0.5"]', "aria-sort") == "ascending"
    page.click('th[data-key="problem wheel-0.5"] button')
    assert rows(page) == ["Uniform", "BBB", "LinFullPost", NASTY, "LinGreedy", "LinPost"]
    page.click('th[data-key="rank"] button')
    assert rows(page)[:2] == ["LinFullPost", "LinGreedy"]
    page.click('th[data-key="time"] button')
    assert page.get_attribute('th[data-key="rank"]', "aria-sort") is None
    assert_fits(page)


def test_filtering_changes_the_table(page):
    page.fill("#filter", "ling, bbb")
    assert sorted(rows(page)) == ["BBB", "LinGreedy"]
    assert page.inner_text("#count") == "2 of 6 policies"
    page.fill("#filter", "")
    page.select_option("#family select", "Linear greedy")
    assert rows(page) == ["LinGreedy"]
    page.fill("#filter", "no such policy")
    assert rows(page) == []
    assert page.is_visible("text=No policy matches the filter.")


def test_the_metric_can_be_changed(page):
    before = page.inner_text("tbody")
    page.select_option("#metric select", "simple")
    assert page.inner_text("tbody") != before
    page.select_option("#metric select", "time")
    assert "seconds" in page.inner_text("#view")


def test_the_largest_reward_comes_first_and_is_marked(page):
    page.click('th[data-key="problem wheel-0.5"] button')
    page.select_option("#metric select", "reward")
    best = ["LinGreedy", NASTY, "LinFullPost", "BBB", "Uniform", "LinPost"]
    assert rows(page) == best  # the best stay first, though these are the largest numbers now
    assert page.get_attribute('th[data-key="problem wheel-0.5"]', "aria-sort") == "descending"
    assert "Higher is better" in page.inner_text("#view")
    assert page.locator("button.cell.best[aria-label^='LinGreedy on wheel-0.5']").count() == 1
    assert page.locator("button.cell.best[aria-label^='Uniform']").count() == 0
    page.click('th[data-key="problem wheel-0.9"] button')
    assert rows(page)[0] == "LinFullPost"  # a heading that is pressed for the first time
    assert page.locator("tfoot th").inner_text() == "always the best fixed action"
    assert page.locator("tfoot td").all_inner_texts()[-2].startswith("0.25")  # the last column is the time
    page.click("button.cell[aria-label^='BBB on wheel-0.5']")
    assert "mean reward, always the best fixed action" in page.locator("dialog[open]").inner_text()
    page.keyboard.press("Escape")
    view(page, "heatmap")
    first, last = (
        page.locator(f"button.tile[aria-label^='{name} on wheel-0.5']").get_attribute("aria-label")
        for name in ("LinGreedy", "Uniform")
    )
    assert "rank 1 of 4" in first
    assert "no rank" in last  # Uniform is no method
    assert_fits(page)


def test_a_cell_opens_its_detail(page):
    page.click("button.cell[aria-label^='LinFullPost on wheel-0.5']")
    dialog = page.locator("dialog[open]")
    assert "LinFullPost on wheel-0.5" in dialog.inner_text()
    for told in ("published", "1.63 ± 0.03", "difference", "prior_precision", "noise_shape", "showdown run --policies"):
        assert told in dialog.inner_text(), told
    assert dialog.locator("circle.trial").count() == 15
    assert_fits(page)
    page.keyboard.press("Escape")
    assert dialog.count() == 0
    page.click("button.cell.failed")
    assert "diverged: it blew up" in page.locator("dialog[open]").inner_text()
    page.click("dialog button.close")
    assert page.locator("dialog[open]").count() == 0


def test_a_curve_toggles_and_shows_its_values(page):
    view(page, "curves")
    page.select_option("#view select", "wheel-0.5")
    curve = page.locator('path.curve[data-policy="LinFullPost"]')
    assert curve.count() == 1
    key = page.locator(".keys button", has_text="LinFullPost")
    key.click()
    assert curve.count() == 0
    assert key.get_attribute("aria-pressed") == "false"
    key.click()
    assert curve.count() == 1
    bands = page.locator("path.band").count()
    page.click("button.toggle:has-text('s.e.')")
    assert (bands > 0, page.locator("path.band").count()) == (True, 0)
    chart = page.locator("#view .chart").bounding_box()
    page.mouse.move(chart["x"] + chart["width"] - 15, chart["y"] + 60)  # the end of the axis
    assert "step 20,000" in page.inner_text(".readout")
    assert "LinFullPost 90.0 ± 3.2" in page.inner_text(".readout")
    page.click("button.toggle:has-text('logarithmic')")
    page.click("button.toggle:has-text('% of Uniform')")
    assert curve.count() == 1
    page.click("button:has-text('none')")
    assert page.locator("path.curve").count() == 0
    assert_fits(page)


def test_the_keyboard_is_enough(page):
    page.focus("#tab-leaderboard")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-curves", "aria-selected") == "true"
    page.focus("#view .chart")
    last = page.inner_text(".readout")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text(".readout") != last
    page.focus("#tab-curves")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.locator("button.cell").first.focus()
    assert page.locator("button.cell[tabindex='0']").count() == 1  # one stop for the whole table
    first = page.evaluate("document.activeElement.ariaLabel")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.ariaLabel") != first
    page.focus('th[data-key="name"] button')
    page.keyboard.press("Enter")
    assert rows(page)[1:] == ["BBB", "LinFullPost", "LinGreedy", "LinPost", "Uniform"]
    page.keyboard.press("Enter")  # from the last to the first
    assert tab_to(page, "button.cell").startswith("Uniform on")
    page.fill("#filter", "BBB")
    assert tab_to(page, "button.cell").startswith("BBB on")
    page.fill("#filter", "")
    view(page, "time")
    assert page.locator("circle.dot[tabindex='0']").count() == 1
    page.focus("#filter")
    fastest = tab_to(page, "circle.dot")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.ariaLabel") != fastest
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.ariaLabel") == fastest


def test_every_view_draws_and_fits(page):
    view(page, "heatmap")
    assert page.locator("button.tile").count() == 13
    page.select_option("#view select", "rank")
    assert page.locator("button.tile").first.inner_text() in "–1234"
    view(page, "ranks")
    assert page.locator("rect.box").count() == 3  # of methods: Uniform is none
    assert f"did not play the same problems: {NASTY}" in page.inner_text("#view")
    assert page.locator("#view .chart").first.locator(".axes text:not(.name)").count() >= 3
    assert "critical difference" in page.inner_text("#view")
    assert_fits(page)
    view(page, "time")
    assert page.locator("circle.dot").count() == 3  # without Uniform
    assert page.locator("circle.dot.front").count() >= 1
    page.locator("circle.dot.front").first.press("Enter")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    view(page, "reproduction")
    assert page.locator("button.agrees").count() > 0
    assert page.locator("button.differs").count() > 0
    assert_fits(page)


def test_hostile_names_are_text_and_failures_are_told(page):
    assert page.inner_text("#title") == NASTY
    assert NASTY in rows(page)
    assert page.locator("#view img, #foot img, #view script").count() == 0
    foot = page.inner_text("#foot")
    for told in (
        "LinPost on wheel-0.9",
        "diverged",
        NASTY,
        "<b>foreign.json",
        "abacus",
        "jax 0.0.2",
        "showdown report",
    ):
        assert told in foot, told
    assert page.inner_text("button.cell.failed") == "diverged"


def test_a_tap_reads_a_curve(browser, page_file):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(page_file.as_uri())
    page.tap("#tab-curves")
    chart = page.locator("#view .chart").first.bounding_box()
    read = []
    for share in (0.4, 0.8):
        page.touchscreen.tap(chart["x"] + share * chart["width"], chart["y"] + 60)
        read.append(page.inner_text(".readout strong"))
    context.close()
    assert read == ["linear, step 750", "linear, step 1,500"]


def test_a_problem_may_be_called_as_a_column_is(odd):
    for name in ("rank", "time", "name"):
        odd.click(f'th[data-key="problem {name}"] button')
        assert rows(odd)[-1] == "Uniform"
        assert odd.locator("th[aria-sort]").count() == 1
    assert odd.locator('th[data-key="time"]').count() == 0  # cells that were played at the same time as others
    odd.click('th[data-key="name"] button')
    assert rows(odd) == ["alpha", "Uniform", "zeta"]


def test_little_data_is_still_drawn(odd):
    assert "1 trial each" in odd.inner_text("#summary")
    assert "3 of 5 published regrets agree, 1 too noisy to tell" in odd.inner_text("#verdict")
    view(odd, "heatmap")
    styles = [odd.get_attribute(f"button.tile[aria-label^='{name} on rank']", "style") for name in ("Uniform", "alpha")]
    assert styles[0] != styles[1]
    view(odd, "curves")
    assert odd.locator(".chart circle").count() == 9  # three problems, small
    odd.click(".multiple button.plain >> nth=0")
    assert odd.locator(".chart circle").count() == 3
    odd.click("button.toggle:has-text('% of Uniform')")
    assert all(float(dot.get_attribute("cy")) < 1000 for dot in odd.locator(".chart circle").all())
    view(odd, "time")
    assert "Times are not compared: cells were run at the same time as others" in odd.inner_text("#view")


def test_the_detail_is_of_the_cell_that_is_shown(odd, odd_file):
    records = [json.loads(path.read_text()) for path in (odd_file.parent / "store" / "cells").glob("*.json")]
    mine = [record for record in records if record["names"][0][0] == "alpha"]
    assert len(mine) == 3  # each of them another configuration under the same name
    for record in mine:
        odd.click(f"button.cell[aria-label^='alpha on {record['names'][0][1]}']")
        precision = odd.locator("dialog tr", has_text="prior_precision").locator("td").first.inner_text()
        assert float(precision) == record["identity"]["policy"]["inner"]["prior_precision"]
        told = odd.inner_text("dialog .facts")
        assert "jitter, largest over trials\n1.00e-9" in told
        assert "played at the same time as\n1 other process" in told
        assert "restarts" not in told
        odd.keyboard.press("Escape")


def test_one_cell_alone_reads_well(open_page, stored, tmp_path):
    path = tmp_path / "one.html"
    write(render(collect(stored(tmp_path / "one", {("LinPost", "linear"): [3.0]}), command="")), path)
    with open_page(path) as page:
        assert page.inner_text("#summary") == "1 policy on 1 problem, 1 trial each."
        assert page.inner_text("#view .hint").startswith("cumulative regret; mean")
        assert page.locator("#tab-ranks, #tab-overview").count() == 0  # one problem has neither


def test_other_readings_of_a_row_stand_beside_the_paper_and_are_counted_apart(open_page, stored, tmp_path):
    reading = "LinFullPost[prior_precision=1.0]"
    finished = {("Uniform", "wheel-0.5"): [1000.0] * 2, (reading, "wheel-0.5"): [16.0, 17.0]}  # 1.65 against 1.63
    data = collect(stored(tmp_path / "store", finished), command="")
    assert data["agreement"]["paper cumulative"] == {"agree": 0, "noisy": 0, "compared": 0}  # Uniform is no evidence
    write(render(data), tmp_path / "report.html")
    with open_page(tmp_path / "report.html") as page:
        view(page, "reproduction")
        told = page.inner_text("#view .hint")
        assert "0 of 0 cells agree with the paper" in told
        assert "With fields overridden: 1 of 1 cell agree with the paper, 0 differ, 0 are too noisy to tell." in told
        assert sorted(rows(page)) == [reading, "Uniform"]


def test_light_and_dark(browser, page_file):
    def background(**settings) -> str:
        context = browser.new_context(**settings)
        page = context.new_page()
        page.goto(page_file.as_uri())
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.click("#theme")  # from the system's to light
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(251, 251, 250)"
        context.close()
        return color

    assert background(color_scheme="light") != background(color_scheme="dark")


@pytest.mark.timeout(300)
def test_thirteen_problems_sixty_policies_fifty_trials(open_page, stored, tmp_path):
    generator = np.random.default_rng(0)
    names = [*policies.names()[:20], *(f"policy {number}" for number in range(40))]
    finished = {
        (name, problem): list(generator.gamma(3, horizon / 30, 50))
        for problem, horizon in HORIZONS.items()
        for name in names
    }
    folder = stored(tmp_path / "big", finished, checkpoints=200)
    path = tmp_path / "big.html"
    gc.collect()
    gc.freeze()  # what other tests left is not looked through again and again while the page is made
    began = time.process_time()
    store = Store(folder)
    store.frame(store.cells())
    read = time.process_time()
    write(render(collect(folder, command="")), path)
    made = time.process_time()
    gc.unfreeze()
    # It takes 6 to 7 times as long as reading the store does, and a busy machine slows both down.
    assert made - read < 10 * (read - began)
    assert path.stat().st_size < 5_000_000
    with open_page(path) as page:
        assert page.locator("tbody tr").count() == 60
        assert page.locator("button.cell").count() == 13 * 60
        sort = """key => {
            const button = document.querySelector(`th[data-key="${key}"] button`), began = performance.now();
            button.click();
            document.body.getBoundingClientRect();
            return performance.now() - began;
        }"""
        timed = [page.evaluate(sort, key) for key in ("problem mushroom", "rank", "time", "problem mushroom", "name")]
        assert sorted(timed)[2] < 200, timed
