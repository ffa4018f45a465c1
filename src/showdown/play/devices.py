"""A batch of trials spread over the devices of this process, an equal share on each.

Trials know nothing of each other, so the program of several devices is the program of one share, on each of them
(`shard_map`), and nothing is sent between them. The numbers are those of one device, which plays the same shares one
after another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

TRIALS = "trials"
EVERYWHERE, BY_TRIAL, BY_POLICY = (
    "etp"  # what leads an array: nothing, trials, or a population of policies and then trials
)


def usable(trials: int) -> int:
    """Devices that have a trial to play."""
    return max(1, min(jax.local_device_count(), trials))


@cache
def _mesh(devices: int) -> Mesh:
    return Mesh(np.asarray(jax.local_devices()[:devices]), (TRIALS,))


def everywhere(tree: Any, devices: int) -> Any:
    """A copy of these arrays on every device."""
    return jax.device_put(tree, NamedSharding(_mesh(devices), PartitionSpec())) if devices > 1 else jax.device_put(tree)


@dataclass(frozen=True)
class Spread:
    """How the arguments and results of a program are divided. One device is left to JAX, as if there were no others."""

    devices: int
    population: bool

    def jit(self, function: Callable[..., Any], arguments: str, results: str, **options: Any) -> Any:
        """`arguments` has a letter for each argument, `results` one for all that the function returns."""
        if self.devices == 1:
            return jax.jit(function, **options)
        takes, gives = tuple(map(self._spec, arguments)), self._spec(results)
        shares = jax.shard_map(function, mesh=_mesh(self.devices), in_specs=takes, out_specs=gives, check_vma=False)
        placed = tuple(map(self._placed, takes))
        return jax.jit(shares, in_shardings=placed, out_shardings=self._placed(gives), **options)

    def _spec(self, led_by: str) -> PartitionSpec:
        if led_by == EVERYWHERE:
            return PartitionSpec()
        return PartitionSpec(None, TRIALS) if led_by == BY_POLICY and self.population else PartitionSpec(TRIALS)

    def _placed(self, spec: PartitionSpec) -> NamedSharding:
        return NamedSharding(_mesh(self.devices), spec)
