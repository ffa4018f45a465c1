"""How long programs take to compile from nothing: what a first run waits for.

    python benchmarks/cold_compile.py                          # every structure among the presets, on covertype
    python benchmarks/cold_compile.py GP SparseGP --problem statlog --trials 20
    python benchmarks/cold_compile.py --suite quick            # all programs of a suite, by what they do

Presets that differ only in numbers share their programs, so one of each structure is compiled. Programs compiled before
are forgotten each time and no compilation cache is used. The data of the problem must be on this machine. Of a suite,
seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict

import jax

from showdown.bench.suite import load_suite
from showdown.play import programs
from showdown.play.compile_once import Job, compile_ahead, forget_all, is_known
from showdown.play.prepared import prepare
from showdown.policies import policies
from showdown.problems import problems


def one_of_each_structure() -> list[str]:
    first: dict[str, str] = {}
    for name in policies.names():
        first.setdefault(str(jax.tree.structure(policies.get(name))), name)
    return sorted(first.values())


def of_presets(names: list[str], problem: str, trials: int) -> None:
    print(f"{problem}, {trials} trials")
    for name in names:
        forget_all()
        jax.clear_caches()
        setting = prepare(policies.get(name), problems.get(problem), trials=trials)
        began = time.perf_counter()
        programs.compiled(setting, trials)
        print(f"  {name:28s} {time.perf_counter() - began:6.1f} s", flush=True)


def of_suite(name: str, but: list[str]) -> None:
    suite = load_suite(name)
    counts, seconds = Counter[str](), defaultdict[str, list[float]](lambda: [0.0, 0.0])
    for problem in suite.problems:
        for policy in suite.policies:
            if policy in but:
                continue
            setting = prepare(policies.get(policy), problems.get(problem), trials=suite.trials)
            for part, job in programs.jobs(setting, suite.trials).items():
                if is_known(job):
                    continue
                began = time.process_time()
                lowered = job.lower()
                traced = time.process_time()
                compile_ahead(Job(job.key, lambda lowered=lowered: lowered))  # with the options of play
                counts[part] += 1
                seconds[part][0] += traced - began
                seconds[part][1] += time.process_time() - traced
    for part, (tracing, compiling) in seconds.items():
        print(f"  {part:10s} {counts[part]:3d} programs   tracing {tracing:5.1f} s   XLA {compiling:5.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="*", help="with --suite, those to leave out")
    parser.add_argument("--problem", default="covertype")
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--suite")
    asked = parser.parse_args()
    jax.config.update("jax_enable_compilation_cache", False)
    device = jax.devices()[0]
    print(f"{device.device_kind} ({device.platform}), jax {jax.__version__}")
    if asked.suite:
        of_suite(asked.suite, asked.policies)
    else:
        of_presets(asked.policies or one_of_each_structure(), asked.problem, asked.trials)


if __name__ == "__main__":
    main()
