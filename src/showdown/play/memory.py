"""How much memory is free, how many trials fit in it at a time, and refusing what cannot fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax

from showdown.basics.errors import TooLargeError
from showdown.config import core
from showdown.machine.resources import host_free_bytes
from showdown.protocol.policy import Policy
from showdown.protocol.problem import ProblemSpec
from showdown.tricks.threefry import shape_of_keys

SHARE = 0.5  # of what is free, for what trials carry; the rest is for temporaries, compilation and other programs
MOST = 0.9  # of what is free, for a compiled program, whose temporaries are known

sharers = 1  # processes that share this machine, this one included; set by the workers of `bench/engines`

# What JAX says when memory ran out: a device's or the CPU's allocator, C++, and a library of kernels for the CPU
_SIGNS = ("RESOURCE_EXHAUSTED", "out of memory", "bad_alloc", "failed to allocate", "YNNPACK operation failed")


def free_bytes() -> int | None:
    """This process's share of the memory free on the device that has least, or None where nothing says."""
    devices = jax.local_devices()
    stats = [device.memory_stats() or {} for device in devices]
    free = [each["bytes_limit"] // sharers - each.get("bytes_in_use", 0) for each in stats if "bytes_limit" in each]
    return min(free) if free else host_free_bytes(sharers * len(devices))  # devices without their own share the host's


def is_exhaustion(error: BaseException) -> bool:
    """Whether an error means that memory ran out, on whatever device."""
    if isinstance(error, jax.errors.JaxRuntimeError):
        return any(sign.lower() in str(error).lower() for sign in _SIGNS)
    return isinstance(error, MemoryError)


def trials_that_fit(bytes_per_trial: int) -> int:
    """The largest batch of trials that should fit; at least one, since only trying it gives certainty."""
    free = free_bytes()
    if free is None:
        return 1 << 30
    return max(1, math.floor(SHARE * free / max(1, bytes_per_trial)))


def excess(program: jax.stages.Compiled, here: int = 0) -> float:
    """By how much a compiled program needs more memory than it should take: 2 is twice as much, at most 1 fits.

    `here` are bytes of its arguments that are on the device already, and so no longer free.
    """
    free, needed = free_bytes(), _program_bytes(program, here)
    return 0.0 if free is None or needed is None else needed / (MOST * max(1, free))


def check_program(program: jax.stages.Compiled, here: int = 0) -> None:
    """Refuse a program of one trial that needs more memory than is free."""
    free, needed = free_bytes(), _program_bytes(program, here)
    if free is not None and needed is not None and needed > free:
        raise TooLargeError(
            f"one trial needs {readable(needed)} while it is played, and {readable(free)} are free; "
            f"a policy or problem of at most {free / needed:.0%} of that size would fit"
        )


def _program_bytes(program: jax.stages.Compiled, here: int) -> int | None:
    needs = program.memory_analysis()
    if needs is None:
        return None
    results = needs.output_size_in_bytes - needs.alias_size_in_bytes  # donated arguments become results in place
    return needs.argument_size_in_bytes - here + needs.temp_size_in_bytes + results


def tree_bytes(tree: Any) -> int:
    """The bytes of arrays, or of what has their shapes; a random key counts as one number."""
    return sum(math.prod(leaf.shape) * 4 for leaf in jax.tree.leaves(tree))


def check_state(policy: Policy, spec: ProblemSpec) -> None:
    """Refuse a policy whose state alone, for one trial, is larger than all that is free; says what would fit."""
    key = shape_of_keys()

    def needs(context_dim: int, num_actions: int) -> int:
        size = ProblemSpec(context_dim, num_actions, spec.action_dim)
        return tree_bytes(jax.eval_shape(lambda key: policy.init(key, size), key))

    free, needed = free_bytes(), needs(spec.context_dim, spec.num_actions)
    if free is None or needed <= free:
        return
    actions = _largest(lambda count: needs(spec.context_dim, count) <= free, 2, spec.num_actions)
    features = _largest(lambda count: needs(count, spec.num_actions) <= free, 1, spec.context_dim)
    fits = [f"{actions} actions at {spec.context_dim} features"] if actions else []
    fits += [f"{features} features at {spec.num_actions} actions"] if features else []
    raise TooLargeError(
        f"one trial of {type(core(policy)).__name__} with {spec.context_dim} features and {spec.num_actions} actions "
        f"needs {readable(needed)} for its state, and {readable(free)} are free; "
        + (f"at most {' or '.join(fits)} would fit" if fits else "no smaller problem would fit either")
    )


def _largest(fits: Callable[[int], bool], low: int, high: int) -> int | None:
    """The largest count from `low` to below `high` that fits, `high` itself being too large; None if none does."""
    if not fits(low):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def readable(count: int) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count / 1e3:.1f} kB"
