"""Logged bandit data: what a policy would have earned on decisions that another one took.

A log has a row per decision: the context, the action taken, the reward it paid and, best of all, the propensity: the
probability with which that action was taken. `read_log` reads one, `estimators` holds the estimators as pure functions,
`replay` lets a learning policy live through the log, and `evaluate` puts all of it together.
"""
