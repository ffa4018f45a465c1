"""One file per problem, found by its name; each adds its presets to the registry at its foot."""

from showdown.basics.discover import import_modules
from showdown.problems.registry import problems as problems

import_modules(__name__, __path__)

from showdown.problems.own_table import table as table  # noqa: E402  (presets are listed in the order of import)
