"""suite → plan → run → store: what is to be played, what is already stored, playing it, storing it."""
