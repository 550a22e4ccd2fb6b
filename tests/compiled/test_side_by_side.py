"""Processes that compile at a time: one waits for the other, and a second begins elsewhere and ends with the first."""

import os
import subprocess
import sys
import time

import pytest

from graphclust.compiled.runtime import compile_lock, side_by_side
from graphclust.compiled.runtime.loops import working_time

HOLD = """
import sys
from graphclust.compiled.runtime import compile_lock
assert not compile_lock.acquire(sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
compile_lock.release(sys.argv[1])
print("released", flush=True)
sys.stdin.readline()
"""

pytestmark = pytest.mark.skipif(compile_lock.fcntl is None, reason="nothing can be locked here")


def test_a_process_waits_for_the_one_that_compiles_the_same_loop_and_no_longer_than_it_is_patient(monkeypatch):
    name = f"a loop of {os.getpid()}"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as other:
        assert other.stdout.readline() == "held\n"
        assert not compile_lock.acquire(name + ", another"), "nobody has that one"
        compile_lock.release(name + ", another")
        monkeypatch.setattr(compile_lock, "PATIENCE", 0.03)
        start, before = time.perf_counter(), working_time()
        assert not compile_lock.acquire(name) and time.perf_counter() - start >= 0.03
        monkeypatch.undo()
        other.stdin.write("\n")
        compile_lock.acquire(name)
        assert other.stdout.readline() == "released\n", "not before"
        assert not compile_lock.acquire(name), "it has it already"
        compile_lock.release(name)
        other.kill()
    assert working_time() - before <= time.perf_counter() - start
    assert not compile_lock.acquire(name), "a process that is killed holds nothing"
    compile_lock.release(name)


def test_without_a_folder_for_temporary_files_nobody_waits(monkeypatch):
    def nowhere():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(compile_lock, "private_folder", nowhere)
    monkeypatch.setattr(compile_lock._Held, "process", 0)
    monkeypatch.setattr(compile_lock._Held, "file", None)
    assert not compile_lock.acquire("any")
    compile_lock.release("any")


@pytest.mark.parametrize("why", ["one core", "as the tests are run", "no Python"])
def test_no_second_process_is_started_where_there_is_no_use_for_one(monkeypatch, why):
    monkeypatch.setattr(side_by_side._Second, "asked", False)
    monkeypatch.setattr(side_by_side, "n_threads", lambda: 1 if why == "one core" else 2)
    monkeypatch.setenv("GRAPHCLUST_COMPILE", "always" if why == "as the tests are run" else "")
    monkeypatch.setattr(sys, "executable", "/usr/sbin/uwsgi" if why == "no Python" else sys.executable)
    monkeypatch.setattr(subprocess, "Popen", None)
    side_by_side.start_second_compiler()
    assert side_by_side._Second.process is None


@pytest.mark.slow
def test_a_second_process_compiles_agglomeration_first_and_ends_with_the_first(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "GRAPHCLUST_COMPILE": ""}
    code = (
        "import time; from graphclust.compiled.runtime import side_by_side as s; s.n_threads = lambda: 2\n"
        "s.start_second_compiler(); print(s._Second.process.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True) as first:
        second = int(first.stdout.readline())
        wait(lambda: any(tmp_path.rglob("heap.pop.*.nbc")))
        assert not any(tmp_path.rglob("local_moving.find_regions.*.nbc"))
        first.kill()
    wait(lambda: not is_running(second))


def wait(until) -> None:
    """Until something is so, for at most half a minute."""
    end = time.perf_counter() + 30
    while not until():
        assert time.perf_counter() < end
        time.sleep(0.05)


def is_running(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
