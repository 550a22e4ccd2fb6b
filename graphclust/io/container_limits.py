"""The memory that a container may use, by Linux's control groups.

A process that takes more is killed without an error, so the limit has to be known before.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

GROUPS, MOUNTED = "proc/self/cgroup", "sys/fs/cgroup"


def container_memory(root: str = "/") -> int | None:
    """The least limit in bytes of the process's control group and its parents; None without any.

    root : the folder in which /proc and /sys are looked for.
    """
    limits = [limit for file in _limit_files(pathlib.Path(root)) if (limit := _bytes_in(file)) is not None]
    return min(limits, default=None)


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
