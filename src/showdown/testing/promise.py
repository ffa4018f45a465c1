"""What a promise is: a sentence, and a function that raises where it is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import numpy as np

from showdown.errors import ShowdownError


class BrokenPromiseError(ShowdownError):
    """A policy or a problem does not do what the simulator relies on; the text says what, in one sentence."""


class Promise(NamedTuple):
    sentence: str  # what is promised: "the state stays finite"
    check: Callable[[Any], None]


def require(holds: object, sentence: str) -> None:
    if not holds:
        raise BrokenPromiseError(sentence)


@contextmanager
def calling(what: str) -> Iterator[None]:
    """Turn whatever the code under test raises into a sentence that says which part of it was called."""
    try:
        yield
    except ShowdownError:
        raise
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0]
        raise BrokenPromiseError(f"{what} raises {type(error).__name__}: {first}") from error


def leaves(tree: Any) -> dict[str, Any]:
    """The arrays of a PyTree by where they are in it: `.total`, `.inner.mean`."""
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}


def first_difference(one: np.ndarray, other: np.ndarray) -> str:
    """Where two arrays of (trials, steps) first differ, in words."""
    trial, step = np.argwhere(one != other)[0][:2]
    return f"at step {step} of trial {trial}"
