"""What the page offers besides its views: an address that holds the state, files to save, comparison, search, print."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from showdown.analysis.compare_trials import difference
from showdown.report.page.answer import write_answer
from showdown.report.page.collect import collect
from showdown.report.page.render import render, write


def rows(page) -> list[str]:
    return page.locator("tbody tr:visible > th").all_inner_texts()


def saved(page, click: str) -> tuple[str, bytes]:
    with page.expect_download() as waiting:
        page.click(click)
    download = waiting.value
    return download.suggested_filename, download.path().read_bytes()


def test_the_verdict_stands_above_the_table_and_follows_the_metric(page):
    first = page.inner_text("#verdict")
    assert "Verdict by cumulative regret" in first
    assert "cannot be told apart" in first or "ahead of" in first
    page.select_option("#metric select", "reward")
    assert "Verdict by mean reward" in page.inner_text("#verdict")
    assert page.inner_text("#verdict .sentence") != first


def test_ties_with_the_best_are_marked(open_page, stored, tmp_path):
    generator = np.random.default_rng(0)
    luck = generator.normal(0, 20, 20)  # shared by all, so that pairing matters
    regrets = {"LinPost": 100 + luck, "LinGreedy": 100.5 + luck + generator.normal(0, 5, 20), "LinFullPost": 160 + luck}
    finished = {(name, "linear"): list(values) for name, values in regrets.items()}
    write(render(collect(stored(tmp_path / "store", finished), command="")), tmp_path / "report.html")
    with open_page(tmp_path / "report.html") as page:
        assert page.locator("button.cell.best").count() == 1
        assert page.locator("button.cell.tied").count() == 1
        assert page.locator("button.cell.tied, button.cell.best").filter(has_text="160").count() == 0
        assert "On linear: no single winner" in page.inner_text("#verdict")


def test_the_address_holds_the_state_and_back_undoes(page):
    start = rows(page)
    page.click('th[data-key="problem wheel-0.5"] button')
    sorted_rows = rows(page)
    page.fill("#filter", "lin")
    page.click("#tab-curves")
    page.select_option("#view select", "wheel-0.9")
    page.locator(".keys button", has_text="LinGreedy").click()
    curves = page.locator("path.curve").count()
    address = page.evaluate("location.href")
    assert all(word in address for word in ("view=curves", "problem=wheel-0.9", "text=lin", "sort=", "curve="))
    page.go_back()
    assert page.locator("path.curve").count() == curves + 1
    page.go_back()
    page.go_back()
    assert page.get_attribute("#tab-leaderboard", "aria-selected") == "true"
    assert rows(page) == [name for name in sorted_rows if "Lin" in name]
    page.go_back()
    assert page.input_value("#filter") == ""
    assert rows(page) == start
    page.goto("about:blank")
    page.goto(address)
    assert page.locator("path.curve").count() == curves
    assert page.input_value("#filter") == "lin"


def test_an_open_cell_is_in_the_address_and_back_closes_it(page):
    page.click("button.cell[aria-label^='BBB on linear']")
    address = page.evaluate("location.href")
    page.go_back()
    assert page.locator("dialog[open]").count() == 0
    page.goto("about:blank")
    page.goto(address)
    assert "BBB on linear" in page.inner_text("dialog[open]")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    page.wait_for_url(lambda url: "open=" not in url)  # the browser goes back in its own time


def test_an_address_that_names_nothing_shows_the_usual(open_page, page_file):
    nonsense = "#view=nowhere&metric=x&sort=-none&problem=%3Cimg%3E&curve=y&open=a&open=b&source=z"
    with open_page(page_file, address=nonsense) as page:
        assert page.get_attribute("#tab-overview", "aria-selected") == "true"
        page.click("#tab-leaderboard")
        assert page.get_attribute('th[data-key="rank"]', "aria-sort") == "ascending"
        assert page.locator("dialog[open]").count() == 0
    with open_page(page_file, address="#curves") as page:  # as addresses were before
        assert page.get_attribute("#tab-curves", "aria-selected") == "true"


def test_the_link_can_be_copied(open_page, page_file):
    with open_page(page_file, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.click("#tab-ranks")
        page.click("#link")
        page.wait_for_selector("#status:visible")
        assert page.inner_text("#status") == "Link copied"
        assert page.evaluate("navigator.clipboard.readText()").endswith("#view=ranks")


def test_the_table_is_saved_as_it_is_seen(page):
    page.click('th[data-key="problem wheel-0.5"] button')
    page.fill("#filter", "LinF, LinG, Uniform")
    name, content = saved(page, "button:has-text('CSV')")
    assert name.endswith("leaderboard-cumulative-regret.csv")
    table = list(csv.DictReader(io.StringIO(content.decode())))
    assert list(dict.fromkeys(row["policy"] for row in table)) == ["LinGreedy", "LinFullPost", "Uniform"]
    (cell,) = [row for row in table if (row["policy"], row["problem"]) == ("LinFullPost", "wheel-0.5")]
    assert (float(cell["mean"]), cell["unit"], cell["trials"]) == (1.8, "% of Uniform", "5")
    name, content = saved(page, "button:has-text('Markdown')")
    lines = content.decode().splitlines()
    assert lines[2].startswith("| policy | mean rank | linear | wheel-0.5 |")
    assert [line.split(" | ")[0] for line in lines[4:]] == ["| LinGreedy", "| LinFullPost", "| Uniform"]
    name, content = saved(page, "button:has-text('LaTeX')")
    assert r"1.80 $\pm$ 0.06" in content.decode()
    assert content.decode().count(r"\\") == 4


def test_names_cannot_break_out_of_a_file(page):
    page.fill("#filter", "script")
    _, markdown = saved(page, "button:has-text('Markdown')")
    assert r"\<script\>window.hacked" in markdown.decode()
    _, latex = saved(page, "button:has-text('LaTeX')")
    body = latex.decode().split(r"\midrule")[1]
    assert not re.search(r"(?<!\\)[#%_]", body)
    _, content = saved(page, "button:has-text('CSV')")
    assert len(list(csv.DictReader(io.StringIO(content.decode())))) == 1


@pytest.mark.parametrize("view", ["heatmap", "curves", "ranks", "compare", "time"])
def test_a_chart_is_saved_as_svg_and_png(open_page, page_file, view):
    with open_page(page_file, "phone") as page:
        page.click(f"#tab-{view}")
        name, content = saved(page, "#view button.save:has-text('SVG') >> nth=0")
        assert name.endswith(".svg")
        root = ElementTree.fromstring(content)
        assert root.get("width") == "900"  # whatever the width of the page
        text = content.decode()
        assert "var(--" not in text
        assert "class=" not in text
        assert "LinGreedy" in text or "wheel-0.5" in text  # what the marks stand for is in the file
        name, content = saved(page, "#view button.save:has-text('PNG') >> nth=0")
        picture = Image.open(io.BytesIO(content))
        assert picture.width == 1800
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 5


def test_the_heading_stays_in_sight(open_page, stored, tmp_path):
    finished = {(f"policy {number}", "linear"): [float(number), number + 1.0] for number in range(60)}
    write(render(collect(stored(tmp_path / "store", finished), command="")), tmp_path / "report.html")
    with open_page(tmp_path / "report.html") as page:
        page.evaluate("document.querySelector('.scroll').scrollTop = 1500")
        page.wait_for_timeout(50)
        top = page.locator(".scroll").bounding_box()["y"]
        assert abs(page.locator("thead th").nth(1).bounding_box()["y"] - top) < 3
        assert page.locator("tbody tr").first.bounding_box()["y"] < top - 500


def test_search_finds_names_and_then_descriptions(page):
    page.keyboard.press("/")
    page.keyboard.type("bayes by")
    assert rows(page) == ["BBB"]
    page.fill("#filter", "BBB")
    assert rows(page) == ["BBB"]
    page.fill("#filter", "linear greedy")
    assert rows(page) == ["LinGreedy"]


def test_a_policy_has_one_look_everywhere(open_page, page_file):
    def look(address: str) -> dict[str, tuple]:
        with open_page(page_file, address=address) as page:
            lines = page.locator("path.curve").all()
            return {
                line.get_attribute("data-policy"): (
                    line.get_attribute("stroke"),
                    line.get_attribute("stroke-dasharray"),
                )
                for line in lines
            }

    all_of_them = look("#view=curves&problem=wheel-0.5")
    alone = look("#view=curves&problem=wheel-0.9&curve=BBB&curve=LinGreedy")
    assert len(set(all_of_them.values())) == len(all_of_them) == 5
    assert alone == {name: all_of_them[name] for name in ("BBB", "LinGreedy")}


def test_every_cell_has_a_dot_with_its_interval(page):
    assert page.locator("tbody .mark").count() == 13
    style = page.get_attribute("button.cell[aria-label^='BBB on linear'] .mark", "style")
    low, at, high = (float(re.search(rf"--{part}:([\d.]+)%", style)[1]) for part in ("low", "at", "high"))
    assert low < at < high
    page.select_option("#view .hint select", "off")
    assert page.locator("tbody .mark").count() == 0
    assert "n = 5" in page.inner_text("#view .hint")


def test_two_policies_are_compared_trial_by_trial(page, page_file):
    page.click("#tab-compare")
    page.locator("#view select").nth(0).select_option("LinGreedy")
    page.locator("#view select").nth(1).select_option("BBB")
    assert "LinGreedy is better on 2 of 3 problems, BBB on 1; on 0 they" in page.inner_text("#view .hint")
    _, content = saved(page, "button:has-text('CSV')")
    row = next(row for row in csv.DictReader(io.StringIO(content.decode())) if row["problem"] == "wheel-0.5")
    trials = 0.9 + 0.05 * np.arange(5)
    expected = difference(pd.Series(40 * trials), pd.Series(200 * trials))  # of which Uniform's 5000 is 100 %
    assert [float(row[part]) for part in ("mean", "low", "high")] == pytest.approx(
        [value / 50 for value in (expected.mean, expected.low, expected.high)], rel=1e-3
    )
    assert (row["wins"], row["ties"], row["trials"], row["winner"]) == ("5", "0", "5", "LinGreedy")
    page.click("button:has-text('swap')")
    assert "BBB is better on 1 of 3 problems" in page.inner_text("#view .hint")
    page.select_option("#metric select", "time")
    assert "no trials to pair" in page.inner_text("#view")


def test_ranks_have_whole_ticks_and_the_heat_map_a_scale(page):
    page.click("#tab-ranks")
    ticks = page.locator("#view .chart").first.locator(".axes text:not(.name)").all_text_contents()
    assert len(ticks) >= 3
    assert all(float(tick).is_integer() for tick in ticks)
    page.click("#tab-heatmap")
    legend = page.locator(".legend-heat")
    assert "% of Uniform (logarithmic): blue is better than Uniform, orange worse" in legend.inner_text()
    assert "100" in legend.locator("text").all_text_contents()
    blue, pale = (
        page.locator(f"button.cell[aria-label^='{name} on linear']").evaluate(
            "node => getComputedStyle(node).backgroundColor"
        )
        for name in ("LinFullPost", "Uniform")
    )
    assert pale == "rgb(246, 246, 242)"  # 100 is where the colours turn
    red, _, strength = (int(part) for part in re.findall(r"\d+", blue))
    assert strength > red + 100
    assert legend.locator("text").count() >= 2


def test_the_guide_explains_and_links(page):
    page.click("#guide summary")
    guide = page.inner_text("#guide")
    assert "Bayes by Backprop" in guide
    assert "The wheel" in guide
    assert "Uniform: every action" in guide
    assert "Uniform: Uniform" not in guide
    links = page.eval_on_selector_all("#guide a", "links => links.map(link => link.href)")
    assert "https://arxiv.org/abs/1802.09127" in links
    assert "https://arxiv.org/abs/1505.05424" in links


def test_a_noisy_cell_is_no_agreement(open_page, stored, tmp_path):
    finished = {
        ("Uniform", "wheel-0.5"): [1000.0] * 4,
        ("LinFullPost", "wheel-0.5"): [16.0, 16.4, 16.2, 16.6],  # published: 1.63 %
        ("LinGreedy", "wheel-0.5"): [10.0, 900.0, 500.0, 1000.0],  # published: 65.89 %
        ("BBB", "wheel-0.5"): [900.0, 901.0, 899.0, 900.0],
    }
    data = collect(stored(tmp_path / "store", finished), command="")
    write(render(data), tmp_path / "report.html")
    assert data["agreement"]["paper cumulative"] == {"agree": 1, "noisy": 1, "compared": 3}
    with open_page(tmp_path / "report.html", address="#view=reproduction") as page:
        told = page.inner_text("#view .hint")
        assert "1 of 3 cells agree with the paper, 1 differs, 1 is too noisy to tell." in told
        assert page.locator("button.cell.noisy").inner_text().startswith("≈")
        assert ", z " in page.locator("button.cell.agrees").first.inner_text()
        page.locator("button.cell.noisy").click()
        assert "≈ too noisy to tell" in page.inner_text("dialog")


def test_the_table_is_within_the_first_screen_of_a_phone(open_page, page_file):
    with open_page(page_file, "phone") as page:
        assert page.locator("tbody tr").nth(1).bounding_box()["y"] < 844
        assert page.locator("tbody button.cell").first.bounding_box()["x"] < 390


def test_the_controls_of_a_phone_take_one_row(open_page, page_file):
    with open_page(page_file, "phone") as page:
        assert page.locator("#controls").bounding_box()["height"] < 40
        assert page.locator(".split-hint").bounding_box()["height"] < 40
        assert page.locator("#metric select").bounding_box()["x"] < 100


def test_uniform_does_not_squeeze_the_scale_and_has_an_arrow(page):
    """On wheel-0.5 Uniform's regret is 25 times that of the next."""
    mark = "button.cell[aria-label^='{} on wheel-0.5'] .mark"
    assert "over" in page.get_attribute(mark.format("Uniform"), "class").split()
    assert page.get_attribute(mark.format("BBB"), "class") == "mark"
    places = [
        page.locator(mark.format(name)).evaluate("node => parseFloat(node.style.getPropertyValue('--at'))")
        for name in ("LinGreedy", "BBB")
    ]
    assert places[1] - places[0] > 50  # of 100: they are the ends of the scale but for their intervals
    page.select_option("#metric select", "reward")  # of which Uniform has the least
    assert "under" in page.get_attribute(mark.format("Uniform"), "class").split()
    page.fill("#filter", "Uniform")
    assert page.locator(".mark.under:visible").count() == 3


