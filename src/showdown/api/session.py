"""Where results go that nobody asked to keep."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def session_folder() -> Path:
    """A folder that goes when this process ends. Within a session nothing is played twice."""
    folder = Path(tempfile.mkdtemp(prefix="showdown-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
