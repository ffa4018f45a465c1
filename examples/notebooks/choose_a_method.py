# %% [markdown]
# # Choose a method for a table
# A shop offers three plans. The table says of each past customer which plan was right. For the next customer we must
# choose, and we shall only see whether *that* choice was right. Which method should choose?

# %%
import numpy as np
import pandas as pd

draw, n = np.random.default_rng(7), 600
age, income = draw.integers(18, 80, n), np.exp(draw.normal(10, 0.5, n)).round(2)
region = draw.choice(["north", "south", "east"], n)
plan = np.where(age + 10 * (region == "north") > 60, "plus", np.where(income > 22_000, "basic", "none"))
customers = pd.DataFrame({"customer_id": np.arange(n), "age": age, "income": income, "region": region, "plan": plan})
customers.head(3)

# %% [markdown]
# ## Compare methods
# Three lines: import, play, draw. Every method plays the same ten trials; a trial is the customers in a random order.
# The customer number is left out by itself.

# %%
import showdown as sd

results = sd.run(["LinFullPost", "LinGreedy"], customers, label="plan", trials=10)
results.plot.curves()

# %% [markdown]
# The results print as a table with a verdict. Uniform plays too: it chooses at random, and has 100 % of its own regret.

# %%
results

# %% [markdown]
# As DataFrames: `results.table()` has a row per method, `results.trials()` one per trial, for your own statistics.

# %%
results.table("accuracy")[["policy", "mean", "low", "high", "best"]].round(3)

# %% [markdown]
# ## Ask for a method
# `sd.recommend` chooses what to play, drops what is clearly behind and says what to use. To be quick, two linear
# methods and one round of ten trials; leave `policies` and `rounds` out, and networks and Council are played too.

# %%
found = sd.recommend(customers, label="plan", policies=["LinGreedy", "LinFullPost"], rounds=(10,), budget="2m")
found

# %% [markdown]
# ## Use it
# The agent has learned from the table. It takes a customer as a row, and names the plan to offer.

# %%
agent = found.agent()
decision = agent.decide({"age": 41, "income": 30_000, "region": "north"})
print(f"offer {decision.name}, which had a probability of {decision.propensity:.2f}")
agent.reward(decision.id, 1.0)  # seconds or days later

# %% [markdown]
# ## If mistakes do not cost the same
# Say that missing a "plus" customer costs three times as much as any other mistake. Rewards then are costs, and the
# answer can change: `sd.recommend(customers, label="plan", costs={"plus": 3})`.
#
# Next: [put the method to work](deploy_and_monitor.md), or read
# [how a table is read, and what is warned of](../your-own-data.md).
