"""The figures, one file each: every module here defines `FIGURE` and is found by its name.

A figure that needs an experiment draws what a study (`studies/`) returned; the others read a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from showdown.basics.discover import defined, import_modules
from showdown.basics.errors import UsageError
from showdown.report.drawing import Figure, FigureRequest

if TYPE_CHECKING:
    import matplotlib.figure


def figures() -> dict[str, Figure]:
    """Every figure by name, in the order of the paper."""
    modules = import_modules(__name__, __path__)
    found = {name.replace("_", "-"): defined(module, "FIGURE") for name, module in modules.items()}
    return dict(sorted(found.items(), key=lambda item: (item[1].place, item[0])))


def draw(name: str, request: FigureRequest) -> matplotlib.figure.Figure:
    known = figures()
    if name not in known:
        raise UsageError(f"no figure is called {name!r}; there are {', '.join(known)}")
    from showdown.bench.compilation import use_compilation_cache
    from showdown.report.drawing import style

    use_compilation_cache()
    with style.for_print():
        return known[name].draw(request)
