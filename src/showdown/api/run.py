"""`sd.run`: play policies on problems, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Unpack

from showdown.analysis.summary import BASELINE
from showdown.api.cells import Cells
from showdown.api.own import check_options, policies_of, problems_of, said, whole_or_none
from showdown.api.play import chosen_engine, opened_store, play, warn_of_plan, warn_of_tables
from showdown.api.progress import bar, no_bar
from showdown.api.results import Results
from showdown.api.session import session_folder
from showdown.basics.errors import ShowdownError, ShowdownWarning, UsageError
from showdown.bench.engine import CellResult, RunLimits, make_engine
from showdown.bench.plan import Planned, plan, plan_values
from showdown.bench.store import Store
from showdown.bench.suite import Suite, changed, load_suite
from showdown.policies import policies as known_policies
from showdown.problems.own_table import TableOptions

TRIALS = 20


def run(
    policies: Any = None,
    problems: Any = None,
    *,
    trials: int | None = None,
    horizon: int | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    label: Any = "",
    rewards: Any = "",
    reference: bool = True,
    suite: str | None = None,
    processes: int | None = None,
    engine: str | None = None,
    batch_trials: int | None = None,
    cell_seconds: float | None = None,
    load: str | Path | Iterable[str | Path] = (),
    progress: bool = True,
    **table: Unpack[TableOptions],
) -> Results:
    """Play every policy on every problem, and return the results.

    `policies` and `problems` are names, values, or objects of your own, one or several; a problem may be a DataFrame,
    arrays, a pair of contexts and labels, or a file, and then `label` or `rewards` say what an action earns, and the
    options of `sd.problem` (ignore, categorical, costs, …) how it is read. A mapping says what each is called. `suite`
    plays one of `sd.list("suites")` instead, with the parts that you name replaced.

    `trials` is how often each is played (20, or the suite's number), `horizon` the steps of a trial. With `reference`,
    Uniform is played too, so that regret can be given in % of it. `out` is a folder that keeps the results; without
    one they last as long as this process. What was played before, with nothing changed, is not played again.
    """
    check_options("sd.run", run, table)
    trials, horizon, seed = whole_or_none(trials=trials, horizon=horizon, seed=seed)
    files = _loaded(load)
    player, workers = chosen_engine(engine, processes)
    limits = RunLimits(batch_trials=batch_trials, cell_seconds=cell_seconds, processes=workers, load=files)
    store, mirror = opened_store(str(session_folder() if out is None else out), _warn)
    notes: list[str] = []
    about_table = {"label": label, "rewards": rewards, **table}
    if suite is not None:
        for name in said(about_table):
            raise UsageError(f"{name}= says how a table is read, and the problems of a suite are names")
        size = {"trials": trials, "horizon": horizon, "seed": seed}
        planned = plan(_suite(suite, policies, problems, size), store, notes)
    else:
        given = _given(problems, about_table)
        chosen = _with_reference(policies, reference)
        count = TRIALS if trials is None else trials
        planned = plan_values(chosen, given, store, trials=count, seed=seed or 0, horizon=horizon, notes=notes)
    warn_of_plan(planned, notes, store, _warn)
    warn_of_tables(planned, _warn)

    def each(result: CellResult) -> None:
        if mirror is not None and result.status == "done" and (late := mirror.upload(result.cell.hash)):
            _warn(f"{result.cell.label}: not uploaded yet: {late}")

    results = play(planned, make_engine(player, store), limits, store, bar if progress else no_bar, _warn, each)
    if mirror is not None:
        mirror.finish()
    return Results(_cells_of(planned, results, store))


def _suite(name: str, policies: Any, problems: Any, size: dict[str, Any]) -> Suite:
    """A suite with what was asked for instead of its own."""
    changes = {**size, **_names(policies, problems)}
    return changed(load_suite(name), {part: item for part, item in changes.items() if item is not None})


def _given(problems: Any, options: dict[str, Any]) -> Any:
    if problems is None:
        raise UsageError('say what to play on: a name, as in sd.run("LinFullPost", "wheel-0.9"), a DataFrame or a file')
    return problems_of(problems, options)


def _with_reference(policies: Any, reference: bool) -> dict[str, Any]:
    """The policies, and Uniform after them where it is not among them."""
    found = {} if policies is None else policies_of(policies)
    if not found:
        raise UsageError(
            'say which policies to play, as in sd.run("LinFullPost, LinGreedy", …); sd.list("policies") has all'
        )
    chance = known_policies.get(BASELINE)
    return found if not reference or chance in found.values() else {**found, BASELINE: chance}


def _names(policies: Any, problems: Any) -> dict[str, Any]:
    """What replaces parts of a suite, which holds names."""
    from showdown.config.registry import split_outside_brackets

    found: dict[str, Any] = {}
    for part, given in (("policies", policies), ("problems", problems)):
        names = split_outside_brackets(given) if isinstance(given, str) else given
        if names is not None and not all(isinstance(name, str) for name in names):
            raise UsageError(f"the {part} of a suite are names; play other {part} without suite=")
        found[part] = None if names is None else tuple(names)
    return found


def _loaded(load: str | Path | Iterable[str | Path]) -> tuple[Path, ...]:
    from showdown.config.registry import load_file

    files = tuple(Path(file) for file in ([load] if isinstance(load, str | Path) else load))
    for file in files:
        load_file(file)
    return files


def _cells_of(planned: list[Planned], results: list[CellResult], store: Store) -> Cells:
    """What was played, under the names that it was asked for by."""
    done = {result.cell.hash for result in results if result.status == "done"}
    if not done:
        reasons = dict.fromkeys(f"{result.cell.label}: {result.reason or result.status}" for result in results)
        raise ShowdownError(f"nothing could be played. {'; '.join(list(reasons)[:3])}")
    keys = {(item.cell.hash, *name) for item in planned for name in item.names}
    return Cells.of_store(store.directory, keys)


def _warn(sentence: str) -> None:
    warnings.warn(sentence, ShowdownWarning, stacklevel=4)
