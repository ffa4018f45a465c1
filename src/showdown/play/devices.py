"""A batch of trials spread over the devices of this process, an equal share on each.

Trials know nothing of each other, so the program of several devices is the program of one share, on each of them
(`shard_map`), and nothing is sent between them. The numbers are those of one device, which plays the same shares one
after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

TRIALS = "trials"


class Lead(Enum):
    """What the first axis of an array counts."""

    WHOLE = "neither: every device has all of it"
    TRIALS = "trials"
    POLICIES = "policies of a population, if there is one, and then trials"


WHOLE, BY_TRIAL, BY_POLICY = Lead


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

    def jit(self, function: Callable[..., Any], arguments: Sequence[Lead], results: Lead, **options: Any) -> Any:
        """The function to compile, given what leads each of its arguments and all that it returns."""
        if self.devices == 1:
            return jax.jit(function, **options)
        takes, gives = tuple(map(self._spec, arguments)), self._spec(results)
        shares = jax.shard_map(function, mesh=_mesh(self.devices), in_specs=takes, out_specs=gives, check_vma=False)
        placed = tuple(map(self._placed, takes))
        return jax.jit(shares, in_shardings=placed, out_shardings=self._placed(gives), **options)

    def _spec(self, lead: Lead) -> PartitionSpec:
        if lead is WHOLE:
            return PartitionSpec()
        return PartitionSpec(None, TRIALS) if lead is BY_POLICY and self.population else PartitionSpec(TRIALS)

    def _placed(self, spec: PartitionSpec) -> NamedSharding:
        return NamedSharding(_mesh(self.devices), spec)
