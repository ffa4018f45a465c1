"""The base of what may be nested in a configuration under an abstract type: policies, problems, beliefs."""

from __future__ import annotations

from typing import ClassVar

from showdown.config.checks import check_fields


class Configuration:
    """Subclasses are decorated with `@config`; a field whose hint is an abstract subclass holds a configuration."""

    numerics: ClassVar[int] = 1  # bump when a fix moves numbers: older cells are then not reused

    def check(self) -> None:
        """Raise UsageError if the fields make no sense; a subclass adds what concerns several fields together."""
        check_fields(self)
