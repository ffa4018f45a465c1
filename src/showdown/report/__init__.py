"""Draw what analysis returns; nothing here computes a result."""
