"""The presets of policies by name. Families add theirs here; `showdown.policies` imports all families."""

from showdown.policy import Policy
from showdown.registry import Registry

policies: Registry[Policy] = Registry("policy")
