"""How fast is it? Decisions plus updates per second, ours and other libraries, on one problem and in one run.

The problem is shaped as statlog: 43,500 rows, 9 features, 7 classes, reward 1 for naming the class. Ours is LinFullPost
through `simulate`, after compilation; each peer runs for a few seconds as a user would run it online. One step is one
decision and one update; ours with 50 trials counts the steps of all trials.

Peers live in their own environment, `.venv-bench`, made here on first use. Goals missed are said, not punished: the
exit status is 0 as long as ours ran.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import asdict, dataclass
from pathlib import Path

import jax
import numpy as np

from peer_worker import COMPARED_STEPS, NUM_ACTIONS
from showdown import __version__
from showdown.config import config
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems.rows import LabelledRows, LabelledTables

ROWS, CONTEXT_DIM = 43_500, 9
TRIALS = 50
POLICY = "LinFullPost"
WORKER = Path(__file__).with_name("peer_worker.py")
ENVIRONMENT = Path(__file__).parents[1] / ".venv-bench"
PEER_PYTHON = ENVIRONMENT / "bin" / "python"
SETUP_LIMIT = 600  # seconds to install one peer
BUSY = 0.1  # share of the processors others may use before the rates mean little

# (worker's name, label, what pip installs)
PEERS = (
    ("mabwiser", "MABWiser LinTS", "mabwiser==2.7.4"),
    ("vowpalwabbit", "Vowpal Wabbit --cb_explore_adf --bag 5", "vowpalwabbit==9.11.9"),
    ("pymab", "pymab LinearTS, online", "pymab==2.0.1"),
    ("pymab-experiment", "pymab LinearTS, its Rust experiment", "pymab==2.0.1"),
)
# (trials, labels of which the fastest counts, how many times as fast ours should be)
GOALS = (
    (TRIALS, ("MABWiser LinTS",), 1000),
    (TRIALS, ("Vowpal Wabbit --cb_explore_adf --bag 5",), 50),
    (TRIALS, ("pymab LinearTS, online", "pymab LinearTS, its Rust experiment"), 20),
    (1, ("MABWiser LinTS",), 100),
)


@dataclass(frozen=True)
class Measurement:
    label: str
    steps: int = 0  # played in all
    rate: float = float("nan")  # steps per second, in the fastest window
    reward: float = float("nan")  # mean over the first 4,350 steps, and over trials
    software: str = ""
    missing: str | None = None  # why there is nothing to show

    @property
    def learns(self) -> bool:
        return self.reward > 2 / NUM_ACTIONS


def make_rows() -> tuple[np.ndarray, np.ndarray]:
    """Contexts and labels: one Gaussian cloud per class, standardised."""
    generator = np.random.default_rng(0)
    labels = generator.integers(NUM_ACTIONS, size=ROWS)
    centres = 1.2 * generator.normal(size=(NUM_ACTIONS, CONTEXT_DIM))
    contexts = centres[labels] + generator.normal(size=(ROWS, CONTEXT_DIM))
    contexts = (contexts - contexts.mean(axis=0)) / contexts.std(axis=0)
    return contexts.astype(np.float32), labels.astype(np.int32)


@config
class ClassClouds(LabelledRows):
    horizon: int = ROWS  # steps of one trial

    def load(self) -> LabelledTables:
        return LabelledTables(*make_rows(), np.eye(NUM_ACTIONS, dtype=np.float32))


def measure_ours(trials: int, seconds: float) -> Measurement:
    """Run once to compile, then again until the time is up, three times at least; the fastest run counts."""
    policy, problem = policies.get(POLICY), ClassClouds()
    outcome = simulate(policy, problem, trials=trials)
    spent: list[float] = []
    while len(spent) < 3 or sum(spent) < seconds:
        outcome = simulate(policy, problem, trials=trials)
        assert outcome.compile_seconds == 0
        spent.append(outcome.run_seconds)
    compared = np.flatnonzero(outcome.steps == COMPARED_STEPS)[0]
    reward = 1 - outcome.curve[:, compared].mean() / COMPARED_STEPS
    label = f"showdown {POLICY}, {trials} trial{'s' * (trials > 1)}"
    return Measurement(
        label,
        steps=len(spent) * trials * ROWS,
        rate=trials * ROWS / min(spent),
        reward=float(reward),
        software=f"showdown {__version__}, jax {jax.__version__}",
    )


def install(requirement: str) -> str | None:
    """Put a peer into the environment of its own; returns why not, if not."""
    try:
        if not PEER_PYTHON.exists():
            venv.create(ENVIRONMENT, with_pip=True)
        command = [str(PEER_PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SETUP_LIMIT)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{requirement} did not install: {error}"
    return None if done.returncode == 0 else f"{requirement} did not install: {last_line(done.stderr)}"


def measure_worker(python: str, name: str, label: str, rows: Path, seconds: float) -> Measurement:
    command = [python, str(WORKER), name, str(rows), str(seconds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 10 * seconds)
    except subprocess.TimeoutExpired:
        return Measurement(label, missing="it did not finish in time")
    if done.returncode != 0:
        return Measurement(label, missing=last_line(done.stderr))
    return Measurement(label, **json.loads(done.stdout.splitlines()[-1]))


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def processor_seconds() -> np.ndarray:
    """Seconds all processors have had, those spent working, and those spent on us and our finished children."""
    ours = sum(os.times()[:4])
    try:
        counts = [int(count) for count in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    except OSError:  # not Linux: other programs cannot be measured
        return np.array([time.monotonic(), ours, ours])
    ticks = os.sysconf("SC_CLK_TCK")
    idle = sum(counts[3:5])  # idling, and waiting for a disk
    return np.array([sum(counts) / ticks, (sum(counts) - idle) / ticks, ours])


def measure_all(seconds: float) -> tuple[list[Measurement], float]:
    """Every contestant, and the share of the processors that other programs used meanwhile."""
    reasons = {}
    for requirement in dict.fromkeys(requirement for _, _, requirement in PEERS):
        say(f"installing {requirement} into {ENVIRONMENT.name}")
        reasons[requirement] = install(requirement)
    measurements, before = [], processor_seconds()
    for trials in (1, TRIALS):
        say(f"measuring ours with {trials} trial(s)")
        measurements.append(measure_ours(trials, seconds))
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.npz"
        contexts, labels = make_rows()
        np.savez(rows, contexts=contexts, labels=labels)
        say("measuring the NumPy loop")
        measurements.append(measure_worker(sys.executable, "numpy", "NumPy rank-1 loop", rows, seconds))
        for name, label, requirement in PEERS:
            say(f"measuring {label}")
            reason = reasons[requirement]
            if reason is None:
                measurements.append(measure_worker(str(PEER_PYTHON), name, label, rows, seconds))
            else:
                measurements.append(Measurement(label, missing=reason))
    total, working, ours = processor_seconds() - before
    return measurements, max(0.0, float((working - ours) / total))


def judge(measurements: list[Measurement]) -> list[dict[str, object]]:
    """Each goal with the ratio that was reached; None where a peer is missing."""
    ours = {1: measurements[0], TRIALS: measurements[1]}
    verdicts: list[dict[str, object]] = []
    for trials, labels, wanted in GOALS:
        there = [peer for peer in measurements if peer.label in labels and peer.missing is None]
        rival = max(there, key=lambda peer: peer.rate, default=None)
        ratio = ours[trials].rate / rival.rate if rival else None
        verdicts.append(
            {
                "trials": trials,
                "peer": rival.label if rival else labels[0],
                "wanted": wanted,
                "ratio": ratio,
                "met": ratio is not None and ratio >= wanted,
            }
        )
    return verdicts


def table(measurements: list[Measurement], verdicts: list[dict[str, object]], busy: float) -> str:
    one, many = measurements[:2]
    lines = [f"{'':40} {'steps/s':>10} {'1 trial is':>11} {f'{TRIALS} trials are':>14} {'reward':>7}  version"]
    for row in measurements:
        if row.missing is not None:
            lines.append(f"{row.label:40} not available: {row.missing}")
            continue
        ratios = f"{one.rate / row.rate:10.1f}× {many.rate / row.rate:13.1f}×"
        lines.append(
            f"{row.label:40} {row.rate:10,.0f} {ratios} {row.reward:7.3f}  {row.software}"
            + ("" if row.learns else "  DOES NOT LEARN")
        )
    lines.append(f"reward: mean of the first {COMPARED_STEPS:,} steps; chance is {1 / NUM_ACTIONS:.3f}")
    lines.append("pymab's experiment plays a linear problem of its own; its reward is the share of best actions")
    for verdict in verdicts:
        ratio = "not measured" if verdict["ratio"] is None else f"{verdict['ratio']:.1f}×"
        mark = "none" if verdict["ratio"] is None else "pass" if verdict["met"] else "MISS"
        trials = f"{verdict['trials']} trial{'s' if verdict['trials'] != 1 else ''}"
        lines.append(f"{mark}  {trials:9} {ratio:>12}, goal {verdict['wanted']}× {verdict['peer']}")
    if busy > BUSY:
        lines.append(f"other programs were using {busy:.0%} of this machine: measure again when it is quiet")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Decisions plus updates per second, ours and other libraries.")
    parser.add_argument("--json", action="store_true", help="write the measurements as JSON instead of a table")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each contestant runs")
    arguments = parser.parse_args()
    measurements, busy = measure_all(arguments.seconds)
    verdicts = judge(measurements)
    machine = {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "backend": jax.default_backend(),
        "busy": busy,
    }
    if arguments.json:
        rows = [
            {"label": row.label, "missing": row.missing}
            if row.missing is not None
            else {**asdict(row), "learns": row.learns}
            for row in measurements
        ]
        print(json.dumps({"machine": machine, "rows": rows, "goals": verdicts}, indent=2))
    else:
        print(table(measurements, verdicts, busy))


if __name__ == "__main__":
    main()
