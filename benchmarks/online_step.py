"""What one online step costs each family published since 2018: choose and learn of an agent, beside NeuralLinear.

    python benchmarks/online_step.py [NAMES]   # as a table in Markdown; NAMES are policies, with a comma between them

20 features, 10 actions, 500 steps in one thread, one policy after another in this process, trainings not in the
background. Milliseconds are of processor time, so that other jobs on the machine count less; of steps 201 to 500 the
median, and the mean, which has the trainings. NeuralLinear is played first and last: its two rows say how far a ratio
can be trusted. Memory is what an agent's state holds, and what each row of its past adds.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import jax
import numpy as np

from showdown.agent import Agent, compute_in_one_thread
from showdown.policies import policies

DIM, ACTIONS, STEPS, SKIPPED = 20, 10, 500, 200
BASE = "NeuralLinear"
FAMILIES = (
    *("LinFullPost", "LinUCB", "LinSquareCB", "LinIDS", "LinSampledIDS", "Rich-BLL", "Rich-BLL-Net"),
    *("Evidence", "Evidence-Net", "Evidence-Linear", "VBLL", "VBLL-Continual", "VBLL-Net"),
    *("NeuralTS", "NeuralTS-Net", "NeuralTS-Joint", "NeuralUCB-Net", "HiLoFi", "HiLoFi-Net", "LRKF", "LRKF-Net"),
    *("SAU", "SAU-Net", "Ensemble+-Net", "Ensemble++", "Ensemble++-Net", "Epinet-Net", "NPR-Net", "EVILL-Net"),
    *("LMC-TS-Net", "FG-LMC-TS-Net", "LU-Gauss", "Ensemble+"),
)


class Step(NamedTuple):
    median: float  # milliseconds
    mean: float
    slowest: float
    state: int  # bytes
    row: int  # bytes of the past for each reward; 0: none is kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="?", default=",".join(FAMILIES), help="names, with a comma between them")
    names = [name for name in parser.parse_args().policies.split(",") if name != BASE]
    compute_in_one_thread()
    print("| | median | × | mean | × | slowest | state | a row |\n|---|---|---|---|---|---|---|---|")
    base = played(BASE)
    print(line(BASE, base, base), flush=True)
    for name in (*names, BASE) if len(names) > 2 else names:
        print(line(name, played(name), base), flush=True)


def line(name: str, step: Step, base: Step) -> str:
    times = f"{step.median:.2f} ms | {step.median / base.median:.1f} | {step.mean:.2f} ms | {step.mean / base.mean:.1f}"
    row = f"{step.row} B" if step.row else "none kept"
    return f"| {name} | {times} | {step.slowest:.0f} ms | {step.state / 1e6:.2f} MB | {row} |"


def played(name: str) -> Step:
    """One agent's steps on linear rewards with noise."""
    draw = np.random.default_rng(0)
    weights = draw.normal(size=(ACTIONS, DIM))
    contexts = draw.normal(size=(STEPS, DIM)).astype(np.float32)
    rewards = contexts @ weights.T + draw.normal(size=(STEPS, ACTIONS))
    agent = Agent(policies.get(name), num_actions=ACTIONS, context_dim=DIM)
    spent = np.zeros(STEPS)
    for number, context in enumerate(contexts):
        begun = time.process_time()
        action = agent.choose(context)
        agent.learn(context, action, rewards[number, action])
        spent[number] = time.process_time() - begun
    late = 1e3 * spent[SKIPPED:]
    state = sum(leaf.nbytes for leaf in jax.tree.leaves(agent._state))
    row = 4 * (DIM + 2) if agent.policy.refit_every else 0
    return Step(float(np.median(late)), float(late.mean()), float(late.max()), state, row)


if __name__ == "__main__":
    main()
