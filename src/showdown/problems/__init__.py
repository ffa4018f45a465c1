"""One file per problem; each adds its presets to the registry at its foot."""

from showdown.problems import adult as adult
from showdown.problems import census as census
from showdown.problems import covertype as covertype
from showdown.problems import digits as digits
from showdown.problems import financial as financial
from showdown.problems import jester as jester
from showdown.problems import linear as linear
from showdown.problems import mushroom as mushroom
from showdown.problems import own_table as own_table
from showdown.problems import song as song
from showdown.problems import statlog as statlog
from showdown.problems import wheel as wheel
from showdown.problems.own_table import table as table
from showdown.problems.registry import problems as problems
