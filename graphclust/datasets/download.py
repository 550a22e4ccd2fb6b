"""Download a file whole and checked, or not at all, by the requests library.

What comes is written to `NAME.part`, and takes its name by one rename once it is whole: as long as was announced, a
gzip archive, with the SHA-256 on record. An attempt that breaks off is made again from the beginning.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import os
import pathlib
import random
import sys
import tarfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from graphclust.datasets.cache import BLOCK, Record, check_room, import_extra, read_record, sha256_of, write_record
from graphclust.datasets.urls import Address
from graphclust.errors import DownloadError, IntegrityError, ResourceLimitError
from graphclust.progress import Progress

GZIP = b"\x1f\x8b"
_MOST_REDIRECTIONS = 5
_PASSING = {408, 429, 500, 502, 503, 504}
_LEAST_RATE = 100  # bytes a second, below which a server only seems to be alive
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Patience:
    """How long to wait: seconds without news of the server, attempts, and the first pause between two.

    A pause is twice the last, at most a minute, and up to half as long again by chance, so that many do not return at
    one time.
    """

    timeout: float = 30.0
    attempts: int = 5
    first_pause: float = 1.0

    def pause(self, n_failures: int) -> float:
        longest = min(60.0, self.first_pause * 2.0 ** (n_failures - 1))
        return longest * (1 + random.random() / 2)


PATIENCE = Patience()


class _Refused(Exception):
    """The server refuses, and would refuse again."""


class _BrokenOff(Exception):
    """An attempt failed that may succeed the next time."""


class _Short(_BrokenOff):
    """The file ended before its end."""


def download(
    address: Address, file: pathlib.Path, most_bytes: int, progress: Progress, patience: Patience | None = None
) -> Record:
    """Fetch a gzip file of `most_bytes` at most. Call it with the data set locked; an error leaves no file."""
    patience = patience or PATIENCE
    part = file.with_name(file.name + ".part")
    advice = f"where this machine is offline, put the file of {address.url} at {file} by hand"
    for attempt in range(1, patience.attempts + 1):
        try:
            return _accept(part, _receive(address, part, most_bytes, progress, patience.timeout), file, address.url)
        except _Refused as problem:
            raise DownloadError(f"{problem}; {advice}") from None
        except _BrokenOff as problem:
            if attempt == patience.attempts:
                kind = IntegrityError if isinstance(problem, _Short) else DownloadError
                raise kind(f"{address.url}: {problem}, after {attempt} attempts; {advice}") from None
            time.sleep(patience.pause(attempt))
        except OSError as problem:
            if problem.errno in _NO_ROOM:
                raise OSError(problem.errno, os.strerror(problem.errno), str(part)) from None
            raise
        finally:
            part.unlink(missing_ok=True)
    raise AssertionError("the last attempt returns or raises")


def _receive(address: Address, part: pathlib.Path, most_bytes: int, progress: Progress, timeout: float) -> str:
    """Write the file to `part`; returns its SHA-256."""
    requests = import_extra("requests")
    with requests.Session() as session, contextlib.closing(_answer(session, address, timeout)) as answer:
        if answer.status_code in _PASSING:
            raise _BrokenOff(f"HTTP status {answer.status_code}")
        if answer.status_code != 200:
            raise _Refused(f"{address.url}: HTTP status {answer.status_code}, expected 200")
        length = answer.headers.get("Content-Length", "")
        is_announced = length.isascii() and length.isdigit() and answer.raw.chunked is not True
        total = int(length) if is_announced else None
        if total is not None and total > most_bytes:
            raise ResourceLimitError(_too_large(address, most_bytes, f"{total:,}"))
        check_room(part.parent, total or 0)
        digest, size = hashlib.sha256(), 0
        with part.open("wb") as target, progress.stage("downloading"), _bar(progress, part, total) as show:
            show(0)  # the whole length is known before the first byte comes
            for block in _blocks(answer, timeout):
                size += len(block)
                if size > most_bytes:
                    raise ResourceLimitError(_too_large(address, most_bytes, "more"))
                target.write(block)
                digest.update(block)
                show(size)
    if total is not None and size < total:
        raise _Short(f"expected {total:,} bytes, got {size:,}")
    if total is None and not is_whole(part):
        raise _Short("the archive broke off, and no length was announced")
    return digest.hexdigest()


def _answer(session: Any, address: Address, timeout: float) -> Any:
    """The server's answer, after its redirections."""
    errors = import_extra("requests").exceptions
    for _ in range(_MOST_REDIRECTIONS + 1):
        try:
            answer = _send(session, address, timeout)
        except errors.SSLError as problem:
            raise _Refused(f"{address.url}: the server's certificate was not accepted ({_cause(problem)})") from None
        except (errors.ConnectionError, errors.Timeout) as problem:
            raise _BrokenOff(_cause(problem)) from None
        except errors.RequestException as problem:
            raise _Refused(f"{address.url}: {type(problem).__name__}") from None
        location = answer.headers.get("Location")
        if not answer.is_redirect or location is None:
            return answer
        answer.close()
        address = address.redirect(location)
    raise DownloadError(f"{address.url}: more than {_MOST_REDIRECTIONS} redirections, which may go round in a circle")


