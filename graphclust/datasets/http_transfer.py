"""One attempt to get the bytes of a file over HTTP, by the requests library, continuing an earlier attempt.

Downloaders that fetch a file in one call, such as pooch, do not resume an interrupted file. Their base, requests, gives
what resuming needs: the connection, certificates and proxies, and the bytes as they come.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import sys
import time
from typing import Any

from graphclust.datasets.cache import BLOCK, check_room, import_extra
from graphclust.datasets.urls import Address
from graphclust.errors import DownloadError, ResourceLimitError
from graphclust.io.formats.array_files import parse_json
from graphclust.progress import Progress

_MOST_REDIRECTIONS = 5
_PASSING = {408, 429, 500, 502, 503, 504}
_LEAST_RATE = 100  # bytes a second, below which a server only seems to be alive


class Refused(Exception):
    """The server refuses, and would refuse again."""


class BrokenOff(Exception):
    """An attempt failed that may succeed the next time; `short`: the body ended before its announced length."""

    def __init__(self, sentence: str, short: bool = False):
        super().__init__(sentence)
        self.short = short


class Part:
    """What has come of a file so far. It may be added to if the server's mark of its version is known.

    validator : the strong ETag, or the date of the last change, of what these bytes are the beginning of.
    total : the announced length of the whole, None if there was none.
    """

    def __init__(self, file: pathlib.Path):
        self.file, self._notes = file, file.with_name(file.name + ".json")
        self.validator: str | None = None
        self.total: int | None = None
        self._hash: Any = None
        with contextlib.suppress(FileNotFoundError, ValueError, TypeError, KeyError):
            notes = parse_json(self._notes.read_bytes())
            self.validator, self.total = str(notes["validator"]), int(notes["total"])

    @property
    def size(self) -> int:
        """Bytes that can be gone on from."""
        with contextlib.suppress(FileNotFoundError):
            return self.file.stat().st_size
        return 0

    @property
    def has_no_length(self) -> bool:
        """Whether the end of the file was only told by the end of the connection."""
        return self.total is None

    @property
    def can_go_on(self) -> bool:
        return self.validator is not None and self.total is not None and 0 < self.size <= self.total

    def start(self, validator: str | None, total: int | None) -> None:
        """Begin again, with a file of this version."""
        self.remove()
        self.validator, self.total = validator, total
        self._hash = hashlib.sha256()
        if validator is not None and total is not None:
            self._notes.write_text(json.dumps({"validator": validator, "total": total}))

    def go_on(self) -> None:
        """Take up the digest of what is there."""
        if self._hash is None:
            with self.file.open("rb") as content:
                self._hash = hashlib.file_digest(content, "sha256")

    def add(self, target: Any, block: bytes) -> None:
        target.write(block)
        self._hash.update(block)

    def sha256(self) -> str | None:
        """Of all that was added, None if this process has not seen it."""
        return None if self._hash is None else self._hash.hexdigest()

    def become(self, file: pathlib.Path) -> None:
        """Take a name as the whole file. The mark goes first: one that stayed behind would be there for good."""
        self._notes.unlink(missing_ok=True)
        os.replace(self.file, file)

    def remove(self) -> None:
        self.file.unlink(missing_ok=True)
        self._notes.unlink(missing_ok=True)
        self._hash = None


def receive(address: Address, part: Part, most_bytes: int, progress: Progress, timeout: float) -> None:
    """Bring a part to its announced length, or to the end of the connection where none was announced.

    Raises Refused, BrokenOff, ResourceLimitError, and OSError as writing does.
    """
    if not part.can_go_on:
        part.remove()
    elif part.size == part.total:
        return
    with _requests().Session() as session, contextlib.closing(_answer(session, address, part, timeout)) as answer:
        _take_up(answer, part, address, most_bytes)
        with progress.stage("downloading"), _bar(progress, part) as show:
            _add_body(answer, part, address, most_bytes, timeout, show)
    if part.total is not None and part.size < part.total:
        raise BrokenOff(f"expected {part.total:,} bytes, got {part.size:,}", short=True)


def _requests() -> Any:
    return import_extra("requests")


def _answer(session: Any, address: Address, part: Part, timeout: float) -> Any:
    """The server's answer, to a question for what is missing, after its redirections."""
    headers = {"Accept-Encoding": "identity", "User-Agent": "graphclust"}
    if part.can_go_on:
        headers |= {"Range": f"bytes={part.size}-", "If-Range": str(part.validator)}
    for _ in range(_MOST_REDIRECTIONS + 1):
        try:
            answer = _send(session, address, headers, timeout)
        except _requests().exceptions.SSLError as problem:
            raise Refused(f"{address.url}: the server's certificate was not accepted ({_cause(problem)})") from None
        except (_requests().exceptions.ConnectionError, _requests().exceptions.Timeout) as problem:
            raise BrokenOff(_cause(problem)) from None
        except _requests().exceptions.RequestException as problem:
            raise Refused(f"{address.url}: {type(problem).__name__}") from None
        location = answer.headers.get("Location")
        if not answer.is_redirect or location is None:
            return answer
        answer.close()
        address = address.redirect(location)
    raise DownloadError(f"{address.url}: more than {_MOST_REDIRECTIONS} redirections, which may go round in a circle")


