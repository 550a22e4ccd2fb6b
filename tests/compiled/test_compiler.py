"""What numba is told when it starts, and which of its names that needs; Ctrl-C while a loop returns."""

import importlib.metadata
import logging
import os
import pathlib
import subprocess
import sys
import tomllib
import types
import warnings

import numba
import pytest
from numba.core import event, options, serialize
from numba.core.compiler import CompileResult

import graphclust
from graphclust.compiled.graphs.components import flatten
from graphclust.compiled.runtime import compiler
from graphclust.compiled.runtime.loop_cache import LoopCache
from graphclust.compiled.runtime.loops import working_time
from graphclust.errors import GraphWarning, warn_caller
from graphclust.progress import Progress


class Clock:
    """Seconds that pass when they are told to."""

    now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(compiler, "time", clock)
    return clock


def compile_one(notice: compiler.Announcement, clock: Clock, seconds: float) -> None:
    event = types.SimpleNamespace(data={"dispatcher": flatten})
    notice.on_start(event)
    notice.on_start(event)  # one that it calls
    clock.now += seconds
    notice.on_end(event)
    notice.on_end(event)


def test_a_log_says_once_that_loops_are_compiled_and_for_about_how_long(clock, caplog, capsys):
    caplog.set_level(logging.INFO, "graphclust")
    notice = compiler.Announcement()
    compile_one(notice, clock, 0.6)
    assert caplog.text == "" and notice.n_loops == 1
    for _ in range(3):
        compile_one(notice, clock, 2.0)
    assert caplog.text.count("compiling its loops") == 1 and "half a minute" in caplog.text
    assert capsys.readouterr().err == "", "no terminal"


def test_a_notebook_says_it_too(clock, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    notice = compiler.Announcement()
    for _ in range(3):
        compile_one(notice, clock, 2.0)
    assert capsys.readouterr().err.count("compiling its loops") == 1


def test_seconds_of_the_compiler_are_not_taken_from_a_time_budget(clock):
    progress, before = Progress(time_budget=50.0), working_time()
    compile_one(compiler.Announcement(), clock, 1000.0)
    try:
        assert working_time() < before - 900 and not progress.out_of_time()
    finally:
        compiler.add_compiler_time(-1000.0)
    progress = Progress(time_budget=50.0)
    compiler.add_compiler_time(-1000.0)
    assert progress.out_of_time(), "the same seconds of work are"
    compiler.add_compiler_time(1000.0)


def test_warnings_reach_the_log_unless_a_filter_ignores_them(caplog):
    for action, n_logged in (("always", 1), ("ignore", 0)):
        caplog.clear()
        with warnings.catch_warnings(record=True):
            warnings.simplefilter(action)
            warn_caller("3 isolated nodes", GraphWarning)
        assert [record.getMessage() for record in caplog.records] == ["3 isolated nodes"] * n_logged


# A named tuple in another, as a partition is: to make Python's objects of it numba runs Python code.
STRUCK = """
import signal, sys, threading, time
import numpy as np
from graphclust.compiled.graphs.levels import Terms
from graphclust.compiled.graphs.local_moving import singletons

def remind():
    while True:
        time.sleep(0.003)
        signal.raise_signal(signal.SIGINT)

def strike(number, frame):
    global is_armed
    if is_armed:
        is_armed = False
        raise KeyboardInterrupt

is_armed = False
signal.signal(signal.SIGINT, strike)
terms, n_struck = Terms(np.zeros(1_000_000), np.ones(1_000_000)), 0
singletons(terms)
threading.Thread(target=remind, daemon=True).start()
while n_struck < 200:
    try:
        is_armed = True
        while True:
            made = singletons(terms)
            assert made.labels[-1] == 999_999 and made.sums.size.sum() == 1_000_000
    except KeyboardInterrupt:
        n_struck += 1
print("alive", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGALRM"])  # Ctrl-C, and a timer
def test_ctrl_c_while_a_named_tuple_is_returned_does_not_end_the_process(name):
    path = str(pathlib.Path(graphclust.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": path, "GRAPHCLUST_COMPILE": "always"}
    command = [sys.executable, "-c", STRUCK.replace("SIGINT", name)]
    struck = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (struck.returncode, struck.stdout) == (0, "alive\n"), struck.stderr[-2000:]


ROOT = pathlib.Path(__file__).parents[2]
FIRST, LAST = (0, 61), (0, 68)  # with which the tests of loops, of the cache and of the engine were run

# What its documentation does not have: what our modules take names from, and the names.
PRIVATE = [
    (CompileResult, ["_rebuild", "_reduce"]), (serialize, ["dumps"]), (event, ["Listener", "register"]),
    (options.DefaultOptions, ["_nrt", "no_cpython_wrapper", "no_cfunc_wrapper"]),
]  # fmt: skip


def version() -> tuple[int, ...]:
    return tuple(int(part) for part in numba.__version__.split(".")[:2])


def test_the_bounds_of_numba_are_the_versions_that_were_tried():
    (bounds,) = (
        text
        for text in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
        if "numba" in text
    )
    assert bounds == f"numba>={FIRST[0]}.{FIRST[1]},<{LAST[0]}.{LAST[1] + 1}"
    assert FIRST <= version() <= LAST


def test_this_version_of_numba_has_the_names_that_we_use():
    missing = [(owner, name) for owner, names in PRIVATE for name in names if not hasattr(owner, name)]
    assert missing == []


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_a_loop_of_this_version_asks_our_cache_and_says_what_processor_it_is_for():
    assert isinstance(flatten.dispatcher._cache, LoopCache) and hasattr(numba.njit(version), "_cache")
    processor = flatten.dispatcher.targetctx.codegen().magic_tuple()
    assert len(processor) == 3 and all(isinstance(part, str) for part in processor)


def test_the_compiler_is_bound_to_one_version_of_llvmlite():
    needed = [text for text in importlib.metadata.requires("numba") or () if text.startswith("llvmlite")]
    assert needed and "," in needed[0], "so that the bound of numba is one of llvmlite too"
