"""The presets of problems by name. Each problem adds its own here; `showdown.problems` imports all of them."""

from showdown.config.registry import Registry
from showdown.protocol.problem import Problem

problems: Registry[Problem] = Registry("problem")