def test_the_curves_open_small_on_all_problems_and_a_title_makes_one_large(page):
    names = [
        key.get_attribute("data-key").removeprefix("problem ") for key in page.locator("th[data-key^='problem ']").all()
    ]
    page.click("#tab-curves")
    assert page.locator(".multiple h3").all_text_contents() == names
    assert "logarithmic" in page.inner_text("#view .hint")
    drawn = page.locator(".multiple").first.locator("path.curve")
    assert drawn.count() == 4
    page.click(".keys button:has-text('BBB')")  # one key for all of them
    assert drawn.count() == 3
    dashes = {line.get_attribute("stroke-dasharray") for line in drawn.all()}
    assert len(dashes) > 1  # lines differ in more than their colour
    page.click(f".multiple button:has-text('{names[1]}')")
    assert page.input_value("#view select") == names[1]
    assert page.locator("#view .chart").count() == 1
    assert "cumulative regret (logarithmic)" in page.locator("#view .chart").text_content()
    page.go_back()
    assert page.input_value("#view select") == ""
    page.go_back()
    assert drawn.count() == 4


def test_the_curves_open_where_methods_differ(open_page, stored, tmp_path):
    """Nine methods that lie upon each other were drawn, and not the tenth."""
    names = ["LinPost", "LinPost-MR", "LinPost-SL", "LinDiagPost", "LinDiagPrecPost", "LinFullPost", "LinGreedy", "BBB"]
    regrets = [100.0, 100.1, 100.2, 100.3, 100.4, 100.5, 100.6, 300.0]
    finished = {(name, "wheel-0.5"): [regret, regret + 1] for name, regret in zip(names, regrets, strict=True)}
    path = tmp_path / "report.html"
    write(render(collect(stored(tmp_path / "store", finished), command="showdown report")), path)
    with open_page(path, address="#view=curves") as page:
        drawn = [line.get_attribute("data-policy") for line in page.locator("path.curve").all()]
    assert len(drawn) == 6
    assert {"LinPost", "BBB"} < set(drawn)


