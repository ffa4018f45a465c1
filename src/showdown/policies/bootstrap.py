"""Several greedy networks, each trained on its own random part of the data; one, picked at random, makes each decision.

Reference: Osband, Blundell, Pritzel, Van Roy, "Deep Exploration via Bootstrapped DQN", NeurIPS 2016; settings from
Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018.

Differences from the paper
1. A point enters a network's data once or not at all, never twice: the released code's rule. The very first point
   enters all of them.
2. The network's own differences are those of `greedy_network.py`.

Whether step t belongs to network i is a hash of (trial, t, i), so nothing is stored for it. Each refit lists every
network's own steps anew and draws its batches from that list: exactly uniform, always full size.

Cost per step and per refit that of `num_networks` greedy networks, plus num_networks·horizon hashes per refit; memory
`num_networks` times the greedy network's, and about 3·num_networks·horizon·4 bytes per trial while refitting.
"""

from __future__ import annotations

from showdown.policies.registry import policies
from showdown.policies.shared.bootstrapped import Bootstrap
from showdown.policies.wrappers import WarmUp
from showdown.protocol.policy import Policy


def _bootstrap(num_networks: int, inclusion_probability: float, **fields) -> Policy:
    return WarmUp(inner=Bootstrap(num_networks=num_networks, inclusion_probability=inclusion_probability, **fields))


policies.add("BootstrappedNN", _bootstrap(10, 1.0))
policies.add("BootstrappedNN-MR", _bootstrap(2, 0.95, training_steps=50, refit_every=50), base="BootstrappedNN")
policies.add("BootstrappedNN-SL", _bootstrap(3, 0.92, training_steps=20, refit_every=20), base="BootstrappedNN")
policies.add("BootstrappedNN@linear", _bootstrap(5, 0.85, hidden_layers=()), base="BootstrappedNN")
policies.add("BootstrappedNN2@linear", _bootstrap(5, 1.0, hidden_layers=()), base="BootstrappedNN")
policies.add("BootstrappedNN3@linear", _bootstrap(10, 1.0, hidden_layers=()), base="BootstrappedNN")
