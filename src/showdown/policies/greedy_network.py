"""A neural network trained by RMSProp on all rewards seen; the action with the best prediction is played.

Exploration is what a noisy, seldom-trained network does by itself. With ε-greedy around it, it explores at random with
a probability that decays. The other RMSProp networks (dropout, bootstrap, parameter noise, neural-linear) share its
code in `shared/rms_network.py` and its differences from the paper.

Reference: Riquelme, Tucker, Snoek, "Deep Bayesian Bandits Showdown", ICLR 2018, section 4 and appendix tables.

Differences from the paper
1. "RMS2" resets its learning rate before each training there. In the released code that reset has no effect, and the
   published numbers fit no reset (γ0 = 1, ρ = 0.55, as RMS3), so RMS2 and RMS3 are one algorithm here, under two names.
   `reset_learning_rate=true` is the genuine reset.
2. What the paper leaves open is as in the released code: weights uniform on ±0.3, biases zero, gradients clipped at
   global norm 5, RMSProp with decay 0.9, ε = 1e-10 inside the root and mean squares that start at one.
3. Rows without t_s take 100 steps per training, which the published times show, not the 20 of the table's caption.
4. The ε of EpsGreedyRMS is multiplied by its decay after every context, as stated; the linear tables fit a decay per
   training better, which is `decay_per=training`.
5. A training whose mean squared error ends 1e5 times above the mean squared reward counts as diverged (the worst seen
   with published settings is a few hundred times).

Cost per step O(weights), a block of `refit_every` contexts at once; per refit training_steps·batch_size·weights·6
operations; memory two copies of the weights per trial and the history's action and reward of each step.
"""

from __future__ import annotations

from showdown.config import config
from showdown.policies.registry import policies
from showdown.policies.shared.rms_network import RMSNetwork
from showdown.policies.wrappers import EpsilonGreedy, WarmUp
from showdown.protocol.policy import Greedy, Policy


@config
class GreedyNetwork(RMSNetwork, Greedy):
    pass


def _rms(**fields) -> Policy:
    return WarmUp(inner=GreedyNetwork(**fields))


def _epsilon(epsilon: float, decay: float, **fields) -> Policy:
    return WarmUp(inner=EpsilonGreedy(inner=GreedyNetwork(**fields), epsilon=epsilon, decay=decay))


policies.add("RMS", _rms(learning_rate=1.0, learning_rate_decay=0.55))
policies.add("RMS-MR", _rms(learning_rate=1.0, learning_rate_decay=2.5, training_steps=50), base="RMS")
policies.add("RMS-SL", _rms(learning_rate=1.1, learning_rate_decay=0.4), base="RMS")
for _suffix, _layers in (("", (100, 100)), ("@linear", ())):
    policies.add(f"RMS1{_suffix}", _rms(learning_rate=0.01, learning_rate_decay=0.0, hidden_layers=_layers), base="RMS")
    policies.add(f"RMS2{_suffix}", _rms(hidden_layers=_layers), base="RMS")
    policies.add(f"RMS2b{_suffix}", _rms(training_steps=800, hidden_layers=_layers), base="RMS")
    policies.add(f"RMS3{_suffix}", _rms(hidden_layers=_layers), base="RMS")

policies.add("EpsGreedyRMS", _epsilon(0.01, 0.999))
policies.add("EpsGreedyRMS-MR", _epsilon(0.046, 0.93, training_steps=50), base="EpsGreedyRMS")
policies.add("EpsGreedyRMS-SL", _epsilon(0.23, 0.95, training_steps=50, refit_every=10), base="EpsGreedyRMS")
policies.add(
    "EpsGreedy-RMS1@linear",
    _epsilon(0.01, 0.999, learning_rate=0.01, learning_rate_decay=0.0, hidden_layers=()),
    base="EpsGreedyRMS",
)
for _base in ("RMS2", "RMS3"):
    policies.add(f"EpsGreedy-{_base}@linear", _epsilon(0.01, 0.999, hidden_layers=()), base="EpsGreedyRMS")
