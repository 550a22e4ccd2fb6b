"""The block runner: every row once, the same result on any number of threads, and a way out of every trouble."""

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from graphclust.compiled.runtime import blocks
from graphclust.compiled.runtime.blocks import entry_blocks, row_blocks, run_in_blocks


@pytest.fixture
def threads(monkeypatch):
    """Set how many threads numba may use."""
    return lambda n: monkeypatch.setattr(blocks, "n_threads", lambda: n)


def sum_rows(first, last, block, values, partial):
    partial[block] = values[first:last].sum()


def count_rows(first, last, block, seen):
    seen[first:last] += 1


@pytest.mark.parametrize(("n_rows", "rows"), [(0, 5), (1, 5), (5, 5), (6, 5), (23, 5), (65_537, 65_536)])
def test_row_blocks_cover_every_row_once(n_rows, rows):
    boundaries = row_blocks(n_rows, rows)
    assert boundaries[0] == 0 and boundaries[-1] == n_rows
    assert (np.diff(boundaries) <= rows).all() and (np.diff(boundaries[:-1]) == rows).all()


@pytest.mark.parametrize("degrees", [[0], [0, 0, 0], [3], [5, 0, 100, 0, 0, 7, 1, 1, 1], [1000], [2] * 500])
def test_entry_blocks_bound_the_entries_but_for_one_long_row(degrees):
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    boundaries = entry_blocks(indptr, 10)
    assert boundaries[0] == 0 and boundaries[-1] == len(degrees) and (np.diff(boundaries) > 0).all()
    for first, last in itertools.pairwise(boundaries):
        assert indptr[last] - indptr[first] < 10 + max(degrees) + 1


def test_entry_blocks_hold_no_more_rows_than_row_blocks():
    assert np.diff(entry_blocks(np.zeros(200_001, np.int64))).max() == blocks.ROWS_PER_BLOCK


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_every_row_is_visited_once(threads, n_threads):
    threads(n_threads)
    seen = np.zeros(1003, int)
    run_in_blocks(count_rows, row_blocks(1003, 7), seen)
    assert (seen == 1).all()
    run_in_blocks(lambda *arguments: pytest.fail("of no rows"), row_blocks(0))


def test_partial_sums_are_the_same_on_any_number_of_threads(threads):
    values = np.random.default_rng(4).lognormal(sigma=8, size=50_000)
    sums = []
    for n_threads in (1, 2, 4):
        threads(n_threads)
        partial = np.zeros(100)
        run_in_blocks(sum_rows, row_blocks(50_000, 500), values, partial)
        sums.append(partial.sum())
    assert sums[0] == sums[1] == sums[2]


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), MemoryError()])
def test_an_error_ends_the_work_and_reaches_the_caller(threads, n_threads, error):
    threads(n_threads)
    visited = []

    def fail_at_third(first, last, block):
        visited.append(block)
        if block == 3:
            raise error
        time.sleep(0.001)

    with pytest.raises(type(error)):
        run_in_blocks(fail_at_third, row_blocks(500, 1))
    n_visited = len(visited)
    assert n_visited < 50
    time.sleep(0.01)
    assert len(visited) == n_visited, "a thread still worked when the caller went on"
    test_every_row_is_visited_once(threads, n_threads)  # the threads go on to work for others


def test_nobody_writes_any_more_when_the_caller_goes_on(threads):
    threads(2)
    both = threading.Barrier(2, timeout=10)
    finished = []

    def fail_beside_a_slow_one(first, last, block):
        both.wait()
        if threading.current_thread() is threading.main_thread():
            raise ValueError("no")
        time.sleep(0.1)
        finished.append(block)

    with pytest.raises(ValueError, match="no"):
        run_in_blocks(fail_beside_a_slow_one, row_blocks(2, 1))
    assert len(finished) == 1


@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_takes_effect_between_blocks(threads, n_threads, request):
    threads(n_threads)
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # what a shell starts in the background ignores it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    start = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run_in_blocks(lambda first, last, block: time.sleep(0.02), row_blocks(1000, 1))
    assert time.perf_counter() - start < 1.5
    timer.join()


def test_two_python_threads_at_once_do_not_disturb_each_other(threads):
    threads(2)
    values = np.arange(200_000.0)
    results = {}

    def work(name, factor):
        for _ in range(20):
            partial = np.zeros(200)
            run_in_blocks(sum_rows, row_blocks(200_000, 1000), values * factor, partial)
            results.setdefault(name, set()).add(partial.sum())

    callers = [threading.Thread(target=work, args=(name, factor)) for name, factor in (("a", 1.0), ("b", 3.0))]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert results == {"a": {values.sum()}, "b": {(values * 3).sum()}}


def test_loops_that_run_loops_do_not_wait_for_each_other(threads):
    threads(2)
    seen = np.zeros((4, 6, 40), int)

    def outer(first, last, block, seen):
        time.sleep(0.01)
        run_in_blocks(count_rows, row_blocks(40, 4), seen[block])

    callers = [threading.Thread(target=run_in_blocks, args=(outer, row_blocks(6, 1), own), daemon=True) for own in seen]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=20)
    assert not any(caller.is_alive() for caller in callers) and (seen == 1).all()


