"""Reading a log of decisions: columns found by name, what cannot be read, and evaluating from Python."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import showdown
from showdown.basics.errors import UsageError
from showdown.data.choose_columns import looks_like_log
from showdown.logged.read_log import read_log


@pytest.fixture
def frame() -> pd.DataFrame:
    draw, rows = np.random.default_rng(2), 80
    return pd.DataFrame(
        {
            "x": draw.normal(size=rows),
            "colour": draw.choice(["red", "blue", "green"], rows),
            "arm": draw.choice(["stay", "go"], rows),
            "clicked": draw.random(rows) < 0.5,
            "pscore": draw.choice([0.25, 0.5], rows),
            "when": np.datetime64("2024-01-01") + draw.permutation(rows),
            "offered": "stay|go",
            "available_go": 1,
            "available_stay": 1,
        }
    )


def test_a_log_is_recognised_by_its_columns(frame):
    assert looks_like_log(frame) == ("arm", "clicked", "pscore")
    assert looks_like_log(frame.rename(columns={"pscore": "action_prob", "arm": "chosenAction"})) == (
        "chosenAction",
        "clicked",
        "action_prob",
    )
    assert looks_like_log(frame.drop(columns="pscore")) is None
    assert looks_like_log(frame.assign(pscore=3.0)) is None
    assert looks_like_log(frame.drop(columns="arm")) is None


def test_reading_a_log(frame, tmp_path):
    others = "when+offered+available_go+available_stay"
    found = read_log(frame, ignore=others)  # the three columns are found by name
    assert (found.rows, found.action_names, found.spec.context_dim) == (80, ("go", "stay"), 4)
    np.testing.assert_array_equal(found.actions, frame["arm"] == "stay")
    np.testing.assert_array_equal(found.rewards, frame["clicked"])
    np.testing.assert_array_equal(found.propensities, frame["pscore"])
    np.testing.assert_allclose(found.contexts.mean(axis=0), 0, atol=1e-6)
    frame.to_csv(tmp_path / "log.csv", index=False)
    again = read_log(tmp_path / "log.csv", action="arm", reward="clicked", ignore="pscore+" + others)
    assert again.propensities is None
    np.testing.assert_allclose(again.contexts, found.contexts, atol=1e-6)
    row = frame.iloc[3].to_dict()
    np.testing.assert_allclose(found.encoder.encode(row), found.contexts[3], atol=1e-6)
    assert found.encoder.action_names == ("go", "stay")
    timed = read_log(frame, time="when", available="offered", ignore="available_*")
    order = np.argsort(frame["when"].to_numpy())
    np.testing.assert_array_equal(timed.actions, found.actions[order])
    assert timed.timed
    assert timed.available.all()
    more = frame.assign(offered=["stay;go;wait"] * 79 + ["['stay', 'go']"])
    listed = read_log(more, available="offered", ignore="when+available_*")
    assert listed.action_names == ("go", "stay", "wait")
    np.testing.assert_array_equal(listed.available[-1], [True, True, False])
    flags = read_log(frame.assign(available_go=frame["arm"] == "go"), available="available_*", ignore="when+offered")
    np.testing.assert_array_equal(flags.available, np.stack([frame["arm"] == "go", np.ones(80)], axis=1))
    bare = read_log(frame[["arm", "clicked", "pscore"]])
    assert (bare.spec.context_dim, bare.encoder) == (1, None)
    gaps = read_log(frame.assign(arm=frame["arm"].where(frame.index > 4)), ignore=others)
    assert (gaps.rows, gaps.rows_left_out) == (75, 5)


@pytest.mark.parametrize(
    ("changes", "options", "why"),
    [
        ({}, {"action": "armm", "reward": "clicked"}, "did you mean 'arm'"),
        ({"arm": 1.5}, {}, "say which column is the action"),
        ({"arm": "go"}, {"action": "arm", "reward": "clicked"}, "nothing to choose"),
        ({"arm": None}, {"action": "arm", "reward": "clicked"}, "no row of the log has an action"),
        ({"arm": np.arange(80)}, {"action": "arm", "reward": "clicked"}, "another value in every row"),
        ({"clicked": np.nan}, {"action": "arm", "reward": "clicked"}, "does not hold numbers|every reward"),
        ({}, {"action": "arm", "reward": "clicked", "propensity": "colour"}, "does not hold numbers"),
        ({}, {"action": "arm", "reward": "arm"}, "'arm' cannot have two roles"),
        ({}, {"time": "colour"}, "must hold a number or a date"),
        ({"offered": ""}, {"available": "offered"}, "no available action in row 1"),
        ({"available_go": 7}, {"available": "available_*"}, "must hold 0 or 1"),
        ({"available_go": 0}, {"available": "available_*"}, "not among those available"),
    ],
)
def test_logs_that_cannot_be_read_are_one_sentence(frame, changes, options, why):
    with pytest.raises(UsageError, match=why):
        read_log(frame.assign(**changes), **options)
    with pytest.raises(UsageError, match="5 decisions, and nothing can be said from fewer than 10"):
        read_log(frame.head(5))


def test_importing_showdown_stays_light(frame):
    code = "import showdown, sys; print('jax' in sys.modules, 'pandas' in sys.modules, callable(showdown.evaluate))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["False", "False", "True"]
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        showdown.evaluat  # noqa: B018
    found = showdown.evaluate("uniform", frame, ignore="when+offered+available_*")
    assert json.loads(json.dumps(found.plain()))["estimates"][0]["policy"] == "uniform"
