"""Several users on one store, odd things in the place of a lock, and runs that wait for a process that is stopped."""

from __future__ import annotations

import os

import pytest

from attacks import made_cell, users
from showdown.basics.errors import ShowdownError
from showdown.basics.locks import LOCK, holder, locked
from showdown.bench import waiting
from showdown.bench.engine import RunLimits
from showdown.bench.store import Store
from showdown.bench.waiting import Waiting


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.filterwarnings("ignore:os.fork")
def test_two_users_share_a_store(tmp_path):
    assert users.shared_folders(tmp_path / "shared").withstood


def test_odd_things_in_the_place_of_a_lock(tmp_path):
    assert users.odd_locks(tmp_path / "locks").withstood


def test_a_stopped_run_is_named_and_not_waited_for(tmp_path):
    assert users.stopped_holder(tmp_path / "store", seconds=0.2).withstood


def test_a_lock_says_who_has_it_and_anybody_may_write_to_it(tmp_path):
    path = tmp_path / f"{LOCK}x"
    before = os.umask(0o077)
    try:
        with locked(path):
            assert path.stat().st_mode & 0o777 == 0o666
            held = holder(path)
            assert held is not None
            assert held.process == os.getpid()
            assert not held.is_stopped
            with (
                pytest.raises(
                    ShowdownError, match=rf"still locked after 0\.1 seconds: it is held by process {os.getpid()}"
                ),
                locked(path, wait=0.1),
            ):
                pass
    finally:
        os.umask(before)
    assert not path.exists()


def test_who_is_waited_for_is_said_once(tmp_path, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 0.0)
    said: list[str] = []
    store, cell = Store(tmp_path), made_cell(0)
    store.prepare()
    with store.claim(cell.hash):
        wait = Waiting(store, cell, RunLimits(say=said.append))
        assert wait.given_up() is None
        assert wait.given_up() is None
    assert len(said) == 1
    assert f"process {os.getpid()} of " in said[0]
