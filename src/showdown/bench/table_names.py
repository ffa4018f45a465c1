"""What a user's own table is called: by its file, `customers`, and `customers:bought` where two would have one name.

The spelling that made it, `table[path=/home/me/customers.csv,label=bought]`, is long and holds a path of one machine.
Names count for no identity: a cell is known by the content of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from showdown.bench.record import Record
from showdown.config import core
from showdown.config.registry import split_at_slashes
from showdown.problems import problems
from showdown.problems.own_table import Table
from showdown.protocol.problem import Problem

Shape = tuple[int | None, int | None]  # context_dim and num_actions


def named_by_file(chosen: Mapping[str, Problem], stored: Mapping[str, set[Shape]]) -> dict[str, str]:
    """The name of each problem by its spelling; `stored` are the shapes that a store has under its names.

    A name is taken where another table has it, in this plan or in the store with other columns or actions. (The same
    columns and actions with other content are a new version of the file.)
    """
    tables = {spelled: value for spelled, value in chosen.items() if isinstance(value, Table) and value.digest}
    digests: dict[str, set[str]] = {}
    for value in tables.values():
        digests.setdefault(value.called, set()).add(value.digest)
    names = {spelled: spelled for spelled in chosen}
    for spelled, value in tables.items():
        short = value.called
        taken = short in problems or len(digests[short]) > 1 or stored.get(short, {_shape(value)}) != {_shape(value)}
        names[spelled] = f"{short}:{value.label or value.rewards}" if taken and not value.name else short
    for name in {name for name in names.values() if len(_digests(name, names, tables)) > 1}:  # the same label, too
        for spelled, value in tables.items():
            if names[spelled] == name:
                names[spelled] = f"{name}:{value.digest[:4]}"
    for spelled, problem in chosen.items():
        inside = core(problem)
        if spelled not in tables and isinstance(inside, Table):  # a table that is played in another way
            names[spelled] = "/".join([inside.called, *split_at_slashes(spelled)[1:]])
    return names


def _digests(name: str, names: Mapping[str, str], tables: Mapping[str, Table]) -> set[str]:
    return {value.digest for spelled, value in tables.items() if names[spelled] == name}


def _shape(value: Table) -> Shape:
    found = value.bandit_table()
    return found.context_dim, len(found.actions)


def stored_shapes(records: Iterable[Record]) -> dict[str, set[Shape]]:
    """The shapes of the problems of a store, by name."""
    found: dict[str, set[Shape]] = {}
    for record in records:
        found.setdefault(record.problem, set()).add((record.context_dim, record.num_actions))
    return found
