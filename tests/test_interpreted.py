"""The compiled loops once more: as plain Python, where NumPy checks every access, and compiled with checked bounds."""

import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).parent
LOOP_TESTS = [
    "test_coreset.py",
    "test_embedding.py",
    "test_graph.py",
    "test_k_means_lloyd.py",
    "test_quality.py",
    "test_seeding.py",
]
GENERATED = [
    "test_generators.py::test_the_gate_finds_nothing_to_repair",
    "test_generators.py::test_certain_and_impossible_edges",
]
TOO_LONG_INTERPRETED = "not very_long_walk and not float32_sized_masses"


def run_tests(selection: str, **environment: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", selection]
    command += [str(TESTS / name) for name in LOOP_TESTS + GENERATED]
    result = subprocess.run(
        command, env={**os.environ, **environment}, cwd=TESTS.parent, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stdout[-5000:]
    assert "passed" in result.stdout.splitlines()[-1]


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="this run is interpreted already")
def test_loops_give_the_same_as_plain_python():
    run_tests(TOO_LONG_INTERPRETED, NUMBA_DISABLE_JIT="1")


@pytest.mark.skipif(os.environ.get("NUMBA_BOUNDSCHECK") == "1", reason="this run checks bounds already")
def test_no_loop_leaves_its_arrays():
    # The setting is not part of numba's cache key: such loops need a cache of their own.
    run_tests("test", NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=os.environ["NUMBA_CACHE_DIR"] + "-bounds")
