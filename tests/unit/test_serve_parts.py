"""Parts of the server that need no process: saving, waiting calls, metrics, and the file it starts from."""

from __future__ import annotations

import asyncio
import json
import os

import jax
import numpy as np
import pytest

pytest.importorskip("httptools", reason="the extra 'serve' is not installed")

from showdown.agent import Agent, compute_in_one_thread
from showdown.agent.belief_health import dead_features
from showdown.agent.together import DecideCall, LearnCall, RewardCall
from showdown.basics.errors import UsageError
from showdown.data.encode_counts import MOST_COLUMNS, REST, EncodeCounts
from showdown.policies import policies
from showdown.policies.neural_linear import NeuralLinear
from showdown.serve import bodies, metrics
from showdown.serve.app import App
from showdown.serve.http import LONGEST, Admission, BusyError, Head, Reply, RequestLimits, refusal, short
from showdown.serve.protocol import Connection
from showdown.serve.run import address_of, alone_with, default_save, listening, open_agent, policy_name, shown_address
from showdown.serve.service import Service

TOKEN = "a-token-for-tests-only"


@pytest.fixture
def agent() -> Agent:
    return Agent(policies.get("Uniform"), context_dim=1, num_actions=2)


def service(agent: Agent, path, **limits) -> tuple[Service, list[str]]:
    said: list[str] = []
    return Service(agent, "Uniform", path, save_every=1000, limits=RequestLimits(**limits), say=said.append), said


def test_a_save_that_fails_is_said_and_the_next_one_works(agent, tmp_path, monkeypatch):
    mine, said = service(agent, tmp_path / "later" / "agent.npz")
    agent.decide([0.5])
    with monkeypatch.context() as patched:
        patched.setattr(agent, "save", lambda path: [][0])  # a fault of the program must not end all later saves
        mine.save()
    assert mine.not_saved
    mine.save()
    assert "cannot write" in mine.not_saved
    assert mine.trouble == mine.not_saved
    assert len(said) == 2
    text = mine.metrics.text().decode()
    assert "showdown_failed_saves 2.0" in text
    assert "showdown_degraded 1.0" in text
    (tmp_path / "later").mkdir()
    mine.close()
    assert (mine.not_saved, Agent.load(mine.file).decisions) == ("", 1)


async def asked(mine: Service, calls: list) -> list:
    answers = asyncio.get_running_loop().create_future()
    mine.ask(calls, answers.set_result)
    return await answers


def test_calls_beyond_those_that_may_wait_are_refused(agent, tmp_path):
    mine, _ = service(agent, tmp_path / "agent.npz", waiting=0)
    with pytest.raises(BusyError, match="try again later"):
        asyncio.run(asked(mine, [DecideCall([0.5])]))
    mine.close()


def test_calls_that_wait_together_are_answered_together(agent, tmp_path, monkeypatch):
    mine, _ = service(agent, tmp_path / "agent.npz")
    together = []
    answer = agent.answer_together
    monkeypatch.setattr(agent, "answer_together", lambda calls: together.append(len(calls)) or answer(calls))

    async def ask() -> list:
        with agent._lock:  # the first call cannot go on, so the others wait
            waiting = [asyncio.create_task(asked(mine, [DecideCall([0.5])])) for _ in range(20)]
            await asyncio.sleep(0.1)
        return await asyncio.gather(*waiting, asked(mine, [DecideCall([0.5])] * 130))

    *answers, batch = asyncio.run(ask())
    assert len({decision.id for (decision,) in answers}) == 20
    assert len({decision.id for decision in batch}) == 130
    assert len(together) <= 3 + 3
    mine.close()


def test_each_call_has_its_own_answer(agent):
    first = agent.decide([0.5])
    calls = [
        DecideCall([0.5]),
        RewardCall(first.id, 1.0),
        RewardCall(first.id, 1.0),
        DecideCall(["x"]),
        LearnCall([0.5], 1, 0.5),
        LearnCall([0.5], 7, 0.5),
        RewardCall("unknown", 1.0),
        DecideCall([0.25], [1]),
    ]
    answers = agent.answer_together(calls)
    assert [type(answer).__name__ for answer in answers] == [
        "Decision",
        "bool",
        "UnknownDecisionError",
        "UsageError",
        "bool",
        "UsageError",
        "UnknownDecisionError",
        "Decision",
    ]
    assert answers[-1].action == 1
    assert (agent.decisions, agent.observations) == (3, 2)


