"""Shared set-up: one numba cache for each version of the compiled sources, and where the real data lies.

numba does not see that a loop calls another file's loop that was edited since; a fresh cache folder does.
"""

import hashlib
import os
import pathlib

import pytest

collect_ignore_glob = [
    "benchmarks/*",  # scripts, some of which need packages that the tests do not
    "called_loops.py",  # a plugin that takes the compiler away: for the runs that ask for it only
    "mutants/*",  # a command and its tables
]
PARTS = ("equal_parts", "balanced_partition", "bisection")  # whose loops take half a minute to compile
MOST_WORKERS = 4  # of two that need the same loop at the same time one waits for the other

_sources = sorted((pathlib.Path(__file__).parents[1] / "graphclust" / "compiled").rglob("*.py"))
_version = hashlib.sha256(b"".join(path.read_bytes() for path in _sources)).hexdigest()[:16]
os.environ.setdefault("NUMBA_CACHE_DIR", os.path.expanduser(f"~/.cache/graphclust-tests/{_version}"))
os.environ["GRAPHCLUST_COMPILE"] = "always"  # the tests are of compiled loops, however few numbers they are given


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """All cores for the whole suite; one process for files that are named, where a second would compile them again."""
    named = config.args_source != pytest.Config.ArgsSource.TESTPATHS
    return 0 if named else min(os.cpu_count() or 1, MOST_WORKERS)


def pytest_sessionstart(session: pytest.Session) -> None:
    """With nothing compiled the second worker begins with other loops than the first, which else compiles alone."""
    folder = pathlib.Path(os.environ["NUMBA_CACHE_DIR"])
    is_second = os.environ.get("PYTEST_XDIST_WORKER") == "gw1"
    if is_second and "NUMBA_DISABLE_JIT" not in os.environ and not any(folder.glob("graphs_*/agglomeration.*.nbc")):
        from graphclust.faces.second_compiler import compile_from_the_end

        compile_from_the_end()


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
