"""The cache folder of this user: the usual one of the system, or the one that `SHOWDOWN_CACHE` names."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "SHOWDOWN_CACHE"


def cache_folder() -> Path:
    """Downloads, parsed tables and compiled programs are kept in it; it may be deleted at any time."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    try:
        from platformdirs import user_cache_path
    except ImportError:  # data can still be read from a named folder, and tables kept in the usual folder of Linux
        return Path.home() / ".cache" / "showdown"
    return user_cache_path("showdown", appauthor=False)
