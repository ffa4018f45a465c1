"""What the Tab key offers after an option: names of policies, problems, suites and metrics.

Names may be lists, `A,B`: what stands before the last comma is kept. A registry is imported only when Tab is pressed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable


def _last_of_list(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.lower().startswith(begun.lower())]

    return complete


def _policies() -> Iterable[str]:
    from showdown.policies import policies

    return policies.names()


def _problems() -> Iterable[str]:
    from showdown.problems import problems

    return problems.names()


def _suites() -> Iterable[str]:
    from showdown.bench.suite import suite_names

    return suite_names()


def _metrics() -> Iterable[str]:
    from showdown.metrics import METRICS

    return METRICS


policy_names = _last_of_list(_policies)
problem_names = _last_of_list(_problems)
suite_names = _last_of_list(_suites)
metric_names = _last_of_list(_metrics)
all_names = _last_of_list(lambda: [*_policies(), *_problems(), *_suites()])
