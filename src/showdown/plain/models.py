"""A scikit-learn classifier or regressor as a policy: one model per action estimates what the action pays.

A regressor estimates the reward, a classifier the probability of a reward of 1 (rewards are then 0 or 1). Where actions
have features there is one model for all of them, of [context, features]. Models with `partial_fit` learn each reward at
once; others are fitted again to all rewards so far, every `refit_every` of them. A decision rule explores (`rules.py`),
or `bootstrap`: each of several models per action learns each reward as often as a Poisson number says, and one of them,
drawn at each step, decides (Eckles and Kaptein 2014). An action without a model yet is taken first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError
from showdown.plain.estimators import for_each
from showdown.plain.own_policy import drawn
from showdown.plain.rules import RULES
from showdown.protocol.in_python import Player
from showdown.protocol.problem import ProblemSpec

BOOTSTRAP, MEMBERS = "bootstrap", 10


@dataclass(frozen=True)
class Models:
    """Begins the trials of a model with a way to explore."""

    model: Any
    explore: str
    amount: float  # the setting of the rule
    members: int  # of a bootstrap
    refit_every: int

    def check(self, spec: ProblemSpec) -> None:
        """Any problem can be played."""

    def begin(self, spec: ProblemSpec, rng: np.random.Generator) -> Player:
        return ModelPlayer(self, spec, rng)


class ModelPlayer:
    """The models of one trial."""

    takes_available = True

    def __init__(self, about: Models, spec: ProblemSpec, rng: np.random.Generator) -> None:
        self.about, self.spec, self.rng = about, spec, rng
        self.members = about.members if about.explore == BOOTSTRAP else 1
        self.models = [for_each(about.model, spec.num_outputs, rng, about.refit_every) for _ in range(self.members)]
        self.everything = np.ones(spec.num_actions, bool)
        self.learned = 0

    def choose(self, context: Any, available: Any = None, features: Any = None) -> int:
        mask = self.everything if available is None else available
        member = int(self.rng.integers(self.members)) if self.members > 1 else 0
        values = self._values(member, context, features)
        if self.about.explore == BOOTSTRAP:
            return int(np.where(mask, values, -np.inf).argmax())
        law = self._law(values, mask)
        return drawn(self.rng, law)

    def probabilities(self, context: Any, available: Any = None, features: Any = None) -> np.ndarray:
        mask = self.everything if available is None else available
        each = [self._law(self._values(member, context, features), mask) for member in range(self.members)]
        law: np.ndarray = np.mean(each, axis=0)
        return law

    def _law(self, values: np.ndarray, mask: np.ndarray) -> np.ndarray:
        unknown = mask & np.isposinf(values)
        if self.about.explore == BOOTSTRAP or unknown.any():
            return RULES["greedy"].law(values, 0, 0.0, mask)
        return RULES[self.about.explore].law(values, self.learned, self.about.amount, mask)

    def _values(self, member: int, context: np.ndarray, features: Any) -> np.ndarray:
        """The estimated value of each action; infinite where its model has seen nothing."""
        models = self.models[member]
        if features is None:
            row = context[None]
            return np.array([model.value(row) for model in models])
        return models[0].values(np.hstack([np.broadcast_to(context, (len(features), len(context))), features]))

    def learn(self, context: np.ndarray, action: int, reward: float, features: Any = None) -> None:
        self.learned += 1
        row = context if features is None else np.concatenate([context, features[action]])
        times = self.rng.poisson(1.0, self.members) if self.members > 1 else [1]
        for models, often in zip(self.models, times, strict=True):
            models[0 if features is not None else action].learn(row, reward, int(often))
        if self.learned % self.about.refit_every == 0:
            for model in (each for models in self.models for each in models):
                model.refit()


def models(model: Any, explore: str, refit_every: int | None, members: int, settings: dict[str, float]) -> Models:
    """A model with a way to explore; one sentence where there is none of that name."""
    if explore != BOOTSTRAP and explore not in RULES:
        raise UsageError(f"explore must be one of {', '.join([*RULES, BOOTSTRAP])}, not {explore!r}")
    rule = RULES.get(explore, RULES["greedy"])
    for name in settings:
        if name != rule.setting:
            raise UsageError(f"explore={explore!r} has no setting {name!r}; it has {rule.setting or 'none'}")
    amount = settings.get(rule.setting, rule.default)
    least, most = rule.allowed
    if not isinstance(amount, Real) or not least <= amount <= most:
        up_to = f" to {most:g}" if most < math.inf else " on"
        raise UsageError(f"{rule.setting} must be a number from {least:g}{up_to}, not {amount!r}")
    if explore != BOOTSTRAP and members != MEMBERS:
        raise UsageError(f"explore={explore!r} has one model per action: members is for explore={BOOTSTRAP!r}")
    if refit_every is None:
        refit_every = 1 if hasattr(model, "partial_fit") else 100
    for name, count in (("refit_every", refit_every), ("members", members)):
        if type(count) is not int or count < 1:
            raise UsageError(f"{name} must be a whole number of at least 1, not {count!r}")
    return Models(model, explore, float(amount), members, refit_every)
