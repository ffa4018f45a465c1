"""What policies would have earned on a log: all estimators that the log allows, and sentences on what it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Unpack

import numpy as np

from showdown.basics.errors import DivergedError, UsageError
from showdown.logged.checks import FEW, HOPELESS, log_messages, replay_messages, weight_messages
from showdown.logged.estimators import (
    direct_method,
    doubly_robust,
    effective_rows,
    fit_rewards,
    ips,
    mean_of,
    snips,
    weights,
)
from showdown.logged.live_through import learn, replay_value
from showdown.logged.log import Log
from showdown.logged.own_model import predicted_by
from showdown.logged.read_log import LogOptions, read_log
from showdown.logged.report import Evaluation, Row
from showdown.logged.targets import Target, act_probabilities, default_names, targets_of
from showdown.protocol.keys import named_key, role_key
from showdown.protocol.policy import Policy

DRAWS = 64  # of a frozen policy's action at each row; more make its estimates vary less, none makes them biased


def evaluate(
    policy: Any = None,
    log: Any = None,
    *,
    level: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
    reward_model: Any = None,
    **columns: Unpack[LogOptions],
) -> Evaluation:
    """The value of one policy or several on a log.

    `policy` is a name (a preset, `uniform`, `always ACTION`), a policy, an array of probabilities (rows, num_actions),
    a function of contexts that gives one, or a list or mapping of these; a text may name several: `uniform,RMS`. `log`
    is a `Log`, or a file, a DataFrame or arrays; `columns` then say what is what, as in `read_log`: action, reward,
    propensity, time, available, ignore and others.

    `reward_model` is a regressor of scikit-learn's kind (`fit`, `predict`) for the direct method and doubly robust,
    instead of a ridge regression per action; see `own_model.py`.

    A learning policy gets two kinds of value: `learning`, what it earns while it learns from nothing (replay), and
    `frozen`, what it earns after training on one half of the log, estimated on the other.
    """
    if not 0 < level < 1:
        raise UsageError(f"the level of an interval lies between 0 and 1, not {level}")
    if not isinstance(log, Log):
        if log is None:
            raise UsageError("evaluate needs a log: a file, a DataFrame or a Log")
        log = read_log(log, **columns)
    elif columns:
        raise UsageError(f"{min(columns)} goes with a file or a DataFrame, not with a Log")
    targets = targets_of(default_names(log) if policy is None else policy, log)
    messages, rows, model = log_messages(log), [], None
    for target in targets:
        if target.probabilities is not None:
            model = model or _modelled(log, reward_model, seed)
            found, said = _fixed(target.name, "fixed", log, target.probabilities, model, level, seed)
        else:
            assert target.policy is not None
            found, said = _learning(target, target.policy, log, level, seed, draws, reward_model)
        rows += found
        messages += said
    spread = None if log.propensities is None else (float(log.propensities.min()), float(log.propensities.max()))
    return Evaluation(
        rows=log.rows,
        actions=dict(zip(log.action_names, np.bincount(log.actions, minlength=log.num_actions).tolist(), strict=True)),
        context_dim=log.spec.context_dim,
        propensities=spread,
        level=level,
        logged=mean_of(log.rewards, log.rows, level),
        estimates=tuple(rows),
        messages=tuple(dict.fromkeys(messages)),
    )


class _Model(NamedTuple):
    """What rewards are predicted with."""

    predicted: np.ndarray  # (rows, num_actions)
    contributions: Callable[[np.ndarray], np.ndarray | float]  # see `direct_method`


def _modelled(log: Log, reward_model: Any, seed: int) -> _Model:
    if reward_model is not None:
        return _Model(predicted_by(reward_model, log, seed), lambda target: 0.0)
    own = fit_rewards(log, seed)
    return _Model(own.predicted, own.contributions)


def _fixed(
    name: str, kind: str, log: Log, target: np.ndarray, model: _Model, level: float, seed: int
) -> tuple[list[Row], list[str]]:
    """A policy given by probabilities: everything but replay."""
    direct = direct_method(target, model.predicted, fitted=model.contributions(target), level=level)
    if log.propensities is None:
        return [Row(name, kind, "direct method", log.rows, direct)], []
    weight = weights(log.actions, log.propensities, target)
    messages = weight_messages(f"{name} ({kind})", weight, log.rewards)
    guess = Row(name, kind, "direct method", log.rows, direct, bool(messages))
    if effective_rows(weight) < HOPELESS:
        return [guess], messages
    data = log.rewards, log.actions, log.propensities, target
    weighted = {
        "IPS": ips(*data, level=level),
        "SNIPS": snips(*data, level=level, seed=seed),
        "doubly robust": doubly_robust(*data, model.predicted, level=level),
    }
    found = [Row(name, kind, by, log.rows, estimate, bool(messages)) for by, estimate in weighted.items()]
    return [*found[:2], guess, found[2]], messages


def _learning(
    target: Target, policy: Policy, log: Log, level: float, seed: int, draws: int, reward_model: Any
) -> tuple[list[Row], list[str]]:
    """A policy that learns: replay of the whole log, then trained on one half and evaluated on the other."""
    name, key = target.name, named_key(seed, "log", target.name)
    try:
        value, matches = replay_value(policy, log, key, seed, level)
        rows, messages = [], replay_messages(f"{name} (learning)", matches, log.rows)
        if matches >= HOPELESS:
            rows.append(Row(name, "learning", "replay", matches, value, matches < FEW))
        training, rest = halves(log, seed)
        trained = learn(policy, training, key)
    except DivergedError as error:
        return [], [f"{name}: {error}."]
    draw = role_key(key, "draws")
    chances = act_probabilities(policy, draw, trained.state, rest, trained.step, draws)
    found, said = _fixed(name, "frozen", rest, chances, _modelled(rest, reward_model, seed), level, seed)
    return [*rows, *found], [*messages, *said]


def halves(log: Log, seed: int) -> tuple[Log, Log]:
    """One half to train on and one to evaluate: the earlier and the later where the time is known, else at random."""
    if log.rows < 2:
        raise UsageError("a log of one row has no halves to train and evaluate on")
    order = np.arange(log.rows) if log.timed else np.random.default_rng(seed).permutation(log.rows)
    middle = log.rows // 2
    return log.take(np.sort(order[:middle])), log.take(np.sort(order[middle:]))
