"""`as_policy`: what a user has, as a policy."""

from __future__ import annotations

import copy
import inspect
from typing import Any

from showdown.basics.errors import UsageError
from showdown.config.handed import Handed, describe, qualified, settings
from showdown.plain import libraries
from showdown.plain.models import MEMBERS, models
from showdown.plain.own_policy import OwnPolicy
from showdown.plain.signatures import needed
from showdown.policies.plain import PlainPolicy
from showdown.protocol.policy import Policy

ACCEPTED = (
    "an object with `choose(context)` and `learn(context, action, reward)`, a scikit-learn classifier or regressor, a "
    "function of a context, a learner of coba, MABWiser or contextualbandits, or options of Vowpal Wabbit"
)


def as_policy(
    value: Any,
    *,
    explore: str = "epsilon-greedy",
    refit_every: int | None = None,
    members: int = MEMBERS,
    **amount: float,
) -> Policy:
    """A policy of an object, a class, a function or a model of yours; what is a policy already comes back as it is.

    `explore`, `refit_every` and `members` are for scikit-learn models. A rule's setting goes by its name: `epsilon`
    (0.1), `temperature` (0.1), `sharpness` (10). A model without `partial_fit` is fitted again every `refit_every`
    rewards (100). A learner of coba, MABWiser or contextualbandits explores by itself; so does Vowpal Wabbit, which is
    named by its options: "--cb_explore_adf --squarecb".
    """
    if isinstance(value, Policy):
        return value
    made = _instance(value)
    asked = {
        "explore": explore != "epsilon-greedy",
        "refit_every": refit_every is not None,
        "members": members != MEMBERS,
    }
    unused = [*(name for name, is_said in asked.items() if is_said), *amount]
    plays: Any = None if _is_model(made) or hasattr(made, "choose") else libraries.plays(made, refit_every)
    if plays is not None:
        _refuse(made, [name for name in unused if name != "refit_every" or not hasattr(plays, "refit_every")])
        how = getattr(plays, "options", None) or settings(made)
    elif _is_model(made):
        plays = models(made, explore, refit_every, members, amount)
        counts = {"refit_every": refit_every, "members": members if asked["members"] else None}
        given = {**amount, **{name: count for name, count in counts.items() if count is not None}}
        said = [f"{name}={value!r}" for name, value in {"explore": explore, **given}.items()]
        how = ", ".join(filter(None, [settings(made), *said]))
    elif hasattr(made, "choose") or hasattr(made, "probabilities") or _is_rule(made):
        _refuse(made, unused)
        plays, how = OwnPolicy(copy.deepcopy(made)), settings(made)
    else:
        raise UsageError(f"{describe(value)} is no policy: it must be {ACCEPTED}")
    handed = Handed(plays)
    name = "VowpalWabbit" if isinstance(made, str) else qualified(made)
    return PlainPolicy(name=name, settings=how, code=handed.code, handed=handed)


def _refuse(made: Any, unused: list[str]) -> None:
    if unused:
        raise UsageError(f"{describe(made)} decides itself: {unused[0]} is for scikit-learn models")


def _instance(value: Any) -> Any:
    """An object of a class; anything else as it is."""
    if not inspect.isclass(value):
        return value
    if needed(value) > 0:
        raise UsageError(f"{value.__name__} is a class that needs arguments: hand in an object of it")
    return value()


def _is_model(value: Any) -> bool:
    fits = hasattr(value, "partial_fit") or hasattr(value, "fit")
    return fits and hasattr(value, "predict") and hasattr(value, "get_params")


def _is_rule(value: Any) -> bool:
    return inspect.isroutine(value) and needed(value, besides=("available", "features")) == 1
