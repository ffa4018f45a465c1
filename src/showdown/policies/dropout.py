"""A greedy network with dropout left on when it decides: each decision is made by a random thinned network.

Reference: Gal and Ghahramani, "Dropout as a Bayesian Approximation", ICML 2016; settings from Riquelme, Tucker, Snoek,
"Deep Bayesian Bandits Showdown", ICLR 2018.

Differences from the paper
1. Its text calls p the probability of zeroing a unit. The table's p (0.8, 0.95) is the probability of keeping one, as
   in the released code.
2. A linear model has no hidden unit to drop, so Dropout-RMS2@linear and -RMS3@linear are RMS2@linear and RMS3@linear
   played once more; the published rows agree with that.
3. The network's own differences are those of `greedy_network.py`.

Cost and memory as the greedy network, plus one random number per hidden unit and example.
"""

from __future__ import annotations

import jax

from showdown.config import config, linear, param, positive_probability
from showdown.policies.registry import PAPER, policies
from showdown.policies.shared.rms_network import RMSNetwork
from showdown.policies.wrappers import WarmUp
from showdown.posteriors import network
from showdown.posteriors.network import Network
from showdown.protocol.policy import Policy


@config
class Dropout(RMSNetwork):
    reference = f"Gal, Ghahramani 2016, https://arxiv.org/abs/1506.02142; {PAPER}"
    keep_probability: float = param(
        0.8, "p: probability that a hidden unit is kept", positive_probability, linear(0.3, 1)
    )

    def predict(self, key: jax.Array, parameters: Network, contexts: jax.Array) -> jax.Array:
        return network.predict_with_dropout(key, parameters, contexts, self.keep_probability)


def _dropout(keep_probability: float, **fields) -> Policy:
    return WarmUp(inner=Dropout(keep_probability=keep_probability, **fields))


policies.add("Dropout", _dropout(0.8))
policies.add("Dropout-MR", _dropout(0.8, training_steps=50, refit_every=50), base="Dropout")
policies.add("Dropout-SL", _dropout(0.95, training_steps=100, refit_every=5), base="Dropout")
for _base in ("RMS2", "RMS3"):
    policies.add(f"Dropout-{_base}@linear", _dropout(0.8, hidden_layers=()), base="Dropout")
