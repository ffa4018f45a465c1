"""Look up the versions of a file of locked requirements in the list of known vulnerabilities, with pip-audit.

    python tools/audit.py requirements-serve.txt    # `make audit`

Where that list cannot be reached pip-audit calls every package unknown, which must not look like a pass: then this says
that nothing was looked up, and why, and ends with code 0.
"""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from pathlib import Path

DATA = "https://pypi.org/pypi/{}/{}/json"  # where pip-audit looks a version up


def out_of_reach(lock: Path) -> str:
    """Why the list cannot be reached; empty where it can, which the first version of the lock shows."""
    first = next(line for line in lock.read_text().splitlines() if "==" in line and not line.startswith("#"))
    name, version = first.split(" ")[0].split("==")
    try:
        with urllib.request.urlopen(DATA.format(name, version), timeout=30) as answer:
            return "" if b'"vulnerabilities"' in answer.read() else "its answer holds no list"
    except OSError as error:  # no network, a proxy that refuses, a mirror without the list
        return str(error)


def main() -> int:
    lock = Path(sys.argv[1])
    why = out_of_reach(lock)
    if why:
        print(f"audit skipped, nothing was looked up: {DATA.format('NAME', 'VERSION')} cannot be reached ({why})")
        return 0
    options = ("--strict", "--require-hashes", "--disable-pip", "--progress-spinner", "off", "--requirement", str(lock))
    return subprocess.run([sys.executable, "-m", "pip_audit", *options], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
