"""A verdict in plain English: one line about these problems, one about a new problem, one about the worst case."""

from __future__ import annotations

from collections.abc import Sequence

from showdown.analysis.summary import BASELINE
from showdown.analysis.verdict import RANK_UNIT, NewProblem, Verdict
from showdown.analysis.worst_case import Failure
from showdown.metrics import BEST_FIXED

NAMED = 4  # names that are written; the others are counted
SMALL = 0.001  # a p-value below which the number itself says nothing more


def lines(verdict: Verdict) -> tuple[str, ...]:
    """The lines of a verdict; those of which nothing is known are left out."""
    first = f"{_place(verdict)}: {_lower(_here(verdict))}"
    second = f"On a new problem: {_new_problem(verdict)}" if verdict.best is not None else ""
    third = f"Worst case: {_worst_case(verdict)}" if verdict.worst_case is not None else ""
    return tuple(filter(None, (first, second, third)))


def short(verdict: Verdict) -> str:
    """Who won on these problems and by how much, in a few words."""
    if verdict.best is None:
        return f"no verdict: {verdict.reason}"
    place = f"on {verdict.problems[0]}" if len(verdict.problems) == 1 else f"on these {len(verdict.problems)} problems"
    if verdict.tied:
        return f"{listed([verdict.best, *verdict.tied])} cannot be told apart {place}"
    unsure = [rival.policy for rival in verdict.rivals if not rival.behind]
    doubt = f", not clearly ahead of {listed(unsure)}" if unsure else ""
    return f"{verdict.best} {'leads' if unsure else 'won'} {place}{_lead(verdict, alone=True)}{doubt}"


def _here(verdict: Verdict) -> str:
    """The sentence; where there are only ranks, which the next line gives, that there are."""
    if verdict.unit != RANK_UNIT:
        return sentence(verdict)
    only = f"{verdict.title} has no common unit here, so only ranks are compared."
    return " ".join(filter(None, [only, _cheapest(verdict)]))


def _lower(words: str) -> str:
    """The words as they stand after a colon; a name keeps its letters."""
    return words[0].lower() + words[1:] if words.startswith(("No single", "No verdict")) else words


def _place(verdict: Verdict) -> str:
    if len(verdict.problems) == 1:
        return f"On {verdict.problems[0]}"
    return f"On these {len(verdict.problems)} problems" if verdict.problems else "On these problems"


def sentence(verdict: Verdict) -> str:
    """Who is ahead on these problems, by how much and how surely."""
    if verdict.best is None:
        return f"No verdict: {verdict.reason}."
    parts = [_ahead(verdict), _value(verdict) if verdict.tied else "", _cheapest(verdict), _references(verdict)]
    return " ".join(filter(None, parts))


def _ahead(verdict: Verdict) -> str:
    if verdict.tied:
        names = listed([str(verdict.best), *verdict.tied])
        by = " by mean rank" if verdict.unit == RANK_UNIT else ""
        return f"No single winner: {names} cannot be told apart{by}{_p(verdict)}."
    others = len(verdict.rivals)
    doubtful = [rival.policy for rival in verdict.rivals if not rival.behind]
    beaten = f", ahead of the {others} others" if others > 1 else ", ahead of the other method" if others else ""
    if doubtful:
        beaten += f"; of {listed(doubtful)} only where the two are compared alone"
    return f"{_value(verdict)[:-1]}{beaten}{_p(verdict) if others else ''}."


def _value(verdict: Verdict) -> str:
    """The best with its number, its interval and its lead over the next."""
    value, low, high = (_number(number, verdict.unit) for number in (verdict.value, verdict.low, verdict.high))
    several = len(verdict.problems) > 1
    over = f", mean of {len(verdict.problems)} problems" if several and verdict.unit != RANK_UNIT else ""
    number = f"{value}{_unit(verdict)}{over}, 95 % interval {low} to {high}"
    superlative = f"the {'lowest' if verdict.smaller_is_better else 'highest'} {verdict.title}"
    has = f"the best mean rank by {verdict.title}" if verdict.unit == RANK_UNIT else superlative
    return f"{verdict.best} has {has} ({number}){_lead(verdict)}."


def _lead(verdict: Verdict, *, alone: bool = False) -> str:
    """How much less, or more, the best has than the next; `alone`, of what, where no words before say that."""
    found = verdict.lead
    if found is None:
        return ""
    word = "less" if verdict.smaller_is_better else "more"
    if found.relative:
        amount, *ends = (_per_cent(number) for number in (found.amount, found.low, found.high))
        amount += " %"
    else:
        amount, *ends = (_number(number, verdict.unit) for number in (found.amount, found.low, found.high))
        amount += _unit(verdict)
    of_what, level = (f" {verdict.title}", "95 % ") if alone else ("", "")
    interval = "no interval" if found.low is None or found.high is None else f"{level}interval {ends[0]} to {ends[1]}"
    return f", {amount} {word}{of_what} than {found.over} ({interval})"


def _per_cent(value: float | None) -> str:
    """A reduction with two digits, or as a whole number."""
    return "?" if value is None else f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"


def _cheapest(verdict: Verdict) -> str:
    if not verdict.tied or verdict.cheapest is None:
        return ""
    return f"The cheapest of these{_that_fails_nowhere(verdict)} is {verdict.cheapest} ({verdict.cheapest_reason})."


