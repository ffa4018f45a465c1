"""Items with features: at every step a few items are offered, and what an item pays depends on its features alone.

Features are uniform on the unit sphere, drawn anew for every step and item; a trial draws the unit vector θ (for
`network`, the weights of a small network). The mean reward of an item x is

    linear      θᵀx
    quadratic   10 (θᵀx)²
    cosine      cos(3 θᵀx)
    network     a random network of one hidden layer of 50 units

and every reward has normal noise. No item comes back, so a policy that tells actions apart by their numbers learns
nothing. The context is a constant. `items-fixed` is the other extreme: a trial draws 1,000 items of 100 features once,
offers all of them at every step, and pays by a network; to try each of them takes 1,000 steps.

Reference: quadratic and cosine are those of Zhou, Li, Gu, "Neural Contextual Bandits with UCB-based Exploration", ICML
2020, with d = 20 and k = 4; `items-cosine` has less noise (σ = 0.1), as its rewards are at most 1. Linear is the
setting of LinUCB with shared coefficients (Li et al. 2010).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from showdown.config import at_least, config, non_negative, param
from showdown.problems.registry import problems
from showdown.protocol.keys import role_key
from showdown.protocol.problem import Problem, ProblemSpec, Round, Tables

HIDDEN = 50  # units of the network that pays


class ItemsEpisode(NamedTuple):
    coefficients: jax.Array  # (action_dim,) θ
    first: jax.Array  # (action_dim, HIDDEN) of the network
    second: jax.Array  # (HIDDEN,)
    features_key: jax.Array
    noise_key: jax.Array


@config
class Items(Problem):
    reward: Literal["linear", "quadratic", "cosine", "network"] = param("linear", "what an item pays on average")
    num_items: int = param(4, "k: items that are offered at each step", at_least(2))
    action_dim: int = param(20, "d: features of an item", at_least(1))
    noise: float = param(1.0, "σ: standard deviation of every reward", non_negative)
    horizon: int = param(5000, "steps of one trial", at_least(1))

    def spec(self, tables: Tables) -> ProblemSpec:
        return ProblemSpec(context_dim=1, num_actions=self.num_items, action_dim=self.action_dim)

    def begin(self, key: jax.Array, tables: Tables) -> ItemsEpisode:
        size = self.action_dim
        direction = jax.random.normal(role_key(key, "coefficients"), (size,))
        return ItemsEpisode(
            coefficients=direction / jnp.linalg.norm(direction),
            first=jax.random.normal(role_key(key, "first"), (size, HIDDEN)),  # features have length one
            second=2 / jnp.sqrt(jnp.float32(HIDDEN)) * jax.random.normal(role_key(key, "second"), (HIDDEN,)),
            features_key=role_key(key, "features"),
            noise_key=role_key(key, "noise"),
        )

    def action_features(self, step: jax.Array, episode: ItemsEpisode, tables: Tables) -> jax.Array:
        key = jax.random.fold_in(episode.features_key, step)
        features = jax.random.normal(key, (self.num_items, self.action_dim))
        return features / jnp.linalg.norm(features, axis=-1, keepdims=True)

    def context(self, step: jax.Array, episode: ItemsEpisode, tables: Tables) -> jax.Array:
        return jnp.ones(1)

    def round(self, step: jax.Array, episode: ItemsEpisode, tables: Tables) -> Round:
        features = self.action_features(step, episode, tables)
        means = self.means(features, episode)
        noise = jax.random.normal(jax.random.fold_in(episode.noise_key, step), (self.num_items,))
        context = self.context(step, episode, tables)
        return Round(context, means + self.noise * noise, means, features=features)

    def means(self, features: jax.Array, episode: ItemsEpisode) -> jax.Array:
        """What items with these features pay on average, (items,)."""
        if self.reward == "network":
            hidden = jax.nn.relu(jnp.matmul(features, episode.first, precision="highest"))
            return jnp.matmul(hidden, episode.second, precision="highest")
        along = jnp.matmul(features, episode.coefficients, precision="highest")
        return {"linear": along, "quadratic": 10 * along**2, "cosine": jnp.cos(3 * along)}[self.reward]


class FixedItemsEpisode(NamedTuple):
    rewards: ItemsEpisode
    items: jax.Array  # (num_items, action_dim) the same at every step


@config
class FixedItems(Items):
    """The same items at every step; a trial draws them."""

    reward: Literal["linear", "quadratic", "cosine", "network"] = param("network", "what an item pays on average")
    num_items: int = param(1000, "k: items that are offered at each step", at_least(2))
    action_dim: int = param(100, "d: features of an item", at_least(1))
    noise: float = param(0.1, "σ: standard deviation of every reward", non_negative)

    def begin(self, key: jax.Array, tables: Tables) -> FixedItemsEpisode:
        episode = super().begin(key, tables)
        return FixedItemsEpisode(episode, super().action_features(jnp.int32(0), episode, tables))

    def action_features(self, step: jax.Array, episode: FixedItemsEpisode, tables: Tables) -> jax.Array:
        return episode.items

    def round(self, step: jax.Array, episode: FixedItemsEpisode, tables: Tables) -> Round:
        means = self.means(episode.items, episode.rewards)
        noise = jax.random.normal(jax.random.fold_in(episode.rewards.noise_key, step), (self.num_items,))
        return Round(jnp.ones(1), means + self.noise * noise, means, features=episode.items)


problems.add("items", Items())
problems.add("items-quadratic", Items(reward="quadratic"), base="items")
problems.add("items-cosine", Items(reward="cosine", noise=0.1), base="items")
problems.add("items-network", Items(reward="network"), base="items")
problems.add("items-fixed", FixedItems(), base="items")
