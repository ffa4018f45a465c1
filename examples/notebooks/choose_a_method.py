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
customers.to_csv("customers.csv", index=False)
customers.head(3)

# %% [markdown]
# ## Look before you play
# How is the table read? The row number is left out, the region becomes three numbers.

# %% language="bash"
# showdown inspect customers.csv --label plan

# %% [markdown]
# ## Ask for a method
# Two linear methods and one round of ten trials, to be quick. Leave `policies` and `rounds` out, and networks and
# Council are played too, in rounds that drop what is clearly behind.

# %%
import showdown

found = showdown.recommend(customers, label="plan", policies=["LinGreedy", "LinFullPost"], rounds=(10,), budget="2m")
print(found.verdict.sentence)
print("use:", found.policy)

# %% [markdown]
# `found.verdict` is the whole verdict: who cannot be told from the best, and what makes it doubtful.

# %%
print("tied with it:", found.verdict.tied)
print("warnings:", found.verdict.warnings)

# %% [markdown]
# ## How much does each method earn, and when?
# The trials are in a store, so every other command works on them: a table, a comparison of two methods, a page.

# %% language="bash"
# showdown table recommendation --metric accuracy
# showdown compare LinGreedy LinFullPost recommendation --metric accuracy

# %% [markdown]
# The last row is what always offering the commonest plan would reach. A method that is not above it has learnt nothing
# from the customers. Curves over time are on the page, `recommendation/report.html`.
#
# ## If mistakes do not cost the same
# Say that missing a "plus" customer costs three times as much as any other mistake. Rewards then are costs, and the
# answer can change: `showdown.recommend("customers.csv", label="plan", costs={"plus": 3})`. On the command line it is
# `--costs plus:3`.
#
# Next: [put the method to work](deploy_and_monitor.md), or read
# [how a table is read, and what is warned of](../your-own-data.md).
