# %% [markdown]
# # Reproduce a table of the paper
# The paper's wheel table, for three of its rows and two of its five wheels, with the paper's number of steps and few
# trials. LinPost is one method; -MR and -SL are the values that the paper tuned on two other problems. All 22 rows, all
# wheels and 50 trials are `showdown run wheel-linear`: the commands are the same.

# %% language="bash"
# showdown run wheel-linear --policies 'Uniform,LinPost*' --problems wheel-0.5,wheel-0.9 --trials 4

# %% [markdown]
# ## Beside the published numbers
# `✓` agrees: the difference is within three standard errors and a tenth of the published number. `≈` would agree too,
# but with so few trials it is too noisy to say so.

# %% language="bash"
# showdown table --paper wheel-cumulative --against paper

# %% [markdown]
# ## The same numbers as data
# The published tables come with the package. Our trials, each of them, are in the store.

# %%
import showdown as sd
from showdown.analysis.published import tables

published = tables().query("table == 'wheel_cumulative' and preset == 'LinPost'")
print(published[["problem", "mean", "sem"]].to_string(index=False))
ours = sd.open("results").trials()
print(ours.groupby(["policy", "problem"])["cumulative"].agg(["mean", "std", "count"]).round(0))

# %%
sd.open("results").select("LinPost*").plot.overview()

# %% [markdown]
# Running the first command again would play nothing: every finished cell is known by the hash of all that its numbers
# depend on. What was found for all tables: [How the numbers compare with the paper's](../reproduction.md).
