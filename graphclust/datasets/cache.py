"""The folder where fetched data stays: a folder for each data set, a lock for each between processes.

Of every downloaded file its size and SHA-256 are recorded beside it when it comes for the first time, as neither
collection publishes any: from then on only the same bytes will do, wherever they come from. A record outlives its file.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from graphclust import checks
from graphclust.errors import ParameterError, ResourceLimitError, escape_controls
from graphclust.io.atomic_write import whole_file
from graphclust.io.formats.array_files import parse_json

__all__ = ["CachedDataset", "cache_folder", "cached", "clear_cache"]

BLOCK = 1 << 20
MOST_TRIALS = 100  # to make a folder that others remove
_LOCKS = "locks"


@dataclass(frozen=True)
class Record:
    """What is known of a downloaded file; `url` is without credentials, `fetched` a date and time (UTC)."""

    url: str
    size: int
    sha256: str
    fetched: str


@dataclass(frozen=True)
class CachedDataset:
    """A data set in the cache: its address, bytes on disk, when it was last used (seconds), and its folder."""

    address: str
    n_bytes: int
    last_used: float
    folder: pathlib.Path


def cache_folder() -> pathlib.Path:
    """The folder of the environment variable GRAPHCLUST_CACHE; else, or if that is empty, the system's for caches.

    Raises ImportError where that needs the extra `datasets`.
    """
    named = os.environ.get("GRAPHCLUST_CACHE")
    if named:
        return pathlib.Path(named).expanduser().absolute()
    return import_extra("platformdirs").user_cache_path("graphclust", appauthor=False)


def import_extra(name: str) -> Any:
    """Import a library of the extra `datasets`, or say how to install it."""
    return checks.import_extra(name, f"fetching data sets needs {name}", "graphclust[datasets]")


def dataset_folder(source: str, full_name: str) -> pathlib.Path:
    """Where a data set lies or will lie. The name has to be one of the catalog."""
    return cache_folder() / source / full_name


@contextlib.contextmanager
def lock_dataset(folder: pathlib.Path, wait: bool = True) -> Iterator[None]:
    """Lock a data set for this process; ParameterError without `wait` if it is in use."""
    filelock = import_extra("filelock")
    names = folder.relative_to(cache_folder()).parts
    locks = cache_folder() / _LOCKS
    for place in (locks, folder):
        _make_folder(place)
    lock = filelock.FileLock(locks / "--".join(names), timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise ParameterError(f"{'/'.join(names)} is being fetched by another process; wait for its end") from None
    try:
        _make_folder(folder)  # another process may have cleared it meanwhile
        yield
    finally:
        lock.release()


def _make_folder(folder: pathlib.Path) -> None:
    """Make a folder and its parents, even while another process clears the cache."""
    for _ in range(MOST_TRIALS):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return
        except (FileExistsError, NotADirectoryError, FileNotFoundError) as problem:
            file = next((above for above in (folder, *folder.parents) if os.path.lexists(above)), folder)
            if not file.is_dir():
                said = escape_controls(str(file))
                raise NotADirectoryError(f"the cache {said} is a file, expected a folder") from None
            failure = problem  # it was there, and is cleared now
    raise failure


def read_record(file: pathlib.Path) -> Record | None:
    """What was recorded of a file, None if nothing or nothing readable was."""
    try:
        return Record(**parse_json(_record_of(file).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write_record(file: pathlib.Path, url: str, size: int, sha256: str) -> Record:
    """Record a file that has just come for the first time."""
    record = Record(url, size, sha256, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    with whole_file(_record_of(file), overwrite=True) as target:
        target.write(json.dumps(asdict(record), indent=1).encode())
    return record


def forget(file: pathlib.Path) -> None:
    """Remove a file and what was recorded of it."""
    file.unlink(missing_ok=True)
    _record_of(file).unlink(missing_ok=True)


def _record_of(file: pathlib.Path) -> pathlib.Path:
    return file.with_name(file.name + ".json")


def sha256_of(file: pathlib.Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def cached() -> list[CachedDataset]:
    """The data sets in the cache, the largest first."""
    from graphclust.datasets.catalog import SNAP, SUITESPARSE

    found = []
    for source, pattern in ((SUITESPARSE, "*/*"), (SNAP, "*")):
        for folder in (cache_folder() / source).glob(pattern):
            files: list[os.stat_result] = []
            with contextlib.suppress(FileNotFoundError):  # another process may be clearing it
                files = [file.stat() for file in folder.iterdir() if file.is_file()] if folder.is_dir() else []
            if files:
                address = f"{source}:{folder.relative_to(cache_folder() / source).as_posix()}"
                n_bytes = sum(file.st_size for file in files)
                found.append(CachedDataset(address, n_bytes, max(file.st_atime for file in files), folder))
    return sorted(found, key=lambda dataset: (-dataset.n_bytes, dataset.address))


def clear_cache(address: str | None = None) -> int:
    """Remove one data set, like "suitesparse:SNAP/com-DBLP", or all; returns the bytes that were freed.

    The checksums of the files go too: the next download is trusted as a first one is.

    Raises ParameterError for an address that the cache does not hold, or while a process fetches the data set.
    """
    there = cached()
    datasets = [dataset for dataset in there if address in (None, dataset.address)]
    if address is not None and not datasets:
        listed = ", ".join(dataset.address for dataset in there[:5]) + (" ..." if len(there) > 5 else "")
        raise ParameterError(f"the cache {cache_folder()} does not hold {address!r}, but {listed or 'nothing'}")
    for dataset in datasets:
        with lock_dataset(dataset.folder, wait=False):
            shutil.rmtree(dataset.folder)
    return sum(dataset.n_bytes for dataset in datasets)


def check_room(folder: pathlib.Path, n_bytes: int) -> None:
    """Refuse what the disk has no room for. Raises ResourceLimitError."""
    free = shutil.disk_usage(folder).free
    if n_bytes > free:
        raise ResourceLimitError(f"{folder}: {n_bytes:,} bytes are to come, but the disk has {free:,} left")
