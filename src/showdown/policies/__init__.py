"""One file per family of policies; each adds its named presets to the registry at its foot."""

# isort: off  (the order in which presets are listed)
from showdown.policies import alpha_divergence as alpha_divergence
from showdown.policies import bbb as bbb
from showdown.policies import bootstrap as bootstrap
from showdown.policies import dropout as dropout
from showdown.policies import gaussian_process as gaussian_process
from showdown.policies import greedy_network as greedy_network
from showdown.policies import linear as linear
from showdown.policies import neural_linear as neural_linear
from showdown.policies import parameter_noise as parameter_noise
from showdown.policies import sgmcmc as sgmcmc
from showdown.policies import sparse_gaussian_process as sparse_gaussian_process
from showdown.policies import uniform as uniform

# isort: on
from showdown.policies.registry import policies as policies
