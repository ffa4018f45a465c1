"""One peer plays the benchmark's rows online, one decision and one update per step, and reports how fast as JSON.

Run by `peers.py` in an interpreter that has the peer: `python peer_worker.py NAME ROWS.npz SECONDS`. The rows hold
`contexts` (rows, 9) and `labels` (rows,); the reward is 1 for naming the label. Linear peers get a constant 1 appended
to the context, as ours does; Vowpal Wabbit adds its own.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np

NUM_ACTIONS = 7
PULLS = 3  # of each action in turn before the policy decides, as in ours
WINDOW = 0.5  # seconds; the fastest window counts, since whatever else the machine does only slows one down
COMPARED_STEPS = 4_350  # rewards are compared over this many first steps, however fast a peer is


class Peer(Protocol):
    def choose(self, row: int) -> int: ...

    def learn(self, row: int, action: int, reward: float) -> None: ...


class NumpyRankOne:
    """The algorithm of LinFullPost in NumPy: covariances by Sherman and Morrison's formula, one scalar t per action."""

    distribution = "numpy"

    def __init__(self, contexts: np.ndarray) -> None:
        self.designs = with_constant(contexts)
        dim = self.designs.shape[1]
        self.means = np.zeros((NUM_ACTIONS, dim))
        self.covariances = np.tile(np.eye(dim) / 0.25, (NUM_ACTIONS, 1, 1))
        self.shapes = np.full(NUM_ACTIONS, 6.0)
        self.rates = np.full(NUM_ACTIONS, 6.0)
        self.generator = np.random.default_rng(0)

    def choose(self, row: int) -> int:
        design = self.designs[row]
        variances = (self.covariances @ design) @ design
        spread = np.sqrt(self.rates / self.shapes * variances)
        return int(np.argmax(self.means @ design + spread * self.generator.standard_t(2 * self.shapes)))

    def learn(self, row: int, action: int, reward: float) -> None:
        design = self.designs[row]
        gain = self.covariances[action] @ design
        scale = 1 + design @ gain
        error = reward - self.means[action] @ design
        self.means[action] += gain * (error / scale)
        self.covariances[action] -= np.outer(gain, gain / scale)
        self.shapes[action] += 0.5
        self.rates[action] += error * error / scale / 2


class MABWiserLinTS:
    """Inverts the played action's matrix at every update, draws every action's coefficients at every decision."""

    distribution = "mabwiser"

    def __init__(self, contexts: np.ndarray) -> None:
        from mabwiser.mab import MAB, LearningPolicy

        self.designs = with_constant(contexts)
        self.mab = MAB(list(range(NUM_ACTIONS)), LearningPolicy.LinTS(alpha=0.5), seed=0)
        self.fit = self.mab.fit  # the first observation starts the model, later ones extend it

    def choose(self, row: int) -> int:
        return self.mab.predict(self.designs[row : row + 1])

    def learn(self, row: int, action: int, reward: float) -> None:
        self.fit([action], [reward], self.designs[row : row + 1])
        self.fit = self.mab.partial_fit


class VowpalWabbit:
    """`--cb_explore_adf --bag 5` over context × action features; texts of contexts are written before the clock runs.

    Without `--ignore_linear c` the features shared by all actions slow its learning.
    """

    distribution = "vowpalwabbit"

    def __init__(self, contexts: np.ndarray) -> None:
        import vowpalwabbit

        options = "--cb_explore_adf --bag 5 -q ca --ignore_linear c --random_seed 1 --quiet"
        self.workspace = vowpalwabbit.Workspace(options)
        self.actions = [f"|a action={action}" for action in range(NUM_ACTIONS)]
        self.unlabelled = "\n".join(self.actions)
        self.shared = [
            "shared |c " + " ".join(f"{name}:{value:.6g}" for name, value in enumerate(context)) + "\n"
            for context in contexts
        ]
        self.generator = np.random.default_rng(0)
        self.probability = 1.0  # of the action last chosen

    def choose(self, row: int) -> int:
        probabilities = self.workspace.predict(self.shared[row] + self.unlabelled)
        cumulative = np.cumsum(probabilities)
        action = int(np.searchsorted(cumulative, self.generator.random() * cumulative[-1]))
        self.probability = probabilities[action]
        return action

    def learn(self, row: int, action: int, reward: float) -> None:
        lines = self.actions.copy()
        lines[action] = f"0:{-reward}:{self.probability} {lines[action]}"
        self.workspace.learn(self.shared[row] + "\n".join(lines))


