"""The compiled loops once more: as plain Python, where NumPy checks every access, and compiled with checked bounds."""

import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).parent
QUICK = ["test_quality.py", "test_seeding.py"]  # a glance in passing; the slow tests below run all
ALL = [*(path.name for path in TESTS.glob("test_*.py")), "statistical"]
TOO_LONG_INTERPRETED = (
    "not float32_sized_masses and not very_long_walk and not bomb and not blocks_do_not_matter "
    "and not top_eigenvectors and not test_cli and not interrupt and not notebook "
    "and not (goes_through and block) and not clustered_like_any_other and not more_effort "
    "and not uneven_weights_spoilt and not hub_has_100_000 and not foretold and not exactly_k"
)
INTERPRETED = {"NUMBA_DISABLE_JIT": "1"}
# The setting is not part of numba's cache key: such loops need a cache of their own.
CHECKED = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"] + "-bounds"}

pytestmark = pytest.mark.skipif(
    "NUMBA_DISABLE_JIT" in os.environ or "NUMBA_BOUNDSCHECK" in os.environ, reason="this run is such a one itself"
)


def run_tests(names: list[str], selection: str, environment: dict[str, str], *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", selection, *options]
    command += [str(TESTS / name) for name in names]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    result = subprocess.run(
        command, env=inherited | environment, cwd=TESTS.parent, capture_output=True, text=True, timeout=3600
    )
    assert result.returncode == 0, result.stdout[-5000:]
    return result.stdout.splitlines()[-1]


def test_loops_give_the_same_as_plain_python():
    assert "passed" in run_tests(QUICK, TOO_LONG_INTERPRETED, INTERPRETED)


@pytest.mark.slow
def test_the_whole_suite_interpreted_calls_every_loop():
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    assert "passed" in run_tests(ALL, TOO_LONG_INTERPRETED, {**INTERPRETED, "PYTHONPATH": path}, "-p", "called_loops")


@pytest.mark.slow
def test_the_whole_suite_with_checked_bounds():
    assert "passed" in run_tests(ALL, "not notebook", CHECKED)
