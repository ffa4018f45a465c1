"""What an agent earns at first when a table has taught it, beside one that starts from nothing.

    python benchmarks/warm_start.py FILE LABEL [--policies LinFullPost] [--decisions 1500] [--orders 5]

The rows are divided at random. The table that teaches is one part; the decisions are about rows of the rest, which no
agent has seen. Both agents meet the same rows in the same order and learn from every reward: 1 for the right class.
"""

from __future__ import annotations

import argparse

import numpy as np

from showdown.agent import Agent
from showdown.data.read_table import read_table
from showdown.policies import policies
from showdown.problems import table


def right(agent: Agent, rows: list[dict], labels: list[str]) -> float:
    """The share of right answers."""
    taken = 0
    for row, label in zip(rows, labels, strict=True):
        decision = agent.decide(row)
        agent.reward(decision.id, float(decision.name == label))
        taken += decision.name == label
    return taken / len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("label")
    parser.add_argument("--policies", default="LinFullPost")
    parser.add_argument("--decisions", type=int, default=1500)
    parser.add_argument("--orders", type=int, default=5)
    asked = parser.parse_args()
    frame = read_table(asked.file).table
    label = asked.label if asked.label in frame.columns else frame.columns[int(asked.label)]
    print(
        f"share of right answers over the first {asked.decisions} decisions, ± standard error of {asked.orders} orders"
    )
    print("| policy | rows that taught | from nothing | taught |\n|---|---|---|---|")
    for name in asked.policies.split(","):
        found = []
        for seed in range(asked.orders):
            order = np.random.default_rng(seed).permutation(len(frame))
            before, later = frame.iloc[order[asked.decisions :]], frame.iloc[order[: asked.decisions]]
            problem = table(before.reset_index(drop=True), label=label)
            rows, labels = later.to_dict("records"), later[label].astype(str).tolist()
            agents = [Agent.for_table(problem, policies.get(name), seed=seed) for _ in range(2)]
            agents[1].learn_table(problem)
            found.append([right(agent, rows, labels) for agent in agents])
        shares = np.array(found)
        means, errors = shares.mean(axis=0), shares.std(axis=0, ddof=1) / len(shares) ** 0.5
        cells = [f"{100 * mean:.1f} % ± {100 * error:.1f}" for mean, error in zip(means, errors, strict=True)]
        print(f"| {name} | {len(before):,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
