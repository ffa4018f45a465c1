"""The presets of policies by name. Families add theirs here; `showdown.policies` imports all families."""

from showdown.config.registry import Registry
from showdown.protocol.policy import Policy

policies: Registry[Policy] = Registry("policy")
