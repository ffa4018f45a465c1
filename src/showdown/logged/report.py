"""What an evaluation found, as a value, as text and as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from showdown.logged.estimators import Estimate

if TYPE_CHECKING:
    import pandas as pd

ORDER = ("doubly robust", "direct method", "replay")  # which estimate speaks for a policy, best first


@dataclass(frozen=True)
class Row:
    """One policy's value by one estimator."""

    policy: str
    kind: str  # fixed, learning, or frozen: trained on one half of the log and evaluated on the other
    estimator: str
    rows: int  # of the log that it was made from; matches of a replay
    estimate: Estimate
    doubtful: bool = False  # one of the messages says why

    def plain(self) -> dict[str, Any]:
        fields = asdict(self)
        return {**fields.pop("estimate"), **fields}


@dataclass(frozen=True, repr=False)
class Evaluation:
    rows: int  # of the log
    actions: dict[str, int]  # how often each was taken
    context_dim: int
    propensities: tuple[float, float] | None  # smallest and largest
    level: float  # of all intervals
    logged: Estimate  # what the log itself paid
    estimates: tuple[Row, ...]
    messages: tuple[str, ...]

    def of(self, policy: str, estimator: str) -> Estimate:
        return next(row.estimate for row in self.estimates if (row.policy, row.estimator) == (policy, estimator))

    def verdict(self) -> str:
        """In one sentence: which policy is best, and whether it is better than what made the log."""
        speaking = self._speaking()
        if not speaking:
            return "The log cannot say what these policies would earn."
        best = max(speaking, key=lambda row: row.estimate.value)
        own = self.logged
        by = f"{best.policy} ({best.kind}, {best.estimator}) at {best.estimate.value:.4g} a decision"
        if best.estimate.low > own.high:
            return f"Best is {by}: clearly more than the {own.value:.4g} that the log paid."
        if best.estimate.high < own.low:
            return f"None is as good as what made the log, which paid {own.value:.4g}; nearest is {by}."
        return f"Best is {by}; the log cannot tell it from its own {own.value:.4g}."

    def _speaking(self) -> list[Row]:
        """The estimate of each policy to believe first."""
        chosen: dict[tuple[str, str], Row] = {}
        for estimator in ORDER:
            for row in self.estimates:
                if row.estimator == estimator and not row.doubtful:
                    chosen.setdefault((row.policy, row.kind), row)
        return list(chosen.values())

    def plain(self) -> dict[str, Any]:
        """All of it as plain data, for JSON."""
        fields = asdict(self)
        fields["estimates"] = [row.plain() for row in self.estimates]
        return {**fields, "verdict": self.verdict()}

    def table(self) -> pd.DataFrame:
        """A row per policy and estimator: value, interval, rows and whether it is doubtful."""
        import pandas as pd

        names = ["policy", "kind", "estimator", "value", "low", "high", "rows", "effective", "doubtful"]
        return pd.DataFrame([{name: row.plain().get(name) for name in names} for row in self.estimates])

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        span = (
            "no propensities"
            if self.propensities is None
            else "propensities {:.3g} to {:.3g}".format(*self.propensities)
        )
        common = sorted(self.actions.items(), key=lambda item: -item[1])[:10]
        lines = [
            f"{self.rows:,} decisions, context of {self.context_dim} numbers, {len(self.actions)} actions, {span}",
            "taken: " + ", ".join(f"{name} {count / self.rows:.0%}" for name, count in common),
            "",
            *_grid(
                [
                    ("policy", "", "estimator", "value", f"{self.level:.0%} interval", "", "rows", "effective"),
                    ("(the log)", "", "mean", *_numbers(self.logged), f"{self.rows:,}", f"{self.rows:,}"),
                    *(
                        (
                            row.policy,
                            row.kind,
                            row.estimator,
                            *_numbers(row.estimate, "?" if row.doubtful else ""),
                            f"{row.rows:,}",
                            f"{row.estimate.effective:,.0f}",
                        )
                        for row in self.estimates
                    ),
                ]
            ),
            "",
            self.verdict(),
            *(f"- {message}" for message in self.messages),
        ]
        return "\n".join(lines)


def _numbers(estimate: Estimate, mark: str = "") -> tuple[str, str, str]:
    span = f"{estimate.low:.4g} to {estimate.high:.4g}{mark}"
    return f"{estimate.value:.4g}", span, estimate.interval


def _grid(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    right = {3, 6, 7}  # figures
    return [
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
