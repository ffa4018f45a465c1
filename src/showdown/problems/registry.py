"""The presets of problems by name. Each problem adds its own here; `showdown.problems` imports all of them."""

from showdown.problem import Problem
from showdown.registry import Registry

problems: Registry[Problem] = Registry("problem")
