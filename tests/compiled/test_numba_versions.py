"""Names of numba that its documentation does not have: which versions have them, and the bounds in pyproject.toml."""

import importlib.metadata
import inspect
import os
import pathlib
import tomllib

import numba
import pytest
from numba.core import caching, dispatcher, event, options

ROOT = pathlib.Path(__file__).parents[2]
FIRST, LAST = (0, 61), (0, 68)  # with which the tests of loops, of the cache and of the engine were run

# Each of our modules that uses such names: what it takes them from, and the names.
PRIVATE = {
    "checked_cache": [
        (dispatcher, ["FunctionCache"]),
        (caching, ["CompileResultCacheImpl", "FunctionCache", "IndexDataCacheFile"]),
        (caching.CompileResultCacheImpl, ["_locator_classes", "filename_base", "locator"]),
        (caching.FunctionCache, ["_impl_class", "cache_path", "load_overload", "save_overload"]),
        (caching.IndexDataCacheFile, ["_data_path", "_dump", "_load_data", "_load_index", "_save_data", "_save_index"]),
    ],
    "compile_notice": [(event, ["Listener", "register"])],
    "interrupts": [(event, ["Listener", "register"])],
    "loops": [(options.DefaultOptions, ["_nrt", "no_cpython_wrapper", "no_cfunc_wrapper"])],
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


@pytest.mark.parametrize("attribute", ["_cache_path", "_cache_file", "_impl"])
def test_a_cache_of_this_version_has_the_attributes_that_ours_replaces(attribute):
    assert f"self.{attribute} =" in inspect.getsource(caching.Cache if hasattr(caching, "Cache") else caching._Cache)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_the_key_of_a_cached_loop_names_types_processor_and_code():
    from graphclust.compiled.graphs.csr_checks import flatten

    target = flatten.dispatcher.targetctx
    types, processor, code = flatten._cache._index_key("types", target.codegen())
    assert types == "types" and len(processor) == 3 and all(isinstance(part, str) for part in processor)
    assert len(code) == 2
    files = flatten._cache._cache_file
    assert files._index_path.endswith(".nbi") and files._data_name_pattern.endswith(".{number:d}.nbc")


def test_the_compiler_is_bound_to_one_version_of_llvmlite():
    needed = [text for text in importlib.metadata.requires("numba") or () if text.startswith("llvmlite")]
    assert needed and "," in needed[0], "so that the bound of numba is one of llvmlite too"
