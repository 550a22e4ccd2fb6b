"""Shared set-up: where compiled loops are kept, and where the real data lies."""

import os
import pathlib
import sys

import pytest

collect_ignore_glob = [
    "benchmarks/*",  # scripts, some of which need packages that the tests do not
    "called_loops.py",  # a plugin that takes the compiler away: for the runs that ask for it only
    "mutants/*",  # a command and its tables
]
PARTS = ("equal_parts", "balanced_partition", "bisection")  # whose loops take half a minute to compile
MOST_WORKERS = 4  # each compiles what it needs and no other has compiled yet

sys.dont_write_bytecode = False  # pytest rewrites 5,000 assertions, 8 s in each process, unless it kept them
os.environ.setdefault("NUMBA_CACHE_DIR", os.path.expanduser("~/.cache/graphclust-tests"))
os.environ["GRAPHCLUST_COMPILE"] = "always"  # the tests are of compiled loops, however few numbers they are given


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """All cores for the whole suite; one process for files that are named, where a second would compile them again."""
    named = config.args_source != pytest.Config.ArgsSource.TESTPATHS
    return 0 if named else min(os.cpu_count() or 1, MOST_WORKERS)


def pytest_sessionstart(session: pytest.Session) -> None:
    """The second worker begins with other loops than the first, so that few are compiled twice."""
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw1" and "NUMBA_DISABLE_JIT" not in os.environ:
        import graphclust

        graphclust.cluster_path([(0, 1), (1, 2), (2, 0), (2, 3)], rng=0)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Some examples need a package that only the longer tests have, others loops that take half a minute to compile."""
    for item in items:
        examples = item.dtest.examples if isinstance(item, pytest.DoctestItem) else []
        if any("import anndata" in example.source for example in examples) or any(name in item.name for name in PARTS):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def data_folder() -> pathlib.Path:
    """The folder of real graphs, features and files; tests that need it are skipped where it is not."""
    folder = os.environ.get("GRAPHCLUST_DATA")
    if not folder or not pathlib.Path(folder).is_dir():
        pytest.skip("GRAPHCLUST_DATA does not name a folder of real data")
    return pathlib.Path(folder)


@pytest.fixture(autouse=True)
def global_numpy_state_is_left_alone():
    """No function may draw from, or seed, NumPy's global generator."""
    import numpy as np

    before = np.random.get_state()[1].copy()  # noqa: NPY002
    yield
    after = np.random.get_state()[1]  # noqa: NPY002
    assert (after == before).all(), "the global NumPy random state was touched"
