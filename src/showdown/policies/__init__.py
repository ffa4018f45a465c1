"""One file per family of policies; each registers its named presets at its foot."""

from showdown.policy import Policy
from showdown.registry import Registry

policies: Registry[Policy] = Registry("policy")

from showdown.policies import uniform as uniform  # noqa: E402, I001  (the order in which presets are listed)
from showdown.policies import linear as linear  # noqa: E402
from showdown.policies import greedy_network as greedy_network  # noqa: E402
from showdown.policies import neural_linear as neural_linear  # noqa: E402
from showdown.policies import dropout as dropout  # noqa: E402
from showdown.policies import bootstrap as bootstrap  # noqa: E402
from showdown.policies import parameter_noise as parameter_noise  # noqa: E402
from showdown.policies import bbb as bbb  # noqa: E402
from showdown.policies import alpha_divergence as alpha_divergence  # noqa: E402
from showdown.policies import sgmcmc as sgmcmc  # noqa: E402
from showdown.policies import gaussian_process as gaussian_process  # noqa: E402
from showdown.policies import sparse_gaussian_process as sparse_gaussian_process  # noqa: E402
