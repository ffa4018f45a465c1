"""From a table to a service: an agent for its rows, decisions by id with late rewards, a crash, and back again.

The table is made up here; `showdown recommend FILE` chooses the policy for one of yours, and
`Agent.recommended("recommendation/agent.json")` makes the agent.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from showdown.agent import Agent
from showdown.policies import policies
from showdown.problems import table


def customers(rows: int, seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    age, region = draw.integers(18, 80, rows), draw.choice(["north", "south", "east"], rows)
    bought = np.where(age + 20 * (region == "south") > 55, "plus", "basic")
    return pd.DataFrame({"age": age, "region": region, "bought": bought})


def main(steps: int = 1000) -> float:
    """The share of right decisions in the last half."""
    problem = table(customers(300, seed=0), label="bought")
    stream = customers(steps, seed=1)
    right, waiting = [], []
    with TemporaryDirectory() as folder:
        saved, journal = Path(folder) / "agent.npz", Path(folder) / "journal"
        agent = Agent.for_table(problem, policies.get("LinFullPost"), journal=journal)
        agent.warm()
        for step, row in enumerate(stream.to_dict("records")):
            answer = row.pop("bought")
            decision = agent.decide(row)  # a dict in, a name and a propensity out
            right.append(decision.name == answer)
            waiting.append((decision.id, float(right[-1])))
            if len(waiting) > 5:  # rewards come five decisions late
                agent.learn(*waiting.pop(0))
            if step == steps // 4:
                agent.save(saved)
            if step == steps // 2:  # the process dies here, long after the save: the journal knows the rest
                agent = Agent.load(saved, journal=journal)
        counts = agent.counts()
        agent.close()
    share = float(np.mean(right[steps // 2 :]))
    print(f"{counts['decisions']} decisions, {counts['observations']} rewards, {share:.0%} right in the last half")
    return share


if __name__ == "__main__":
    main()
