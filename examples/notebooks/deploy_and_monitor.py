# %% [markdown]
# # Deploy an agent and monitor it
# An agent is a method with what it has learnt. It decides one row at a time and learns from rewards that come late.
# This is what `showdown serve` does over HTTP; here it is done in Python, where it is easier to look inside.

# %%
import numpy as np
import pandas as pd

import showdown as sd
from showdown.agent import UnknownDecisionError

draw = np.random.default_rng(3)


def visitors(n: int) -> pd.DataFrame:
    """Visitors of a shop, and which of three messages each would answer."""
    age, region = draw.integers(18, 80, n), draw.choice(["north", "south", "east"], n)
    answers = np.where(age > 55, "letter", np.where(region == "north", "email", "app"))
    return pd.DataFrame({"age": age, "region": region, "message": answers})


past = visitors(200)
problem, policy = sd.problem(past, label="message"), sd.policy("LinFullPost")
agent = sd.Agent.for_table(problem, policy, journal="agent.journal", seed=1)
# in a service, agent.warm() here would compile everything before the first request

# %% [markdown]
# ## Decide now, learn later
# A decision has an id, the action, and the probability with which it was taken. Log all of them. The reward comes ten
# visitors later.

# %%
log, waiting = [], []
for _, visitor in visitors(400).iterrows():
    row = {"age": int(visitor["age"]), "region": visitor["region"]}
    decision = agent.decide(row)
    reward = float(decision.name == visitor["message"])
    log.append({**row, "action": decision.name, "propensity": decision.propensity, "reward": reward})
    waiting.append((decision.id, reward))
    if len(waiting) > 10:
        agent.reward(*waiting.pop(0))
logged = pd.DataFrame(log)
print(agent)
print("answered, first 100:", logged["reward"][:100].mean(), " last 100:", logged["reward"][-100:].mean())

# %% [markdown]
# ## What to watch
# `counts()` says what went by. Rewards for decisions that the agent does not know, values that it never saw and
# updates that it refused are the first signs that something has changed. `showdown serve` has the same at `/metrics`.

# %%
agent.decide({"age": None, "region": "west"})  # an age that is missing, and a region that the table did not have
try:
    agent.reward("no-such-decision", 1.0)
except UnknownDecisionError as error:
    print(error)
counts = agent.counts()
print({name: counts[name] for name in ("unknown", "dropped", "refused_updates", "waiting")})
print(counts["encoder"])

# %% [markdown]
# ## A crash loses nothing
# Every decision and reward is in the journal before the call returns. A saved file and the journal bring all back.

# %%
agent.save("agent.npz")
for decision_id, reward in waiting:
    agent.reward(decision_id, reward)
learned = agent.observations
agent.close()  # as if the machine had stopped here, after the save
agent = sd.Agent.load("agent.npz", journal="agent.journal")
assert agent.observations == learned
print(learned, "rewards learned before,", agent.observations, "after")
agent.close()

# %% [markdown]
# ## Would another policy have earned more?
# The log has propensities, so the question has an answer, with an interval.

# %%
found = sd.evaluate("always app", logged, action="action", reward="reward", propensity="propensity")
estimate = found.of("always app", "SNIPS")
print(f"always app: {estimate.value:.2f}, 95 % interval {estimate.low:.2f} to {estimate.high:.2f}")
print(*found.messages, sep="\n")

# %% [markdown]
# An agent that has learnt takes the other actions rarely, so its log says little about them; the messages say so.
# Keep some exploration in the log if such questions matter: [logged data](../logged-data.md).
#
# Over HTTP, in a container and with a token: [From a policy to a running service](../deploy.md).
