"""Figures at reduced size: they show what the paper says they show, play through the store, and make files."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.analysis.summary import Curve
from showdown.basics.errors import MissingDataError, ShowdownError, UsageError
from showdown.bench.compilation import CompileAhead
from showdown.config import override
from showdown.policies import policies
from showdown.posteriors import regression
from showdown.protocol.policy import Thompson
from showdown.report import figures
from showdown.report.drawing import FigureRequest, style
from showdown.report.drawing.style import line, save, scale_regret, with_trials
from showdown.report.figures import ranks, wheel
from showdown.studies import bbb_linear, posterior_approximations, posterior_feedback, qualitative
from showdown.studies.shared import Settings

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
STEPS = np.arange(1, 11) * 10


def canned(level: float) -> Curve:
    return Curve(STEPS, level * np.sqrt(STEPS), 0.1 * np.sqrt(STEPS))


def test_diagonal_is_far_worse_and_precision_diagonal_as_good_at_thirty_dimensions(tmp_path, monkeypatch):
    settings = Settings(directory=tmp_path)
    size = {"trials": 4, "horizon": 1200, "dimensions": (30,)}
    curves = posterior_approximations.regrets(settings, **size)
    exact, diagonal, precision = (curves[name, 30] for name in ("exact", "Diag", "PrecisionDiag"))
    # 1100, 1730 and 610, with standard errors near 10: no other seed is going to say otherwise
    assert diagonal.mean[-1] > 1.4 * exact.mean[-1]
    assert precision.mean[-1] <= exact.mean[-1]

    monkeypatch.setattr("showdown.bench.play_cell.simulate", None)  # a second call plays nothing
    again = posterior_approximations.regrets(settings, **size)
    assert np.array_equal(again["exact", 30].mean, exact.mean)
    assert len(list((tmp_path / "figures" / "cells").glob("*.parquet"))) == 3


def test_more_training_helps_bbb_and_the_exact_solution_stays_ahead(tmp_path):
    chosen = {label: bbb_linear.lineup(full=False)[label] for label in ("PrecisionDiag", "BBB-1", "BBB-50")}
    settings = Settings(directory=tmp_path)
    curves = bbb_linear.regrets(settings, "linear[num_actions=6]", chosen, horizon=800, trials=4)
    # about 900, 130 and 75
    assert curves["BBB-1"].mean[-1] > 2 * curves["BBB-50"].mean[-1]
    assert curves["BBB-50"].mean[-1] > 1.1 * curves["PrecisionDiag"].mean[-1]


def test_a_panel_without_its_data_is_left_out_with_a_word(monkeypatch, tmp_path):
    def regrets(settings, name, chosen, **_):
        if name == "statlog":
            raise MissingDataError("statlog is not here; fetch it")
        return {label: canned(2.0) for label in ("exact", "PrecisionDiag", "BBB-1", "BBB-5", "BBB-50")}

    monkeypatch.setattr(bbb_linear, "regrets", regrets)
    told: list[str] = []
    figure = figures.draw("bbb-linear", FigureRequest(directory=tmp_path, warn=told.append))
    assert len(figure.axes) == 1
    assert told == ["the panel 'statlog' is left out: statlog is not here; fetch it"]


def test_a_failing_experiment_says_which_cell(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("showdown.bench.play_cell.simulate", fail)
    monkeypatch.setattr(CompileAhead, "before", lambda *_: None)  # no program is used
    with pytest.raises(ShowdownError, match=r"LinPost\[intercept=False\] on mixed-linear.*ZeroDivisionError"):
        posterior_approximations.regrets(Settings(directory=tmp_path), trials=1, horizon=10)


def test_feedback_posteriors_are_those_the_policy_would_hold():
    truth, exact, again, diagonal = posterior_feedback.runs(Settings(), 60)
    assert truth.shape == (20, 6)
    assert not np.array_equal(exact.contexts, again.contexts)
    assert np.array_equal(exact.contexts, diagonal.contexts)
    assert not np.array_equal(exact.actions, diagonal.actions)
    belief = posterior_feedback.posterior(exact)
    held = regression.prior(6, 20, posterior_feedback.PRIOR_PRECISION)
    deviation = posterior_feedback.NOISE_VARIANCE**0.5
    absorb = jax.jit(regression.absorb)
    for context, action, reward in zip(*exact, strict=True):
        held, _ = absorb(held, jnp.int32(action), context / deviation, reward / deviation)
    np.testing.assert_allclose(belief.mean, held.mean, atol=1e-4)
    for context in exact.contexts[:5]:
        variance = np.einsum("d,kde,e->k", context, belief.covariance, context)
        np.testing.assert_allclose(variance, regression.variance(held, context), rtol=1e-3)
    plain = posterior_feedback.without_correlations(belief)
    assert np.count_nonzero(plain.covariance[0]) == 20
    assert np.array_equal(np.diag(plain.covariance[3]), np.diag(belief.covariance[3]))
    first, second = posterior_feedback.most_correlated(belief)
    assert 0 <= first < second < 20


def test_feedback_draws_three_rows_of_six(tmp_path):
    figure = figures.draw("posterior-feedback", FigureRequest(directory=tmp_path))
    assert len(figure.axes) == 18
    save(figure, tmp_path / "feedback.pdf")
    assert (tmp_path / "feedback.pdf").read_bytes().startswith(b"%PDF")


def test_the_wheel_is_coloured_by_the_problem():
    best = wheel.best_actions(0.5, 101)
    inside = np.mean(best[best >= 0] == 0)
    assert inside == pytest.approx(0.25, abs=0.01)  # δ² of the disk's area
    corners = {"up right": best[20, 80], "down right": best[80, 80], "up left": best[20, 20], "down left": best[80, 20]}
    assert corners == {"up right": 1, "down right": 2, "up left": 3, "down left": 4}
    assert best[0, 0] == -1
    assert wheel.picture(best).shape == (101, 101, 4)
    assert wheel.picture(best)[0, 0, 3] == 0


def test_published_ranks_are_the_papers(tmp_path):
    each, _ = ranks.ranked(FigureRequest(published=True))
    means = each.groupby("policy")["rank"].mean()
    assert len(means) == 53
    assert means["LinFullPost"] == pytest.approx(14, abs=0.1)  # as printed
    assert means["Uniform"] == pytest.approx(51.0, abs=0.1)
    few, _ = ranks.ranked(FigureRequest(published=True, policies=["BBB"]))
    assert few["rank"].mean() == means["BBB"]
    save(figures.draw("ranks", FigureRequest(published=True, policies=["BBB", "RMS"])), tmp_path / "ranks.svg")
    assert "<svg" in (tmp_path / "ranks.svg").read_text()[:500]


def test_ranks_and_regret_of_a_store(stored, tmp_path):
    names = ("Uniform", "LinPost", "LinGreedy", "<b>$x_1$</b>")
    cells = {(name, "wheel-0.5"): [10.0 - i, 12.0 - i] for i, name in enumerate(names)}
    folder = stored(tmp_path / "store", {**cells, ("Uniform", "linear"): [1.0, 1.0]})
    (folder / "cells" / "foreign.json").write_text("?")
    told: list[str] = []
    request = FigureRequest(directory=folder, problem="wheel-0.5", warn=told.append)
    figure = figures.draw("regret", request)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["<b>$x_1$</b>", "LinGreedy", "LinPost"]
    assert "foreign.json" in told[0]
    save(figure, tmp_path / "new" / "regret.png")
    assert (tmp_path / "new" / "regret.png").read_bytes().startswith(b"\x89PNG")
    assert figures.draw("ranks", request).axes[0].get_yticklabels()[-1].get_text() == "<b>$x_1$</b>"
    with pytest.raises(UsageError, match="say which problem to draw with --problem; there are"):
        figures.draw("regret", FigureRequest(directory=folder))
    with pytest.raises(UsageError, match="no cell of the problem 'song'"):
        figures.draw("regret", FigureRequest(directory=folder, problem="song"))
    with pytest.raises(UsageError, match="holds no finished cell to draw"):
        figures.draw("ranks", FigureRequest(directory=tmp_path / "nowhere"))


def test_aggregates_of_a_store(stored, tmp_path):
    regrets = {"LinPost": [3.0, 4.0], "LinGreedy": [2.0, 2.5], "LinFullPost": [6.0, 5.0]}
    cells = {
        (policy, problem): own for policy, own in regrets.items() for problem in ("wheel-0.5", "wheel-0.9", "linear")
    }
    left, right = figures.draw("aggregates", FigureRequest(directory=stored(tmp_path / "store", cells))).axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["LinFullPost", "LinPost", "LinGreedy"]
    assert left.get_xlabel() == "mean ratio to the best over 3 problems"
    assert [line.get_ydata()[-1] for line in right.lines] == [1, 1, 1]


@pytest.mark.parametrize("name", [r"a$\frac$b", "_hidden", "政策"])
@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_any_name_is_drawn_as_text(stored, tmp_path, name, suffix):
    folder = stored(tmp_path / "store", {(policy, "linear"): [1.0, 2.0] for policy in ("Uniform", name)})
    request = FigureRequest(directory=folder, problem="linear")
    for figure in ("regret", "ranks"):
        drawn = figures.draw(figure, request)
        save(drawn, tmp_path / f"{figure}{suffix}")
    legend = figures.draw("regret", request).legends[0]
    assert [text.get_text() for text in legend.get_texts()] == [name]
    assert not any(text.get_parse_math() for text in legend.get_texts())


def test_a_legend_of_many_policies_fits(stored, tmp_path):
    folder = stored(tmp_path / "store", {(f"policy {number}", "linear"): [1.0, 2.0] for number in range(40)})
    request = FigureRequest(directory=folder, problem="linear", policies=[f"policy {number}" for number in range(40)])
    figure = figures.draw("regret", request)
    figure.canvas.draw()
    box = figure.legends[0].get_window_extent()
    assert box.y0 >= 0
    assert box.y1 <= figure.bbox.height


def test_ranks_of_a_store_are_over_the_papers_problems_where_it_has_them(stored, tmp_path):
    problems = ("linear", "wheel-0.7", "wheel-0.5")
    regrets = {"Uniform": [3.0, 3.0], "LinPost": [1.0, 1.0]}
    folder = stored(
        tmp_path / "s", {(name, problem): regret for name, regret in regrets.items() for problem in problems}
    )
    assert set(ranks.ranked(FigureRequest(directory=folder))[0]["problem"]) == {"wheel-0.5"}


@pytest.mark.parametrize("name", ["Dropout", "RMS"])  # one that draws at random, one that does not
def test_beliefs_about_one_variable(name, monkeypatch):
    monkeypatch.setattr(qualitative, "DRAWS", 6)
    policy = override(
        qualitative.sized(policies.get(name), full=False),
        {"hidden_layers": (16,), "batch_size": 32, "training_steps": 20},
    )
    points = qualitative.some_points(0, 60)
    grid = np.linspace(-3, 3, 5, dtype=np.float32)
    belief = qualitative.believe(policy, points, grid, seed=0)
    assert belief.mean.shape == belief.deviation.shape == (5, 3)
    assert np.isfinite(belief.mean).all()
    assert (belief.deviation > 0).any()


def test_the_qualitative_figure_takes_whatever_is_registered(monkeypatch, tmp_path):
    there = [name for name in qualitative.WANTED if name in policies]
    assert {"RMS", "BBB", "NeuralLinear", "Dropout"} <= set(there)
    assert all(isinstance(qualitative.sized(policies.get(name), full=False), Thompson) for name in there)
    asked = []

    def believe(policy, points, grid, seed):
        asked.append(policy)
        return qualitative.DrawnValues(np.zeros((len(grid), 3)), np.ones((len(grid), 3)))

    monkeypatch.setattr(qualitative, "believe", believe)
    monkeypatch.setattr(qualitative, "WANTED", ("Unheard", "RMS", "Dropout", "BBB"))
    figure = figures.draw("qualitative", FigureRequest(directory=tmp_path))
    assert len(asked) == 3
    assert sum(len(block.axes) for block in figure.subfigs) == 9


def test_second_function_is_only_seen_on_the_left():
    points = qualitative.some_points(0, 90)
    inputs = np.asarray(points.contexts)[:, 0]
    assert inputs[np.asarray(points.actions) == 1].max() < 0
    assert inputs[np.asarray(points.actions) == 0].max() > 0.7
    truth = qualitative.truth(inputs)
    assert np.array_equal(truth[:, 0], truth[:, 1])


def test_a_new_file_is_a_new_figure(tmp_path, monkeypatch):
    (tmp_path / "two_lines.py").write_text(
        "from showdown.report.drawing import Figure, style\n"
        "FIGURE = Figure(summary='nothing', draw=lambda request: style.new_figure(2.0, 1.0), options=('seed',))\n"
    )
    monkeypatch.setattr(figures, "__path__", [*figures.__path__, str(tmp_path)])
    assert "two-lines" in figures.figures()
    assert figures.draw("two-lines", FigureRequest()).get_figwidth() == 2.0


def test_a_file_without_a_figure_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "nothing_drawn.py").write_text("")
    monkeypatch.setattr(figures, "__path__", [*figures.__path__, str(tmp_path)])
    with pytest.raises(UsageError, match=r"nothing_drawn.py does not define 'FIGURE'"):
        figures.figures()


def test_figures_declare_options_that_a_request_has():
    fields = {field.name for field in dataclasses.fields(FigureRequest)}
    for name, figure in figures.figures().items():
        assert set(figure.options) <= fields - {"directory", "bar", "warn"}, name


def test_lines_differ():
    assert len({line(number) for number in range(28)}) == 28


def test_wrong_requests_are_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="no figure is called 'pie'"):
        figures.draw("pie", FigureRequest())
    figure = figures.draw("ranks", FigureRequest(published=True, policies=["BBB"]))
    with pytest.raises(UsageError, match=r"\.png, \.svg or \.pdf"):
        save(figure, tmp_path / "figure.gif")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="cannot write"):
        save(figure, tmp_path / "file" / "figure.png")


def test_a_figure_drawn_twice_is_the_same_file(tmp_path):
    for name in ("one", "two"):
        for suffix in ("png", "svg", "pdf"):
            save(figures.draw("ranks", FigureRequest(published=True, policies=["BBB"])), tmp_path / f"{name}.{suffix}")
    for suffix in ("png", "svg", "pdf"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


def test_leaders_do_not_hide_and_nothing_is_cut_off():
    with style.for_print():
        curves = [canned(factor)._replace(trials=20) for factor in (1.0, 3.0, 30.0)]
        for drawn, scale, label in (
            (curves[:2], "linear", "cumulative regret"),
            (curves, "log", "cumulative regret, logarithmic"),
        ):
            axes = style.new_figure(3, 3).subplots()
            for curve in drawn:
                style.draw_curve(axes, curve, "", style.BLUE)
            scale_regret(axes, drawn)
            assert (axes.get_yscale(), axes.get_ylabel()) == (scale, label)
            low, high = axes.get_ylim()
            assert low < min(curve.mean[-1] for curve in drawn)
            assert high > max(curve.mean.max() for curve in drawn)
        assert with_trials("statlog", curves) == "statlog, 20 trials"
        assert with_trials("statlog", [canned(1.0)]) == "statlog"


@pytest.mark.parametrize("name", ["ranks", "wheel"])
def test_a_figure_says_what_its_marks_and_axes_are(name, tmp_path):
    figure = figures.draw(name, FigureRequest(directory=tmp_path, published=name == "ranks"))
    assert figure.legends
    assert all(axes.get_xlabel() for axes in figure.axes)
