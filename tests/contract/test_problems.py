"""What every registered problem promises. Problems whose data is not at hand are skipped with the reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from showdown.basics.errors import MissingDataError, UsageError
from showdown.problems import problems
from showdown.testing import PROBLEM_PROMISES
from showdown.testing.problem_promises import shortened

SHARED_DATA = Path(__file__).parents[2] / ".." / "shared" / "data"


@pytest.fixture(params=problems.names())
def problem(request, monkeypatch):
    if "SHOWDOWN_DATA" not in os.environ and SHARED_DATA.is_dir():
        monkeypatch.setenv("SHOWDOWN_DATA", str(SHARED_DATA))
    try:
        problem = shortened(problems.get(request.param))
        problem.load()
    except MissingDataError as error:
        pytest.skip(str(error))
    except UsageError as error:
        if request.param == "table":  # needs a path; tests of its own play it
            pytest.skip(str(error))
        raise
    return problem


@pytest.mark.parametrize("promise", PROBLEM_PROMISES, ids=lambda promise: promise.sentence)
def test_problem_keeps(promise, problem):
    promise.check(problem)
