"""How many threads there are to be where nobody says: the processors, unless the environment or a container has less.

A container's share of the processors is a quota of time: more threads than it allows are stopped for the rest of each
period, all at once.
"""

import functools
import math
import os
import pathlib
from collections.abc import Iterator

OURS, NUMBAS, USUAL = "GRAPHCLUST_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"
GROUPS, MOUNTED = "proc/self/cgroup", "sys/fs/cgroup"
FIRST_VERSION = {"cpu": ("cpu", "cpu,cpuacct"), "memory": ("memory",)}  # where its controllers are mounted


@functools.cache
def default_threads(most: int) -> int:
    """Threads to take of so many: what GRAPHCLUST_NUM_THREADS says, else OMP_NUM_THREADS or a quota that is lower.

    most : the processors, or what NUMBA_NUM_THREADS says; where that is set, the last two are not asked.

    Raises ValueError where GRAPHCLUST_NUM_THREADS is not a whole number from 1 on.
    """
    asked = os.environ.get(OURS, "").strip()
    if asked:
        if not asked.isdecimal() or int(asked) < 1:
            raise ValueError(f"{OURS}={asked!r} in the environment, expected a whole number >= 1; unset it, or mend it")
        return min(int(asked), most)
    if NUMBAS in os.environ:
        return most
    usual = os.environ.get(USUAL, "").split(",")[0].strip()  # a list has a number for each level of nesting
    limits = [int(usual)] if usual.isdecimal() and int(usual) > 0 else []
    return min([most, *limits, *(max(1, math.ceil(quota)) for quota in quotas())])


def quotas(root: str = "/") -> Iterator[float]:
    """Processors that the control group of this process, and each above it, may use at a time, by either version."""
    for folder, is_first_version in groups_of("cpu", root):
        quota = _quota_in(folder, is_first_version)
        if quota is not None:
            yield quota


def groups_of(controller: str, root: str = "/") -> Iterator[tuple[pathlib.Path, bool]]:
    """The folders of the control group of this process and of those above it, and whether each is of version 1.

    controller : "cpu" or "memory". root : the folder in which /proc and /sys are looked for. In a container the path
    may be that on the machine, which cannot be seen: then the last folder is the container's.
    """
    try:
        lines = pathlib.Path(root, GROUPS).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        controllers, _, path = line.partition(":")[2].partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        inside = pathlib.PurePosixPath(path.lstrip("/"))
        for part in (inside, *inside.parents):
            for mounted in FIRST_VERSION[controller] if controllers else ("",):
                yield pathlib.Path(root, MOUNTED, mounted, part), bool(controllers)


def _quota_in(folder: pathlib.Path, first_version: bool) -> float | None:
    """The quota over its period; None where a folder has none."""
    try:
        if first_version:
            quota, period = (int((folder / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
        else:
            quota, period = map(int, (folder / "cpu.max").read_text().split())  # "max" is no number
    except (OSError, ValueError):
        return None
    return quota / period if quota > 0 and period > 0 else None
