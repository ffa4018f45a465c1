"""Plain Python as policies and problems: `as_policy(yours)`, `as_problem(yours)`.

What comes back is a policy or a problem like any other: it is played, stored, compared and named like one. A plain
policy decides step by step in Python, so it is slower than a compiled one by orders of magnitude, and its seconds are
not compared with theirs; it plays the same trials. A plain problem is drawn in Python and then played at full speed.
"""

from showdown.plain.policy import as_policy
from showdown.plain.problem import as_problem

__all__ = ["as_policy", "as_problem"]
