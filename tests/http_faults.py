"""A server on this machine that serves a few files as badly as servers do; what it was asked is in its log.

An answer is a function of the request's handler and the file's content. Each path has a list of answers, of which the
last is given from then on; `serve` is the honest one.
"""

import contextlib
import gzip
import http.server
import io
import pathlib
import socket
import struct
import tarfile
import threading
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from graphclust.datasets import catalog
from graphclust.datasets import download as downloads
from graphclust.datasets.download import Patience

Answer = Callable[["Handler", bytes], None]
MOST_ENDLESS = 64 << 20


class Handler(http.server.BaseHTTPRequestHandler):
    """One request, answered by the server's script."""

    protocol_version = "HTTP/1.1"
    server: "FaultServer"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.log.append((path, self.headers.get("Authorization")))
        content = self.server.files.get(path)
        if content is None and path not in self.server.answers:
            status(404)(self, b"")
            return
        answers = self.server.answers.get(path, [serve])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        with contextlib.suppress(ConnectionError):
            answer(self, content or b"")

    def start(self, code: int, length: int | None, **more: str) -> None:
        self.send_response(code)
        if length is not None:
            self.send_header("Content-Length", str(length))
        if length is None or more.get("Connection") == "close":
            self.close_connection = True
        for name, value in more.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def send(self, content: bytes) -> None:
        """In blocks of at most `block` bytes with a pause after each, if the server has been told to be slow."""
        block = self.server.block or len(content) or 1
        for start in range(0, len(content), block):
            self.wfile.write(content[start : start + block])
            if self.server.block and self.server.stopped.wait(self.server.pause):
                return

    def log_message(self, *_) -> None:
        pass


class FaultServer(http.server.ThreadingHTTPServer):
    """files : path -> content.  answers : path -> list of answers."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.answers: dict[str, list[Answer]] = {}
        self.log: list[tuple[str, str | None]] = []  # path and Authorization of each request
        self.block, self.pause = 0, 0.0
        self.stopped = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_) -> None:
        pass


@contextlib.contextmanager
def running():
    """A server that answers until the block ends."""
    server = FaultServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()


def own_cache(folder: pathlib.Path, monkeypatch: Any) -> pathlib.Path:
    """Let this test have a cache of its own."""
    monkeypatch.setenv("GRAPHCLUST_CACHE", str(folder / "cache"))
    return folder / "cache"


@contextlib.contextmanager
def as_mirror(monkeypatch: Any):
    """A server that stands for the collections' sites, and little patience with it."""
    monkeypatch.setattr(downloads, "PATIENCE", Patience(timeout=2.0, attempts=2, first_pause=0.001))
    with running() as server:
        stand_in(monkeypatch, server.files)
        monkeypatch.setenv("GRAPHCLUST_MIRROR", server.address)
        yield server


def stand_in(monkeypatch: Any, files: dict[str, bytes]) -> None:
    """From now on the catalog gives the matrices that these small files stand for the sizes of the files."""
    entries = catalog.entries

    def replaced(entry: catalog.CatalogEntry) -> catalog.CatalogEntry:
        packed = files.get(f"/MM/{entry.full_name}.tar.gz", b"")
        with contextlib.suppress(ValueError, zlib.error, tarfile.TarError), tarfile.open(
            fileobj=io.BytesIO(zlib.decompressobj(-15).decompress(packed[10:]))  # without a look at the checksum
        ) as archive:  # fmt: skip
            first, *_ = archive.getmembers()
            banner, *lines = archive.extractfile(first).read().decode().splitlines()
            rows, columns, n_lines = map(int, next(line for line in lines if not line.startswith("%")).split())
            structure = "symmetric" if "symmetric" in banner else "unsymmetric"
            n_entries = 2 * n_lines if structure == "symmetric" else n_lines
            return replace(entry, rows=rows, columns=columns, entries=n_entries, structure=structure)
        return entry

    monkeypatch.setattr(catalog, "entries", lambda: tuple(map(replaced, entries())))


def serve(handler: Handler, content: bytes) -> None:
    """All of it."""
    handler.start(200, len(content))
    handler.send(content)


def status(code: int) -> Answer:
    return lambda handler, _: handler.start(code, 0)


def cut(n_bytes: int, reset: bool = False) -> Answer:
    """Announce everything, send so much, and hang up; with `reset` not even politely."""

    def answer(handler: Handler, content: bytes) -> None:
        handler.start(200, len(content), Connection="close")
        handler.wfile.write(content[:n_bytes])
        handler.wfile.flush()
        if reset:
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()

    return answer


def unannounced(n_bytes: int | None = None) -> Answer:
    """No length: the end of the connection is the end of the file, or of what has been sent of it."""

    def answer(handler: Handler, content: bytes) -> None:
        handler.start(200, None)
        handler.wfile.write(content[:n_bytes])

    return answer


def chunked(handler: Handler, content: bytes) -> None:
    """In pieces that say their lengths, the whole being unknown."""
    handler.start(200, None, Transfer_Encoding="chunked")
    for start in range(0, len(content), 100):
        piece = content[start : start + 100]
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    handler.wfile.write(b"0\r\n\r\n")


def longer(handler: Handler, content: bytes) -> None:
    """More bytes than were announced."""
    handler.start(200, len(content), Connection="close")
    handler.wfile.write(content + b"x" * 5000)


def shorter(handler: Handler, content: bytes) -> None:
    """Fewer announced than there are: the file ends too early, and nothing says so."""
    handler.start(200, len(content) // 2, Connection="close")
    handler.wfile.write(content[: len(content) // 2])


def endless(handler: Handler, content: bytes) -> None:
    """Never stops; but does so before it fills a disk."""
    handler.start(200, None)
    send_without_end(handler, content)


def send_without_end(handler: Handler, content: bytes) -> None:
    block = content[:2] + b"\0" * (1 << 16)
    for _ in range(MOST_ENDLESS >> 16):
        handler.wfile.write(block)


def stall(n_bytes: int) -> Answer:
    """Send so much, and then nothing more."""

    def answer(handler: Handler, content: bytes) -> None:
        handler.start(200, len(content))
        handler.wfile.write(content[:n_bytes])
        handler.wfile.flush()
        handler.server.stopped.wait(30)

    return answer


def trickle(handler: Handler, content: bytes) -> None:
    """A byte now and then, so that the connection never seems dead."""
    handler.start(200, len(content))
    for i in range(len(content)):
        handler.wfile.write(content[i : i + 1])
        handler.wfile.flush()
        if handler.server.stopped.wait(0.02):
            return


def page(handler: Handler, _: bytes) -> None:
    """The page that a hotel's network answers every question with."""
    text = b"<html><body>Please log in</body></html>"
    handler.start(200, len(text), Content_Type="text/html")
    handler.wfile.write(text)


def redirect(location: str) -> Answer:
    return lambda handler, _: handler.start(302, 0, Location=location)


def archive(name: str, matrix: str, **auxiliary: str) -> bytes:
    """A tar.gz as the SuiteSparse collection has them, with NAME/NAME_KEY.mtx for each auxiliary text."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as file:
        for member, text in {name: matrix, **{f"{name}_{key}": text for key, text in auxiliary.items()}}.items():
            ending = ".txt" if member.endswith("nodename") else ".mtx"
            info = tarfile.TarInfo(f"{name}/{member}{ending}")
            info.size = len(text.encode())
            file.addfile(info, io.BytesIO(text.encode()))
    return gzip.compress(packed.getvalue(), mtime=0)
