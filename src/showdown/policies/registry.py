"""The presets of policies by name. Families add theirs here; `showdown.policies` imports all families."""

from showdown.config.registry import Registry
from showdown.protocol.policy import Policy

policies: Registry[Policy] = Registry("policy")


# where most methods come from, as `showdown show` says it
PAPER = "Riquelme, Tucker, Snoek 2018, https://arxiv.org/abs/1802.09127"
