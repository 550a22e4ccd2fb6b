"""The memory that is left to a process, by Linux's control groups, the machine and the process's own limit.

A process that takes more than its group may is killed without an error, so the limit has to be known before.
"""

import contextlib
import os
import pathlib

from graphclust.compiled.runtime.blocks import groups_of


def container_memory(root: str = "/") -> int | None:
    """The least bytes that the process's control group and its parents leave; None without a limit.

    root : the folder in which /proc and /sys are looked for.
    """
    left = []
    for folder, is_first_version in groups_of("memory", root):
        limit = _bytes_in(folder / ("memory.limit_in_bytes" if is_first_version else "memory.max"))
        if limit is not None:
            left.append(max(limit - _used(folder), 0))
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


def _bytes_in(file: pathlib.Path) -> int | None:
    """The number in a file; None where there is no file, or "max"."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
