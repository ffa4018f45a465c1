# %% [markdown]
# # Bandits on my simulator
# You have a simulator in Python, a model of scikit-learn, and a rule of your own. No JAX is needed: hand them over, and
# they are played beside showdown's compiled methods on the same trials.

# %%


class Taxi:
    """Where to wait for the next guest: at the station, the airport or the theatre."""

    actions = ("station", "airport", "theatre")
    horizon = 200  # steps of a trial

    def reset(self, rng):
        self.rng = rng
        self.weights = rng.normal(size=(3, 2))  # what hour and rain mean at each place, today
        return self._next()

    def _next(self):
        self.now = self.rng.normal(size=2)  # hour and rain
        self.noise = 0.3 * self.rng.normal(size=3)  # drawn before the choice, which must not change it
        return self.now

    def means(self):
        return self.weights @ self.now  # if you know them: what each choice pays on average

    def step(self, action):
        place = self.actions.index(action)
        reward = float((self.weights @ self.now + self.noise)[place])
        return self._next(), reward


# %% [markdown]
# ## A model and a rule of your own
# A scikit-learn regressor estimates what each choice pays; `explore` says how it tries others. A class with `choose`
# and `learn` is a policy as it stands.

# %%
from sklearn.linear_model import SGDRegressor

import showdown as sd


class Stay:
    """Stays as long as it pays."""

    def begin(self, num_actions, rng):
        self.num_actions, self.rng, self.place = num_actions, rng, 0

    def choose(self, context):
        return self.place

    def learn(self, context, action, reward):
        if reward < 0:
            self.place = int(self.rng.integers(self.num_actions))


mine = {
    "sgd": sd.policy(SGDRegressor(), explore="epsilon-greedy", epsilon=0.05),
    "stay": Stay(),
    "linear": "LinFullPost",
}
results = sd.run(mine, Taxi(), trials=6)
results

# %% [markdown]
# `sgd` and `stay` decide step by step in Python, which is slow; their trials are the same as those of the others, so
# differences are compared trial by trial.

# %%
results.plot.curves()

# %%
results.compare("sgd", "linear")

# %% [markdown]
# A simulator whose choices change what comes next is refused: that is no contextual bandit, and nothing here plans
# ahead. Functions, Gymnasium environments, what `explore` can be, and what is stored:
# [your own code](../your-own-code.md).
