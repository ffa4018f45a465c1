"""Who collects the data changes what is believed: the paper's figure 1.

Posteriors of two coefficients of each of k = 6 actions (d = 20) after n = 500 steps of Thompson sampling. (a) two runs
with the exact posterior; (b) the exact posterior and Diag, each on the data it collected itself; (c) the exact
posterior, and Diag fitted to the data which that run collected. (b) disagrees more than (c): an approximation does not
only describe the data badly, it also collects other data.

The paper does not give the contexts' law, the noise, the prior or the two coefficients. Here contexts are correlated
(`mixed.py`), λ = σ² = 0.25, and the two coefficients are those that the exact posterior correlates most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from showdown.agent import Agent
from showdown.keys import named_key
from showdown.policies.linear import LinearKnownNoise
from showdown.policies.wrappers import WarmUp
from showdown.problem import Round
from showdown.report.figures import style
from showdown.report.figures.ellipse import draw_ellipse
from showdown.report.figures.mixed import MixedLinear
from showdown.report.figures.order import Order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NUM_ACTIONS, DIM, STEPS = 6, 20, 500
PRIOR_PRECISION = NOISE_VARIANCE = 0.25


class Data(NamedTuple):
    contexts: np.ndarray  # (steps, dim)
    actions: np.ndarray  # (steps,)
    rewards: np.ndarray  # (steps,) of the action taken


class Belief(NamedTuple):
    mean: np.ndarray  # (num_actions, dim)
    covariance: np.ndarray  # (num_actions, dim, dim)


def draw(order: Order) -> Figure:
    truth, first, second, diagonal = runs(order, STEPS)
    exact, again, own = (posterior(data) for data in (first, second, diagonal))
    rows = [
        ("(a) exact, run 1", exact, "exact, run 2", again),
        ("(b) exact on its own data", exact, "Diag on its own data", without_correlations(own)),
        ("(c) exact on its own data", exact, "Diag on the data of exact", without_correlations(exact)),
    ]
    pair = most_correlated(exact)
    figure = style.new_figure(7.0, 4.8)
    grid = figure.subplots(3, NUM_ACTIONS, sharex="col", sharey="col")
    for axes_row, (left, one, right, other) in zip(grid, rows, strict=True):
        for action, axes in enumerate(axes_row):
            _draw_pair(axes, one, other, truth[:, action], action, pair, (left[4:], right))
        axes_row[0].set_ylabel(left[:3], rotation=0, labelpad=10, fontweight="bold")
        axes_row[0].set_title(" ")  # room for the legend, which is as wide as the row
        legend = axes_row[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.1)
        legend.set_in_layout(False)
    counts = np.bincount(first.actions, minlength=NUM_ACTIONS)
    for action, axes in enumerate(grid[-1]):
        axes.set_xlabel(f"action {action + 1}\n({counts[action]} steps)")
    return figure


def _draw_pair(
    axes: Axes, one: Belief, other: Belief, truth: np.ndarray, action: int, pair: list[int], labels: tuple[str, str]
) -> None:
    for belief, color, dash, label in ((one, style.GREEN, "-", labels[0]), (other, style.RED, "--", labels[1])):
        covariance = belief.covariance[action][np.ix_(pair, pair)]
        draw_ellipse(axes, belief.mean[action][pair], covariance, color, dash, label)
    axes.plot(*truth[pair], "x", color=style.BLACK, markersize=4, label="truth")
    axes.tick_params(labelsize=6, length=2, pad=1.5)
    axes.locator_params(nbins=3)


def runs(order: Order, steps: int) -> tuple[np.ndarray, Data, Data, Data]:
    """True coefficients (dim, num_actions), and what exact, exact again and Diag saw.

    The second run meets other contexts of the same problem; Diag meets those of the first.
    """
    problem = MixedLinear(context_dim=DIM, num_actions=NUM_ACTIONS, noise=0.1, horizon=2 * steps)
    episode = problem.begin(named_key(order.seed, "posterior-feedback"), ())
    rounds: Round = jax.vmap(lambda step: problem.round(step, episode, ()))(jnp.arange(2 * steps))
    contexts, rewards = np.asarray(rounds.context), np.asarray(rounds.rewards)
    halves = [(contexts[:steps], rewards[:steps]), (contexts[steps:], rewards[steps:])]
    with order.bar(3 * steps, "choosing and learning") as advance:
        exact, again = (_run("full", *half, order.seed + number, advance) for number, half in enumerate(halves))
        diagonal = _run("diagonal", *halves[0], order.seed, advance)
    return np.asarray(episode.coefficients), exact, again, diagonal


def _run(covariance, contexts: np.ndarray, rewards: np.ndarray, seed: int, advance) -> Data:
    policy = WarmUp(
        inner=LinearKnownNoise(
            covariance=covariance,
            prior_precision=PRIOR_PRECISION,
            noise_variance=NOISE_VARIANCE,
            intercept=False,
        )
    )
    agent = Agent(policy, context_dim=contexts.shape[1], num_actions=rewards.shape[1], seed=seed)
    actions = []
    for context, paid in zip(contexts, rewards, strict=True):
        actions.append(agent.choose(context))
        agent.learn(context, actions[-1], float(paid[actions[-1]]))
        advance(1)
    chosen = np.array(actions)
    return Data(contexts, chosen, rewards[np.arange(len(chosen)), chosen])


def posterior(data: Data) -> Belief:
    """The exact posterior of every action's coefficients in closed form: Σ = (XᵀX/σ² + λI)⁻¹, μ = ΣXᵀr/σ²."""
    means, covariances = [], []
    for action in range(NUM_ACTIONS):
        taken = data.actions == action
        design, rewards = data.contexts[taken].astype(float), data.rewards[taken].astype(float)
        precision = design.T @ design / NOISE_VARIANCE + PRIOR_PRECISION * np.eye(design.shape[1])
        covariances.append(np.linalg.inv(precision))
        means.append(covariances[-1] @ design.T @ rewards / NOISE_VARIANCE)
    return Belief(np.array(means), np.array(covariances))


def without_correlations(belief: Belief) -> Belief:
    """Diag: the same mean and marginal variances."""
    return belief._replace(covariance=belief.covariance * np.eye(belief.covariance.shape[-1]))


def most_correlated(belief: Belief) -> list[int]:
    """The two coefficients with the largest correlation, averaged over actions."""
    deviations = np.sqrt(np.einsum("kdd->kd", belief.covariance))
    correlations = belief.covariance / (deviations[:, :, None] * deviations[:, None, :])
    strength = np.triu(np.abs(correlations.mean(axis=0)), k=1)
    return [int(index) for index in np.unravel_index(strength.argmax(), strength.shape)]
