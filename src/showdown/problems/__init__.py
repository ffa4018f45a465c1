"""One file per problem; each registers its presets at its foot."""

from showdown.problem import Problem
from showdown.registry import Registry

problems: Registry[Problem] = Registry("problem")

from showdown.problems import adult as adult  # noqa: E402
from showdown.problems import census as census  # noqa: E402
from showdown.problems import covertype as covertype  # noqa: E402
from showdown.problems import digits as digits  # noqa: E402
from showdown.problems import financial as financial  # noqa: E402
from showdown.problems import jester as jester  # noqa: E402
from showdown.problems import linear as linear  # noqa: E402
from showdown.problems import mushroom as mushroom  # noqa: E402
from showdown.problems import own_table as own_table  # noqa: E402
from showdown.problems import song as song  # noqa: E402
from showdown.problems import statlog as statlog  # noqa: E402
from showdown.problems import wheel as wheel  # noqa: E402
from showdown.problems.own_table import table as table  # noqa: E402
