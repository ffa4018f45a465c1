"""`sd.list`, under its own name, so that type checkers find it."""

from showdown.api.listing import listing as list

__all__ = ["list"]
