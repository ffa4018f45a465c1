"""A plan divided into shards for machines that know nothing of each other, such as the jobs of a Slurm array.

Which cells are in a shard depends on the cells alone: not on what is stored, nor on rates that one machine measured
and another did not. So every machine divides a plan in the same way, also when it is run again.
"""

from __future__ import annotations

import re

from showdown.basics.errors import UsageError
from showdown.bench.estimate import rough_seconds
from showdown.bench.plan import Planned


def divided(planned: list[Planned], shards: int) -> list[list[Planned]]:
    """The cells of each shard, in the order of the plan. The longest cell goes to the shard with the least work."""
    if shards < 1:
        raise UsageError(f"a plan has at least one shard, not {shards}")
    seconds = {item.cell.hash: rough_seconds(item.cell) for item in planned}
    loads = [0.0] * shards
    shard_of = {}
    for item in sorted(planned, key=lambda item: (-seconds[item.cell.hash], item.cell.hash)):
        least = loads.index(min(loads))
        shard_of[item.cell.hash] = least
        loads[least] += seconds[item.cell.hash]
    return [[item for item in planned if shard_of[item.cell.hash] == number] for number in range(shards)]


def one_shard(planned: list[Planned], spelled: str) -> list[Planned]:
    """The cells of the shard that `2/8` names, the second of eight."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", spelled.strip())
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"a shard is written 1/8 to 8/8, and {spelled!r} is not of that form")
    return divided(planned, int(match[2]))[int(match[1]) - 1]
