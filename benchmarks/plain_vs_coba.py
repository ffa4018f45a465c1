"""Steps per second of plain Python policies: showdown's slow path beside coba, on the same work, in one run.

Runs in an environment that has both (`pip install coba` beside showdown): `python benchmarks/plain_vs_coba.py`. The
work is a coba environment of linear rewards, shuffled for each of some trials; the learners are coba's own and one in
NumPy, which is the same code on both sides. Both sides read the environment before the clock starts, and play in one
process, in turns; the median of the rounds is printed, as JSON. Compiling the problem's part is not counted.
"""

from __future__ import annotations

import json
import os
import statistics
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import coba
import numpy as np

from showdown.plain import as_policy, as_problem
from showdown.play.simulate import simulate

STEPS, TRIALS, ROUNDS, ACTIONS, DIM = 2000, 4, 5, 5, 10


class Greedy:
    """Stochastic gradient steps on a linear model per action, with ε-greedy."""

    epsilon, rate = 0.1, 0.02

    def begin(self, num_actions: int, context_dim: int, rng: np.random.Generator) -> None:
        self.rng, self.weights = rng, np.zeros((num_actions, context_dim))

    def choose(self, context: np.ndarray) -> int:
        if self.rng.random() < self.epsilon:
            return int(self.rng.integers(len(self.weights)))
        return int((self.weights @ context).argmax())

    def learn(self, context: np.ndarray, action: int, reward: float) -> None:
        self.weights[action] += self.rate * (reward - self.weights[action] @ context) * context


class GreedyInCoba(coba.Learner):
    """The same as a learner of coba."""

    def __init__(self) -> None:
        self.inner: Greedy | None = None

    @property
    def params(self) -> dict[str, str]:
        return {"family": "NumPy"}

    def predict(self, context, actions):
        if self.inner is None:
            self.inner = Greedy()
            self.inner.begin(len(actions), len(context), np.random.default_rng(0))
        return actions[self.inner.choose(np.asarray(context, np.float32))], 1.0

    def learn(self, context, action, reward, probability, **kwargs) -> None:
        self.inner.learn(np.asarray(context, np.float32), action.index(1), reward)


LEARNERS = {
    "Random": (lambda: coba.RandomLearner(), None),
    "LinUCB of coba": (lambda: coba.LinUCBLearner(features=["a", "ax"]), None),
    "ε-greedy in NumPy": (GreedyInCoba, Greedy),
}


def in_coba(environments, learner) -> float:
    began = time.perf_counter()
    result = coba.Experiment(environments, learner()).run(quiet=True)
    took = time.perf_counter() - began
    assert len(result.interactions) == STEPS * TRIALS
    return STEPS * TRIALS / took


def main() -> None:
    base = coba.Environments.from_linear_synthetic(
        STEPS, n_actions=ACTIONS, n_context_features=DIM, n_action_features=0, seed=1
    ).materialize()
    shuffled = base.shuffle(n=TRIALS).materialize()
    problem = as_problem(base, horizon=STEPS)
    found = {}
    for name, (theirs, ours) in LEARNERS.items():
        policy = as_policy((ours or theirs)())
        simulate(policy, problem, trials=TRIALS)  # compiles the problem's part
        rates: dict[str, list[float]] = {"coba": [], "showdown": []}
        for _ in range(ROUNDS):
            rates["coba"].append(in_coba(shuffled, theirs))
            began = time.perf_counter()
            simulate(policy, problem, trials=TRIALS)
            rates["showdown"].append(STEPS * TRIALS / (time.perf_counter() - began))
        ratios = [mine / other for mine, other in zip(rates["showdown"], rates["coba"], strict=True)]
        found[name] = {side: round(statistics.median(each)) for side, each in rates.items()}
        found[name]["ratio"] = [round(ratio, 2) for ratio in (statistics.median(ratios), min(ratios), max(ratios))]
    about = {"steps": STEPS, "trials": TRIALS, "rounds": ROUNDS, "actions": ACTIONS, "context": DIM}
    print(
        json.dumps({"about": about, "coba": coba.__version__, "steps per second": found}, indent=1, ensure_ascii=False)
    )


if __name__ == "__main__":
    main()
