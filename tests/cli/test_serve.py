"""`showdown serve` as a process of its own on 127.0.0.1: what it answers, what it refuses, and how it ends."""

from __future__ import annotations

import html
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("httptools", reason="the extra 'serve' is not installed")

from showdown.agent import Agent
from showdown.problems import table
from showdown.recommendation.answer import write_agent_file

ROW = {"age": 41, "region": "north"}
TOKEN = "a-token-for-tests-only"


@dataclass
class Client:
    """Speaks to one server; a connection per request, as a stranger would."""

    port: int
    process: subprocess.Popen

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str]:
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, content, sent)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def post(self, path: str, body: object, **headers: str) -> tuple[int, dict]:
        status, text = self.ask("POST", path, body, **headers)
        return status, json.loads(text)

    def raw(self, content: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), 20) as connection:
            connection.sendall(content)
            return connection.recv(65536)


@contextmanager
def serving(folder: Path, *options: str):
    environment = {**os.environ, "SHOWDOWN_TOKEN": TOKEN, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "showdown", "serve", str(folder / "agent.json"), "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            line = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            assert found, line + process.stderr.read()
            yield Client(int(found[1]), process)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """With the file that `recommend` would have written about a table of 200 customers."""
    folder, draw = tmp_path_factory.mktemp("served"), np.random.default_rng(0)
    age, region = draw.integers(18, 80, 200), draw.choice(["north", "south", "east"], 200)
    bought = np.where(age + 20 * (region == "south") > 55, "plus", "basic")
    pd.DataFrame({"age": age, "region": region, "bought": bought}).to_csv(folder / "t.csv", index=False)
    write_agent_file("LinFullPost", table(folder / "t.csv", label="bought"), folder / "agent.json")
    return folder


@pytest.fixture(scope="module")
def client(folder):
    options = ("--journal", str(folder / "journal"), "--max-body", "20000", "--max-batch", "3")
    with serving(folder, *options, "--save-every", "1000") as client:
        yield client


def test_a_decision_is_made_and_its_reward_learned(client):
    status, made = client.post("/choose", {"context": ROW, "available": ["plus"]})
    assert (status, made["action"]) == (200, "plus")
    assert 0 < made["propensity"] <= 1
    assert client.post("/learn", {"id": made["id"], "reward": 1}) == (200, {"learned": True})
    assert client.post("/learn", {"context": [30, "south"], "action": "basic", "reward": 0.5}) == (
        200,
        {"learned": True},
    )
    status, again = client.post("/learn", {"id": made["id"], "reward": 1})
    assert status == 404
    assert "waits for a reward" in again["error"]


def test_batches_say_what_is_wrong_with_which(client):
    status, made = client.post("/choose/batch", {"decisions": [{"context": ROW}, {"context": [1]}, {"context": ROW}]})
    assert status == 200
    assert ["error" in one for one in made["decisions"]] == [False, True, False]
    ids = [one["id"] for one in made["decisions"] if "id" in one]
    rewards = [{"id": ids[0], "reward": 1.0}, {"id": "no", "reward": 1.0}, {"id": ids[1], "reward": 0.0}]
    status, learned = client.post("/learn/batch", {"rewards": rewards})
    assert (status, learned["learned"]) == (200, 2)
    assert "waits for a reward" in learned["rewards"][1]["error"]
    assert client.post("/choose/batch", {"decisions": [{"context": ROW}] * 4})[0] == 422


BAD_BODIES = [
    ("/choose", b"", 422, "the body is empty"),
    ("/choose", b"[", 422, "not JSON"),
    ("/choose", b"nothing", 422, "not JSON that can be used: expecting value at line 1 column 1"),
    ("/choose", [1], 422, "the body must be a JSON object"),
    ("/choose", {}, 422, "the body lacks 'context'"),
    ("/choose", b'{"context": [NaN, "north"]}', 422, "it has NaN; send null instead"),
    ("/choose", b'{"context": [1e999, "north"]}', 422, "too large"),
    ("/choose", b'{"context": [' + b"9" * 5000 + b', "north"]}', 422, "a whole number is too large"),
    ("/choose", b'{"context": ' + b"[" * 9000 + b"]" * 9000 + b"}", 422, "nested too deeply"),
    ("/choose", b'\xff\xfe{"context"', 422, "not JSON"),
    ("/choose", b'{"context": [1, "north"], "context": [2, "north"]}', 422, "it has the key 'context' twice"),
    ("/choose", b'{"context": {"age": 1, "region": "north", "age": 2}}', 422, "it has the key 'age' twice"),
    ("/choose", b'{"context": [41, "\\ud800"]}', 422, "half of a surrogate pair"),
    ("/choose", {"context": "north"}, 422, "context must be an object with a value for each column, or a list"),
    ("/choose", {"context": {"age": 41}}, 422, "no column 'region'"),
    ("/choose", {"context": {"age": [1, [2]], "region": "north"}}, 422, "holds a list in the column 'age'; give"),
    ("/choose", {"context": [41, {}]}, 422, "holds an object in the column 'region'"),
    ("/choose", {"context": [41, [1, 2]]}, 422, "holds a list in the column 'region'"),
    ("/choose", {"context": {"age": "old", "region": "north"}}, 200, None),
    ("/choose", {"context": {"age": "\u001b[31m", "region": None}}, 200, None),
    ("/choose", {"context": ROW, "availible": ["plus"]}, 422, "the body has an unknown field, 'availible'"),
    ("/choose", {"context": ROW, "available": "plus"}, 422, "available must be a list of actions"),
    ("/choose", {"context": ROW, "available": ["plus", 1.5]}, 422, "available[1] must be the name of an action or"),
    ("/choose", {"context": ROW, "available": []}, 422, "no action is available"),
    ("/choose", {"context": ROW, "available": ["p" * 1001]}, 422, "available[0] may have at most 1000 characters"),
    ("/choose/batch", {"decisions": [{"context": ROW}, 3]}, 422, "decisions[1] must be a JSON object"),
    ("/learn", {"id": 3, "reward": 1}, 422, "id must be text"),
    ("/learn/batch", {"rewards": [{"id": "x"}]}, 422, "rewards[0] lacks 'reward'"),
    ("/learn", {"reward": 1}, 422, "needs the id"),
    ("/learn", {"id": "x", "context": ROW, "action": "plus", "reward": 1}, 422, "not both"),
    ("/learn", {"context": ROW, "action": "plus", "reward": "1"}, 422, "reward must be a number"),
    ("/learn", {"context": ROW, "action": "plus", "reward": 1e39}, 422, "largest float32"),
    ("/learn", {"context": ROW, "action": "pluss", "reward": 1}, 422, "did you mean"),
    (
        "/learn",
        {"context": ROW, "action": True, "reward": 1},
        422,
        "action must be the name of an action or its number",
    ),
]


def test_a_bad_body_is_one_sentence(client):
    for path, body, status, sentence in BAD_BODIES:
        code, answer = client.post(path, body)
        assert code == status, (str(body)[:200], answer)
        assert sentence is None or sentence in answer["error"], (str(body)[:200], answer)
        assert "Traceback" not in str(answer)


def test_what_is_refused_before_the_body_is_read(client):
    for given in ("", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}"):
        assert client.ask("POST", "/choose", {"context": ROW}, Authorization=given)[0] == 401
    assert client.ask("GET", "/metrics", Authorization="")[0] == 401
    assert client.ask("POST", "/choose", b"x" * 20_001)[0] == 413
    head = f"POST /choose HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    chunk = b"4e20\r\n" + b" " * 20_000 + b"\r\n"
    assert b" 413 " in client.raw(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + 2 * chunk)
    assert client.ask("POST", "/choose", {"context": ROW}, **{"Content-Type": "text/plain"})[0] == 415
    assert client.ask("POST", "/choose", {"context": ROW}, **{"Content-Encoding": "gzip"})[0] == 415
    answer = client.raw(b"GARBAGE\r\n\r\n")
    assert b" 400 " in answer
    assert answer.endswith(b'{"error": "this is not an HTTP request that can be answered"}')
    for path in ("/../../etc/passwd", "//choose", "/choose/", "/choose%2f", "/docs/..%2f"):
        assert client.ask("GET", path)[0] == 404
    for method, path, allowed in (("GET", "/choose", "POST"), ("POST", "/health", "GET, HEAD")):
        asked = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
        answer = client.raw(asked.encode() + b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
        assert b" 405 " in answer
        assert f"allow: {allowed}".encode() in answer
    for path in ("/health", "/docs", "/openapi.json"):  # a page in a browser may have let its own name point here
        assert client.ask("GET", path, Host="evil.example")[0] == 421
        for host in ("localhost", "127.0.0.1:8000", "[::1]:8000"):
            assert client.ask("GET", path, Host=host, Authorization="")[0] == 200
    assert client.post("/choose", {"context": ROW}, Host="behind.a.proxy")[0] == 200  # it has the token


def test_what_can_be_watched(client):
    status, text = client.ask("GET", "/health", Authorization="")
    assert (status, json.loads(text)["policy"]) == (200, "LinFullPost")
    assert client.ask("HEAD", "/health", Authorization="") == (200, "")
    status, text = client.ask("GET", "/metrics")
    assert status == 200
    sample = re.compile(r'[a-z_]+(\{[a-z_]+="[^"\n]*"(,[a-z_]+="[^"\n]*")*\})? [0-9.e+-]+')
    assert all(line.startswith("# ") or sample.fullmatch(line) for line in text.splitlines())
    for name in ("refused_laws", "degenerate_laws", "ties"):
        assert f"showdown_agent_{name}_total 0.0" in text
    assert f"showdown_agent_decisions_total {json.loads(client.ask('GET', '/health')[1])['decisions']}.0" in text
    status, text = client.ask("GET", "/docs", Authorization="")
    assert status == 200
    assert not re.search(r"<script|src=|href='http", text)
    assert "degenerate laws" in text
    assert "None" not in text  # JSON has null
    assert client.ask("GET", "/", Authorization="")[1] == text
    pasted = html.unescape(re.search(r"<pre>(.*?)</pre>", text, re.DOTALL)[1]).replace("TOKEN=…", f"TOKEN={TOKEN}")
    if shutil.which("curl"):  # lines that are made of this agent's own columns, actions and address, as they stand
        typed = subprocess.run(["bash", "-c", pasted], capture_output=True, text=True, timeout=60)
        answers = [json.loads(line) for line in typed.stdout.replace("}{", "}\n{").splitlines()]
        assert [set(answer) & {"id", "learned"} for answer in answers] == [{"id"}, {"learned"}, {"learned"}]
        assert all(answer.get("learned", True) for answer in answers)
    described = json.loads(client.ask("GET", "/openapi.json", Authorization="")[1])
    assert {
        "/choose",
        "/choose/batch",
        "/probabilities",
        "/actions",
        "/actions/add",
        "/actions/remove",
        "/learn",
        "/learn/batch",
        "/health",
        "/metrics",
    } == set(described["paths"])
    for path in ("/choose", "/choose/batch", "/learn", "/learn/batch"):
        assert {"200", "401", "405", "422", "503"} <= described["paths"][path]["post"]["responses"].keys()
    assert "401" in described["paths"]["/metrics"]["get"]["responses"]


def test_killed_and_stopped_nothing_is_lost(client, folder):
    """Last in this file: it ends the server that the others ask."""
    second = [sys.executable, "-m", "showdown", "serve", str(folder / "agent.json"), "--port", "0"]
    refused = subprocess.run(second, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2
    assert "another process serves" in refused.stderr
    made = client.post("/choose", {"context": ROW})[1]
    before = json.loads(client.ask("GET", "/health")[1])
    client.process.send_signal(signal.SIGKILL)
    client.process.wait(20)
    assert not (folder / "agent.npz").exists()  # so that all there is comes from the journal
    with serving(folder, "--journal", str(folder / "journal")) as again:
        after = json.loads(again.ask("GET", "/health")[1])
        assert [after[name] for name in ("decisions", "observations")] == [
            before[name] for name in ("decisions", "observations")
        ]
        assert again.post("/learn", {"id": made["id"], "reward": 1.0}) == (200, {"learned": True})
        again.process.send_signal(signal.SIGTERM)
        out, err = again.process.communicate(timeout=60)
        assert (again.process.returncode, err) == (0, "")
        assert f"saved to {folder / 'agent.npz'}" in out
    saved = Agent.load(folder / "agent.npz")
    assert (saved.decisions, saved.observations) == (after["decisions"], after["observations"] + 1)
    assert saved.encoder is not None


def test_a_token_that_cannot_be_used_and_a_file_that_is_none(showdown, tmp_path, folder, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", os.environ.get("XLA_FLAGS", ""))  # the command sets it; other tests must not see it
    monkeypatch.setenv("SHOWDOWN_TOKEN", "short")
    assert "at least 16" in showdown("serve", str(folder / "agent.json")).err
    monkeypatch.delenv("SHOWDOWN_TOKEN")
    assert "cannot read" in showdown("serve", str(tmp_path / "none.npz")).err
    (tmp_path / "t.json").write_text("[]")
    answer = showdown("serve", str(tmp_path / "t.json"), "--port", "0")
    assert (answer.code, "is not a recommendation" in answer.err) == (2, True)
    assert "cannot listen" in showdown("serve", str(tmp_path / "t.json"), "--host", "203.0.113.1").err
    for option, value in (("--port", "99999"), ("--save-every", "nan")):
        assert option in showdown("serve", str(tmp_path / "t.json"), option, value).err
    (tmp_path / "t.npz").write_bytes(b"PK, but no archive")
    err = showdown("serve", str(tmp_path / "t.npz"), "--port", "0").err
    assert ("does not hold a saved agent" in err, "pickle" in err) == (True, False)  # no advice to unpickle it
