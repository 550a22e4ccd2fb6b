"""The compiled loops once more: as plain Python, where NumPy checks every access, and compiled with checked bounds."""

import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).parents[1]
# Their tests call loops of every kind on small inputs: minutes as plain Python, where the whole suite takes hours.
LOOPS = [
    "test_agglomeration.py", "test_coreset.py", "test_gate.py", "test_k_means_bounds.py", "test_local_moving.py",
    "test_objectives.py", "test_quality.py", "test_row_loops.py", "test_seeding.py", "test_two_step.py",
]  # fmt: skip
TOO_LONG = ("float32_sized_masses", "very_long_walk", "bomb", "blocks_do_not_matter", "100_000_neighbors")
TOO_LONG_INTERPRETED = " and ".join(f"not {word}" for word in TOO_LONG)
INTERPRETED = {"NUMBA_DISABLE_JIT": "1"}
# The setting is not part of numba's cache key: such loops need a cache of their own.
CHECKED = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"] + "-bounds"}

pytestmark = pytest.mark.skipif(
    "NUMBA_DISABLE_JIT" in os.environ or "NUMBA_BOUNDSCHECK" in os.environ, reason="this run is such a one itself"
)


def run_tests(names: list[str], environment: dict[str, str], *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options]
    command += [str(path) for name in names for path in TESTS.rglob(name)]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    result = subprocess.run(
        command, env=inherited | environment, cwd=TESTS.parent, capture_output=True, text=True, timeout=3600
    )
    assert result.returncode == 0, result.stdout[-5000:]
    return result.stdout.splitlines()[-1]


@pytest.mark.slow
def test_loops_of_every_kind_as_plain_python():
    assert "passed" in run_tests(LOOPS, INTERPRETED, "-k", TOO_LONG_INTERPRETED)


@pytest.mark.slow
def test_loops_of_every_kind_with_checked_bounds():
    assert "passed" in run_tests([*LOOPS, "test_multilevel.py", "test_coreset_parents.py"], CHECKED)


@pytest.mark.hours
def test_the_whole_suite_as_plain_python_calls_every_loop():
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    names = [path.name for path in TESTS.rglob("test_*.py")]
    left_out = f"{TOO_LONG_INTERPRETED} and not notebook and not interrupt and not test_cli and not exactly_k"
    called = {**INTERPRETED, "PYTHONPATH": path}
    assert "passed" in run_tests(names, called, "-k", left_out, "-p", "called_loops")
