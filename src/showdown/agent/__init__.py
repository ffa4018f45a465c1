"""A policy online: an agent chooses, learns, keeps up with a service, and is saved and loaded."""

from showdown.agent.agent import Agent
from showdown.agent.decision import Decision, UnknownDecisionError
from showdown.agent.propensity import Probabilities
from showdown.agent.replay_buffer import Reservoir, Window
from showdown.tricks.threads import compute_in_one_thread

__all__ = [
    "Agent",
    "Decision",
    "Probabilities",
    "Reservoir",
    "UnknownDecisionError",
    "Window",
    "compute_in_one_thread",
]
