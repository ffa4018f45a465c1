"""A saved agent's file: whatever was done to it, loading gives the same agent or one sentence."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from showdown.agent import Agent
from showdown.basics.errors import UsageError
from showdown.config import config
from showdown.policies import policies
from showdown.protocol.policy import Policy


@config
class Averages(Policy):
    """Refits, so its agents keep a history; plays one action."""

    weight: float = 0.5
    refit_every: int = 2

    def check(self):
        if self.refit_every < 1:
            raise UsageError("it must refit")

    def init(self, key, spec):
        return jnp.zeros(spec.num_actions), jnp.int32(0)

    def act(self, key, state, situation):
        return jnp.int32(1)

    def refit(self, key, state, history):
        return state[0] * self.weight + history.rewards[0], history.count


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    agent = Agent(Averages(), context_dim=2, num_actions=3)
    for step in range(5):
        agent.choose([1.0, step])
        agent.learn([1.0, step], step % 3, 0.5 * step)
    path = tmp_path_factory.mktemp("agent") / "agent.npz"
    agent.save(path)
    return path


def rewritten(path: Path, into: Path, change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Path:
    """A copy of the file after `change(arrays, about)`."""
    arrays = dict(np.load(path))
    about = json.loads(arrays.pop("about").tobytes())
    change(arrays, about)
    np.savez(into, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)
    return into


def test_what_was_saved_comes_back(saved, tmp_path):
    for path in (saved, rewritten(saved, tmp_path / "copy.npz", lambda arrays, about: None)):
        agent = Agent.load(path)
        assert (agent.decisions, agent.observations) == (5, 5)
        assert agent._learner.history.actions[:6].tolist() == [0, 1, 2, 0, 1, 0]
        assert agent._learner.history.rewards[:6].tolist() == [0, 0.5, 1, 1.5, 2, 0]
        agent.learn([1.0, 5.0], 2, 2.5)
        assert int(agent._state[1]) == 6


COUNTS = [-1, 4, 6, 2**63, 10**400, 1.5, 5.0, True, None, "5", [5], {}]
SIZES = [-1, 0, 1, 4, 10**9, 10**400, 2.0, True, None, "2"]
SHAPES = [np.zeros(0, np.float32), np.zeros((5, 5), np.float32), np.array("text"), np.array(1.5), np.zeros(5, complex)]
ARRAYS = ("key", "contexts", "actions", "rewards", "state0", "state1", "waiting_contexts", "waiting_actions")


def edits() -> dict[str, Callable[[dict[str, Any], dict[str, Any]], Any]]:
    """By name: every field and array missing or replaced by what it cannot be."""
    made: dict[str, Callable[[dict[str, Any], dict[str, Any]], Any]] = {}
    for name in ("policy", "spec", "decisions", "observations"):
        made[f"no {name}"] = lambda arrays, about, name=name: about.pop(name)
    for value in COUNTS:
        made[f"observations {str(value)[:9]} {type(value).__name__}"] = lambda arrays, about, value=value: about.update(
            observations=value
        )
        if value not in (4, 6):  # how often it chose is not how often it learned
            made[f"decisions {str(value)[:9]} {type(value).__name__}"] = lambda arrays, about, value=value: (
                about.update(decisions=value)
            )
    for value in SIZES:
        for name in ("context_dim", "num_actions"):
            made[f"{name} {str(value)[:9]} {type(value).__name__}"] = lambda arrays, about, name=name, value=value: (
                about["spec"].update({name: value})
            )
    for value in (None, [], "RMS", 3, {}, {"kind": "NoSuchPolicy"}, {"kind": ["Averages"]}, {"kind": "Wheel"}):
        made[f"policy {value}"] = lambda arrays, about, value=value: about.update(policy=value)
    for field, value in (("refit_every", 1.5), ("refit_every", -1), ("refit_every", 0), ("weight", "much"), ("new", 1)):
        made[f"{field} {value}"] = lambda arrays, about, field=field, value=value: about["policy"].update(
            {field: value}
        )
    for name in ARRAYS:
        made[f"no array {name}"] = lambda arrays, about, name=name: arrays.pop(name)
        for number, shape in enumerate(SHAPES):
            made[f"{name} of shape {number}"] = lambda arrays, about, name=name, shape=shape: arrays.update(
                {name: shape}
            )
    for name, value in (("contexts", np.nan), ("rewards", np.inf), ("actions", 3), ("actions", -1)):
        made[f"{name} of {value}"] = lambda arrays, about, name=name, value=value: arrays[name].fill(value)
    made["spec without a size"] = lambda arrays, about: about["spec"].pop("context_dim")
    made["actions with features"] = lambda arrays, about: about["spec"].update(action_dim=2)
    made["spec with one more"] = lambda arrays, about: about["spec"].update(depth=3)
    made["one more array"] = lambda arrays, about: arrays.update(state2=np.zeros(3))
    for field, value in (
        ("service", None),
        ("service", {}),
        ("owed", [1.5]),
        ("owed", 3),
        ("waiting", ["twice", "twice"]),
        ("waiting", [1]),
        ("waiting", ["one"]),  # with no context
        ("waiting", None),
        ("remember", 0),
        ("bound", {"sieve": 5}),
        ("bound", {"window": 0}),
        ("bound", 3),
        ("encoder", {}),
        ("encoder", 1),
        ("encode_counts", None),
        ("encode_counts", {"rows": 1}),
        ("encode_counts", {"rows": -1, "missing": {}, "unknown": {}, "other": {}, "new_columns": {}}),
        ("encode_counts", {"rows": 1, "missing": {"age": "2"}, "unknown": {}, "other": {}, "new_columns": {}}),
    ):
        made[f"{field} as {value}"] = lambda arrays, about, field=field, value=value: about.update({field: value})
    for name in ("seen", "forgotten_rows", "refused_updates"):
        made[f"count of {name}"] = lambda arrays, about, name=name: about["service"].update({name: -1})
    made["no counts of its encoder"] = lambda arrays, about: about.pop("encode_counts")
    made["more rows than observed"] = lambda arrays, about: about["service"].update(seen=6)
    made["another format"] = lambda arrays, about: about.update(format=2)
    return made


@pytest.mark.parametrize("name", edits())
def test_an_edited_file_is_refused_in_one_sentence(saved, tmp_path, name):
    path = rewritten(saved, tmp_path / "edited.npz", edits()[name])
    with pytest.raises(UsageError) as refused:
        Agent.load(path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_files_of_other_kinds_are_refused(tmp_path):
    np.save(tmp_path / "one.npy", np.zeros(3))
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.savez(tmp_path / "pickled.npz", about=np.array([{}], dtype=object))
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("about.npy", "not an array")
    for about in (b"[]", b"[" * 100_000, b"\xff", b"null", b'{"format": []}'):
        np.savez(tmp_path / f"about-{len(about)}.npz", about=np.frombuffer(about, np.uint8))
    os.mkfifo(tmp_path / "pipe.npz")
    for path in (*tmp_path.iterdir(), tmp_path, tmp_path / "missing.npz"):
        with pytest.raises(UsageError, match=r"does not hold a saved agent|no file|another format"):
            Agent.load(path)


def test_damaged_bytes_never_load_as_another_agent(saved, tmp_path):
    """Bits flipped at 300 places: the archive's checksums notice, or what was hit says nothing of the agent."""
    whole, path = saved.read_bytes(), tmp_path / "damaged.npz"
    generator = np.random.default_rng(0)
    refused = 0
    for place, bit in zip(generator.integers(len(whole), size=300), generator.integers(8, size=300), strict=True):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        try:
            agent = Agent.load(path)
        except UsageError:
            refused += 1
        else:
            assert agent.policy == Averages()
            assert (agent.decisions, agent.observations) == (5, 5)
            assert agent._learner.history.rewards[:6].tolist() == [0, 0.5, 1, 1.5, 2, 0]
    assert refused > 150


def test_an_agent_without_history_checks_its_counts_too(tmp_path):
    agent = Agent(policies.get("Uniform"), context_dim=2, num_actions=3)
    agent.save(tmp_path / "agent.npz")
    path = rewritten(
        tmp_path / "agent.npz", tmp_path / "edited.npz", lambda arrays, about: about.update(observations=-4)
    )
    with pytest.raises(UsageError, match="observations must be a whole number from 0"):
        Agent.load(path)
