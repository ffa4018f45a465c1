"""Short versions of the attacks on the journal and on the server."""

from __future__ import annotations

import pytest

pytest.importorskip("httptools", reason="the extra 'serve' is not installed")

from attacks import actions, journal, service


@pytest.mark.parametrize("change", [journal.flipped, journal.cut, journal.edited])
def test_a_changed_journal_is_never_taken_for_whole(tmp_path, change):
    assert journal.damaged(tmp_path, "changed", change, 60).withstood


def test_a_journal_that_is_disturbed_while_it_is_written(tmp_path):
    assert journal.moved(tmp_path, 5).withstood


def test_one_journal_has_one_writer(tmp_path):
    assert journal.second_writers(tmp_path).withstood


def test_a_full_disk_changes_nothing(tmp_path):
    assert journal.full_disks(tmp_path, 3).withstood


def test_an_accepted_loss_is_named(tmp_path):
    assert journal.accepted_losses(tmp_path, 20).withstood


def test_kills_under_load_with_trouble_in_between(tmp_path):
    score = service.kills(tmp_path, 3)
    assert score.withstood
    assert "(0 acknowledged" not in score.attack


def test_actions_that_change_while_the_server_is_killed(tmp_path):
    assert actions.kills_while_actions_change(tmp_path / "service", 1).withstood


def test_rude_requests(tmp_path):
    assert service.rude_requests(tmp_path).withstood


def test_clients_that_never_read_are_cut(tmp_path):
    assert service.deaf_clients(tmp_path, 3).withstood
