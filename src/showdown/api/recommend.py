"""`sd.recommend`: which method to use on a table, with everything that was played for the answer."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack
from html import escape
from pathlib import Path
from typing import Any, Unpack

from showdown.agent import Agent
from showdown.analysis.verdict import Verdict
from showdown.api.cells import Cells
from showdown.api.own import check_options, is_data, own_table, whole
from showdown.api.own import policy as policy_of
from showdown.api.progress import Advance, bar
from showdown.api.results import Results
from showdown.api.session import session_folder
from showdown.basics.errors import UsageError
from showdown.basics.text import wrapped
from showdown.config.registry import load_file, split_outside_brackets
from showdown.problems.own_table import Table, TableOptions
from showdown.recommendation.answer import Recommendation
from showdown.recommendation.board import Board, Show
from showdown.recommendation.budget import DEFAULT, seconds_of
from showdown.recommendation.recommend import recommend as recommend_method
from showdown.recommendation.successive_halving import ROUNDS


class Recommended(Results):
    """The answer of `sd.recommend`: results of the methods that were tried, and which of them to use."""

    _opens_with_answer = True

    def __init__(self, cells: Cells, answer: Recommendation, problem: Table) -> None:
        super().__init__(cells)
        self.answer = answer  # everything that the command line prints, as fields
        self.problem = problem  # the table as it was read

    @property
    def policy(self) -> str | None:
        """The method to use; None where none is clearly better than a fixed action or chance."""
        return self.answer.policy

    @property
    def sentence(self) -> str:
        """What to use, what it earns, and how sure that is."""
        return self.answer.sentence

    @property
    def metric(self) -> str:
        """What methods were judged by: the share of right answers, or the reward where answers pay differently."""
        return self.answer.metric

    @property
    def verdict(self) -> Verdict:
        """Who is best, and how sure that is; methods that were dropped on the way stay behind."""
        return self.answer.verdict

    def agent(self, policy: Any = None, *, learned: bool = True, **options: Any) -> Agent:
        """An agent of the recommended method, or of another one (as for `sd.policy`), for rows as those of this table.

        It has learned from the table, unless `learned` is False. `options` are those of `sd.Agent`: seed, journal,
        background and others.
        """
        given = self.policy if policy is None else policy
        if given is None:
            raise UsageError("no method is recommended: name one, as in .agent('LinGreedy'), or take the best action")
        chosen = policy_of(given)
        if given == self.policy and self.answer.agent_file is not None and not options:
            agent = Agent.recommended(self.answer.agent_file, learned=learned)
            if agent.policy == chosen and (agent.observations > 0) == learned:
                return agent
            agent.close()  # a later answer on the same table has written its own agent there
        agent = Agent.for_table(self.problem, chosen, **options)
        if learned:
            agent.learn_table(self.problem)
        return agent

    def __repr__(self) -> str:
        return wrapped(self._lines())

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self._lines()) + super()._repr_html_()

    def _lines(self) -> list[str]:
        lost = str(session_folder())  # files in it go with this process, so nobody is sent there
        lines = [line for line in self.answer.lines if lost not in line]
        return [line.replace("--no-learn", "learn=False").replace("--budget", "budget") for line in lines]


def recommend(
    data: Any,
    *,
    label: Any = "",
    rewards: Any = "",
    budget: str = DEFAULT,
    policies: str | Iterable[str] | None = None,
    seed: int = 0,
    rounds: tuple[int, ...] = ROUNDS,
    out: str | Path | None = None,
    page: bool = True,
    load: str | Path | Iterable[str | Path] = (),
    learn: bool = True,
    progress: bool = True,
    show: Show | None = None,
    began: float | None = None,
    **table: Unpack[TableOptions],
) -> Recommended:
    """Play a sensible set of methods on a table, drop what is clearly behind, and say which to use.

    `data` is a DataFrame, arrays, a pair of contexts and labels, or a file; `label`, `rewards` and the other options
    say how it is read, as for `sd.problem`. `budget` is how long it may take: `90s`, `2m`, `1h`. `policies` plays these
    instead of the usual set. `out` is a folder that keeps what was played, a page and a file for `showdown serve`, so
    that a second call continues; without one it lasts as long as this process. With `learn` the agent's file has
    learned from the table.
    """
    files = tuple(Path(file) for file in ([load] if isinstance(load, str | Path) else load))
    for file in files:
        load_file(file)
    check_options("sd.recommend", recommend, table)
    seed, rounds = whole("seed", seed), tuple(whole("a number of trials", trials) for trials in rounds)
    if not rounds or min(rounds) < 1:
        raise UsageError(f"rounds are numbers of trials, such as {ROUNDS}, not {rounds}")
    began = time.monotonic() if began is None else began
    data = Path(data) if isinstance(data, str) else data  # no name of a problem
    if not isinstance(data, Table) and not is_data(data):
        raise UsageError("a method is recommended for a table: a DataFrame, arrays or a file; compare others by sd.run")
    problem = data if isinstance(data, Table) else own_table(data, label=label, rewards=rewards, **table)
    folder = session_folder() / f"recommend-{problem.digest}" if out is None else Path(out)
    with ExitStack() as stack:
        if show is None and progress:
            show = _shown_by(stack.enter_context(bar(seconds_of(budget), "reading")), began)
        answer = recommend_method(
            problem,
            budget=budget,
            out=folder,
            policies=_names(policies),
            seed=seed,
            rounds=rounds,
            page=page,
            show=show,
            load=files,
            began=began,
            learn=learn,
        )
    # the folder also holds what earlier calls played: other methods, another seed
    cells = Cells.of_store(folder).where(
        lambda frame: (frame["problem"] == problem.called) & frame["cell"].isin(answer.cells)
    )
    return Recommended(cells, answer, problem)


def _names(policies: str | Iterable[str] | None) -> list[str] | None:
    if policies is None:
        return None
    names = split_outside_brackets(policies) if isinstance(policies, str) else list(policies)
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"sd.recommend plays policies by name, not {name!r}; compare it by sd.run")
    return names


def _shown_by(advance: Advance, began: float) -> Show:
    """What shows the board of a recommendation as a bar of its budget."""
    done = 0.0

    def show(board: Board, line: str) -> None:
        nonlocal done
        elapsed = min(time.monotonic() - began, board.budget)
        playing = [one.policy for one in board.standings.values() if one.status in ("compiling", "playing")]
        advance(elapsed - done, f"{board.trials} trials: {', '.join(playing) or 'comparing'}")
        done = elapsed

    return show
