"""When a log cannot answer, or not well: each check gives sentences for a person, none where all is well.

Most rest on one fact: where propensities are right and the log sometimes took every action that a policy would take,
the weights w = target probability / propensity have mean 1.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2, chisquare

from showdown.logged.estimators import effective_rows
from showdown.logged.log import Log

FEW = 100  # effective rows, or matches, below which an interval is not to be trusted
HOPELESS = 10  # below which there is no estimate at all
CLEARLY = 4.0  # standard errors; by chance alone 1 log in 16,000 is that far off
UNLIKELY = 1e-4
SHOWN_ACTIONS = 3  # of those with wrong propensities
RARE = 10  # rows that must pay something else than the usual for an interval to mean much


def log_messages(log: Log) -> list[str]:
    """What is wrong with the log itself."""
    found = list(log.notes)
    if log.rows_left_out:
        found.append(f"{log.rows_left_out:,} rows without an action are left out.")
    if log.propensities is None:
        found.append(
            "The log has no propensities, so IPS, SNIPS and the doubly robust estimator are not possible. Replay "
            "assumes that the logged actions were drawn uniformly at random; the direct method assumes that its "
            "regression is right."
        )
        return found + _not_uniform(log)
    if (log.propensities == 1).all():
        return [
            *found,
            "Every propensity is 1: the logging policy never explored. The log cannot say what other actions would "
            "have paid where it took one; only the direct method guesses, by extrapolation.",
        ]
    return found + _wrong_propensities(log)


def _not_uniform(log: Log) -> list[str]:
    """Whether the actions themselves contradict that they were drawn uniformly."""
    if log.available is not None:
        return []
    counts = np.bincount(log.actions, minlength=log.num_actions)
    if chisquare(counts).pvalue < UNLIKELY:
        most = int(counts.argmax())
        return [
            f"But they were not: {log.action_names[most]!r} was taken in {counts[most] / log.rows:.0%} of the rows. "
            "Replay is then biased wherever the choice depended on the context."
        ]
    if _dependence(log) < UNLIKELY:
        return ["But they were not: they depend on the context. Replay is then biased; log propensities."]
    return []


def _dependence(log: Log) -> float:
    """The p-value of "the actions do not depend on the context", by Pillai's trace."""
    seen = np.eye(log.num_actions)[log.actions][:, :-1]
    seen, contexts = seen - seen.mean(axis=0), log.contexts - log.contexts.mean(axis=0)
    explained = contexts @ np.linalg.lstsq(contexts, seen, rcond=None)[0]
    trace = np.trace(np.linalg.lstsq(seen.T @ seen, explained.T @ explained, rcond=None)[0])
    return float(chi2.sf(log.rows * trace, np.linalg.matrix_rank(contexts) * seen.shape[1]))


def _wrong_propensities(log: Log) -> list[str]:
    assert log.propensities is not None
    found = []
    for action, name in enumerate(log.action_names):
        seen, share = log.actions == action, log.allowed[:, action].mean()
        taken = seen / log.propensities - log.allowed[:, action]  # mean 0
        off, error = taken.mean(), taken.std() / np.sqrt(log.rows)
        if off < 0 and seen.any():  # what was seldom taken varies little in this log, but not from log to log
            usual = 1 / log.propensities[seen]
            error = max(error, np.sqrt(share * (usual.mean() - 1) / log.rows))
        if off > CLEARLY * error:
            found.append(
                f"The propensities of {name!r} are too small: weighted by them, it was taken {1 + off / share:.3g} "
                "times as often as is possible. They are not the probabilities with which it was taken."
            )
        elif off < -CLEARLY * error and -off > 0.02 * share:
            found.append(
                f"{name!r} was never taken in about {-off / share:.0%} of the rows, or its propensities are too large: "
                "the log says nothing about it there."
            )
    more = len(found) - SHOWN_ACTIONS
    return found if more <= 0 else [*found[:SHOWN_ACTIONS], f"The same holds for {more} more actions."]


def weight_messages(name: str, weight: np.ndarray, rewards: np.ndarray) -> list[str]:
    """What the weights of a fixed policy say about its overlap with the log, and its rewards about the intervals."""
    rows = len(weight)
    mean, error, effective = weight.mean(), weight.std() / np.sqrt(rows), effective_rows(weight)
    if effective < HOPELESS and effective < rows / 4:
        return [
            f"{name}: no overlap. The log took almost nothing of what this policy would do ({effective:.1f} effective "
            f"rows of {rows:,}); only the direct method guesses, by extrapolation."
        ]
    found = []
    if mean < 1 - CLEARLY * error and mean < 0.98:
        found.append(
            f"{name}: in about {1 - mean:.0%} of its decisions this policy does what the log never did there, so IPS "
            "and doubly robust leave them out."
        )
    elif mean > 1 + CLEARLY * error:
        found.append(f"{name}: its weights have mean {mean:.3g} and should have 1: the propensities are too small.")
    if effective < FEW:
        found.append(
            f"{name}: only {effective:.0f} effective rows of {rows:,}, too few to trust an interval: "
            + ("the log is short." if rows < 2 * FEW else "this policy differs much from the one that made the log.")
        )
    amounts, times = np.unique(rewards[weight > 0], return_counts=True)
    unusual = int(times.sum() - times.max())
    if unusual < RARE:
        found.append(
            f"{name}: of the rows that count, {unusual} paid anything but {amounts[times.argmax()]:g}, too few to "
            "trust an interval."
        )
    return found


def replay_messages(name: str, matches: int, rows: int) -> list[str]:
    if matches >= FEW:
        return []
    return [
        f"{name}: its choice agreed with the log in {matches} of {rows:,} rows only, too few to say what it would earn "
        "when it learns."
    ]
