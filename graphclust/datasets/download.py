"""Download a file whole and checked, or not at all, by the requests library.

What comes is written to `NAME.part`, and takes its name by one rename once it is whole: as long as was announced, a
gzip archive, with the SHA-256 on record. An attempt that breaks off is made again from the beginning.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain, count
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from graphclust.datasets.cache import BLOCK, Record, import_extra, is_whole, read_record, write_record
from graphclust.errors import DownloadError, IntegrityError, ParameterError, ResourceLimitError
from graphclust.progress import Progress

SITES = {"suitesparse": "https://sparse.tamu.edu", "snap": "https://snap.stanford.edu"}
# The collection's site hands over to these; they send http addresses at times, which are asked for by https.
TRUSTED_HOSTS = {
    "sparse.tamu.edu", "suitesparse-collection-website.herokuapp.com", "sparse-files.engr.tamu.edu", "snap.stanford.edu"
}  # fmt: skip
_MOST_REDIRECTIONS = 5
_PASSING = {408, 429, 500, 502, 503, 504}
_LEAST_RATE = 100  # bytes a second, below which a server only seems to be alive


class Address(NamedTuple):
    """A URL without credentials, safe to print, and the user and password to send to that host, if any."""

    url: str
    login: tuple[str, str] | None = None


def address_of(path: str, source: str, mirror: str | None = None) -> Address:
    """The address of a file: below a mirror, by default that of the environment variable GRAPHCLUST_MIRROR, or a site.

    A mirror that is no address is not shown, as it may hold a password.
    """
    base = mirror or os.environ.get("GRAPHCLUST_MIRROR") or SITES[source]
    try:
        parts = urlsplit(base)
        host, _port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise ParameterError(
            "mirror is not an address like https://host/folder; it stands for https://sparse.tamu.edu (which has "
            "MM/GROUP/NAME.tar.gz) or https://snap.stanford.edu"
        )
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    public = parts._replace(netloc=parts.netloc.rpartition("@")[2], path=f"{parts.path.rstrip('/')}/{path}")
    return Address(public.geturl(), login)


class Patience(NamedTuple):
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
    """An attempt failed that may succeed the next time: the error of the last one, and what it says."""


def download(address: Address, file: pathlib.Path, most_bytes: int, progress: Progress) -> Record:
    """Fetch a gzip file of `most_bytes` at most. Call it with the data set locked; an error leaves no file."""
    part = file.with_name(file.name + ".part")
    advice = f"where this machine is offline, put the file of {address.url} at {file} by hand"
    for attempt in count(1):
        try:
            return _accept(part, _receive(address, part, most_bytes, progress), file, address.url)
        except _Refused as problem:
            raise DownloadError(f"{problem}; {advice}") from None
        except _BrokenOff as problem:
            error, said = problem.args
            if attempt == PATIENCE.attempts:
                raise error(f"{address.url}: {said}, after {attempt} attempts; {advice}") from None
            time.sleep(PATIENCE.pause(attempt))
        except OSError as problem:
            if problem.errno is not None and problem.filename is None:  # of a disk that is full
                problem.filename = str(part)
            raise
        finally:
            part.unlink(missing_ok=True)
    raise AssertionError("the last attempt returns or raises")


def _receive(address: Address, part: pathlib.Path, most_bytes: int, progress: Progress) -> str:
    """Write the file to `part`; returns its SHA-256."""
    with _session() as session, contextlib.closing(_answer(session, address)) as answer:
        if answer.status_code in _PASSING:
            raise _BrokenOff(DownloadError, f"HTTP status {answer.status_code}")
        if answer.status_code != 200:
            raise _Refused(f"{address.url}: HTTP status {answer.status_code}, expected 200")
        total = answer.raw.length_remaining  # None where it was not announced
        if (total or 0) > (free := shutil.disk_usage(part.parent).free):
            raise ResourceLimitError(f"{part.parent}: {total:,} bytes are to come, but the disk has {free:,} left")
        digest, size = hashlib.sha256(), 0
        with part.open("wb") as target, progress.stage("downloading"), _bar(progress, part, total) as show:
            for block in chain([b""], _blocks(answer)):  # the whole length is known before the first byte comes
                size += len(block)
                if max(size, total or 0) > most_bytes:
                    raise ResourceLimitError(
                        f"{address.url}: {f'{total:,}' if total else 'more'} bytes would come, but max_download_bytes="
                        f"{most_bytes}; raise it if this is meant"
                    )
                target.write(block)
                digest.update(block)
                show(size)
    if total is not None and size < total:
        raise _BrokenOff(IntegrityError, f"expected {total:,} bytes, got {size:,}")
    if total is None and not is_whole(part):
        raise _BrokenOff(IntegrityError, "the archive broke off, and no length was announced")
    return digest.hexdigest()


def _session() -> Any:
    """A requests.Session that follows what `redirection` allows."""
    requests: Any = import_extra("requests")

    class Session(requests.Session):
        def get_redirect_target(self, resp: Any) -> str | None:
            location = super().get_redirect_target(resp)
            if location is None:
                return None
            resp.close()  # a session reads the body of a redirection to its end, however long it is
            return redirection(resp.url, location)

    session = Session()
    session.max_redirects = _MOST_REDIRECTIONS
    return session


def redirection(url: str, location: str) -> str:
    """Where a redirection leads: the same host, or one of the collections', never from https to http.

    The login of one host is not sent to another: requests sees to that.
    """
    try:
        here, there = urlsplit(url), urlsplit(urljoin(url, location))
        same_host = (here.hostname, here.port) == (there.hostname, there.port)
    except ValueError:
        raise DownloadError(f"{url} redirects to what is not an address") from None
    host = there.hostname or ""
    shown = f"{there.scheme}://{host}" if there.scheme in ("http", "https") else f"a {there.scheme}: address"
    if "@" not in there.netloc and host in TRUSTED_HOSTS and (here.scheme, there.scheme) == ("https", "http"):
        there = there._replace(scheme="https", netloc=host)
    if there.scheme not in ("http", "https") or (here.scheme == "https" and there.scheme == "http"):
        raise DownloadError(f"{url} redirects to {shown}, which is not followed: expected https")
    if "@" in there.netloc or not (same_host or (host in TRUSTED_HOSTS and there.port is None)):
        refused = f"{url} redirects to {shown}, which is not followed"
        raise DownloadError(f"{refused}: it is another host; if you trust it, make it the mirror")
    return there.geturl()


def _answer(session: Any, address: Address) -> Any:
    """The server's answer, after its redirections."""
    errors = import_extra("requests").exceptions
    headers = {"Accept-Encoding": "identity", "User-Agent": "graphclust"}
    try:
        return session.get(address.url, headers=headers, auth=address.login, timeout=PATIENCE.timeout, stream=True)
    except errors.TooManyRedirects:
        more = f"more than {_MOST_REDIRECTIONS} redirections"
        raise DownloadError(f"{address.url}: {more}, which may go round in a circle") from None
    except errors.SSLError as problem:
        raise _Refused(f"{address.url}: the server's certificate was not accepted ({_cause(problem)})") from None
    except (errors.ConnectionError, errors.Timeout) as problem:
        raise _BrokenOff(DownloadError, _cause(problem)) from None
    except errors.RequestException as problem:
        raise _Refused(f"{address.url}: {type(problem).__name__}") from None


