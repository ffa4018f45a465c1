"""Requests to this very agent, made of its own columns, actions and address: lines that can be pasted into a shell."""

from __future__ import annotations

import json
import shlex
from typing import Any

from showdown.agent import Agent
from showdown.data.column_rules import NumberRule

DIGITS = 4


def row_of(agent: Agent) -> Any:
    """A usual context: medians and the first category of each column, by name; zeros where there was no table."""
    if agent.encoder is None:
        return [0.0] * agent.spec.context_dim
    return {rule.name: _usual(rule) for rule in agent.encoder.rules}


def _usual(rule: Any) -> Any:
    if not isinstance(rule, NumberRule):
        return rule.categories[0] if rule.categories else None
    if rule.first or rule.writing:  # a date, or a number that was written in some other way
        return rule.first or None
    return float(f"{rule.median:.{DIGITS}g}")


def features_of(agent: Agent) -> Any:
    """Usual features of an action; None where actions have none."""
    if not agent.spec.action_dim:
        return None
    if agent.encoder is None or agent.encoder.of_actions is None:
        return [0.0] * agent.spec.action_dim
    return {rule.name: _usual(rule) for rule in agent.encoder.of_actions.rules}


def commands(agent: Agent, address: str) -> str:
    """What to type to be told an action, to reward it, and to teach what others did."""
    context, features, names = row_of(agent), features_of(agent), agent.actions
    asked, taught = {"context": context}, {"context": context, "action": names[0], "reward": 1.0}
    if features is not None:
        asked["actions"] = {str(name): features for name in names[:2]}
        taught["features"] = features
    chosen = _curl(address, "/choose", shlex.quote(json.dumps(asked, ensure_ascii=False)))
    rewarded = _curl(address, "/learn", '"{\\"id\\": \\"$ID\\", \\"reward\\": 1.0}"')
    return "\n".join(
        [
            "export TOKEN=…   # printed when the server was started",
            "",
            "# an action for a context, with the id of the decision",
            chosen,
            "# the same, and what it paid",
            f'ID=$({chosen} | sed \'s/.*"id": *"\\([^"]*\\)".*/\\1/\')',
            rewarded,
            "# what an action paid that somebody else has taken",
            _curl(address, "/learn", shlex.quote(json.dumps(taught, ensure_ascii=False))),
        ]
    )


def _curl(address: str, path: str, body: str) -> str:
    headers = '-H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json"'
    return f"curl -s {address}{path} {headers} \\\n     -d {body}"
