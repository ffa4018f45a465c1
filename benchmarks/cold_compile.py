"""How long each kind of policy takes to compile from nothing: what a first run waits for.

    python benchmarks/cold_compile.py                          # every structure among the presets, on covertype
    python benchmarks/cold_compile.py GP SparseGP --problem statlog --trials 20

Presets that differ only in numbers share their programs, so one of each structure is compiled. Programs compiled before
are forgotten each time and no compilation cache is used. The data of the problem must be on this machine.
"""

from __future__ import annotations

import argparse
import time

import jax

from showdown.play.compile_once import forget_all
from showdown.play.programs import compiled
from showdown.play.setting import prepare
from showdown.policies import policies
from showdown.problems import problems


def one_of_each_structure() -> list[str]:
    first: dict[str, str] = {}
    for name in policies.names():
        first.setdefault(str(jax.tree.structure(policies.get(name))), name)
    return sorted(first.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="*")
    parser.add_argument("--problem", default="covertype")
    parser.add_argument("--trials", type=int, default=50)
    arguments = parser.parse_args()
    jax.config.update("jax_enable_compilation_cache", False)
    problem = problems.get(arguments.problem)
    device = jax.devices()[0]
    print(f"{device.device_kind} ({device.platform}), jax {jax.__version__}")
    print(f"{arguments.problem}, {arguments.trials} trials")
    for name in arguments.policies or one_of_each_structure():
        forget_all()
        jax.clear_caches()
        setting = prepare(policies.get(name), problem, trials=arguments.trials)
        began = time.perf_counter()
        compiled(setting, arguments.trials)
        print(f"  {name:28s} {time.perf_counter() - began:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
