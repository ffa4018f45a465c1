"""Where workers of a Ray cluster write how far their cells are, and the driver reads it. Imports nothing heavy."""

from __future__ import annotations


class ProgressBoard:
    """An actor of the cluster that holds the progress of every cell."""

    def __init__(self) -> None:
        self.news: dict[str, int] = {}

    def report(self, cell_hash: str, steps: int) -> None:
        """`steps` are all trial-steps of the cell's present attempt so far; 0: it begins."""
        self.news[cell_hash] = steps

    def read(self) -> dict[str, int]:
        """What was reported since the last time."""
        news, self.news = self.news, {}
        return news
