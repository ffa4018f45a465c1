"""The real problems: their parsers, and how they are played, on small made-up files."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from showdown.basics.errors import MissingDataError, UsageError
from showdown.data.catalogue import CATALOGUE
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import adult, census, covertype, digits, jester, problems, song, statlog
from showdown.protocol.keys import trial_keys
from showdown.protocol.problem import Problem, Round

ROWS = 80


def lines(rows, separator=",") -> bytes:
    return "".join(separator.join(map(str, row)) + "\n" for row in rows).encode()


def made_up(name: str) -> dict[str, bytes]:
    """Files in the format of a data set, of about 80 rows."""
    draw = np.random.default_rng(0)
    if name == "mushroom":
        letters = draw.choice(list("abc?"), (ROWS, 22))
        return {"agaricus-lepiota.data": lines(np.column_stack([draw.choice(list("ep"), ROWS), letters]))}
    if name == "statlog":
        rows = np.column_stack([draw.integers(-50, 100, (ROWS, 9)), draw.integers(1, 8, ROWS)])
        return {"shuttle.trn": lines(rows, " ")}
    if name == "covertype":
        rows = np.column_stack([draw.integers(0, 4000, (ROWS, 54)), draw.integers(1, 8, ROWS)])
        return {"covtype.data": lines(rows)}
    if name == "financial":
        return {"raw_stock_contexts": b"A,B,C\n" + lines(draw.normal(size=(ROWS, 21)), " ")}
    if name == "jester":
        ratings = draw.uniform(-10, 10, (ROWS, 100)).round(2)
        ratings[:, 40:][draw.uniform(size=(ROWS, 60)) < 0.5] = 99
        return {"jester-data-1.csv": lines(np.column_stack([np.full(ROWS, 100), ratings]))}
    if name == "adult":
        people = [
            [
                *(age, ["Private", "State-gov"][age % 2], 1000 + age, "Bachelors", 13, "Divorced"),
                *(["Sales", "Tech-support", "Craft-repair"][age % 3], "Husband", "White", "Male", 0, age, 40),
                *("United-States", [">50K", "<=50K"][age % 2]),
            ]
            for age in range(20, 20 + ROWS)
        ]
        people[3][1] = people[4][6] = "?"
        text = lines(people, ", ").decode().splitlines(keepends=True)
        second = "".join(line.replace("K\n", "K.\n") for line in text[60:])
        return {
            "adult.data": ("".join(text[:60]) + "\n").encode(),
            "adult.test": ("|1x3 Cross validator\n" + second + "\n").encode(),
        }
    if name == "census":
        header = ["caseid", "dAge", "dOccup", "iSex", "iRemplpar"]
        columns = [np.arange(10_000, 10_000 + ROWS), *(draw.integers(0, high, ROWS) for high in (8, 9, 2, 3))]
        columns[-1] = np.array([0, 111, 223])[columns[-1]]
        return {"USCensus1990.data.txt": lines([header, *np.column_stack(columns)]).replace(b"\n", b"\r\n")}
    years = np.sort(draw.integers(1922, 2012, ROWS))
    return {"YearPredictionMSD.txt": lines(np.column_stack([years, draw.normal(0, 50, (ROWS, 90)).round(5)]))}


@pytest.fixture
def at_hand(tmp_path, monkeypatch):
    """Put made-up files where a problem looks for them, and have the catalogue expect them."""

    def make(name: str) -> Problem:
        files = made_up(name)
        (tmp_path / "data" / name).mkdir(parents=True)
        for file, content in files.items():
            (tmp_path / "data" / name / file).write_bytes(content)
        known = CATALOGUE[name]
        expected = tuple(
            dataclasses.replace(file, sha256=hashlib.sha256(files[file.name]).hexdigest()) for file in known.files
        )
        monkeypatch.setitem(CATALOGUE, name, dataclasses.replace(known, files=expected))
        monkeypatch.setenv("SHOWDOWN_DATA", str(tmp_path / "data"))
        monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path / "cache"))
        return dataclasses.replace(problems.get(name), horizon=50)

    return make


def episode_and_rounds(problem: Problem, trial: int = 0) -> tuple[tuple, Round]:
    tables = jax.device_put(problem.load())

    @jax.jit
    def play(key):
        episode = problem.begin(key, tables)
        return episode, jax.vmap(lambda step: problem.round(step, episode, tables))(jnp.arange(problem.horizon))

    return play(trial_keys(0, "test", range(trial, trial + 1), "problem")[0])


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name != "tables"])
def test_without_its_files_a_problem_says_how_to_get_them(name, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOWDOWN_CACHE", str(tmp_path))
    monkeypatch.delenv("SHOWDOWN_DATA", raising=False)
    with pytest.raises(MissingDataError, match=f"`showdown data fetch {name}`, or point SHOWDOWN_DATA at a folder"):
        problems.get(name).load()


@pytest.mark.parametrize(
    ("name", "context_dim", "num_actions"),
    [
        ("statlog", 9, 7),
        ("covertype", 54, 7),
        ("adult", 6 + 2 + 1 + 1 + 1 + 1 + 1 + 1 + 4, 14),
        ("census", 8 + 2 + 3, 9),
        ("song", 90, 10),
    ],
)
def test_labelled_problems_are_played_standardised(name, context_dim, num_actions, at_hand):
    problem = at_hand(name)
    episode, rounds = episode_and_rounds(problem)
    assert (
        tuple(problem.spec(problem.load()))[:2]
        == (context_dim, num_actions)
        == (
            rounds.context.shape[1],
            rounds.rewards.shape[1],
        )
    )
    assert len(set(np.asarray(episode.order).tolist())) == problem.horizon  # without replacement
    np.testing.assert_allclose(rounds.context.mean(axis=0), 0, atol=1e-5)
    spread = np.asarray(rounds.context.std(axis=0))
    np.testing.assert_allclose(spread[spread > 0], 1, atol=1e-4)
    labels = problem.load().labels[np.asarray(episode.order)]
    np.testing.assert_array_equal(rounds.rewards.argmax(axis=1), labels)
    np.testing.assert_array_equal(rounds.rewards.max(axis=1), 1)
    np.testing.assert_array_equal(rounds.rewards, rounds.means)
    if name != "song":
        np.testing.assert_array_equal(rounds.rewards.sum(axis=1), 1)
    with pytest.raises(UsageError, match="longer than the"):
        simulate(policies.get("Uniform"), problem, trials=1, horizon=10_000)


def test_statlog_and_covertype_labels_count_from_zero_and_covertype_loses_a_row():
    parsed = statlog.parse(io.BytesIO(b"1 2 3 4 5 6 7 8 9 1\n-1 0 0 0 0 0 0 0 0 7\n"))
    np.testing.assert_array_equal(parsed["labels"], [0, 6])
    np.testing.assert_array_equal(parsed["contexts"][0], np.arange(1, 10))
    row = [*range(54), 7]
    parsed = covertype.parse(io.BytesIO(lines([row, [*row[:-1], 2], row])))
    np.testing.assert_array_equal(parsed["labels"], [1, 6])
    np.testing.assert_array_equal(parsed["contexts"], [np.arange(54)] * 2)


def test_adult_drops_incomplete_rows_and_keeps_four_incomes():
    files = made_up("adult")
    parsed = adult.parse(*map(io.BytesIO, files.values()))
    assert parsed["contexts"].shape == (ROWS - 2, 18)
    first_age = 20
    np.testing.assert_array_equal(parsed["contexts"][0, :6], [first_age, 1020, 13, 0, first_age, 40])
    np.testing.assert_array_equal(parsed["contexts"][:, 6:].sum(axis=1), 8)  # eight attributes, one 1 each
    # alphabetical: Craft-repair 0, Sales 1, Tech-support 2; ages 20, 21, 22 have occupations 2, 0, 1 of the list
    np.testing.assert_array_equal(parsed["labels"][:3], [0, 1, 2])


def test_mushroom(at_hand):
    problem = dataclasses.replace(at_hand("mushroom"), horizon=4000)
    tables = problem.load()
    assert tuple(problem.spec(tables))[:2] == (22 * 4, 2)  # "?" is a letter like any other
    np.testing.assert_array_equal(np.asarray(tables.contexts).sum(axis=1), 22)
    episode, rounds = episode_and_rounds(problem)
    edible = tables.edible[np.asarray(episode.order)]
    np.testing.assert_array_equal(rounds.context, tables.contexts[np.asarray(episode.order)])
    np.testing.assert_array_equal(rounds.rewards[:, 0], 0)
    np.testing.assert_array_equal(rounds.means, np.column_stack([np.zeros(4000), np.where(edible, 5, -15)]))
    np.testing.assert_array_equal(rounds.rewards[edible, 1], 5)
    eaten = np.asarray(rounds.rewards[~edible, 1])
    assert set(eaten.tolist()) == {5, -35}
    # a fair coin: five standard deviations, one false alarm in two million (and the seed is constant)
    assert abs((eaten == 5).mean() - 0.5) < 2.5 / np.sqrt(len(eaten))


def test_mushroom_rows_come_again_and_a_longer_trial_extends_a_shorter(at_hand):
    short = dataclasses.replace(at_hand("mushroom"), horizon=100)
    few, _ = episode_and_rounds(short)
    many, _ = episode_and_rounds(dataclasses.replace(short, horizon=300))
    np.testing.assert_array_equal(few.order, many.order[:100])
    np.testing.assert_array_equal(few.lucky, many.lucky[:100])
    assert len(set(np.asarray(few.order).tolist())) < 100


def test_financial(at_hand):
    problem = at_hand("financial")
    (episode, rounds), (other, _) = (episode_and_rounds(problem, trial) for trial in (0, 1))
    assert tuple(problem.spec(problem.load()))[:2] == (21, 8)
    np.testing.assert_allclose(np.linalg.norm(episode.weights, axis=0), 1, rtol=1e-6)
    assert not np.allclose(episode.weights, other.weights)
    raw = problem.load().contexts[np.asarray(episode.order)]
    np.testing.assert_array_equal(rounds.context, raw)
    np.testing.assert_allclose(rounds.means, raw @ np.asarray(episode.weights), atol=1e-4)
    noise = np.asarray(rounds.rewards - rounds.means)
    # fifty draws each: the chance of leaving (0.6, 1.5) is below one in ten thousand for each of the eight
    ratio = noise.std(axis=0) / (0.01 * np.arange(1, 9))
    assert ((ratio > 0.6) & (ratio < 1.5)).all()


def test_jester(at_hand):
    problem = at_hand("jester")
    ratings = problem.load().ratings
    assert ratings.shape == (ROWS, 40)  # the first forty jokes are rated by all, the others by half
    (episode, rounds), (other, _) = (episode_and_rounds(problem, trial) for trial in (0, 1))
    assert sorted(np.asarray(episode.jokes).tolist()) == list(range(40))
    assert (episode.jokes != other.jokes).any()
    played = ratings[np.asarray(episode.order)][:, np.asarray(episode.jokes)]
    np.testing.assert_array_equal(rounds.context, played[:, :32])
    np.testing.assert_array_equal(rounds.rewards, played[:, 32:])
    np.testing.assert_array_equal(rounds.means, rounds.rewards)


def test_jester_keeps_users_who_rated_all_of_the_most_rated_jokes():
    rows = np.full((5, 101), 1.5)
    rows[:, 0] = 100
    rows[2, 1 + 3] = jester.UNRATED  # joke 3 still is among the most rated; user 2 is not complete
    rows[:4, 41:] = jester.UNRATED
    parsed = jester.parse(io.BytesIO(lines(rows)))
    assert parsed["ratings"].shape == (4, 40)


def test_census_one_hot_is_that_of_pandas(at_hand):
    import pandas

    problem = at_hand("census")
    tables = problem.load()
    assert tables.codes.dtype == np.uint8
    frame = pandas.read_csv(io.BytesIO(made_up("census")["USCensus1990.data.txt"]))
    expected = pandas.get_dummies(frame.drop(columns=["dOccup", "caseid"]).astype(str)).to_numpy(np.float32)
    one_hot = problem.raw_contexts(np.arange(ROWS), jax.device_put(tables))
    np.testing.assert_array_equal(np.sort(one_hot, axis=0), np.sort(expected, axis=0))
    np.testing.assert_array_equal(one_hot.sum(axis=1), 3)
    np.testing.assert_array_equal(tables.labels, frame["dOccup"])


def test_census_drops_incomplete_rows():
    parsed = census.parse(io.BytesIO(b"caseid,dAge,dOccup\n1,0,3\n2,,4\n3,5,8\n"))
    np.testing.assert_array_equal(parsed["labels"], [3, 8])
    np.testing.assert_array_equal(parsed["codes"], [[0], [1]])


def test_song_rewards_fall_off_with_distance(at_hand):
    _, rounds = episode_and_rounds(at_hand("song"))
    labels = np.asarray(rounds.rewards.argmax(axis=1))
    distance = labels[:, None] - np.arange(10)
    np.testing.assert_allclose(rounds.rewards, np.exp(-(distance**2) / 2), rtol=1e-6)


def test_song_buckets_are_contiguous_and_as_equal_as_whole_years_allow():
    draw = np.random.default_rng(1)
    years = 2011 - np.minimum(draw.geometric(0.08, 20_000), 80)  # most songs are recent, as in the data
    buckets = song.year_buckets(years)
    by_year = {int(year): set(buckets[years == year].tolist()) for year in np.unique(years)}
    assert all(len(found) == 1 for found in by_year.values())
    order = [found.pop() for _, found in sorted(by_year.items())]
    assert order == sorted(order)
    assert set(order) == set(range(10))
    largest_year = np.unique(years, return_counts=True)[1].max()
    assert np.abs(np.bincount(buckets) - 2000).max() <= largest_year


def test_song_takes_the_training_part(monkeypatch):
    monkeypatch.setattr(song, "TRAINING_ROWS", 30)
    assert song.parse(io.BytesIO(made_up("song")["YearPredictionMSD.txt"]))["contexts"].shape == (30, 90)


def test_digits():
    pytest.importorskip("sklearn")
    problem = problems.get("digits")
    tables = problem.load()
    assert tuple(problem.spec(tables))[:2] == (64, 10)
    assert tables.contexts.shape == (1797, 64) == (problem.horizon, 64)
    np.testing.assert_array_equal(np.bincount(tables.labels)[[0, 9]], [178, 180])


def test_digits_without_scikit_learn_says_what_to_install(monkeypatch):
    digits._images.cache_clear()
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(MissingDataError, match=r"pip install 'bandit-showdown\[digits\]'"):
        problems.get("digits").load()
