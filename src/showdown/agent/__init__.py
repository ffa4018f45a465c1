"""A policy online: an agent chooses, learns, keeps up with a service, and is saved and loaded."""

from showdown.agent.agent import Agent
from showdown.agent.decision import Chances, Decision, Probabilities, UnknownDecisionError
from showdown.agent.journal import journal_records
from showdown.agent.journal_format import JournalError, JournalLossError
from showdown.agent.replay_buffer import Reservoir, Window
from showdown.tricks.threads import compute_in_one_thread

__all__ = [
    "Agent",
    "Chances",
    "Decision",
    "JournalError",
    "JournalLossError",
    "Probabilities",
    "Reservoir",
    "UnknownDecisionError",
    "Window",
    "compute_in_one_thread",
    "journal_records",
]
