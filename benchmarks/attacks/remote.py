"""A store in S3 behind a proxy that stalls, hangs up and answers nonsense; records that are damaged; killed uploads.

Needs s3fs and moto: `.venv-s3/bin/python benchmarks/attack.py remote` (benchmarks/s3_store.py makes that environment).
"""

from __future__ import annotations

import logging
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from attacks import Score, made_store
from showdown.basics.errors import ShowdownError
from showdown.bench import reach
from showdown.bench.remote import Remote, copy_cells
from showdown.bench.store import Store

CELLS = 6
UPLOAD = "import sys\nfrom pathlib import Path\nfrom showdown.bench.remote import Remote, copy_cells\n" + (
    "from showdown.bench.store import Store\nprint('ready', flush=True)\n"
    "copy_cells(Store(Path(sys.argv[1])), Remote(sys.argv[2]))\n"
)
ANSWERS = {
    "503": b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n",
    "500": b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
    "nonsense": b"nonsense\r\n\r\n",
    "cut short": b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{",
}
FAULTS = ("none", "stall", "stall in the middle", "hang up", *ANSWERS)


class Proxy:
    """Hands connections on to a server, but for the faults that it is told."""

    def __init__(self, host: str, port: int) -> None:
        self.server, self.fault, self.ended = (host, port), "none", threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with closing(client), suppress(OSError), closing(socket.create_connection(self.server)) as server:
            threading.Thread(target=self._pump, args=(server, client, False), daemon=True).start()
            self._pump(client, server, True)

    def _pump(self, source: socket.socket, sink: socket.socket, is_request: bool) -> None:
        with suppress(OSError):
            while piece := source.recv(4096):
                fault = self.fault
                if is_request and fault == "stall":
                    self.ended.wait(600)
                elif is_request and fault == "hang up":
                    break
                elif is_request and fault in ANSWERS:
                    source.sendall(ANSWERS[fault])
                    break
                elif not is_request and fault == "stall in the middle":
                    sink.sendall(piece[: len(piece) // 2])
                    self.ended.wait(600)
                else:
                    sink.sendall(piece)
            sink.shutdown(socket.SHUT_RDWR)


@contextmanager
def served() -> Iterator[Proxy]:
    """A bucket `bucket` behind a proxy; this process's S3 is there."""
    import s3fs
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    proxy = Proxy(*server.get_host_and_port())
    os.environ |= {
        "AWS_ENDPOINT_URL": proxy.url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    s3fs.S3FileSystem.clear_instance_cache()
    with suppress(FileExistsError):  # moto keeps it from one server to the next
        s3fs.S3FileSystem().mkdir("bucket")
    try:
        yield proxy
    finally:
        proxy.ended.set()
        proxy.listener.close()
        server.stop()


def faulty_network(directory: Path, seconds: float = 3.0) -> Score:
    """Both directions through each fault: what was not copied is named, in bounded time, and the next try copies it."""
    score = Score("a store in S3 behind a faulty network")
    before = reach.CALL_SECONDS, reach.PAUSES
    reach.CALL_SECONDS, reach.PAUSES = seconds, (0.1, 0.1)
    made_store(directory / "here", CELLS)
    here = Store(directory / "here")
    try:
        with served() as proxy:
            for number, fault in enumerate(FAULTS):
                there, back = Remote(f"s3://bucket/{number}"), Store(directory / str(number))
                for source, target, done in ((here, there, there), (there, back, back)):
                    with score.attempt():
                        began = time.monotonic()
                        proxy.fault = fault
                        named = _copied(source, target)
                        score.hung += time.monotonic() - began > 3 * seconds * (CELLS + 2) + 30
                        proxy.fault = "none"
                        kept = len(done.records() if isinstance(done, Remote) else done.cells())
                        score.silent += kept + named < CELLS
                        copy_cells(source, target)
                        kept = len(done.records() if isinstance(done, Remote) else done.cells())
                        score.lost += kept != CELLS
    finally:
        reach.CALL_SECONDS, reach.PAUSES = before
    return score


def _copied(source: Store | Remote, target: Store | Remote) -> int:
    """How many cells the copy names as not copied; all of them where it says that the place cannot be reached."""
    try:
        return len(copy_cells(source, target).damaged)
    except ShowdownError:
        return CELLS


def damaged_records(directory: Path, flips: int = 200) -> Score:
    """A bit of a record or of a table in S3 flips: the cell is named, and no other is lost."""
    score = Score("a bit flips in a store in S3")
    made_store(directory / "here", CELLS)
    chance = random.Random(0)
    with served():
        there = Remote("s3://bucket/flips")
        copy_cells(Store(directory / "here"), there)
        records = there.records()
        for number in range(flips):
            cell = chance.choice(sorted(records))
            path = chance.choice([there._record_path(cell), there._table_path(str(records[cell].table_sha256))])
            content = there.files.cat_file(path)
            place, bit = chance.randrange(len(content)), 1 << chance.randrange(8)
            flipped = bytearray(content)
            flipped[place] ^= bit
            there.files.pipe_file(path, bytes(flipped))
            with score.attempt():
                copied = copy_cells(there, Store(directory / f"back-{number}"))
                score.silent += cell not in copied.damaged
                score.lost += copied.new != CELLS - 1
            there.files.pipe_file(path, content)
    return score


def killed_uploads(directory: Path, kills: int = 20) -> Score:
    """An upload is killed (-9) at any moment: what is there is whole, and the next upload completes it."""
    score = Score("an upload to S3 is killed (-9)")
    made_store(directory / "here", 30)
    here, chance = Store(directory / "here"), random.Random(kills)
    with served():
        for number in range(kills):
            url = f"s3://bucket/kill-{number}"
            command = [sys.executable, "-c", UPLOAD, str(directory / "here"), url]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.5 + 2.0 * chance.random())
            process.send_signal(signal.SIGKILL)
            process.communicate()
            with score.attempt():
                there = Remote(url)
                records = there.records()
                score.silent += len(there.damaged)
                score.silent += sum(there.files_of(cell) is None for cell in records)
                copy_cells(here, there)
                score.lost += len(there.records()) != 30
    return score
