"""suite → plan → run → store: what is to be played, what is already there, playing it, keeping it."""
