"""The folder where fetched data stays: a folder for each data set, a lock for each between processes.

Of every downloaded file its size and SHA-256 are recorded beside it when it comes for the first time, as neither
collection publishes any: from then on only the same bytes will do, wherever they come from. A record outlives its file.

Beside the files lies what was made of them, in uncompressed zip archives of arrays, NumPy's npz, whose checksums are
compared as the arrays are read. One that is not what was written is removed, and made again.
"""

import contextlib
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import tarfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from graphclust import checks
from graphclust.datasets.catalog import SNAP, SUITESPARSE
from graphclust.errors import (
    GraphFormatError,
    GraphValidationError,
    ParameterError,
    ResourceLimitError,
    escape_controls,
)  # fmt: skip
from graphclust.graph.container import Graph
from graphclust.graph.matrices import graph_of_checked_rows
from graphclust.io.atomic_write import whole_file
from graphclust.io.edges import EdgeCounts
from graphclust.io.formats.array_files import open_archive, parse_json
from graphclust.io.formats.communities import Communities
from graphclust.io.read_file import LoadInfo

__all__ = ["CachedDataset", "cache_folder", "cached", "clear_cache"]

BLOCK = 1 << 20
_LOCKS = "locks"
VERSION = 1  # of the readers and of the form: a higher number invalidates every stored graph


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
    locks = _made(cache_folder() / _LOCKS)
    lock = filelock.FileLock(locks / "--".join(names), timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise ParameterError(f"{'/'.join(names)} is being fetched by another process; wait for its end") from None
    try:
        _made(folder)  # which another process clears only while it has the lock
        yield
    finally:
        lock.release()


def _made(folder: pathlib.Path) -> pathlib.Path:
    """The folder, which is made with its parents if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        file = next(above for above in (folder, *folder.parents) if os.path.lexists(above))
        said = escape_controls(str(file))
        raise NotADirectoryError(f"the cache {said} is a file, expected a folder") from None
    return folder


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
    datasets = []
    for source, pattern in ((SUITESPARSE, "*/*"), (SNAP, "*")):
        for folder in (cache_folder() / source).glob(pattern):
            files: list[os.stat_result] = []
            with contextlib.suppress(FileNotFoundError):  # another process may be clearing it
                files = [file.stat() for file in folder.iterdir() if file.is_file()] if folder.is_dir() else []
            if files:
                address = f"{source}:{folder.relative_to(cache_folder() / source).as_posix()}"
                n_bytes = sum(file.st_size for file in files)
                datasets.append(CachedDataset(address, n_bytes, max(file.st_atime for file in files), folder))
    return sorted(datasets, key=lambda dataset: (-dataset.n_bytes, dataset.address))


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


def keep_graph(file: pathlib.Path, graph: Graph, info: LoadInfo) -> None:
    """Write a graph, and what was said of its file."""
    arrays: dict[str, np.ndarray] = {"indptr": graph.indptr, "indices": graph.indices}
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    if isinstance(graph.nodes, np.ndarray):
        arrays["nodes"] = graph.nodes
    _write(file, {**asdict(replace(info, details={})), "graph_remarks": graph.remarks}, arrays, info.details)


def read_kept_graph(file: pathlib.Path, details: bool = True) -> tuple[Graph, LoadInfo] | None:
    """What `keep_graph` wrote, with what is known beside the graph or without; None if it is missing or was damaged."""

    def made(header: dict[str, Any], arrays: dict[str, np.ndarray], known: dict[str, Any]) -> tuple[Graph, LoadInfo]:
        indptr, indices = arrays["indptr"], arrays["indices"]
        # A compiled loop would follow them out of its arrays; all else is left to the checksums.
        if indices.dtype != np.int32 or (len(indices) and indices.view(np.uint32).max() >= len(indptr) - 1):
            raise ValueError("indices are out of range")
        remarks = tuple(header.pop("graph_remarks"))
        graph = graph_of_checked_rows(indptr, indices, arrays.get("weights"), arrays.get("nodes"), remarks)
        header |= {"counts": EdgeCounts(**header["counts"]), "details": known}
        header |= {name: tuple(header[name]) for name in ("remarks", "repairs")}
        return graph, LoadInfo(**header)

    return _read(file, made, details)


def keep_communities(file: pathlib.Path, communities: Communities) -> None:
    """Write communities."""
    _write(file, {}, {}, {"communities": communities})


def read_kept_communities(file: pathlib.Path) -> Communities | None:
    """Read what `keep_communities` wrote, as `read_kept_graph` does."""
    return _read(file, lambda _header, _arrays, known: known["communities"])


def _write(file: pathlib.Path, header: dict, arrays: dict[str, np.ndarray], details: dict[str, Any]) -> None:
    """Write a header and arrays; what is known beside them has names with a colon."""
    arrays = {**arrays}
    for name, value in details.items():
        if isinstance(value, Communities):
            arrays |= {f"{name}:starts": value.starts, f"{name}:members": value.members}
            value = value.names
        if isinstance(value, np.ndarray):
            arrays[f"{name}:array"] = value
        elif value is not None:
            arrays[f"{name}:lines"] = np.frombuffer("\n".join(value).encode(), np.uint8)
    text = np.frombuffer(json.dumps({"version": VERSION, "arrays": sorted(arrays), **header}).encode(), np.uint8)
    n_bytes = sum(array.nbytes for array in arrays.values())
    with whole_file(file, overwrite=True, size=lambda: n_bytes) as target:
        np.savez(target, allow_pickle=False, header=text, **arrays)


def _read(file: pathlib.Path, make: Callable[..., Any], with_details: bool = True) -> Any:
    """What is made of header, arrays and details, if wanted; no pickles, and no more than the file has bytes."""
    try:
        size = file.stat().st_size
        with open_archive(file, str(file), "is not a converted graph", size) as archive:
            names = [name for name in archive.names if name != "header" and (with_details or ":" not in name)]
            (text,) = archive.read("header")
            header = parse_json(text.tobytes())
            arrays = dict(zip(names, archive.read(*names), strict=True))
            # A directory entry that has changed can hide those after it, which no checksum sees.
            if header.pop("version") == VERSION and header.pop("arrays") == sorted({*archive.names} - {"header"}):
                return make(header, arrays, _details_of(arrays))
    except FileNotFoundError:
        return None
    except (GraphFormatError, GraphValidationError, ResourceLimitError, OSError):
        pass
    file.unlink(missing_ok=True)
    return None


def _details_of(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """What is known beside a graph, from the arrays that `_write` made of it."""
    known: dict[str, Any] = {}
    for key, value in arrays.items():
        name, _, kind = key.rpartition(":")
        if kind in ("array", "lines"):
            known[name] = value if kind == "array" else value.tobytes().decode().split("\n")
    for name in [key.removesuffix(":starts") for key in arrays if key.endswith(":starts")]:
        known[name] = Communities(arrays[f"{name}:starts"], arrays[f"{name}:members"], known.get(name))
    return known
