"""showdown: the runnable showdown of exploration methods for contextual bandits.

Nothing is imported here, so that the command line answers before JAX is loaded:

    from showdown.policies import policies
    from showdown.problems import problems
    from showdown.simulate import simulate
"""

__version__ = "0.1.0"
