"""What a tuning says: the same for `sd.tune` and for `showdown tune`."""

from __future__ import annotations

import shlex
from pathlib import Path

from showdown.analysis.compare_trials import BETTER, WORSE
from showdown.tuning.fresh_choice import TuningResult
from showdown.tuning.history import TuningHistory
from showdown.tuning.request import TuningRequest
from showdown.tuning.space import at_an_end


def lines_of(history: TuningHistory, result: TuningResult, preset: Path) -> list[str]:
    """What was found, how it compares on fresh episodes, and how to play it; `preset` is the file that was written."""
    request = history.request
    count = len(history.entries)
    played = ", ".join(f"{name} ({problem.horizon:,} steps)" for name, problem in request.problems.items())
    lines = [f"{count} candidates of {request.space.name} on {played}"]
    if result.is_default:
        lines.append(f"none beat {request.space.name} on fresh episodes: it stays as it is")
    else:
        lines.append(f"best on fresh episodes: {result.spelled}")
    ends = [] if result.is_default else at_an_end(request.space, result.candidate)
    if ends:
        lines.append(f"at an end of its search range, beyond which better values may lie: {', '.join(ends)}")
    for row in result.problems:
        numbers = f"{row.chosen:.5g}, default {row.default:.5g}"
        between = f"difference {row.difference:+.4g}, 95 % interval {row.low:+.4g} to {row.high:+.4g}"
        wins = f"better in {row.wins} of {row.trials} trials"
        lines.append(f"{request.objective} on {row.problem}: {numbers}; {between}; {wins}")
    if not result.is_default:
        lines.append(_judged(request, result))
    name = shlex.quote(f"{request.preset},{request.space.name}")
    lines.append(f"to play it: showdown run quick --load {shlex.quote(str(preset))} --policies {name}")
    return [*lines, f"history: {preset.with_suffix('.csv')}"]


def _judged(request: TuningRequest, result: TuningResult) -> str:
    """Whether the chosen candidate is better than the default on episodes that nothing was chosen by."""
    better, worse = ([row.problem for row in result.problems if row.verdict == said] for said in (BETTER, WORSE))
    default = request.space.name
    if better:
        return f"better than {default} on {', '.join(better)}" + (f", worse on {', '.join(worse)}" if worse else "")
    if worse:
        where = f"worse than {default} on {', '.join(worse)} and clearly better nowhere"
        return f"{where}: keep {default}, or use more trials"
    return f"it cannot be told from {default}: keep that, or use more trials"
