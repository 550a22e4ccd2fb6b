"""Download a file whole and checked, or not at all: attempts, what they leave behind, and what is accepted.

What has come stays as `NAME.part` until it is whole, with the server's mark of the version (`NAME.part.json`) without
which nothing is added to it. A whole file has the announced length, begins as gzip does, has the SHA-256 on record, and
takes its name by one rename.
"""

import contextlib
import errno
import gzip
import os
import pathlib
import random
import tarfile
import time
import zlib
from dataclasses import dataclass

from graphclust.datasets.cache import BLOCK, Record, read_record, sha256_of, write_record
from graphclust.datasets.http_transfer import BrokenOff, Part, Refused, receive
from graphclust.datasets.urls import Address
from graphclust.errors import DownloadError, IntegrityError
from graphclust.progress import Progress

GZIP = b"\x1f\x8b"
_ADVANCE = 1 << 20  # bytes that make an attempt worth the next


@dataclass(frozen=True)
class Patience:
    """How long to wait: seconds without news of the server, attempts without advance, and the first pause between two.

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


def download(
    address: Address, file: pathlib.Path, most_bytes: int, progress: Progress, patience: Patience | None = None
) -> Record:
    """Fetch a gzip file, going on from where an earlier attempt broke off. Call it with the data set locked.

    most_bytes : of the file; more is not taken.

    Raises DownloadError, IntegrityError for what is not the file that was expected, ResourceLimitError for more bytes
    than `most_bytes` or than the disk has room for, OSError as writing does. An error leaves no file of this name.
    """
    patience = patience or PATIENCE
    part = Part(file.with_name(file.name + ".part"))
    n_failures, furthest = 0, part.size
    while True:
        try:
            receive(address, part, most_bytes, progress, patience.timeout)
            return _accept(part, file, address.url)
        except Refused as problem:
            part.remove()
            raise DownloadError(_with_advice(str(problem), address, file)) from None
        except (BrokenOff, _NotWhole) as problem:
            n_failures = 1 if part.size >= furthest + _ADVANCE else n_failures + 1
            furthest = max(furthest, part.size)
            if n_failures >= patience.attempts:
                kind = IntegrityError if isinstance(problem, _NotWhole) or problem.short else DownloadError
                sentence = f"{address.url}: {problem}, after {n_failures} attempts"
                raise kind(_with_advice(sentence, address, file)) from None
            time.sleep(patience.pause(n_failures))
        except OSError as problem:
            if problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                part.remove()
                raise OSError(problem.errno, os.strerror(problem.errno), str(part.file)) from None
            raise


class _NotWhole(Exception):
    """A file that ended early although no length was announced."""


def _with_advice(sentence: str, address: Address, file: pathlib.Path) -> str:
    return f"{sentence}; where this machine is offline, put the file of {address.url} at {file} by hand"


def _accept(part: Part, file: pathlib.Path, url: str) -> Record:
    """Check what has come, and give it its name."""
    with part.file.open("rb") as content:
        start = content.read(5)
    if not start.startswith(GZIP):
        part.remove()
        shown = start.decode("latin-1")
        raise IntegrityError(
            f"{url}: what came is not a gzip archive (starts with {shown!r}); is there a page to log in to before the "
            "network can be used?"
        )
    if part.has_no_length and not is_whole(part.file):
        part.remove()
        raise _NotWhole("the archive broke off, and no length was announced")
    sha256, size = part.sha256() or sha256_of(part.file), part.size
    expected = read_record(file)
    if expected is not None and expected.sha256 != sha256:
        part.remove()
        raise IntegrityError(
            f"{url}: SHA-256 {sha256[:12]}... came, but {expected.sha256[:12]}... is on record for {file} since "
            f"{expected.fetched}; what came was removed. If the file was changed on purpose, clear it from the cache"
        )
    part.become(file)
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
    with contextlib.suppress(FileNotFoundError):
        file.unlink()
    return None
