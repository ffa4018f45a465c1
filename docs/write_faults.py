"""Write docs/faults.md: every bad call of an agent and what it gives, from the calls themselves: `make docs`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from showdown.agent import Agent
from showdown.basics.errors import ShowdownError
from showdown.policies import policies
from showdown.problems import table

PAGE = Path(__file__).parent / "faults.md"

HEAD = """# Bad calls of an agent, and what they give

Written by `make docs` from the calls themselves; a test compares. After each of them the agent is as it was before, and
goes on. `agent` takes contexts of 2 numbers and has 3 actions; `shop` was made by `Agent.for_table` of a table with the
columns `age` and `region` and the actions `basic` and `plus`. Errors are `UsageError`, or a kind of it.
"""


def agents() -> tuple[Agent, Agent]:
    frame = pd.DataFrame(
        {
            "age": np.arange(40) % 37 + 18.5,
            "region": ["north", "south", "south", "north", "east"] * 8,
            "bought": ["plus", "basic"] * 20,
        }
    )
    linear = policies.get("LinFullPost")
    return Agent(linear, context_dim=2, num_actions=3), Agent.for_table(table(frame, label="bought"), linear)


def calls(agent: Agent, shop: Agent) -> dict[str, Callable[[], Any]]:
    """By how they are written."""
    good = [0.5, -1.0]
    row = {"age": 41, "region": "north"}
    return {
        "agent.choose([0.5])": lambda: agent.choose([0.5]),
        "agent.choose([0.5, nan])": lambda: agent.choose([0.5, float("nan")]),
        "agent.choose([0.5, 1e39])": lambda: agent.choose([0.5, 1e39]),
        "agent.choose([0.5, 1e20])": lambda: agent.choose([0.5, 1e20]),
        'agent.choose(["0.5", "1"])': lambda: agent.choose(["0.5", "1"]),
        "agent.choose([True, False])": lambda: agent.choose([True, False]),
        "agent.choose(None)": lambda: agent.choose(None),
        'agent.choose({"age": 41})': lambda: agent.choose({"age": 41}),
        "agent.choose(good, available=[])": lambda: agent.choose(good, available=[]),
        "agent.choose(good, available=[3])": lambda: agent.choose(good, available=[3]),
        "agent.learn(good, 3, 1.0)": lambda: agent.learn(good, 3, 1.0),
        "agent.learn(good, 1.7, 1.0)": lambda: agent.learn(good, 1.7, 1.0),
        "agent.learn(good, True, 1.0)": lambda: agent.learn(good, True, 1.0),
        "agent.learn(good, None, 1.0)": lambda: agent.learn(good, None, 1.0),
        'agent.learn(good, "plus", 1.0)': lambda: agent.learn(good, "plus", 1.0),
        "agent.learn(good, 1, nan)": lambda: agent.learn(good, 1, float("nan")),
        "agent.learn(good, 1, 1e39)": lambda: agent.learn(good, 1, 1e39),
        "agent.learn(good, 1, None)": lambda: agent.learn(good, 1, None),
        'agent.learn(good, 1, "0.5")': lambda: agent.learn(good, 1, "0.5"),
        "agent.learn(good, 1, True)": lambda: agent.learn(good, 1, True),
        'agent.reward("no-such-id", 1.0)': lambda: agent.reward("no-such-id", 1.0),
        "agent.learn(good, 1, 1e30)": lambda: agent.learn(good, 1, 1e30),
        "agent.learn_many([good], [0, 1], [1.0])": lambda: agent.learn_many([good], [0, 1], [1.0]),
        "agent.learn_many([good], [0], [1.0, 2.0])": lambda: agent.learn_many([good], [0], [1.0, 2.0]),
        "agent.learn_many([good], [0], [nan])": lambda: agent.learn_many([good], [0], [float("nan")]),
        'shop.choose({"age": 41})': lambda: shop.choose({"age": 41}),
        'shop.choose({"age": [41], "region": "north"})': lambda: shop.choose(row | {"age": [41]}),
        "shop.choose([41])": lambda: shop.choose([41]),
        'shop.learn(row, "pluss", 1.0)': lambda: shop.learn(row, "pluss", 1.0),
        "shop.learn(row, 2, 1.0)": lambda: shop.learn(row, 2, 1.0),
        'shop.choose(row, available="plus")': lambda: shop.choose(row, available="plus"),
    }


def outcome(call: Callable[[], Any]) -> str:
    try:
        given = call()
    except ShowdownError as error:
        return f"{type(error).__name__}: {error}"
    return f"`{given}`, and it is counted: the state would not be finite" if given is False else f"`{given!r}`"


def page() -> str:
    rows = [f"| `{written}` | {outcome(call)} |" for written, call in calls(*agents()).items()]
    return "\n".join([HEAD, "| call | what it gives |", "|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
