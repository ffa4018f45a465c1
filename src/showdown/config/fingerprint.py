"""A hash of what an object of the user's does: its class, the functions it uses, and the values it holds.

Two objects with one fingerprint play alike, so a stored cell of one serves the other. What counts is the code that
runs, and not its comments: the byte code of a class's methods, of the functions and classes that these name, and so
on. Of an installed package only its name and version count.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import hashlib
import pickle
import site
import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from showdown.basics.errors import UsageError

_INSTALLED = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_ATOMS = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
_ABOUT_A_CLASS = ("__dict__", "__weakref__", "__doc__", "__module__", "__abstractmethods__", "__orig_bases__")
_ALSO_ABOUT = ("_abc_", "__annot", "__dataclass", "__match_args", "__static_", "__firstline", "__parameters")


def fingerprint(value: Any) -> str:
    """The hash, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in _Walk().parts(value):
        digest.update(part.encode("utf-8", "surrogatepass") + b"\x1f")
    return digest.hexdigest()[:16]


class _Walk:
    """Goes once through everything that a value refers to."""

    def __init__(self) -> None:
        self.met: dict[int, int] = {}
        self.alive: list[Any] = []  # so that no two of them have one id

    def parts(self, value: Any) -> Iterator[str]:
        if isinstance(value, _ATOMS):
            yield f"{type(value).__name__} {value!r}"
            return
        if id(value) in self.met:
            yield f"again {self.met[id(value)]}"
            return
        self.met[id(value)] = len(self.met)
        self.alive.append(value)
        yield from self._inside(value)

    def _inside(self, value: Any) -> Iterator[str]:
        if isinstance(value, np.ndarray | np.generic):
            array = np.asarray(value)
            yield f"array {array.dtype} {array.shape}"
            yield from self.parts(array.tolist() if array.dtype.hasobject else array.tobytes())
        elif isinstance(value, list | tuple):
            yield f"{type(value).__name__} {len(value)}"
            for member in value:
                yield from self.parts(member)
        elif isinstance(value, set | frozenset):
            yield f"set {sorted(fingerprint(member) for member in value)}"
        elif isinstance(value, Mapping):
            yield f"{type(value).__name__} {len(value)}"
            for name in sorted(value, key=lambda name: (str(type(name)), repr(name))):
                yield from self.parts(name)
                yield from self.parts(value[name])
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, types.CodeType):
            yield from self._code(value, {})
        elif isinstance(value, types.ModuleType):
            yield f"module {value.__name__} {_version(value.__name__)}"
        else:
            yield from self._object(value)

    def _object(self, value: Any) -> Iterator[str]:
        if isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, types.MethodType):
            yield from self.parts(value.__func__)
            yield from self.parts(value.__self__)
        elif isinstance(value, functools.partial):
            yield from self.parts([value.func, value.args, value.keywords])
        elif isinstance(value, np.random.Generator):
            yield from self.parts(value.bit_generator.state)
        elif isinstance(value, staticmethod | classmethod):
            yield from self.parts(value.__func__)
        elif isinstance(value, property):
            yield from self.parts([value.fget, value.fset])
        elif callable(getattr(value, "__wrapped__", None)):  # of functools.cache or jax.jit
            yield from self.parts(value.__wrapped__)
        elif callable(getattr(value, "get_params", None)):  # as scikit-learn says what an estimator is
            yield from self.parts(type(value))
            yield from self.parts(value.get_params(deep=False))
        elif dataclasses.is_dataclass(value) or _is_simple(type(value)):
            yield from self.parts(type(value))
            yield str(getattr(value, "__name__", ""))
            yield from self.parts(_held(value))
        else:
            yield from self.parts(type(value))
            try:
                yield hashlib.sha256(pickle.dumps(value)).hexdigest()
            except Exception as error:
                raise UsageError(
                    f"a {type(value).__name__} cannot be told from another one ({error}): give what makes it instead, "
                    "such as a function"
                ) from None

    def _class(self, cls: type) -> Iterator[str]:
        yield f"class {cls.__qualname__}"
        if _is_installed(cls):
            yield f"{cls.__module__} {_version(cls.__module__)}"
            return
        for base in cls.__bases__:
            yield from self.parts(base)
        for name in sorted(vars(cls)):
            if name in _ABOUT_A_CLASS or name.startswith(_ALSO_ABOUT):
                continue
            if not isinstance(vars(cls)[name], types.GetSetDescriptorType | types.MemberDescriptorType):
                yield name
                yield from self.parts(vars(cls)[name])

    def _function(self, function: types.FunctionType) -> Iterator[str]:
        yield f"function {function.__qualname__}"
        if _is_installed(function):
            yield f"{function.__module__} {_version(function.__module__)}"
            return
        yield from self._code(function.__code__, function.__globals__)
        yield from self.parts([function.__defaults__, function.__kwdefaults__])
        for cell in function.__closure__ or ():
            yield from self.parts(_cell_value(cell))

    def _code(self, code: types.CodeType, names: Mapping[str, Any]) -> Iterator[str]:
        yield f"code {code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars}"
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from self._code(constant, names)
            else:
                yield from self.parts(constant)
        referred = {each.argval for each in dis.get_instructions(code) if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        for name in sorted(referred & names.keys()):
            yield from self.parts(names[name])


def _is_simple(cls: type) -> bool:
    """Whether its objects are their attributes: nothing says otherwise how they are pickled."""
    return all(getattr(cls, name) is getattr(object, name) for name in ("__reduce__", "__reduce_ex__", "__getstate__"))


def _held(value: Any) -> dict[str, Any]:
    slots = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ()) if hasattr(value, name)]
    return {**{name: getattr(value, name) for name in slots}, **getattr(value, "__dict__", {})}


def _cell_value(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that is not bound yet
        return None


def _is_installed(thing: Any) -> bool:
    """Whether it belongs to Python, to an installed package or to showdown: then its version says what it does."""
    name = getattr(thing, "__module__", None) or ""
    if name.partition(".")[0] == "showdown":
        return True
    module = sys.modules.get(name)
    if module is None or name in ("__main__", "__mp_main__"):
        return False
    file = getattr(module, "__file__", None)
    return file is None or file.startswith((*_INSTALLED, *site.getsitepackages(), site.getusersitepackages()))


def _version(module: str | None) -> str:
    top = (module or "").partition(".")[0]
    return "" if top == "showdown" else str(getattr(sys.modules.get(top), "__version__", ""))