def test_seeds_that_are_not_shown_are_in_the_subtitle(open_page, stored, change_cell, tmp_path):
    folder = stored(tmp_path / "store", {("Uniform", "linear"): [5.0, 6.0]})
    write(render(collect(folder, command="")), tmp_path / "report.html")
    with open_page(tmp_path / "report.html") as page:
        assert "seed" not in page.inner_text("#summary")
    (path,) = (folder / "cells").glob("*.json")
    for seed in (1, 2):
        identity = {**json.loads(path.read_text())["identity"], "seed": seed}
        change_cell(path, keep=True, seed=seed, identity=identity)
    write(render(collect(folder, command="")), tmp_path / "report.html")
    for size in ("desk", "phone"):
        with open_page(tmp_path / "report.html", size) as page:
            assert page.inner_text("#summary").endswith(", 2 trials each, seed 0 (not shown: seed 1, 2).")


@pytest.mark.parametrize("view", ["leaderboard", "reproduction"])
def test_a_printed_page_cuts_nothing_off(open_page, stored, tmp_path, view):
    problems = ("statlog", "covertype", "mushroom", "financial", "jester", "adult", "census", "song")
    problems = (*problems, *(f"wheel-{delta}" for delta in (0.5, 0.7, 0.9, 0.95, 0.99)))
    policies = ("Uniform", "LinFullPost", "LinFullDiagPrecPost-MR", "NeuralLinear")
    finished = {(one, other): [900.0, 950.0, 990.0] for one in policies for other in problems}
    write(render(collect(stored(tmp_path / "store", finished), command="")), tmp_path / "report.html")
    with open_page(tmp_path / "report.html", address=f"#view={view}") as page:
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 1046, "height": 700})  # landscape A4 within its margins
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
        assert page.evaluate("document.querySelector('table').getBoundingClientRect().right") <= 1046
        assert page.get_attribute("#guide", "open") is not None
        assert page.pdf(prefer_css_page_size=True)[:4] == b"%PDF"
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.get_attribute("#guide", "open") is None


