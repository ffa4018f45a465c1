"""One file per problem; each registers its presets at its foot."""

from showdown.problem import Problem
from showdown.registry import Registry

problems: Registry[Problem] = Registry("problem")

from showdown.problems import linear as linear  # noqa: E402
from showdown.problems import wheel as wheel  # noqa: E402