def _blocks(answer: Any) -> Iterator[bytes]:
    """The body as it comes: read1 hands out what is there, and so notices a server that trickles."""
    from urllib3.exceptions import HTTPError

    timeout, window, came_in_window = PATIENCE.timeout, time.monotonic(), 0
    while True:
        try:
            block = answer.raw.read1(BLOCK, decode_content=False)
        except (HTTPError, OSError, AttributeError) as problem:
            if "IncompleteRead" in repr(problem):
                return
            raise _BrokenOff(DownloadError, _cause(problem)) from None
        if not block:
            return
        yield block
        came_in_window += len(block)
        if time.monotonic() - window > timeout:
            if came_in_window < _LEAST_RATE * timeout:
                raise _BrokenOff(DownloadError, f"only {came_in_window} bytes came in {timeout:g} seconds")
            window, came_in_window = time.monotonic(), 0


def _cause(problem: BaseException) -> str:
    """The system's words for what failed. Those of the libraries hold addresses, which may hold passwords."""
    words = f"the connection failed ({type(problem).__name__})"
    cause: BaseException | None = problem
    while cause is not None:
        if "Timeout" in type(cause).__name__:
            words = "no answer in time"
        elif isinstance(cause, OSError) and cause.strerror:
            words = cause.strerror
        cause = cause.__cause__ or cause.__context__
    return words


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
    if not start.startswith(b"\x1f\x8b"):
        raise IntegrityError(
            f"{url}: what came is not a gzip archive (starts with {start.decode('latin-1')!r}); is there a page to log "
            "in to before the network can be used?"
        )
    expected, size = read_record(file), part.stat().st_size
    if expected is not None and expected.sha256 != sha256:
        raise IntegrityError(
            f"{url}: SHA-256 {sha256[:12]}... came, but {expected.sha256[:12]}... is on record for {file} since "
            f"{expected.fetched}; what came was removed. If the file was changed on purpose, clear it from the cache"
        )
    os.replace(part, file)
    return expected or write_record(file, url, size, sha256)
