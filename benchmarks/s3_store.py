"""A store in S3: the tests of it, and seconds per cell to upload and to download, on a server on 127.0.0.1.

s3fs and moto (whose server plays S3) live in their own environment, `.venv-s3`, made here on first use: botocore wants
an older python-dateutil than the rest of this project uses. The cells are those of docs/results/neural.

    python benchmarks/s3_store.py            # --skip-tests for the figures alone
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from pathlib import Path

HERE = Path(__file__).parents[1]
ENVIRONMENT = HERE / ".venv-s3"
PACKAGES = ("fsspec==2026.9.0", "s3fs==2026.9.0", "moto[server]==5.2.5")


def prepared() -> Path:
    """The environment's Python, which finds this project's packages after its own."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        print("installing s3fs and moto into .venv-s3, once", file=sys.stderr)
        venv.create(ENVIRONMENT, with_pip=True)
        ours = ENVIRONMENT / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages" / "ours.pth"
        ours.write_text(sysconfig.get_path("purelib") + "\n")
        quiet = ("--quiet", "--disable-pip-version-check")
        subprocess.run([python, "-m", "pip", "install", *quiet, *PACKAGES], check=True, timeout=900)
    return python


def measure() -> None:
    """Runs in the environment."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    os.environ |= {
        "AWS_ENDPOINT_URL": "http://{}:{}".format(*server.get_host_and_port()),
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    import s3fs

    from showdown.bench.remote import Remote, copy_cells
    from showdown.bench.store import Store

    s3fs.S3FileSystem().mkdir("bucket")
    here, there = Store(HERE / "docs" / "results" / "neural"), Remote("s3://bucket/neural")
    with tempfile.TemporaryDirectory() as folder:
        for what, source, target in (("upload", here, there), ("look again", here, there), ("download", there, folder)):
            began = time.perf_counter()
            copied = copy_cells(source, Store(target) if isinstance(target, str) else target)
            seconds, cells = time.perf_counter() - began, copied.new + copied.present
            print(f"{what}: {cells} cells, {copied.new} new, {seconds:.1f} s, {seconds / cells:.3f} s per cell")
        equal = all(Store(folder).files_of(record.cell) == here.files_of(record.cell) for record in here.cells())
        print(f"the downloaded files are {'equal to the bit' if equal else 'DIFFERENT'}")
    server.stop()


def main() -> None:
    if "--measure" in sys.argv:
        measure()
        return
    python, environment = prepared(), {**os.environ, "PYTHONPATH": str(HERE / "src")}
    if "--skip-tests" not in sys.argv:
        tests = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/unit/test_remote.py"]
        subprocess.run(tests, cwd=HERE, env=environment, check=True)
    subprocess.run([python, __file__, "--measure"], env=environment, check=True)


if __name__ == "__main__":
    main()