def test_who_decided_when_is_drawn_where_it_is_known(open_page, stored, tmp_path):
    data = collect(stored(tmp_path / "store", {("LinPost", "linear"): [1.0, 2.0]}), command="")
    bins = math.ceil(math.log2(2000))
    data["cells"][0]["timeline"] = {
        "share of linear <b>": list(np.linspace(1, 0.2, bins)),
        "share of network": list(np.linspace(0, 0.8, bins)),
        "jitter": [7.0] * bins,  # not a share
    }
    write(render(data), tmp_path / "report.html")
    with open_page(tmp_path / "report.html") as page:
        page.click("button.cell")
        assert "Share of decisions per belief over time" in page.inner_text("dialog")
        assert page.locator("dialog path.belief").count() == 2
        assert (
            "network: 0 % at first, 80.00 % at the end" in page.locator("dialog path.belief title").nth(1).inner_html()
        )


def test_the_title_is_a_name(stored, tmp_path):
    cells = {("LinPost", "linear"): [1.0]}
    assert collect(stored(tmp_path / "my-study", cells), command="")["title"] == "my-study"
    assert collect(stored(tmp_path / "results", cells), command="")["title"] == "Showdown results"


def test_a_tuning_is_shown_with_its_candidates_its_fields_and_what_was_found(page):
    page.click("#tab-tuning")
    assert page.locator("h2").filter(has_text="@wheel-0.5 and the default").count() == 1
    assert page.locator("td.number").all_inner_texts()[:3] == ["10.00", "20.00", "-10.00"]
    charts = page.locator("svg.chart")
    assert charts.count() == 3  # progress, and a slice for each of two fields
    assert charts.first.locator("circle").count() == 2  # the third diverged
    assert charts.first.locator("circle.front").count() == 1
    assert "75 %" in page.locator("#view").inner_text()
    assert not page.is_visible("#metric")
    assert "tuning" in page.evaluate("location.hash")


