"""Configurations: frozen dataclasses that are JAX PyTrees and survive a round trip through JSON.

Floats and nested configurations are PyTree leaves and subtrees; everything else (counts, layer sizes, names) is static.
Two configurations that differ only in floats therefore share one compiled program. `param` says what a field means,
which values it allows and where to search for a good one.
"""

from showdown.config.checks import (
    Check,
    Configuration,
    at_least,
    between,
    check_fields,
    fraction,
    non_negative,
    positive,
    positive_probability,
    probability,
    sizes,
    strictly_between,
)
from showdown.config.kinds import config, is_config
from showdown.config.nested import Parameter, all_fields, core, layers, override, parameters, shrunk
from showdown.config.params import Range, choices, integers, linear, log, param, required
from showdown.config.plain_data import canonical, from_json, to_json

__all__ = [
    "Check",
    "Configuration",
    "Parameter",
    "Range",
    "all_fields",
    "at_least",
    "between",
    "canonical",
    "check_fields",
    "choices",
    "config",
    "core",
    "fraction",
    "from_json",
    "integers",
    "is_config",
    "layers",
    "linear",
    "log",
    "non_negative",
    "override",
    "param",
    "parameters",
    "positive",
    "positive_probability",
    "probability",
    "required",
    "shrunk",
    "sizes",
    "strictly_between",
    "to_json",
]
