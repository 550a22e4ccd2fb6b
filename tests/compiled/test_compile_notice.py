"""Whoever waits for the compiler is told so once, and the seconds are not those of a time budget."""

import logging
import sys
import types
import warnings

import pytest

from graphclust.compiled.graphs.components import flatten
from graphclust.compiled.runtime import compiler
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