def test_answers_together_are_those_of_single_calls():
    contexts = np.random.default_rng(0).normal(size=(30, 2))
    one, other = (Agent(policies.get("LinFullPost"), context_dim=2, num_actions=3) for _ in range(2))
    for start in range(0, 30, 10):
        part = contexts[start : start + 10]
        single = [one.decide(context) for context in part]
        made = other.answer_together([DecideCall(context) for context in part])
        assert [each[1:] for each in single] == [each[1:] for each in made]
        for decision in single:
            one.reward(decision.id, decision.action)
        assert all(other.answer_together([RewardCall(each.id, each.action) for each in made]))
    for mine, its in zip(jax.tree.leaves(one._state), jax.tree.leaves(other._state), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-5, atol=1e-6)


def test_a_law_that_is_not_finite_is_refused_and_takes_no_step(monkeypatch):
    agent = Agent(policies.get("LinFullPost"), context_dim=2, num_actions=3)
    for size in (1e20, 1e30):
        with pytest.raises(UsageError, match="at most 1e\\+18"):
            agent.decide([size, 0.0])
    for number in range(9):
        agent.decide([1.0, number])
    decide = agent._decider.decide

    def overflowing(contexts, masks, draws):
        actions, ties, laws = decide(contexts, masks, draws)
        return actions, ties, [law._replace(values=law.values * np.nan) for law in laws]

    monkeypatch.setattr(agent._decider, "decide", overflowing)
    with pytest.raises(UsageError, match="no finite law for this context"):
        agent.decide([1.0, 0.0])
    assert (agent.decisions, agent.counts()["refused_laws"], agent.counts()["waiting"]) == (9, 1, 9)


def test_a_collapsed_network_is_counted():
    agent = Agent(policies.get("NeuralLinear"), context_dim=2, num_actions=3)
    for _ in range(9):  # the warm-up, in which actions have their turns
        agent.decide([1.0, 0.5])
    assert (agent.counts()["degenerate_laws"], agent.counts()["ties"], agent.dead_features()) == (0, 0, None)
    agent.decide([1.0, 0.5])
    assert agent.counts()["degenerate_laws"] == 0
    fit = agent._state.fit
    dead = fit._replace(parameters=jax.tree.map(lambda leaf: -abs(leaf) - 1, fit.parameters))
    agent._learner.state = agent._state._replace(fit=dead)
    for _ in range(64):
        assert agent.decide([1.0, 0.5]).action == 0  # the first, for ever
    counts = agent.counts()
    assert (counts["degenerate_laws"], counts["ties"]) == (64, 64)
    assert agent.dead_features() == NeuralLinear().hidden_layers[-1]
    assert dead_features(policies.get("Uniform"), (), np.ones((3, 2))) is None


def test_a_saved_agent_is_gone_on_with_where_it_was_saved_last(agent, tmp_path):
    first, later = tmp_path / "first.npz", tmp_path / "later.npz"
    agent.save(first)
    assert default_save(first) == first
    agent.decide([0.5])
    agent.save(later)
    opened = open_agent(first, later, background=False, new={})
    assert (opened.decisions, policy_name(opened)) == (1, "Uniform")
    with pytest.raises(UsageError, match="cannot read"):
        default_save(tmp_path / "none.json")


def test_a_file_is_served_once_and_a_lost_lock_is_noticed(agent, tmp_path):
    path = tmp_path / "agent.npz"
    agent.save(path)
    (tmp_path / "link.npz").symlink_to(path)
    with alone_with(path) as is_alone:
        with pytest.raises(UsageError, match="another process serves"), alone_with(tmp_path / "link.npz"):
            pass
        mine = Service(agent, "", path, save_every=1000, limits=RequestLimits(), say=lambda _: None, is_alone=is_alone)
        agent.decide([0.5])
        (tmp_path / ".lock-agent.npz").unlink()
        mine.save()
        assert "another process may serve the same file" in mine.trouble
        assert Agent.load(path).decisions == 0


