"""What the first call in a new process has to load, beyond what numba needs to start: most of its time goes there."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")]

# Prints which loops the first call asked for, whether each came from the cache, and what of linear algebra and k-means
# is there then.
SCRIPT = """
import json, sys
import networkx as nx, numpy as np
from numba.core.caching import Cache
from graphclust.compiled.graphs import gate
gate.flatten(np.arange(3))  # numba starts
G = nx.karate_club_graph()
from graphclust import coreset_sc
asked, load = {}, Cache.load_overload
def loaded(self, *signature):
    found = load(self, *signature)
    asked[self._name] = found is not None
    return found
Cache.load_overload = loaded
coreset_sc(G, 2, rng=0)
print(json.dumps([asked, sorted({"scipy.sparse.linalg", "graphclust.k_means.lloyd"} & set(sys.modules))]))
"""


def first_call() -> tuple[dict[str, bool], list[str]]:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    asked, modules = json.loads(ended.stdout)
    return asked, modules


def test_a_first_call_loads_ten_loops_and_compiles_none():
    """Each takes some hundredths of a second at most, a tenth together; two more were two hundredths."""
    first_call()  # may compile
    asked, _ = first_call()
    assert 5 <= len(asked) <= 10 and all(asked.values()), asked


def test_a_method_without_eigenvectors_imports_nothing_for_them():
    assert first_call()[1] == []
