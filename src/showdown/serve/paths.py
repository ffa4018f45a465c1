"""What can be asked of the server: one table, by which it answers and describes itself."""

from __future__ import annotations

from showdown.serve import bodies
from showdown.serve.description import Route

PATHS = (
    Route("/choose", "Choose an action for a context", bodies.Choose, bodies.Chosen),
    Route(
        "/choose/batch",
        "Choose for many contexts",
        bodies.ChooseBatch,
        bodies.ChosenBatch,
        "What is wrong with one of them is in its place, and the others are decided.",
    ),
    Route(
        "/probabilities",
        "The probability of each action",
        bodies.Choose,
        bodies.Chances,
        "Nothing is decided, and nothing waits for a reward.",
    ),
    Route("/learn", "Learn what an action paid", bodies.Learn, bodies.LearnReply),
    Route(
        "/learn/batch",
        "Learn many rewards",
        bodies.LearnBatch,
        bodies.LearnReplyBatch,
        "What is wrong with one of them is in its place, and the others are learned.",
    ),
    Route("/actions", "The actions that there are", None, bodies.Actions),
    Route(
        "/actions/add",
        "Let another action be taken",
        bodies.OneAction,
        bodies.Actions,
        "It starts as the policy starts, and as its features say.",
    ),
    Route(
        "/actions/remove",
        "Never take an action again",
        bodies.OneAction,
        bodies.Actions,
        "Rewards of earlier decisions are learned until its place is given to another action.",
    ),
    Route("/health", "Whether it runs, and what it has done; needs no token", None, bodies.Health, is_open=True),
    Route("/metrics", "Counts for Prometheus", None, None),
    Route("/docs", "This page", None, None, is_open=True, is_listed=False),
    Route("/", "This page", None, None, is_open=True, is_listed=False),
    Route("/openapi.json", "The description for programs", None, None, is_open=True, is_listed=False),
)
