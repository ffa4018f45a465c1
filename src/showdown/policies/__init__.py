"""One file per family of policies, found by its name; each adds its presets to the registry at its foot."""

from showdown.basics.discover import import_modules
from showdown.policies.registry import policies as policies

# the order in which presets are listed; families that are not named here follow
_FIRST = (
    *("uniform", "linear", "greedy_network", "neural_linear", "dropout", "bootstrap", "parameter_noise"),
    *("bbb", "alpha_divergence", "sgmcmc", "gaussian_process", "sparse_gaussian_process"),
)
import_modules(__name__, __path__, first=_FIRST)
