"""A verdict in plain English: one or two sentences that claim no more than the numbers do."""

from __future__ import annotations

from showdown.analysis.summary import BASELINE
from showdown.analysis.verdict import RANK_UNIT, Verdict
from showdown.metrics import COMMONEST

NAMED = 4  # ties that are named; the others are counted


def sentence(verdict: Verdict) -> str:
    where = _where(verdict)
    if verdict.best is None:
        return f"No verdict {where}: {verdict.reason}."
    superlative = f"the {'lowest' if verdict.smaller_is_better else 'highest'} {verdict.title}"
    several = len(verdict.problems) > 1
    has = f"the best mean rank by {verdict.title}" if several else superlative
    value, low, high = (_number(number, verdict.unit) for number in (verdict.value, verdict.low, verdict.high))
    number = f"{value}{_unit(verdict)}, 95 % interval {low} to {high}"
    if not verdict.tied:
        others = len(verdict.rivals)
        claim = f"{verdict.best} has {has} {where} ({number})"
        beaten = f", ahead of the {others} others" if others > 1 else ", ahead of the other method"
        told = f"{claim}{beaten if others else ''}{_p(verdict) if others else ''}."
    else:
        told = (
            f"No single winner {where}: {listed([verdict.best, *verdict.tied])} cannot be told apart"
            f"{' by mean rank' if several else ''}{_p(verdict)}. "
            f"{verdict.best} has {has} ({number})."
        )
    return " ".join(filter(None, [told, _cheapest(verdict), _references(verdict)]))


def listed(names: list[str], most: int = NAMED) -> str:
    """A, B and C; a long list is cut and the rest counted."""
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _where(verdict: Verdict) -> str:
    if len(verdict.problems) == 1:
        return f"on {verdict.problems[0]}"
    return f"over {len(verdict.problems)} problems" if verdict.problems else "over these problems"


def _unit(verdict: Verdict) -> str:
    if verdict.unit.startswith("%"):
        return f" {verdict.unit}"
    if verdict.unit.startswith("share"):  # a number from 0 to 1 that the metric's title explains
        return ""
    return "" if len(verdict.problems) > 1 else f" {verdict.unit}"


def _number(value: float | None, unit: str) -> str:
    """Per cent and ranks to two decimals, shares to four, so that the ends of an interval have as many as the mean."""
    if value is None:
        return "?"
    if unit.startswith("share"):
        return f"{value:.4f}"
    return f"{value:.2f}" if unit.startswith("%") or unit == RANK_UNIT else f"{value:.4g}"


def _p(verdict: Verdict) -> str:
    if verdict.p_value is None:
        return " (too few trials for a p-value)"
    shown = "p < 0.001" if verdict.p_value < 0.001 else f"p = {verdict.p_value:.2g}"
    return f" ({verdict.test}, {shown})" if len(verdict.problems) > 1 else f" ({shown})"


def _cheapest(verdict: Verdict) -> str:
    if not verdict.tied or verdict.cheapest is None:
        return ""
    return f"The cheapest of these is {verdict.cheapest} ({verdict.cheapest_reason})."


def _references(verdict: Verdict) -> str:
    words = {BASELINE: "choosing at random", COMMONEST: "always taking the commonest action"}
    missed = [words.get(one.policy, one.policy) for one in verdict.references if not one.behind]
    return f"It is not clearly better than {listed(missed)}." if missed else ""
