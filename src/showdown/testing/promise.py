"""What a promise is: a sentence, and a function that raises where it is broken."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from showdown.basics.errors import ShowdownError


class BrokenPromiseError(ShowdownError):
    """A policy or a problem does not do what the simulator relies on; the text says what, in one sentence."""


class RaisedError(BrokenPromiseError):
    """The code under test raises. Whatever else is checked would fail for the same reason."""


class Promise(NamedTuple):
    sentence: str  # what is promised: "the state stays finite"
    check: Callable[[Any], None]
    needed: bool = False  # where it is broken the others cannot be checked
    plays: bool = False  # a trial is played, which takes seconds of compiling; the others look at shapes and traces


def require(holds: object, sentence: str) -> None:
    if not holds:
        raise BrokenPromiseError(sentence)


@contextmanager
def calling(what: str) -> Iterator[None]:
    """Turn whatever the code under test raises into a sentence that says which part of it was called.

    Arrays of different dtypes must not meet, as in the project's own tests: JAX would mix them in silence.
    """
    try:
        with jax.numpy_dtype_promotion("strict"):
            yield
    except ShowdownError:
        raise
    except jax.dtypes.TypePromotionError as error:
        if _in_another_package(error):
            advice = 'that is inside another package: call it under jax.numpy_dtype_promotion("standard")'
        else:
            advice = "convert one of them with astype"
        raise RaisedError(f"{what} mixes arrays of different dtypes, {_line(error)}: {advice}") from error
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        raise RaisedError(
            f"{what} needs a value while it is compiled, {_line(error)}: use jnp.where instead of `if`, and jnp "
            "instead of int, float and NumPy"
        ) from error
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0]
        verb = "warns" if isinstance(error, Warning) else "raises"
        raise RaisedError(f"{what} {verb} {type(error).__name__}: {first}") from error


@contextmanager
def strictly() -> Iterator[None]:
    """Raise warnings, which often mean wrong numbers: JAX warns where it must cut a float off to put it in an int."""
    with warnings.catch_warnings():
        for category in (FutureWarning, RuntimeWarning, UserWarning):
            warnings.simplefilter("error", category)
        yield


LIBRARIES = ("site-packages", "dist-packages")


def _in_another_package(error: Exception) -> bool:
    """Whether the operation was asked for by a package such as optax, and not by the code under test."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    asking = [file for file in files if not any(f"/{name}/" in file for name in ("jax", "jaxlib"))]
    return bool(asking) and any(name in asking[-1] for name in LIBRARIES)


def _line(error: Exception) -> str:
    """The last line of the code under test that an error passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if not any(name in frame.filename for name in LIBRARIES)][-1]
    return f"in line {last.lineno} of {Path(last.filename).name} (`{last.line}`)"


def leaves(tree: Any) -> dict[str, Any]:
    """The arrays of a PyTree by where they are in it: `.total`, `.inner.mean`."""
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}


def first_difference(one: np.ndarray, other: np.ndarray) -> str:
    """Where two arrays of (trials, steps) first differ, in words."""
    trial, step = np.argwhere(one != other)[0][:2]
    return f"at step {step} of trial {trial}"
