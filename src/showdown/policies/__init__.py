"""One file per family of policies; each registers its named presets at its foot."""

from showdown.policy import Policy
from showdown.registry import Registry

policies: Registry[Policy] = Registry("policy")

from showdown.policies import linear as linear  # noqa: E402
from showdown.policies import uniform as uniform  # noqa: E402
