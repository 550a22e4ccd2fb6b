"""Names of numba that its documentation does not have: which versions have them, and the bounds in pyproject.toml."""

import importlib.metadata
import os
import pathlib
import tomllib

import numba
import pytest
from numba.core import compiler, event, options, serialize

ROOT = pathlib.Path(__file__).parents[2]
FIRST, LAST = (0, 61), (0, 68)  # with which the tests of loops, of the cache and of the engine were run

# Each of our modules that uses such names: what it takes them from, and the names.
PRIVATE = {
    "loop_cache": [(compiler.CompileResult, ["_rebuild", "_reduce"]), (serialize, ["dumps"])],
    "compiler": [
        (event, ["Listener", "register"]),
        (options.DefaultOptions, ["_nrt", "no_cpython_wrapper", "no_cfunc_wrapper"]),
    ],
}


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


@pytest.mark.parametrize("module", PRIVATE)
def test_this_version_of_numba_has_the_names_that_a_module_uses(module):
    for owner, names in PRIVATE[module]:
        missing = [name for name in names if not hasattr(owner, name)]
        assert not missing, f"numba {numba.__version__} has no {missing} in {owner.__name__}"


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_a_loop_of_this_version_asks_our_cache_and_says_what_processor_it_is_for():
    from graphclust.compiled.graphs.components import flatten
    from graphclust.compiled.runtime.loop_cache import LoopCache

    assert isinstance(flatten.dispatcher._cache, LoopCache) and hasattr(numba.njit(version), "_cache")
    processor = flatten.dispatcher.targetctx.codegen().magic_tuple()
    assert len(processor) == 3 and all(isinstance(part, str) for part in processor)


def test_the_compiler_is_bound_to_one_version_of_llvmlite():
    needed = [text for text in importlib.metadata.requires("numba") or () if text.startswith("llvmlite")]
    assert needed and "," in needed[0], "so that the bound of numba is one of llvmlite too"