ANSWER = {
    "policy": None,
    "metric": "reward",
    "lines": ["Use no method: none is clearly better than 25.0 % for always taking 'x'.", "It decides in 20 µs."],
    "warnings": ["the column 'c' decides the label"],
    "decide_seconds": {"LinPost": 2e-5},
}


def test_a_recommendation_opens_with_what_the_terminal_said(open_page, stored, tmp_path):
    """It crowned a method where the terminal said to use none, and had a mean rank of one problem."""
    finished = {("Uniform", "linear"): [100.0] * 4, ("LinPost", "linear"): [99.0, 101.0, 98.0, 102.0]}
    folder = stored(tmp_path / "store", finished)
    write_answer(folder, ANSWER)
    write(render(collect(folder, command="")), tmp_path / "report.html")
    with open_page(tmp_path / "report.html") as page:
        said = page.inner_text("#verdict")
        assert said.startswith("Recommendation\n\n" + ANSWER["lines"][0])
        assert "the column 'c' decides the label" in said
        assert page.locator("#tab-reproduction, #tab-ranks, th[data-key='rank']").count() == 0
        assert page.locator("button.cell.best, button.cell.tied").count() == 0
        assert "20.00 µs" in page.inner_text("tbody")
        assert page.input_value("#metric select") == "reward"


