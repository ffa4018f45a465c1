"""Who collects the data changes what is believed: the experiment of the paper's figure 1.

Posteriors of the coefficients of each of k = 6 actions (d = 20) after n = 500 steps of Thompson sampling: two runs with
the exact posterior, and one with Diag. An approximation does not only describe the data badly, it also collects other
data.

The paper does not give the contexts' law, the noise, the prior or the two coefficients. Here contexts are correlated
(`shared.MixedLinear`), λ = σ² = 0.25, and the two coefficients are those that the exact posterior correlates most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from showdown.agent import Agent
from showdown.policies.linear import LinearKnownNoise
from showdown.policies.wrappers import WarmUp
from showdown.protocol.keys import named_key
from showdown.protocol.problem import Round
from showdown.studies.shared import Advance, MixedLinear, Settings

NUM_ACTIONS, DIM, STEPS = 6, 20, 500
PRIOR_PRECISION = NOISE_VARIANCE = 0.25


class Data(NamedTuple):
    contexts: np.ndarray  # (steps, dim)
    actions: np.ndarray  # (steps,)
    rewards: np.ndarray  # (steps,) of the action taken


class CoefficientPosterior(NamedTuple):
    mean: np.ndarray  # (num_actions, dim)
    covariance: np.ndarray  # (num_actions, dim, dim)


@dataclass(frozen=True)
class DataFeedback:
    truth: np.ndarray  # (dim, num_actions) the coefficients that all four beliefs are about
    steps_of_action: np.ndarray  # (num_actions,) in the first run of the exact posterior
    coefficients: list[int]  # the two that the exact posterior correlates most
    exact: CoefficientPosterior
    exact_again: CoefficientPosterior  # of a second run, with other contexts
    diagonal_on_own_data: CoefficientPosterior
    diagonal_on_exact_data: CoefficientPosterior


def run(settings: Settings) -> DataFeedback:
    truth, first, second, diagonal = runs(settings, STEPS)
    exact, again, own = (posterior(data) for data in (first, second, diagonal))
    return DataFeedback(
        truth=truth,
        steps_of_action=np.bincount(first.actions, minlength=NUM_ACTIONS),
        coefficients=most_correlated(exact),
        exact=exact,
        exact_again=again,
        diagonal_on_own_data=without_correlations(own),
        diagonal_on_exact_data=without_correlations(exact),
    )


def runs(settings: Settings, steps: int) -> tuple[np.ndarray, Data, Data, Data]:
    """True coefficients (dim, num_actions), and what exact, exact again and Diag saw.

    The second run meets other contexts of the same problem; Diag meets those of the first.
    """
    problem = MixedLinear(context_dim=DIM, num_actions=NUM_ACTIONS, noise=0.1, horizon=2 * steps)
    episode = problem.begin(named_key(settings.seed, "posterior-feedback"), ())
    rounds: Round = jax.vmap(lambda step: problem.round(step, episode, ()))(jnp.arange(2 * steps))
    contexts, rewards = np.asarray(rounds.context), np.asarray(rounds.rewards)
    halves = [(contexts[:steps], rewards[:steps]), (contexts[steps:], rewards[steps:])]
    with settings.bar(3 * steps, "choosing and learning") as advance:
        exact, again = (_play("full", *half, settings.seed + number, advance) for number, half in enumerate(halves))
        diagonal = _play("diagonal", *halves[0], settings.seed, advance)
    return np.asarray(episode.coefficients), exact, again, diagonal


def _play(
    covariance: Literal["full", "diagonal"], contexts: np.ndarray, rewards: np.ndarray, seed: int, advance: Advance
) -> Data:
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


def posterior(data: Data) -> CoefficientPosterior:
    """The exact posterior of every action's coefficients in closed form: Σ = (XᵀX/σ² + λI)⁻¹, μ = ΣXᵀr/σ²."""
    means, covariances = [], []
    for action in range(NUM_ACTIONS):
        taken = data.actions == action
        design, rewards = data.contexts[taken].astype(float), data.rewards[taken].astype(float)
        precision = design.T @ design / NOISE_VARIANCE + PRIOR_PRECISION * np.eye(design.shape[1])
        covariances.append(np.linalg.inv(precision))
        means.append(covariances[-1] @ design.T @ rewards / NOISE_VARIANCE)
    return CoefficientPosterior(np.array(means), np.array(covariances))


def without_correlations(belief: CoefficientPosterior) -> CoefficientPosterior:
    """The belief of Diag: the same mean and marginal variances, no correlations."""
    return belief._replace(covariance=belief.covariance * np.eye(belief.covariance.shape[-1]))


def most_correlated(belief: CoefficientPosterior) -> list[int]:
    """The two coefficients with the largest correlation, averaged over actions."""
    deviations = np.sqrt(np.einsum("kdd->kd", belief.covariance))
    correlations = belief.covariance / (deviations[:, :, None] * deviations[:, None, :])
    strength = np.triu(np.abs(correlations.mean(axis=0)), k=1)
    return [int(index) for index in np.unravel_index(strength.argmax(), strength.shape)]