def _send(session: Any, address: Address, timeout: float) -> Any:
    """The bare answer: a session that sends a request itself also reads the body of a redirection, however long."""
    headers = {"Accept-Encoding": "identity", "User-Agent": "graphclust"}
    request = session.prepare_request(
        import_extra("requests").Request("GET", address.url, headers=headers, auth=address.login)
    )
    settings = session.merge_environment_settings(request.url, {}, True, None, None)
    return session.get_adapter(request.url).send(request, timeout=timeout, **settings)


def _blocks(answer: Any, timeout: float) -> Iterator[bytes]:
    """The body as it comes: read1 hands out what is there, and so notices a server that trickles."""
    from urllib3.exceptions import HTTPError

    window, came_in_window = time.monotonic(), 0
    while True:
        try:
            block = answer.raw.read1(BLOCK, decode_content=False)
        except (HTTPError, OSError, AttributeError) as problem:
            if "IncompleteRead" in repr(problem):
                return
            raise _BrokenOff(_cause(problem)) from None
        if not block:
            return
        yield block
        came_in_window += len(block)
        if time.monotonic() - window > timeout:
            if came_in_window < _LEAST_RATE * timeout:
                raise _BrokenOff(f"only {came_in_window} bytes came in {timeout:g} seconds")
            window, came_in_window = time.monotonic(), 0


def _too_large(address: Address, most_bytes: int, size: str) -> str:
    return f"{address.url}: {size} bytes would come, but max_download_bytes={most_bytes}; raise it if this is meant"


def _cause(problem: BaseException) -> str:
    """The system's words for what failed. Those of the libraries hold addresses, which may hold passwords."""
    innermost: BaseException | None = problem
    words = ""
    for _ in range(10):
        if innermost is None:
            break
        if isinstance(innermost, TimeoutError) or "Timeout" in type(innermost).__name__:
            words = "no answer in time"
        elif isinstance(innermost, OSError) and innermost.strerror:
            words = innermost.strerror
        nested = [part for part in innermost.args if isinstance(part, BaseException)]
        reason = getattr(innermost, "reason", None)
        nested += [reason] if isinstance(reason, BaseException) else []
        innermost = nested[0] if nested else innermost.__cause__ or innermost.__context__
    return words or f"the connection failed ({type(problem).__name__})"


@contextlib.contextmanager
def _bar(progress: Progress, part: pathlib.Path, total: int | None) -> Iterator[Callable[[int], object]]:
    """What to call with the number of bytes: the caller's listener, or tqdm's bar where people look on."""
    if progress.listener is not None or sys.stderr is None or not sys.stderr.isatty():
        yield lambda size: progress.step(size, total or size)
        return
    with import_extra("tqdm").tqdm(
        total=total, unit="B", unit_scale=True, unit_divisor=1024, delay=1.0, desc=part.stem, file=sys.stderr
    ) as bar:
        yield lambda size: bar.update(size - bar.n)


def _accept(part: pathlib.Path, sha256: str, file: pathlib.Path, url: str) -> Record:
    """Check what has come, and give it its name."""
    with part.open("rb") as content:
        start = content.read(5)
    if not start.startswith(GZIP):
        found = f"{url}: what came is not a gzip archive (starts with {start.decode('latin-1')!r})"
        raise IntegrityError(f"{found}; is there a page to log in to before the network can be used?")
    expected, size = read_record(file), part.stat().st_size
    if expected is not None and expected.sha256 != sha256:
        on_record = f"{expected.sha256[:12]}... is on record for {file} since {expected.fetched}"
        remedy = "what came was removed. If the file was changed on purpose, clear it from the cache"
        raise IntegrityError(f"{url}: SHA-256 {sha256[:12]}... came, but {on_record}; {remedy}")
    os.replace(part, file)
    return expected or write_record(file, url, size, sha256)


def is_whole(file: pathlib.Path) -> bool:
    """Whether a gzip file can be read to its end, where its checksum is, and a tar.gz also as a tar archive."""
    try:
        with gzip.open(file) as content:
            if file.name.removesuffix(".part").endswith(".tar.gz"):
                with tarfile.open(fileobj=content, mode="r|") as archive:
                    for _ in archive:
                        pass
            while content.read(BLOCK):
                pass
    except (EOFError, gzip.BadGzipFile, zlib.error, tarfile.TarError, UnicodeError):
        return False
    return True


def record_in_cache(file: pathlib.Path) -> Record | None:
    """The record of a file in the cache after a look at every byte; None if it is not there, or not what it was.

    A file without a record, such as one put there by hand, is recorded if it is whole. A damaged one is removed; its
    record stays, for what will be downloaded in its place.
    """
    if not file.exists():
        return None
    record = read_record(file)
    if record is None and is_whole(file):
        return write_record(file, "put there by hand", file.stat().st_size, sha256_of(file))
    if record is not None and record.size == file.stat().st_size and record.sha256 == sha256_of(file):
        return record
    file.unlink(missing_ok=True)
    return None
