"""Do the intervals for logged data cover at their stated rate, and do the estimators agree with Open Bandit Pipeline's?

Logs of known truth are made from statlog, mushroom and the wheel by a softmax policy with 20 % of its choices uniform
(see `showdown.logged.simulated`). Every log is evaluated for three fixed policies, and by replay for LinFullPost from a
uniform logger. The share of 95 % intervals that hold the truth is printed; for 300 logs it is itself known to ± 2.5 %.

    python benchmarks/logged.py [--logs 300] [--rows 2000] [--problems statlog,wheel-0.5] [--no-obp]

Open Bandit Pipeline (obp 0.5.7) is installed into `.venv-bench`. It asks for Python below 3.11 and for PyTorch, which
its estimators do not use: it is installed without its dependencies and only its module of estimators is imported.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from showdown.basics.errors import MissingDataError
from showdown.logged.checks import FEW
from showdown.logged.estimators import Estimate, RewardModel, direct_method, doubly_robust, fit_rewards, ips, snips
from showdown.logged.live_through import replay_value
from showdown.logged.log import Log
from showdown.logged.simulated import Population
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems
from showdown.protocol.keys import named_key
from showdown.testing.trajectory import Script, Scripted

PROBLEMS = {"statlog": 40_000, "mushroom": 8_000, "wheel-0.5": 40_000}  # steps of the population
POLICY = "LinFullPost"
REALLY_PLAYED = 200  # trials of the policy that give the truth for replay
ENVIRONMENT = Path(__file__).parents[1] / ".venv-bench"
WORKER = Path(__file__).with_name("obp_worker.py")
AGREE = 1e-6


def estimates(log: Log, target: np.ndarray, model: RewardModel, seed: int = 0) -> dict[str, Estimate]:
    assert log.propensities is not None
    data = log.rewards, log.actions, log.propensities, target
    return {
        "IPS": ips(*data),
        "SNIPS": snips(*data, seed=seed),
        "direct method": direct_method(target, model.predicted, fitted=model.contributions(target)),
        "doubly robust": doubly_robust(*data, model.predicted),
    }


def targets_of(population: Population) -> dict[str, np.ndarray]:
    steps, num_actions = population.rewards.shape
    best = population.rewards.mean(axis=0).argmax()
    return {
        "uniform": np.full((steps, num_actions), 1 / num_actions),
        "always the best action": np.tile(np.eye(num_actions)[best], (steps, 1)),
        "another softmax": population.softmax(seed=2, sharpness=2.0, exploring=0.0),
    }


def fixed_coverage(population: Population, logs: int, rows: int) -> Iterator[tuple[str, str, float, float, float]]:
    """(policy, estimator, coverage, bias in standard deviations of one estimate, effective rows)."""
    logging, targets = population.softmax(seed=1), targets_of(population)
    truths, seen = {name: population.value(target) for name, target in targets.items()}, defaultdict(list)
    for number in range(logs):
        log, steps = population.log(rows, logging, seed=number)
        model = fit_rewards(log, number)
        for name, target in targets.items():
            for by, found in estimates(log, target[steps], model, number).items():
                seen[name, by].append((found.low <= truths[name] <= found.high, found.value, found.effective))
    for (name, by), results in seen.items():
        held, values, effective = np.array(results).T
        yield name, by, held.mean(), (values.mean() - truths[name]) / (values.std() or np.nan), effective.mean()


def replay_coverage(population: Population, logs: int, rows: int) -> tuple[float, float, float]:
    """Coverage, bias in standard deviations and matches of replay, against the policy really playing as many steps."""
    policy = policies.get(POLICY)
    steps, num_actions = population.rewards.shape
    logging = np.full((steps, num_actions), 1 / num_actions)
    found = []
    for number in range(logs):
        log, _ = population.log(rows, logging, seed=number)
        found.append(replay_value(policy, log, named_key(number, "replay"), number))
    played = really_played(population, round(float(np.mean([each.matches for each in found]))), REALLY_PLAYED)
    truth, values = played.mean(), np.array([each.estimate.value for each in found])
    held = np.mean([each.estimate.low <= truth <= each.estimate.high for each in found])
    return float(held), float((values.mean() - truth) / values.std()), float(np.mean([each.matches for each in found]))


def really_played(population: Population, steps: int, times: int) -> np.ndarray:
    """The mean reward of the policy playing `steps` steps of the population, (times,): no log, no estimate."""
    rewards, draw = [], np.random.default_rng(0)
    for number in range(times):
        rows = draw.integers(len(population.contexts), size=steps)
        Scripted.scripts["population"] = Script(population.contexts[rows], population.rewards[rows])
        problem = Scripted(script="population", horizon=steps)
        rewards.append(simulate(policies.get(POLICY), problem, trials=1, seed=number).columns["reward"][0])
    return np.array(rewards)


def compare_with_obp(population: Population, rows: int) -> str:
    """The same log through both: the largest difference of any estimate."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    quiet = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*quiet, "numpy", "scipy", "scikit-learn", "pandas", "tqdm"], check=True, timeout=600)
    subprocess.run([*quiet, "--ignore-requires-python", "--no-deps", "obp==0.5.7"], check=True, timeout=600)
    log, steps = population.log(rows, population.softmax(seed=1), seed=0)
    target = population.softmax(seed=2, sharpness=2.0, exploring=0.0)[steps]
    model = fit_rewards(log)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.npz"
        np.savez(
            path,
            rewards=log.rewards,
            actions=log.actions,
            propensities=log.propensities,
            target=target,
            predicted=model.predicted,
        )
        answer = subprocess.run([str(python), str(WORKER), str(path)], check=True, capture_output=True, text=True)
    theirs = json.loads(answer.stdout)
    ours = {name: found.value for name, found in estimates(log, target, model).items()}
    worst = max(abs(ours[name] - theirs[name]) for name in ours)
    said = "agrees" if worst <= AGREE else "DIFFERS"
    return f"Open Bandit Pipeline 0.5.7 {said}: the largest difference of {', '.join(ours)} is {worst:.1e}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=300)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--no-obp", action="store_true")
    options = parser.parse_args()
    error = np.sqrt(0.95 * 0.05 / options.logs)
    print(f"{options.logs} logs of {options.rows:,} rows; coverage of 95 % intervals, known to ± {2 * error:.1%}\n")
    print(f"{'problem':<10}  {'policy':<22}  {'estimator':<13}  coverage   bias/sd  effective rows")
    population = None
    for name, steps in PROBLEMS.items():
        if name not in options.problems.split(","):
            continue
        try:
            population = Population.of(problems.get(name), steps)
        except MissingDataError as missing:
            print(f"{name:<10}  skipped: {missing}")
            continue
        began = time.perf_counter()
        for policy, by, held, bias, effective in fixed_coverage(population, options.logs, options.rows):
            few = "  (few)" if effective < FEW else ""
            print(f"{name:<10}  {policy:<22}  {by:<13}  {held:8.1%}  {bias:+8.2f}  {effective:,.0f}{few}", flush=True)
        held, bias, matches = replay_coverage(population, max(20, options.logs // 2), options.rows)
        print(f"{name:<10}  {POLICY + ', learning':<22}  {'replay':<13}  {held:8.1%}  {bias:+8.2f}  {matches:,.0f}")
        print(f"{name:<10}  ({time.perf_counter() - began:.0f} s)\n", flush=True)
    if population is not None and not options.no_obp:
        print(compare_with_obp(population, options.rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
