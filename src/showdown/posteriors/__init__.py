"""The mathematics, free of bandits: Bayesian regression, networks and their training, approximate posteriors."""