def _that_fails_nowhere(verdict: Verdict) -> str:
    return " that fails nowhere" if any(verdict.fails(name) for name in verdict.ties) else ""


def _references(verdict: Verdict) -> str:
    words = {BASELINE: "choosing at random", BEST_FIXED: "always taking the best fixed action"}
    missed = [words.get(one.policy, one.policy) for one in verdict.references if not one.behind]
    return f"It is not clearly better than {listed(missed)}." if missed else ""


def _p(verdict: Verdict) -> str:
    """The p-value, with the pair that it is about where more than one could be meant."""
    if verdict.p_value is None:
        return " (too few trials for a p-value)"
    if verdict.pair is None:
        return f" ({verdict.test}, {_p_value(verdict.p_value)})"
    if verdict.p_value < SMALL and len(verdict.rivals) > 1:
        return f" ({_p_value(verdict.p_value)} for each)"
    pair = f"{verdict.pair[0]} against {verdict.pair[1]}, " if len(verdict.rivals) > 1 else ""
    test = f"{verdict.test}, " if verdict.unit == RANK_UNIT else ""
    return f" ({pair}{test}{_p_value(verdict.p_value)})"


def _p_value(value: float) -> str:
    return f"p < {SMALL}" if value < SMALL else f"p = {value:.2g}"


def _new_problem(verdict: Verdict) -> str:
    """What these problems say about another one, and how many it takes."""
    found = verdict.new_problem
    if found is None:
        return "one problem says nothing about another." if len(verdict.problems) == 1 else "nothing is known."
    rank = f"{found.best} has the best mean rank ({found.rank:.2f}, 95 % interval {found.low:.2f} to {found.high:.2f})"
    if found.problems < found.needed:
        return (
            f"{found.problems} problems cannot tell {found.methods} methods apart by their ranks; "
            f"{found.needed} or more may. {rank}."
        )
    if found.pair is None:
        return f"the ranks show no difference between the methods ({found.test}, {_p_value(found.p_value)}). {rank}."
    return f"{rank}{_told(found)}."


def _told(found: NewProblem) -> str:
    """What the tests of pairs say, where the problems are enough for them."""
    pair = found.pair or ("", "")
    about = f"{pair[0]} against {pair[1]}, {found.test}, {_p_value(found.p_value)}"
    others = found.methods - 1
    if found.behind == others:
        return f", ahead of {f'all {others} others' if others > 1 else 'the other method'} ({about})"
    told = f", ahead of {found.behind} of the {others} others" if found.behind else ""
    tied = f"it cannot be told from {listed(found.tied)}" if found.tied else f"it may not be ahead of {pair[1]}"
    takes = f"; about {found.enough} problems like these would tell the two apart" if found.enough else ""
    return f"{told}; {tied} ({about}{takes})"


def _worst_case(verdict: Verdict) -> str:
    """The largest regret of the best, and who fails where."""
    found = verdict.worst_case
    assert found is not None  # it is asked for where there is one
    own = next((one for one in found.failures if one.policy == verdict.best), None)
    kind = "regret in its worst trial" if len(verdict.problems) == 1 else "largest regret"
    on = "" if len(verdict.problems) == 1 else f", on {found.problem}"
    said = [f"{verdict.best}'s {kind} is {found.largest:.1f} % of {BASELINE}'s{on}{_own_failure(own)}."]
    others = [one for one in found.failures if one.policy != verdict.best]
    if others:
        said.append(f"Methods that fail: {listed([_failure(one) for one in others], 3, '; ')}.")
    elif verdict.rivals:
        said.append(f"No method is above {BASELINE} or has a stuck trial.")
    return " ".join(said)


def _own_failure(found: Failure | None) -> str:
    """What is wrong with the best itself."""
    if found is None:
        return "; no trial is stuck"
    above = [f"above {BASELINE} on {listed(found.above, 2)}"] if found.above else []
    each = [f"{count} of {of} trials stuck on {problem}" for problem, count, of in found.stuck]
    return f"; {listed([*above, *each], 3)}"


def _failure(found: Failure) -> str:
    """A method and where it fails; its numbers are in the JSON."""
    above = f"above {BASELINE} on {listed(found.above, 2)}" if found.above else ""
    rest = [problem for problem, _, _ in found.stuck if problem not in found.above]
    stuck = f"stuck trials on {listed(rest, 2)}" if rest else ""
    return f"{found.policy} ({', '.join(filter(None, (above, stuck)))})"


def listed(names: Sequence[str], most: int = NAMED, between: str = ", ") -> str:
    """The names as `A, B and C`; a long list is cut and the rest counted."""
    held = list(names)
    if len(held) > most + 1:
        held = [*held[:most], f"{len(held) - most} others"]
    return held[0] if len(held) == 1 else f"{between.join(held[:-1])} and {held[-1]}"


def _unit(verdict: Verdict) -> str:
    if verdict.unit.startswith("share") or verdict.unit == RANK_UNIT:  # numbers that the words before them explain
        return ""
    return f" {verdict.unit}"


def _number(value: float | None, unit: str) -> str:
    """The number as text: per cent and ranks with two decimals, shares with four, as the ends of their intervals."""
    if value is None:
        return "?"
    if unit.startswith("share"):
        return f"{value:.4f}"
    return f"{value:.2f}" if unit.startswith("%") or unit == RANK_UNIT else f"{value:.4g}"
