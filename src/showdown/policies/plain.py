"""A policy in plain Python: an object of the user's, known by its name and by the fingerprint of what it does.

`showdown.plain.as_policy` makes one. It is no program: it decides step by step (`play/in_python.py`), which is slower
by orders of magnitude, and it plays the same trials as compiled policies.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import jax
import numpy as np

from showdown.basics.errors import UsageError
from showdown.config import config, param, required
from showdown.config.handed import Handed, known
from showdown.protocol.in_python import Player, PlaysTrials
from showdown.protocol.policy import Policy, State
from showdown.protocol.problem import ProblemSpec
from showdown.protocol.situation import Situation
from showdown.protocol.work import Work

STEPS_FOR_ONE = 200.0  # of a compiled loop, in the time of one step in Python; a guess for estimates


@config
class PlainPolicy(Policy):
    """A policy in plain Python, as `showdown.plain.as_policy` makes it."""

    in_python: ClassVar[bool] = True
    sees_action_features: ClassVar[bool] = True  # whether this one does is asked of the object

    name: str = param(required, "the class or the function that decides")
    settings: str = param("", "how it is set")
    code: str = param("", "the fingerprint of its code and of what it holds")
    handed: Any = param(None, "the object itself", written=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "handed", known(self.code, self.handed))

    def check(self) -> None:
        super().check()
        if not isinstance(self.handed, Handed):
            raise UsageError(f"{self.name} is plain Python that is not loaded here: --load the file that registers it")

    @property
    def called(self) -> str:
        """What it is called in tables: the class or function, without the module."""
        return self.name.rpartition(".")[2]

    def __repr__(self) -> str:
        return f"{self.called}({self.settings})" if self.settings else self.called

    def check_problem(self, spec: ProblemSpec) -> None:
        self.plays.check(spec)

    @property
    def plays(self) -> PlaysTrials:
        """What begins its trials."""
        self.check()
        found: PlaysTrials = self.handed.value
        return found

    def player(self, spec: ProblemSpec, rng: np.random.Generator) -> Player:
        """The policy before the first step of a trial."""
        return self.plays.begin(spec, rng)

    def init(self, key: jax.Array, spec: ProblemSpec) -> State:
        return ()  # what it learns is in the object

    def act(self, key: jax.Array, state: State, situation: Situation) -> NoReturn:
        raise UsageError(f"{self.name} is plain Python and cannot be part of a compiled program")

    def work(self, spec: ProblemSpec, horizon: int) -> Work:
        return Work("linear", STEPS_FOR_ONE * horizon, 0.0)
