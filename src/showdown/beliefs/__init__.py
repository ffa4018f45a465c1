"""What a policy believes about the value of each action, free of how it decides: one file per kind of belief."""
