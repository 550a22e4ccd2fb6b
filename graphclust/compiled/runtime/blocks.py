"""Run a compiled loop over fixed blocks of rows, on as many threads as numba may use.

A loop is compiled with `nogil=True` and is called as `loop(first, last, block, *arrays)`: rows first..last-1, and the
number of the block where it may leave its partial result. The blocks depend on the data alone, so results that
are combined in block order are the same for any number of threads. Threads are plain Python threads: a stop (Ctrl-C)
takes effect between blocks, two callers cannot disturb each other, and each loop is compiled once, as it is written.

Where nobody says how many threads there are to be it is the processors, unless the environment or a container has less.
A container's share of them is a quota of time: more threads than it allows are stopped for the rest of each period, all
at once.
"""

import functools
import itertools
import math
import os
import pathlib
import sys
import threading
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import Loop

OURS, NUMBAS, USUAL = "GRAPHCLUST_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"
GROUPS, MOUNTED = "proc/self/cgroup", "sys/fs/cgroup"
FIRST_VERSION = {"cpu": ("cpu", "cpu,cpuacct"), "memory": ("memory",)}  # where its controllers are mounted
PATIENCE = 1.0  # seconds between two looks at whether another thread has ended, should its word be lost
# Smaller blocks are shared more evenly by the threads, and Ctrl-C takes effect sooner; each costs a call from Python.
ROWS_PER_BLOCK = 65_536
ENTRIES_PER_BLOCK = 1 << 20
# Where each block has a large result: enough blocks for many threads, none too small to be worth one, and none of more
# neighbors than take 1 GB.
COARSE_BLOCKS, LEAST_ENTRIES, MOST_ENTRIES = 64, 1 << 14, 1 << 28


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
        try:
            if is_first_version:
                quota, period = (int((folder / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
            else:
                quota, period = map(int, (folder / "cpu.max").read_text().split())  # "max" is no number
        except (OSError, ValueError):
            continue
        if quota > 0 and period > 0:
            yield quota / period


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


class MadeRows(NamedTuple):
    """CSR rows that a loop makes one after the other: the length of each row, int64, and the entries of a block."""

    lengths: np.ndarray
    indices: np.ndarray
    weights: np.ndarray


_asked = threading.local()  # n: what `set_threads` was told in this thread, which goes before any usual limit
_pools: dict[int, "SimpleQueue[_Task]"] = {}  # of this process, and of those that it was forked from: without threads


def row_blocks(n_rows: int, rows: int = ROWS_PER_BLOCK) -> np.ndarray:
    """Boundaries of blocks of `rows` rows each; shape (n_blocks + 1,)."""
    boundaries = np.arange(0, n_rows + rows, rows)
    boundaries[-1] = n_rows
    return boundaries


def thread_blocks(n: int) -> np.ndarray:
    """Boundaries of a block for each thread, for loops whose results have nothing to do with the blocks."""
    return row_blocks(n, -(-n // n_threads()))


def n_threads() -> int:
    """Threads that blocks are run on, where there are as many: what was asked for, or `default_threads`.

    numba starts threads of its own when it is asked, and they are never used here: that takes as long as a fifth of
    the first call on a small graph, and from then on each question takes a lock that forked processes share, so that
    one that is killed meanwhile stops all others. So only a numba that has started is asked.
    """
    asked = getattr(_asked, "n", None)
    if asked is not None:
        return int(asked)
    numba: Any = sys.modules.get("numba")
    try:
        numba.threading_layer()
    except (AttributeError, ValueError):  # not imported, or not started
        return default_threads(most_threads())
    return int(min(numba.get_num_threads(), default_threads(most_threads())))


def most_threads() -> int:
    """Threads that there can be: the processors, or what NUMBA_NUM_THREADS says."""
    numba: Any = sys.modules.get("numba")
    if numba is not None:
        return int(numba.config.NUMBA_NUM_THREADS)
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(os.environ.get("NUMBA_NUM_THREADS", processors))


def set_threads(n: int | None) -> int | None:
    """Run blocks that this thread calls on n threads from now on, None for the usual; returns what was set before."""
    before: int | None = getattr(_asked, "n", None)
    _asked.n = n
    return before


def entry_blocks(indptr: np.ndarray, entries: int = ENTRIES_PER_BLOCK, rows: int = ROWS_PER_BLOCK) -> np.ndarray:
    """Boundaries of row blocks that hold about `entries` stored entries and at most so many rows each."""
    n_rows = len(indptr) - 1
    if 0 < n_rows <= rows and indptr[-1] <= entries:
        return np.array([0, n_rows])  # as below, without its cost, which counts for many small graphs
    by_entries = np.searchsorted(indptr, np.arange(0, indptr[-1], entries), side="left")
    return np.unique(np.concatenate([row_blocks(n_rows, rows), np.minimum(by_entries, n_rows)]))


def run_in_blocks(loop, boundaries: np.ndarray, *arrays) -> None:
    """Call `loop(first, last, block, *arrays)` for each block; returns when all are done."""
    n_blocks = len(boundaries) - 1
    starts = boundaries.tolist()
    if n_blocks == 1 and isinstance(loop, Loop):  # as below, without its cost to small data
        loop(starts[0], starts[1], 0, *arrays)
        return
    next_block = itertools.count()
    stopped: list[BaseException] = []

    def work():
        try:
            with np.errstate(all="ignore"):  # compiled arithmetic never warns, so neither does a plain loop
                while not stopped and (block := next(next_block)) < n_blocks:
                    loop(starts[block], starts[block + 1], block, *arrays)
        except BaseException as why:
            stopped.append(why)

    others = [_Task(work) for _ in range(min(n_threads(), n_blocks) - 1)] if n_blocks > 1 else []
    try:
        for other in others:
            _tasks().put(other)
        work()
    except BaseException as why:  # Ctrl-C, outside a block
        stopped.append(why)
    _end(others, stopped)
    if stopped:
        raise stopped.pop(0)


def map_blocks(function, boundaries: np.ndarray) -> list:
    """What `function(first, last, block)` returns for each block, in block order."""
    results: list = [None] * (len(boundaries) - 1)

    def make(first, last, block):
        results[block] = function(first, last, block)

    run_in_blocks(make, boundaries)
    return results


def coarse_blocks(indptr: np.ndarray) -> np.ndarray:
    """Boundaries of blocks for partial results that are large: few, and with about equal numbers of entries.

    There are some COARSE_BLOCKS of them, or as many as keep a block below MOST_ENTRIES; less where the graph is small.
    """
    n_rows, n_entries = len(indptr) - 1, int(indptr[-1])
    entries = min(max(LEAST_ENTRIES, -(-n_entries // COARSE_BLOCKS)), MOST_ENTRIES)
    return entry_blocks(indptr, entries, max(LEAST_ENTRIES, -(-n_rows // COARSE_BLOCKS)))


def rows_in_blocks(
    loop, boundaries: np.ndarray, most_entries: np.ndarray, *arrays
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR rows whose lengths are known only once they are made, in one pass: (indptr, indices, weights).

    `loop(first, last, block, made, *arrays)` writes rows first..last-1 one after the other to the scratch arrays of
    made, a `MadeRows`, and returns how many entries it wrote: at most most_entries[block].
    """
    n_blocks = len(boundaries) - 1
    indptr = np.zeros(int(boundaries[-1]) + 1, np.int64)
    indices: list = [None] * n_blocks
    weights: list = [None] * n_blocks

    def make(first, last, block):
        made = MadeRows(indptr[1:], np.empty(most_entries[block], np.int32), np.empty(most_entries[block]))
        n_entries = loop(first, last, block, made, *arrays)
        indices[block], weights[block] = made.indices[:n_entries].copy(), made.weights[:n_entries].copy()

    run_in_blocks(make, boundaries)
    np.cumsum(indptr, out=indptr)
    return indptr, _concatenate(indices, np.int32), _concatenate(weights, np.float64)


def _concatenate(parts: list, dtype) -> np.ndarray:
    """The parts one after the other; each is given back once it is copied, so that memory holds little twice."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(len(part) for part in parts)]).tolist()
    whole = np.empty(ends[-1], dtype)

    def copy(first, last, block):
        whole[ends[block] : ends[block + 1]] = parts[block]
        parts[block] = None

    run_in_blocks(copy, row_blocks(len(parts), 1))
    return whole


class _Task:
    """Work for a thread of the pool, unless its caller takes it back; `ended` is locked until it is done.

    A ThreadPoolExecutor in its place stops for good where Ctrl-C strikes while one of its locks is held.
    """

    def __init__(self, work: Callable[[], None]):
        self.work: Callable[[], None] | None = work
        self.ended, self.done = threading.Lock(), False
        self.ended.acquire()
        self._owners: list[str] = []

    def is_for(self, who: str) -> bool:
        """Whether this one was the first to ask; the answer stays, should Ctrl-C strike and it ask again."""
        self._owners.append(who)
        return self._owners[0] == who


def _end(tasks: list[_Task], stopped: list[BaseException]) -> None:
    """Take back the tasks that have not begun, and wait for the others, so that no thread writes after the return."""
    while True:
        try:
            for task in tasks:
                while not task.done and not task.is_for("caller"):
                    task.ended.acquire(timeout=PATIENCE)
                task.work = None  # it stays in the queue, and holds no arrays there, if the pool has no thread
            return
        except BaseException as why:  # Ctrl-C once more
            stopped.append(why)


def _serve(tasks: "SimpleQueue[_Task]") -> None:
    """Run tasks for ever, in a thread of the pool."""
    while True:
        task = tasks.get()
        if task.is_for("pool") and task.work is not None:
            task.work()
            task.done = True
            task.ended.release()
        del task  # and with it the arrays of the caller


def _tasks() -> "SimpleQueue[_Task]":
    """The queue of the pool, whose threads are started first; its `put` cannot be interrupted halfway."""
    process = os.getpid()
    if process not in _pools:
        pool: SimpleQueue[_Task] = SimpleQueue()
        with suppress(RuntimeError):  # the system lets it have no more: those that are there do the work
            for _ in range(most_threads()):
                start_new_thread(_serve, (pool,))  # threading.Thread waits for ever for one that dies of little memory
        _pools[process] = pool
    return _pools[process]
