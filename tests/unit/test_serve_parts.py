"""Parts of the server that need no process: saving, waiting requests, metrics, and the file it starts from."""

from __future__ import annotations

import asyncio
import json
import os

import jax
import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from showdown.agent import Agent, compute_in_one_thread
from showdown.basics.errors import UsageError
from showdown.data.encode_counts import MOST_COLUMNS, REST, EncodeCounts
from showdown.policies import policies
from showdown.serve import bodies, metrics, wrong_body
from showdown.serve.answers import LONGEST, BusyError, short
from showdown.serve.limits import Limits
from showdown.serve.open_agent import default_save, open_agent, policy_name
from showdown.serve.quick import quick
from showdown.serve.service import Service
from showdown.serve.strict_json import strict


@pytest.fixture
def agent() -> Agent:
    return Agent(policies.get("Uniform"), context_dim=1, num_actions=2)


def service(agent: Agent, path, **limits) -> tuple[Service, list[str]]:
    said: list[str] = []
    return Service(agent, "Uniform", path, save_every=1000, limits=Limits(**limits), say=said.append), said


def test_a_save_that_fails_is_said_and_the_next_one_works(agent, tmp_path):
    mine, said = service(agent, tmp_path / "later" / "agent.npz")
    agent.decide([0.5])
    mine.save()
    assert "cannot write" in mine.not_saved
    assert len(said) == 1
    assert "showdown_failed_saves 1" in mine.metrics()
    (tmp_path / "later").mkdir()
    mine.close()
    assert (mine.not_saved, Agent.load(mine.file).decisions) == ("", 1)


def test_requests_beyond_those_that_may_wait_are_refused(agent, tmp_path):
    mine, _ = service(agent, tmp_path / "agent.npz", waiting=0)
    with pytest.raises(BusyError, match="try again later"):
        asyncio.run(mine.ask(agent.choose, [0.5]))
    mine.close()


def test_a_saved_agent_is_gone_on_with_where_it_was_saved_last(agent, tmp_path):
    first, later = tmp_path / "first.npz", tmp_path / "later.npz"
    agent.save(first)
    assert default_save(first) == first
    agent.decide([0.5])
    agent.save(later)
    opened = open_agent(first, later, journal=None, background=False, new={})
    assert (opened.decisions, policy_name(opened)) == (1, "Uniform")
    with pytest.raises(UsageError, match="cannot read"):
        default_save(tmp_path / "none.json")


def test_what_comes_from_clients_is_bounded():
    counts = EncodeCounts()
    for number in range(MOST_COLUMNS + 5):
        counts.add("new_columns", f"made up {number}" + "x" * 1000)
    assert len(counts.new_columns) == MOST_COLUMNS + 1
    assert counts.new_columns[REST] == 5
    assert len(short("a\n" * 10_000)) == LONGEST + 1
    (line,) = [line for line in metrics.agent_lines({"encoder": {"missing": {'a"\n\\': 2}}}) if line[0] != "#"]
    assert line == 'showdown_encoder_missing_total{column="a\\"\\n\\\\"} 2'


def test_json_is_strict():
    assert strict(b'{"a": [1, 2.5, null, "x"]}') == {"a": [1, 2.5, None, "x"]}
    for bad in (b"NaN", b"[Infinity]", b"1e999", b"9" * 40, b"[" * 5000, b"{'a': 1}", b""):
        with pytest.raises(json.JSONDecodeError):
            strict(bad)


def test_every_field_of_a_body_has_words_of_its_own():
    asked = (bodies.Choose, bodies.ChooseBatch, bodies.Learn, bodies.LearnBatch)
    assert {name for kind in asked for name in kind.model_fields} <= wrong_body.WANTED.keys()


def test_the_short_way_is_for_right_bodies_and_says_what_failed(caplog):
    async def handle(told: bodies.Learn) -> bodies.Learned:
        if told.reward < 0:
            raise ZeroDivisionError
        if told.reward > 1:
            raise UsageError("too much")
        return bodies.Learned(learned=True)

    def answer(body: bytes):
        made = asyncio.run(quick(bodies.Learn, handle)(body))
        return made and (made.status_code, bytes(made.body))

    assert answer(b'{"reward": 1.0}') == (200, b'{"learned":true}')
    assert answer(b'{"reward": 2.0}') == (422, b'{"error":"too much"}')
    assert answer(b'{"reward": "1"}') is answer(b'{"reward": NaN}') is answer(b"") is None
    status, body = answer(b'{"reward": -1.0}')
    assert status == 500
    assert b"the server failed (ZeroDivisionError)" in body
    assert "ZeroDivisionError" in caplog.text


def test_one_thread_is_asked_for_once(monkeypatch):
    dispatch = "jax_cpu_enable_async_dispatch"
    monkeypatch.setenv("XLA_FLAGS", "--xla_something=1")
    before = jax.config.read(dispatch)
    try:
        compute_in_one_thread()
        compute_in_one_thread()
        assert jax.config.read(dispatch) is False
    finally:
        jax.config.update(dispatch, before)
    assert os.environ["XLA_FLAGS"] == "--xla_something=1 --xla_cpu_multi_thread_eigen=false"