def test_the_overview_comes_first_with_intervals_probabilities_and_profiles(open_page, page_file):
    for size in ("desk", "phone"):
        with open_page(page_file, size, address="") as page:
            assert page.get_attribute("#tab-overview", "aria-selected") == "true"
            headings = page.locator("#view h2").all_inner_texts()
            assert headings[0] == "Mean cumulative regret over 3 problems"
            assert headings[1] == "Probability that LinFullPost is better"
            assert headings[2] == "Performance profiles"
            dots = page.locator("#view .chart").first.locator("circle.mean title").all_text_contents()
            assert [text.split(":")[0] for text in dots] == ["LinFullPost", "LinGreedy", "BBB"]  # Uniform is no method
            assert all(" to " in text for text in dots)
            assert page.locator("#view .chart").nth(1).locator("circle.mean").count() == 2
            assert page.locator("#view .chart").nth(2).locator("path").count() == 3
            assert headings[3:] == [
                "Ratio to the best over 3 problems",
                "Performance profiles over problems",
                "All numbers over 3 problems",
            ]
            ratios = page.locator("#view .chart").nth(3).locator("circle.mean title").all_text_contents()
            assert ratios[0] == "LinFullPost: 1.42, 1.42 to 1.42"  # trials differ by nothing there
            assert page.locator("#view table.aggregates tbody tr").count() == 3
            page.fill("#filter", "BBB")
            assert page.locator("#view .chart").first.locator("circle.mean").count() == 1
            page.fill("#filter", "")
            page.select_option("#metric select", "reward")
            assert "No overview by mean reward" in page.inner_text("#view")


def test_the_verdict_is_short_where_something_else_is_looked_at(page):
    assert page.locator("#verdict .sentence:visible").count() == 3
    page.click("#tab-heatmap")
    assert page.locator("#verdict .sentence:visible").count() == 1
    assert page.locator("#verdict .warnings:visible").count() == 0


def test_every_method_on_the_front_of_time_has_its_name_and_uniform_is_no_method(page):
    page.click("#tab-time")
    front = page.inner_text("#view .hint:last-of-type").removeprefix("On the front: ")
    names = [part.partition(" (")[0] for part in front.rstrip(".").split("; ")]
    written = page.locator("#view text.mark").all_text_contents()
    assert names
    assert set(names) <= set(written)
    assert "Uniform" not in written
    assert page.locator("path.front").get_attribute("d").count("L") == 2 * (len(names) - 1)  # a staircase


def test_the_axis_of_a_column_says_that_it_is_logarithmic(page):
    page.select_option("#view .hint select", "table")
    ends = [part.inner_text().split() for part in page.locator(".ends").all()]
    assert any("log" in words for words in ends)
    titles = [part.get_attribute("title") for part in page.locator(".ends").all()]
    assert [("log" in words) for words in ends] == [title == "logarithmic scale" for title in titles]


def test_tunings_without_a_store_are_shown_with_edges_and_what_importance_means(open_page, tmp_path):
    """`showdown report docs/results/tuning`, where only tables and presets are kept, was refused."""
    (tmp_path / "A-on-x.csv").write_text(
        "number,batch,status,part,noise,level,value,cumulative on x,seconds\n"
        "0,0,done,1.0,0.25,0.5,20.0,20.0,1\n1,0,done,1.0,90.0,0.4,9.0,9.0,1\n2,0,given up,0.5,0.01,0.9,,,1\n"
    )
    (tmp_path / "A-on-x.toml").write_text(
        '# 7 trials, seed 0\n[policy."A@x"]\nbase = "A"\n[policy."A@x".fields]\n"noise" = 90.0\n"level" = 0.45\n'
    )
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")  # no preset beside it: no tuning
    page_data = collect(tmp_path, command="showdown report")
    assert page_data["warnings"] == []
    write(render(page_data), tmp_path / "report.html")
    with open_page(tmp_path / "report.html") as page:
        text = page.inner_text("body")
        assert page.locator("#tabs button").count() == 1
        assert page.locator("#controls").is_hidden()
    assert "3 candidates, 7 trials each" in text
    assert "Chosen: A[noise=90.0,level=0.45]" in text
    assert "Careful: chosen at an end of what was searched: noise (0.01 to 90.00)." in text
    assert "Importance: of how much candidates differed" in text
