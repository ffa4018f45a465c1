"""A problem in plain Python: an object of the user's, known by its name and by the fingerprint of what it does.

`showdown.plain.as_problem` makes one. Its trials are drawn on the host before they are played; from there on it is a
problem like any other, so compiled policies play it at their full speed, and wrappers go around it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import Any, ClassVar

import jax
import numpy as np

from showdown.basics.errors import UsageError
from showdown.config import at_least, config, param, required
from showdown.config.handed import Handed, known
from showdown.protocol.in_python import Drawn, generator
from showdown.protocol.problem import Problem, ProblemSpec, Round, Tables

KEPT_BYTES = 256 << 20  # of trials that were drawn, for the next policy


class _Trials:
    """The trials that were drawn last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, Drawn] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, name: Any) -> Drawn | None:
        with self._lock:
            return self._kept.get(name)

    def put(self, name: Any, drawn: Drawn) -> None:
        with self._lock:
            if name in self._kept:
                return
            self._kept[name] = drawn
            self._bytes += drawn.nbytes
            while self._bytes > KEPT_BYTES and len(self._kept) > 1:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes


_trials = _Trials()


@config
class PlainProblem(Problem):
    """A problem in plain Python, as `showdown.plain.as_problem` makes it."""

    in_python: ClassVar[bool] = True

    name: str = param(required, "the class or the function that draws its rounds")
    settings: str = param("", "how it is set")
    code: str = param("", "the fingerprint of its code and of what it holds")
    context_dim: int = param(required, "numbers of a context", at_least(0))
    num_actions: int = param(required, "actions", at_least(1))
    action_dim: int = param(0, "features of each action", at_least(0))
    masked: bool = param(False, "whether a round says which actions are available")
    rows: int | None = param(None, "the most steps that a trial can have; none: no limit", identity=False)
    horizon: int = param(1000, "steps of one trial", at_least(1))
    handed: Any = param(None, "the object itself", written=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "handed", known(self.code, self.handed))

    def check(self) -> None:
        super().check()
        if not isinstance(self.handed, Handed):
            raise UsageError(f"{self.name} is plain Python that is not loaded here: --load the file that registers it")
        if self.rows is not None and self.horizon > self.rows:
            raise UsageError(f"{self.name} has {self.rows:,} rounds, and a trial of {self.horizon:,} was asked for")

    @property
    def called(self) -> str:
        """What it is called in tables: the class or function, without the module."""
        return self.name.rpartition(".")[2]

    def __repr__(self) -> str:
        return f"{self.called}({self.settings})" if self.settings else self.called

    def spec(self, tables: Tables) -> ProblemSpec:
        return ProblemSpec(self.context_dim, self.num_actions, self.action_dim)

    def longest(self, tables: Tables) -> int | None:
        return self.rows

    @property
    def randomness(self) -> Problem:
        return replace(self, code="")  # an edit changes what is drawn, and not by which random numbers

    def draw_ahead(self, keys: jax.Array) -> None:
        for words in np.asarray(jax.random.key_data(keys)):
            self._drawn(words)

    def begin(self, key: jax.Array, tables: Tables) -> Drawn:
        steps, actions = self.horizon, self.num_actions

        def numbers(*shape: int) -> jax.ShapeDtypeStruct:
            return jax.ShapeDtypeStruct((steps, *shape), np.float32)

        shapes: Any = Drawn(
            numbers(self.context_dim),  # type: ignore[arg-type]
            numbers(actions),  # type: ignore[arg-type]
            numbers(actions),  # type: ignore[arg-type]
            jax.ShapeDtypeStruct((steps, actions), np.bool_) if self.masked else None,  # type: ignore[arg-type]
            numbers(actions, self.action_dim) if self.action_dim else None,  # type: ignore[arg-type]
        )
        # it finds there what `draw_ahead` has drawn
        found: Drawn = jax.pure_callback(self._drawn, shapes, jax.random.key_data(key), vmap_method="sequential")
        return found

    def round(self, step: jax.Array, episode: Drawn, tables: Tables) -> Round:
        return Round(*(None if part is None else part[step] for part in episode))  # type: ignore[arg-type]

    def context(self, step: jax.Array, episode: Drawn, tables: Tables) -> jax.Array:
        return episode.contexts[step]

    def _drawn(self, words: Any) -> Drawn:
        """The trial of a key, drawn now or before."""
        words = np.asarray(words)
        name = self.code, words.tobytes(), self.horizon
        drawn = _trials.get(name)
        if drawn is None:
            self.check()
            drawn = self.handed.value.draw(generator(words), self.horizon)
            _trials.put(name, drawn)
        return drawn