def test_interpreted_arithmetic_warns_as_little_as_compiled(threads):
    threads(2)
    wrapped = np.zeros(4, np.uint64)

    def wrap_around(first, last, block, out):
        out[block] = np.uint64(2**63 + block) * np.uint64(2)

    run_in_blocks(wrap_around, row_blocks(4, 1), wrapped)
    assert wrapped.tolist() == [0, 2, 4, 6]


def _child(queue):
    seen = np.zeros(100, int)
    run_in_blocks(count_rows, row_blocks(100, 3), seen)
    queue.put(int(seen.sum()))


def _two_at_once(queue):
    both = threading.Barrier(2, timeout=10)
    run_in_blocks(lambda first, last, block: both.wait(), row_blocks(2, 1))
    queue.put(2)


def run_beside(code):
    """The code after it has run in a process that can import this file."""
    folder = os.path.dirname(__file__)
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_works_in_a_forked_child_after_the_parent_used_its_threads():
    code = (
        "import multiprocessing, test_blocks\n"
        "test_blocks.blocks.n_threads = lambda: 2\n"
        "context = multiprocessing.get_context('fork')\n"
        "queue = context.Queue()\n"
        "test_blocks._child(queue), queue.get()\n"
        "for work in (test_blocks._child, test_blocks._two_at_once):\n"
        "    child = context.Process(target=work, args=(queue,)); child.start()\n"
        "    print(queue.get(timeout=20)); child.join(20); print(child.exitcode)\n"
    )
    result = run_beside(code)
    assert result.stdout.split() == ["100", "0", "2", "0"], result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_that_is_killed_stops_no_other():
    """numba guards its threads by a lock that all of them share: a process that dies holding it keeps it."""
    code = (
        "import os, signal, numpy as np, test_blocks, numba.np.ufunc.parallel as of_numba\n"
        "def work():\n"
        "    seen = np.zeros(100, int)\n"
        "    test_blocks.run_in_blocks(test_blocks.count_rows, test_blocks.row_blocks(100, 3), seen)\n"
        "    return seen.sum()\n"
        "work()\n"
        "if not (child := os.fork()):\n"
        "    work()\n"
        "    if of_numba._backend_init_process_lock:\n"
        "        of_numba._backend_init_process_lock.acquire()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.waitpid(child, 0)\n"
        "signal.alarm(20)\n"
        "print(work())\n"
    )
    result = run_beside(code)
    assert result.stdout == "100\n", (result.returncode, result.stderr)


def test_works_in_a_spawned_child():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    assert queue.get(timeout=30) == 100
    child.join(30)
    assert child.exitcode == 0


def test_rows_of_lengths_known_late_are_the_same_on_any_number_of_threads(threads):
    def multiples(first, last, block, made, limit):
        lengths, indices, weights = made
        written = 0
        for row in range(first, last):
            found = np.arange(row, limit, row) if row else np.arange(0)
            indices[written : written + len(found)], weights[written : written + len(found)] = found, row
            lengths[row] = len(found)
            written += len(found)
        return written

    boundaries = np.array([0, 1, 2, 7, 20])
    for n_threads in (1, 2):
        threads(n_threads)
        indptr, indices, weights = blocks.rows_in_blocks(multiples, boundaries, np.full(4, 60), 20)
        assert np.diff(indptr).tolist() == [0, 19, 9, 6, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
        assert indices[indptr[6] : indptr[7]].tolist() == [6, 12, 18]
        assert (weights == np.repeat(np.arange(20), np.diff(indptr))).all()


@pytest.mark.parametrize("is_told", [True, False])
def test_threads_that_cannot_be_had_are_done_without(threads, monkeypatch, is_told):
    def start(*_):
        """A system that has no more of them says so, and one of little memory lets them die as they begin."""
        if is_told:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(blocks, "_pools", {})
    monkeypatch.setattr(blocks, "start_new_thread", start)
    threads(2)
    seen = np.zeros(100, int)
    run_in_blocks(count_rows, row_blocks(100, 3), seen)
    assert (seen == 1).all()
    held = weakref.ref(seen)
    del seen
    assert held() is None


@pytest.mark.slow
def test_ctrl_c_at_any_moment_leaves_threads_that_go_on():
    """Thousands of strikes, in the handing over of blocks and in the waiting for them too; an executor hangs soon."""
    code = (
        "import faulthandler, random, signal, time, numpy as np, test_blocks\n"
        "from test_blocks import count_rows, row_blocks, run_in_blocks\n"
        "test_blocks.blocks.n_threads = lambda: 2\n"
        "faulthandler.dump_traceback_later(40, exit=True)\n"
        "def strike(*of):\n"
        "    raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGALRM, strike)\n"
        "random.seed(1)\n"
        "struck, end = 0, time.monotonic() + 8.0\n"
        "while time.monotonic() < end:\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0002, 0.002))\n"
        "        while True:\n"
        "            run_in_blocks(count_rows, row_blocks(40, 10), np.zeros(40, int))\n"
        "    except KeyboardInterrupt:\n"
        "        struck += 1\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.0)\n"
        "seen = np.zeros(40, int)\n"
        "run_in_blocks(count_rows, row_blocks(40, 10), seen)\n"
        "print(struck > 1000, (seen == 1).all())\n"
    )
    result = run_beside(code)
    assert result.stdout == "True True\n", (result.returncode, result.stderr)
