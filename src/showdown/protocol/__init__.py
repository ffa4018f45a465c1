"""What a problem and a policy are, what a policy sees of a problem, and the random keys of both."""
