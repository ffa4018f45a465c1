# %% [markdown]
# # From a log to a policy
# A site has shown three ads at random, and logged what it showed, with what probability, and who clicked. What would
# another way of choosing have earned? And can we start with what the log knows?

# %%
import numpy as np
import pandas as pd

draw, n = np.random.default_rng(5), 1000
age, phone = draw.integers(18, 80, n), draw.choice(["yes", "no"], n)
ad = draw.choice(["shoes", "books", "games"], n, p=[0.5, 0.3, 0.2])
taste = {"shoes": 0.2, "books": 0.1 + 0.4 * (age > 50), "games": 0.1 + 0.4 * ((phone == "yes") & (age < 40))}
click = draw.random(n) < np.choose(
    [list(taste).index(name) for name in ad], [np.broadcast_to(v, n) for v in taste.values()]
)
shown = pd.Series(ad).map({"shoes": 0.5, "books": 0.3, "games": 0.2})
log = pd.DataFrame({"age": age, "phone": phone, "ad": ad, "click": click.astype(int), "p": shown})
log.head(3)

# %% [markdown]
# ## What would others have earned?
# `always books` is a policy; so is a method that learns, `LinFullPost`. A learning method gets two answers: what it
# earns while it learns from nothing, and what it earns once it has learned from one half, on the other half.

# %%
import showdown as sd

found = sd.evaluate("uniform, always books, LinFullPost", log, action="ad", reward="click", propensity="p")
found

# %% [markdown]
# The same as a DataFrame; `doubtful` rows have a message that says why.

# %%
found.table()[["policy", "kind", "estimator", "value", "low", "high", "doubtful"]].round(3)

# %% [markdown]
# A rule of your own is a function of the contexts that gives the probability of each action. Contexts are standardised:
# columns in the order of the table, actions in the order of the alphabet (books, games, shoes).


# %%
def books_for_the_old(contexts):
    old = contexts[:, 0] > 0
    return np.stack([old, np.zeros_like(old), ~old], axis=1).astype(float)


sd.evaluate({"books for the old": books_for_the_old}, log, action="ad", reward="click", propensity="p").verdict()

# %% [markdown]
# ## Start with what the log knows
# An agent learns the log's rewards before its first decision. It goes on exploring where the log said little.

# %%
from showdown.logged.read_log import read_log

read = read_log(log, action="ad", reward="click", propensity="p")
agent = sd.Agent(sd.policy("LinFullPost"), encoder=read.encoder, seed=1)
agent.learn_many(log[["age", "phone"]].to_dict("records"), list(log["ad"]), list(log["click"]))
for visitor in ({"age": 25, "phone": "yes"}, {"age": 70, "phone": "no"}):
    law = agent.probabilities(visitor).values
    print(visitor, dict(zip(read.action_names, law.round(2).tolist(), strict=True)))

# %% [markdown]
# What a log cannot answer, and why: [logged data](../logged-data.md). Next:
# [deploy an agent and monitor it](deploy_and_monitor.md).