def test_what_comes_from_clients_is_bounded():
    counts = EncodeCounts()
    for number in range(MOST_COLUMNS + 5):
        counts.add("new_columns", f"made up {number}" + "x" * 1000)
    assert len(counts.new_columns) == MOST_COLUMNS + 1
    assert counts.new_columns[REST] == 5
    assert len(short("a\n" * 10_000)) == LONGEST + 1
    shown = metrics.ServerMetrics(lambda: metrics.of_agent({"encoder": {"missing": {'a"\n\\': 2}}})).text().decode()
    assert 'showdown_encoder_missing_total{column="a\\"\\n\\\\"} 2.0' in shown.splitlines()


def test_json_is_strict():
    assert bodies.strict_json(b'{"a": [1, 2.5, null, "x", "\\ud83d\\ude00"]}') == {"a": [1, 2.5, None, "x", "😀"]}
    bad = (
        b"NaN",
        b"[Infinity]",
        b"1e999",
        b"9" * 40,
        b"[" * 5000,
        b"{'a': 1}",
        b"",
        b'{"a": 1, "a": 1}',
        b'["\\uD800"]',
    )
    for body in bad:
        with pytest.raises(UsageError, match="not JSON that can be used"):
            bodies.strict_json(body)


def test_every_field_of_a_body_has_words_of_its_own():
    asked = (bodies.Choose, bodies.ChooseBatch, bodies.Learn, bodies.LearnBatch)
    assert {name for kind in asked for name in kind.model_fields} <= bodies.WANTED.keys()