def _send(session: Any, address: Address, headers: dict[str, str], timeout: float) -> Any:
    """The bare answer: a session that sends a request itself also reads the body of a redirection, however long."""
    request = session.prepare_request(_requests().Request("GET", address.url, headers=headers, auth=address.login))
    settings = session.merge_environment_settings(request.url, {}, True, None, None)
    return session.get_adapter(request.url).send(request, timeout=timeout, **settings)


def _take_up(answer: Any, part: Part, address: Address, most_bytes: int) -> None:
    """Whether to go on or to begin again, by the answer's status; or neither."""
    status, headers = answer.status_code, answer.headers
    length = headers.get("Content-Length", "")
    n_coming = int(length) if length.isascii() and length.isdigit() and answer.raw.chunked is not True else None
    if status == 206 and part.can_go_on and part.total is not None:
        same = headers.get("ETag", part.validator) == part.validator or headers.get("ETag", "").startswith("W/")
        if headers.get("Content-Range") != f"bytes {part.size}-{part.total - 1}/{part.total}" or not same:
            part.remove()
            raise BrokenOff("the server went on with another file than it began with")
        part.go_on()
    elif status == 200:
        etag = headers.get("ETag", "W/")
        part.start(headers.get("Last-Modified") if etag.startswith("W/") else etag, n_coming)
    elif status == 416:
        part.remove()
        raise BrokenOff("the server has no such range")
    elif status in _PASSING:
        raise BrokenOff(f"HTTP status {status}")
    else:
        raise Refused(f"{address.url}: HTTP status {status}, expected 200")
    if part.total is not None and part.total > most_bytes:
        part.remove()
        raise ResourceLimitError(_too_large(address, most_bytes, f"{part.total:,}"))
    check_room(part.file.parent, (part.total or 0) - part.size)


def _add_body(answer: Any, part: Part, address: Address, most_bytes: int, timeout: float, show: Any) -> None:
    """The body, block by block as it comes: read1 hands out what is there, and so notices a server that trickles."""
    from urllib3.exceptions import HTTPError

    size, window = part.size, time.monotonic()
    came_in_window = 0
    with part.file.open("ab") as target:
        show(size)  # the whole length is known before the first byte comes
        while True:
            try:
                block = answer.raw.read1(BLOCK, decode_content=False)
            except (HTTPError, OSError, AttributeError) as problem:  # of the socket: writing comes later
                if part.total is not None and "IncompleteRead" in repr(problem):
                    raise BrokenOff(f"expected {part.total:,} bytes, got {size:,}", short=True) from None
                raise BrokenOff(_cause(problem)) from None
            if not block:
                return
            size += len(block)
            if size > most_bytes:
                break
            part.add(target, block)
            show(size)
            came_in_window += len(block)
            if time.monotonic() - window > timeout:
                if came_in_window < _LEAST_RATE * timeout:
                    raise BrokenOff(f"only {came_in_window} bytes came in {timeout:g} seconds")
                window, came_in_window = time.monotonic(), 0
    part.remove()
    raise ResourceLimitError(_too_large(address, most_bytes, "more"))


def _too_large(address: Address, most_bytes: int, size: str) -> str:
    return f"{address.url}: {size} bytes would come, but max_download_bytes={most_bytes}; raise it if this is meant"


def _cause(problem: BaseException) -> str:
    """The system's words for what failed. Those of the libraries hold addresses, which may hold passwords."""
    innermost: BaseException | None = problem
    words = "no answer in time" if "Timeout" in type(problem).__name__ else ""
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
def _bar(progress: Progress, part: Part):
    """What to call with the number of bytes: the caller's listener, or tqdm's bar where people look on."""
    if progress.listener is not None or sys.stderr is None or not sys.stderr.isatty():
        yield lambda size: progress.step(size, part.total or size)
        return
    with import_extra("tqdm").tqdm(
        total=part.total, initial=part.size, unit="B", unit_scale=True, unit_divisor=1024, delay=1.0,
        desc=part.file.name.removesuffix(".part"), file=sys.stderr,
    ) as bar:  # fmt: skip
        yield lambda size: bar.update(size - bar.n)
