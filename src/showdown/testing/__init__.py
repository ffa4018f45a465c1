"""The contract of policies and problems, to run on your own: `check_policy(policy)`, `check_problem(problem)`.

Each promise is a plain function that returns nothing, or raises `BrokenPromiseError` with a sentence that says what is
wrong. `showdown check FILE.py` runs them on whatever the file registers; the project's own tests run them on every
registered policy and problem. What is plain Python has promises of its own. Nothing here needs pytest.
"""

from showdown.testing.plain_promises import PLAIN_POLICY_PROMISES, PLAIN_PROBLEM_PROMISES
from showdown.testing.policy_promises import POLICY_PROMISES, check_policy
from showdown.testing.problem_promises import PROBLEM_PROMISES, check_problem
from showdown.testing.promise import BrokenPromiseError
from showdown.testing.trajectory import play, scripted

__all__ = [
    "PLAIN_POLICY_PROMISES",
    "PLAIN_PROBLEM_PROMISES",
    "POLICY_PROMISES",
    "PROBLEM_PROMISES",
    "BrokenPromiseError",
    "check_policy",
    "check_problem",
    "play",
    "scripted",
]
