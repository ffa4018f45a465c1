"""Drawing the random numbers of many steps at once, before the steps are played.

A draw is many small operations. What a decision draws depends on its key alone, so all draws of a block can be made in
one go. Nothing is asked of a policy: its `act` is traced, and the operations that depend only on the key and the number
of the step are taken out of the loop. They are the same operations on the same numbers. All presets play the same to
the bit on a CPU; a policy that adds a product of a draw to its state may see another last bit, since a compiler may
round a product and a sum together only where it sees both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, jaxpr_as_fun

from showdown.tricks import plain

MOST = 512  # numbers of any array per step; a policy that draws a whole network for each decision draws it there


class Split(NamedTuple):
    """A function of (early, late) arguments in two parts: `later(drawn, late)` after `drawn = ahead(early)`."""

    ahead: Callable[[Any], list[jax.Array]]
    later: Callable[[list[jax.Array], Any], Any]


def split(function: Callable[[Any, Any], Any], early: Any, late: Any) -> Split:
    """Divide `function(early, late)` into what its early arguments decide and the rest. The arguments are examples.

    Where nothing would be gained the early arguments are passed on as they are.
    """
    closed, shape = jax.make_jaxpr(function, return_shape=True)(early, late)
    jaxpr = closed.jaxpr
    given = len(jax.tree.leaves(early))
    inputs, others = list(jaxpr.invars[:given]), list(jaxpr.invars[given:])
    first, second, drawn = _sorted(jaxpr, inputs, others)
    used = {variable for equation in second for variable in _read(equation)} | set(_variables(jaxpr.outvars))
    kept = [variable for variable in [*inputs, *drawn] if variable in used]
    small = all(size <= MOST for equation in first for size in _sizes(equation))
    if plain() or not any(map(_is_random, first)) or not small or not _may_be_kept(kept):
        structure = jax.tree.structure(early)
        return Split(jax.tree.leaves, lambda drawn, late: function(jax.tree.unflatten(structure, drawn), late))
    make = _function(closed, inputs, first, kept)
    finish = _function(closed, [*kept, *others], second, jaxpr.outvars)

    def later(drawn: list[jax.Array], late: Any) -> Any:
        return jax.tree.unflatten(jax.tree.structure(shape), finish(*drawn, *jax.tree.leaves(late)))

    return Split(lambda early: make(*jax.tree.leaves(early)), later)


def _sorted(
    jaxpr: Jaxpr, inputs: Sequence[Var], others: Sequence[Var]
) -> tuple[list[JaxprEqn], list[JaxprEqn], list[Var]]:
    """The operations that need no late argument, those that do, and what the former make of early arguments.

    An operation that needs neither is in both lists; the compiler drops it where it is not used.
    """
    early, late = set(inputs), set(others)
    first, second, made = [], [], []
    for equation in jaxpr.eqns:
        read = _read(equation)
        if not late.isdisjoint(read) or equation.effects:
            second.append(equation)
            late.update(equation.outvars)
        else:
            first.append(equation)
            if early.isdisjoint(read):
                second.append(equation)
            else:
                early.update(equation.outvars)
                made += equation.outvars
    return first, second, made


def _variables(places: Sequence[Any]) -> list[Var]:
    return [place for place in places if not isinstance(place, Literal)]


def _read(equation: JaxprEqn) -> list[Var]:
    return _variables(equation.invars)


def _is_random(equation: JaxprEqn) -> bool:
    return "random_bits" in str(equation)


def _sizes(equation: JaxprEqn) -> list[int]:
    """The sizes of the arrays that an operation makes, those inside it included."""
    inner = [getattr(value, "jaxpr", value) for value in equation.params.values()]
    parts = [part for jaxpr in inner if isinstance(jaxpr, Jaxpr) for part in jaxpr.eqns]
    return [getattr(variable.aval, "size", 0) for variable in equation.outvars] + [
        size for part in parts for size in _sizes(part)
    ]


def _may_be_kept(kept: Sequence[Var]) -> bool:
    """Not too many, and no random keys: a loop cannot carry those everywhere."""
    shapes: list[Any] = [variable.aval for variable in kept]
    plain = all(isinstance(shape.dtype, np.dtype) for shape in shapes)
    return plain and sum(shape.size for shape in shapes) <= MOST


def _function(
    closed: ClosedJaxpr, takes: Sequence[Var], equations: Sequence[JaxprEqn], gives: Sequence[Any]
) -> Callable[..., list[jax.Array]]:
    """These operations of a traced function as a function of their own."""
    part = closed.jaxpr.replace(invars=list(takes), outvars=list(gives), eqns=list(equations))
    return jaxpr_as_fun(ClosedJaxpr(part, closed.consts))
