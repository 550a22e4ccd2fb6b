"""The memory that is left to a process, by Linux's control groups, the machine and the process's own limit.

A process that takes more than its group may is killed without an error, so the limit has to be known before.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator

GROUPS, MOUNTED = "proc/self/cgroup", "sys/fs/cgroup"


def container_memory(root: str = "/") -> int | None:
    """The least bytes that the process's control group and its parents leave; None without a limit.

    root : the folder in which /proc and /sys are looked for.
    """
    files = _limit_files(pathlib.Path(root))
    left = [max(limit - _used(file.parent), 0) for file in files if (limit := _bytes_in(file)) is not None]
    return min(left, default=None)


def _used(folder: pathlib.Path) -> int:
    """What a group uses, without the files that it would give up."""
    used = _bytes_in(folder / "memory.current") or _bytes_in(folder / "memory.usage_in_bytes") or 0
    try:
        facts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return used
    return max(used - int(facts.get("total_inactive_file", facts.get("inactive_file", 0))), 0)


def available_bytes() -> int:
    """The memory that is left to this process: of the machine, of its container, or of its own limit."""
    available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 2**63
    left = [available, container_memory()]
    with contextlib.suppress(OSError, StopIteration), open("/proc/meminfo") as file:
        left.append(next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable")))
    with contextlib.suppress(ImportError):
        import resource

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
        left.append(None if soft == resource.RLIM_INFINITY else max(soft - _pages_of_process()[0], 0))
    return min(n_bytes for n_bytes in left if n_bytes is not None)


def resident_bytes() -> int:
    """The memory that this process has taken."""
    return _pages_of_process()[1]


def _pages_of_process() -> tuple[int, int]:
    """Bytes of its addresses, and of those that are in memory; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            addresses, resident = file.read().split()[:2]
    except OSError:
        return 0, 0
    size = os.sysconf("SC_PAGE_SIZE")
    return int(addresses) * size, int(resident) * size


def _limit_files(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """The files of limits from the process's own group up to the root's, of version 2 and of version 1.

    In a container the path may be that on the machine, which cannot be seen: then the root's file is the container's.
    """
    try:
        lines = (root / GROUPS).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            folder, name = root / MOUNTED, "memory.max"
        elif "memory" in controllers.split(","):
            folder, name = root / MOUNTED / "memory", "memory.limit_in_bytes"
        else:
            continue
        inside = pathlib.PurePosixPath(path.lstrip("/"))
        yield from (folder / part / name for part in (inside, *inside.parents))


def _bytes_in(file: pathlib.Path) -> int | None:
    """The number in a file; None where there is no file, or "max"."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
