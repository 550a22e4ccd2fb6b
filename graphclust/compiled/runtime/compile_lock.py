"""If several processes of one user need the same loop, one compiles it and the others wait for the result.

Waiting only saves work: where nothing can be locked, or it takes too long, a process compiles for itself.
"""

from __future__ import annotations

import os
import time
import zlib

from graphclust.compiled.runtime.cache_folder import private_folder
from graphclust.compiled.runtime.loops import add_compiler_time

try:
    import fcntl
except ImportError:  # not everywhere
    fcntl = None  # type: ignore[assignment]

PATIENCE = 60.0  # seconds, longer than any loop takes to compile
STEP = 0.01  # seconds between two looks
PLACES = 1 << 30


class _Held:
    """The file whose bytes are locked, one for each loop; a lock of a process ends when it closes the file, or ends."""

    file: int | None = None
    process = 0
    places: list[int] = []  # noqa: RUF012  of this process, from a loop to those that it calls


def acquire(name: str) -> bool:
    """Have the right to compile what bears this name; returns whether another process had it when it was asked for."""
    place = zlib.crc32(name.encode()) % PLACES
    if place in _Held.places or not _open():
        return False
    start, waited = time.perf_counter(), False
    while not _is_locked(place):
        waited = True
        if time.perf_counter() - start > PATIENCE:
            return False
        time.sleep(STEP)
    if waited and not _Held.places:
        add_compiler_time(time.perf_counter() - start)  # else the loop that is being compiled counts it
    _Held.places.append(place)
    return waited


def release(name: str) -> None:
    """Let others have it."""
    place = zlib.crc32(name.encode()) % PLACES
    if place in _Held.places and _Held.file is not None:
        _Held.places.remove(place)
        fcntl.lockf(_Held.file, fcntl.LOCK_UN, 1, place)


def _open() -> bool:
    """Open the file, once in each process; a fork has no locks of its parent."""
    if fcntl is None:
        return False
    if _Held.process != os.getpid():
        _Held.places, _Held.process = [], os.getpid()
        try:
            path = os.path.join(private_folder(), "compiling")
            _Held.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:  # no folder for temporary files
            _Held.file = None
    return _Held.file is not None


def _is_locked(place: int) -> bool:
    """Whether the byte is this process's now."""
    try:
        fcntl.lockf(_Held.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: as if it were
        return True
    return True
