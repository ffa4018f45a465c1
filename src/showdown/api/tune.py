"""`sd.tune`: search for good values of a policy's fields."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, Unpack

import pandas as pd

from showdown.api.cells import Cells
from showdown.api.own import check_options, policies_of, problems_of, whole
from showdown.api.play import chosen_engine
from showdown.api.progress import bar, no_bar
from showdown.api.results import Results
from showdown.api.session import session_folder
from showdown.api.tuning_lines import lines_of
from showdown.basics.errors import UsageError
from showdown.basics.text import wrapped
from showdown.bench.engine import RunLimits
from showdown.bench.store import Store
from showdown.config.registry import split_outside_brackets
from showdown.problems.own_table import TableOptions
from showdown.protocol.policy import Policy
from showdown.tuning.files import history_frame, importance
from showdown.tuning.fresh_choice import TuningResult, reported_cells
from showdown.tuning.history import TuningHistory, proposals_file
from showdown.tuning.play_candidates import PlayCells, by_engine
from showdown.tuning.request import TuningBudget, TuningRequest, fitted
from showdown.tuning.space import space_of
from showdown.tuning.tune import tune as search


class Tuned:
    """What a tuning found. It prints as what `showdown tune` says."""

    def __init__(self, history: TuningHistory, result: TuningResult, folder: Path) -> None:
        self.history, self.result, self.folder = history, result, folder

    @property
    def policy(self) -> Policy:
        """The best candidate on episodes that it was not chosen by; the policy as it was where none beat it."""
        return self.history.request.space.configured(self.result.candidate)

    @property
    def name(self) -> str:
        """Its name for `sd.run` and for the command line: `LinPost[prior_precision=2.0]`."""
        return self.result.spelled

    @property
    def verdict(self) -> str:
        """Whether it is better than the policy as it was: better, worse, mixed or no difference shown."""
        return self.result.verdict

    @property
    def results(self) -> Results:
        """The comparison with the policy as it was, on episodes that nothing was chosen by."""
        names = [self.history.request.preset, self.history.request.space.name]
        played = reported_cells(self.history, self.result.candidate)  # the folder may hold others of the same name
        cells = Cells.of_store(self.folder)
        return Results(cells.where(lambda frame: frame["policy"].isin(names) & frame["cell"].isin(played)))

    def table(self) -> pd.DataFrame:
        """Every candidate: its fields, what it lost (`value`), whether it was given up, and the seconds it took."""
        return history_frame(self.history)

    def importance(self) -> dict[str, float]:
        """The part of the variation that each field explains; empty where too little was measured."""
        return importance(self.history)

    @property
    def preset(self) -> Path:
        """A TOML file that makes it a preset: `load=` of `sd.run`, `--load` of every command."""
        return proposals_file(self.folder, self.history.request).with_suffix(".toml")

    def __repr__(self) -> str:
        lost = str(session_folder())  # files in it go with this process, so nobody is sent there
        return wrapped(line for line in lines_of(self.history, self.result, self.preset) if lost not in line)


def tune(
    policy: Any,
    problems: Any,
    *,
    fields: str | Iterable[str] = (),
    budget: str | int = 128,
    trials: int = 20,
    horizon: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    objective: Literal["cumulative", "simple", "reward"] = "cumulative",
    combine: Literal["regret", "rank"] = "regret",
    final_trials: int = 50,
    batch: int = 32,
    sampler: str = "gp",
    halving: bool = True,
    processes: int | None = None,
    engine: str | None = None,
    progress: bool = True,
    label: Any = "",
    rewards: Any = "",
    **table: Unpack[TableOptions],
) -> Tuned:
    """Search for good values of a policy's fields, and compare the best with the policy as it is on fresh episodes.

    `policy` and `problems` are as for `sd.run`. `fields` names what is searched, with patterns (`*`: all); by default
    every float. `budget` is a number of candidates, or a time such as `90s` or `10m`. `out` is a folder that keeps
    everything, so that a second call continues; without one it lasts as long as this process.
    """
    check_options("sd.tune", tune, table)
    trials, final_trials, batch, seed = (
        whole(name, value)
        for name, value in (("trials", trials), ("final_trials", final_trials), ("batch", batch), ("seed", seed))
    )
    horizon = None if horizon is None else whole("horizon", horizon)
    chosen = policies_of(policy)
    if len(chosen) != 1:
        raise UsageError(f"one policy is tuned at a time, and these are {', '.join(chosen) or 'none'}")
    ((name, value),) = chosen.items()
    names = split_outside_brackets(fields) if isinstance(fields, str) else list(fields)
    asked = problems_of(problems, {"label": label, "rewards": rewards, **table})
    request = TuningRequest(
        space=space_of(name, value, names),
        problems={called: fitted(called, problem, horizon) for called, problem in asked.items()},
        objective=objective,
        combine=combine,
        budget=TuningBudget.read(str(budget)),
        trials=trials,
        final_trials=final_trials,
        seed=seed,
        batch=batch,
        sampler=sampler,
        halving=halving,
    )
    folder = session_folder() if out is None else Path(out)
    with (bar if progress else no_bar)(1.0, "starting") as advance:
        history, result = search(request, Store(folder), advance, _player(engine, processes))
    return Tuned(history, result, folder)


def _player(engine: str | None, processes: int | None) -> PlayCells | None:
    """What plays candidates in other processes or on a cluster; None for this process."""
    if engine is None and processes in (None, 1):
        return None
    name, count = chosen_engine(engine, processes)
    return by_engine(name, RunLimits(processes=count))