def test_a_fault_of_the_program_is_logged_and_answered(agent, tmp_path, monkeypatch, caplog):
    mine, _ = service(agent, tmp_path / "agent.npz")
    monkeypatch.setattr(agent, "answer_together", lambda calls: 1 // 0)

    async def ask() -> Reply:
        reply = asyncio.get_running_loop().create_future()
        App(mine, TOKEN).answer(Head("POST", "/choose", {}), b'{"context": [0.5]}', reply.set_result)
        return await reply

    reply = asyncio.run(ask())
    assert reply.status == 500
    assert json.loads(reply.body) == {"error": "the server failed (ZeroDivisionError); its log says where"}
    assert "ZeroDivisionError" in caplog.text
    monkeypatch.undo()
    mine.close()


class Wire(asyncio.Transport):
    """Keeps what a connection writes."""

    def __init__(self) -> None:
        super().__init__()
        self.sent, self.reads, self.open, self.ended = b"", True, True, False

    def write(self, data):
        self.sent += data

    def close(self):
        self.open = False

    abort = close

    def write_eof(self):
        self.ended = True

    def is_closing(self):
        return not self.open

    def pause_reading(self):
        self.reads = False

    def resume_reading(self):
        self.reads = True


class Echo:
    """Answers with the body, and to /later only when it is told to."""

    def __init__(self) -> None:
        self.later: list = []

    def refuses(self, head):
        return refusal(401, "no") if head.path == "/refused" else None

    def refused(self, head, reply):
        self.counted = head.path, reply.status

    def answer(self, head, body, send):
        reply = Reply(200, body or head.path.encode())
        if head.path == "/later":
            self.later.append(lambda: send(reply))
        else:
            send(reply)


def exchange(content: bytes, *then, size: int = 7) -> tuple[bytes, Wire]:
    """What a connection writes when it is sent this; each of `then` is called afterwards with it, its app, its wire."""

    async def run() -> tuple[bytes, Wire]:
        app, wire = Echo(), Wire()
        connection = Connection(app, RequestLimits(body_bytes=100), set())
        connection.connection_made(wire)
        for byte in range(0, len(content), size):  # in pieces, as a network may bring it
            connection.data_received(content[byte : byte + size])
        for step in then:
            step(connection, app, wire)
        return wire.sent, wire

    return asyncio.run(run())


GET, POST = b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n", b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s"


def test_requests_that_were_sent_ahead_are_answered_in_their_order():
    sent, wire = exchange(GET % b"/later" + GET % b"/b" + GET % b"/c")
    assert (sent, wire.reads) == (b"", False)
    sent, wire = exchange(GET % b"/later" + GET % b"/b" + GET % b"/refused", lambda _, app, __: app.later[0]())
    assert [part in sent for part in (b"/later", b"/b", b" 401 ")] == [True] * 3
    assert sent.index(b"/later") < sent.index(b"/b") < sent.index(b" 401 ")
    assert wire.ended
    sent, wire = exchange(2000 * (GET % b"/a"))
    assert (sent.count(b" 200 OK"), wire.open, wire.reads) == (2000, True, True)


def test_bodies_have_their_limits():
    assert b"hello" in exchange(POST % (b"/a", 5, b"", b"hello"))[0]
    assert exchange(POST % (b"/a", 5, b"Expect: 100-continue\r\n", b""))[0] == b"HTTP/1.1 100 Continue\r\n\r\n"
    counted: list = []
    sent, wire = exchange(POST % (b"/a", 101, b"", b"x" * 101), lambda _, app, __: counted.append(app.counted))
    assert counted == [("/a", 413)]
    assert (b" 413 " in sent, wire.ended, wire.reads, wire.open) == (True, True, True, True)  # it can send to its end
    assert not exchange(POST % (b"/a", 101, b"", b""), lambda each, *_: each.sweep(1e9))[1].open
    assert b" 408 " in exchange(POST % (b"/a", 5, b"", b"hel"), lambda each, *_: each.sweep(1e9))[0]
    long = b"GET /a HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n" % (b"y" * (1 << 16))
    assert all(b" 431 " in exchange(long, size=size)[0] for size in (1000, 1 << 20))
    sent, wire = exchange(b"GET /a HT", lambda each, *_: each.sweep(1e9))
    assert (sent, wire.open) == (b"", False)


def test_a_connection_ends_after_what_is_being_answered():
    sent, wire = exchange(GET % b"/later", lambda each, *_: each.end(), lambda _, app, __: app.later[0]())
    assert (b"/later" in sent, wire.open) == (True, False)
    assert exchange(GET % b"/later", lambda each, *_: each.eof_received(), lambda _, app, __: app.later[0]())[0]
    assert not exchange(b"GET /a HTTP/1.0\r\n\r\n")[1].open
    sent, wire = exchange(GET % b"/a", lambda each, *_: each.pause_writing(), lambda each, *_: each.sweep(1e9))
    assert not wire.open
    head = exchange(b"HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n")[0]
    assert head.endswith(b"content-length: 2\r\n\r\n")


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


def test_pages_without_a_token_take_no_body_and_show_an_address_that_can_be_used():
    admission = Admission(TOKEN, [])
    for headers in ({b"content-length": b"5"}, {b"transfer-encoding": b"chunked"}):
        refused = admission.refuses(Head("GET", "/health", {b"host": b"localhost", **headers}), is_open=True)
        assert (refused.status, refused.closes) == (413, True)
    assert (
        admission.refuses(Head("GET", "/health", {b"host": b"localhost", b"content-length": b"0"}), is_open=True)
        is None
    )
    with listening("0.0.0.0", 0) as listener:
        assert shown_address(listener) == address_of(listener).replace("0.0.0.0", "127.0.0.1")


def test_what_is_not_supported_is_said():
    for body, sentence in (
        ({"context": [1.0], "k": 3}, "one decision takes one action: slates and top-k are not supported"),
        ({"context": [1.0], "range": [0, 5]}, "actions are a finite set: cut a continuous one into steps"),
        ({"context": [1.0], "colour": 3}, "the body has an unknown field, 'colour'"),
    ):
        with pytest.raises(UsageError, match=sentence):
            bodies.read(bodies.Choose, json.dumps(body).encode())