class PymabOnline:
    """LinearThompsonSamplingPolicy, whose state and arithmetic are Rust, called from Python at every step."""

    distribution = "pymab"

    def __init__(self, contexts: np.ndarray) -> None:
        from pymab.policies import LinearThompsonSamplingPolicy

        designs = with_constant(contexts)
        rows, dim = designs.shape
        self.contexts = np.broadcast_to(designs[:, None], (rows, NUM_ACTIONS, dim))  # it wants one context per action
        self.policy = LinearThompsonSamplingPolicy(n_arms=NUM_ACTIONS, n_features=dim, exploration_scale=0.5)
        self.generator = np.random.default_rng(0)

    def choose(self, row: int) -> int:
        return self.policy.select_action(context=self.contexts[row], rng=self.generator)

    def learn(self, row: int, action: int, reward: float) -> None:
        self.policy.update(action=action, reward=reward, context=self.contexts[row])


PEERS: dict[str, Any] = {
    "numpy": NumpyRankOne,
    "mabwiser": MABWiserLinTS,
    "vowpalwabbit": VowpalWabbit,
    "pymab": PymabOnline,
}


def with_constant(contexts: np.ndarray) -> np.ndarray:
    return np.append(contexts, np.ones((len(contexts), 1)), axis=1).astype(np.float64)


def play_online(peer: Peer, labels: np.ndarray, seconds: float) -> dict[str, float]:
    """Play until the time is up (and the compared steps are done), round the rows as often as it takes."""
    answers, rows = labels.tolist(), len(labels)
    step = window_step = reward_sum = compared_sum = 0
    rate = 0.0
    began = window_began = time.perf_counter()
    while True:
        row = step % rows
        action = peer.choose(row) if step >= PULLS * NUM_ACTIONS else step % NUM_ACTIONS
        reward = int(action == answers[row])
        peer.learn(row, action, float(reward))
        reward_sum += reward
        step += 1
        if step == COMPARED_STEPS:
            compared_sum = reward_sum
        now = time.perf_counter()
        if now - window_began >= WINDOW:
            rate = max(rate, (step - window_step) / (now - window_began))
            window_step, window_began = step, now
            if step >= COMPARED_STEPS and now - began >= seconds:
                return {"steps": step, "rate": rate, "reward": compared_sum / COMPARED_STEPS}


def play_pymab_experiment(context_dim: int, seconds: float) -> dict[str, float]:
    """pymab's own simulator, decisions, updates and problem all in Rust.

    It cannot play given rows: it plays a linear problem of the same size, and the reward reported is the share of steps
    on which the best action was played.
    """
    from pymab import Experiment, ExperimentConfig, LinearContextualEnvironment
    from pymab.environments import GaussianContextProvider
    from pymab.policies import LinearThompsonSamplingPolicy

    dim = context_dim + 1
    environment = LinearContextualEnvironment(
        theta=np.random.default_rng(0).normal(size=(NUM_ACTIONS, dim)) / np.sqrt(dim),
        context_provider=GaussianContextProvider(n_arms=NUM_ACTIONS, n_features=dim),
    )
    steps = best = seed = 0
    spent = rate = 0.0
    while spent < seconds:
        policy = LinearThompsonSamplingPolicy(n_arms=NUM_ACTIONS, n_features=dim)
        config = ExperimentConfig(horizon=COMPARED_STEPS, n_replicates=10, seed=seed, backend="rust")
        experiment = Experiment(environment=environment, policies={"ts": policy}, config=config)
        began = time.perf_counter()
        result = experiment.run()
        elapsed = time.perf_counter() - began
        rate = max(rate, result.actions.size / elapsed)
        spent += elapsed
        steps += result.actions.size
        best += int(np.sum(result.optimal_action_indicator))
        seed += 1
    return {"steps": steps, "rate": rate, "reward": best / steps}


def main() -> None:
    name, path, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    with np.load(path) as rows:
        contexts, labels = rows["contexts"], rows["labels"]
    if name == "pymab-experiment":
        distribution, measured = "pymab", play_pymab_experiment(contexts.shape[1], seconds)
    else:
        kind = PEERS[name]
        distribution, measured = kind.distribution, play_online(kind(contexts), labels, seconds)
    print(json.dumps({**measured, "software": f"{distribution} {version(distribution)}"}))


if __name__ == "__main__":
    main()
