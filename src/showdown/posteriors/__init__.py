"""The mathematics, free of bandits: Bayesian regression and its draws."""
