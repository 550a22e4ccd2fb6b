"""The same labels from all methods on any number of threads, of ours and of BLAS."""

import json
import os
import subprocess
import sys

import networkx as nx
import pytest

import graphclust
from graphclust.compiled.runtime.blocks import n_threads

# Two blocks of entries, and clusters that can hardly be found: a sum that is rounded otherwise changes some label.
THREADS_SCRIPT = """
import warnings, hashlib, json, sys
warnings.simplefilter("ignore")
import graphclust, numpy as np
blocks = graphclust.planted_partition(30, 2000, 14, 22, degree_exponent=2.5, rng=5)
assert blocks.graph.n_entries > 1 << 20
for options in json.loads(sys.argv[1]):
    if "coreset" in options:
        options["coreset"] = graphclust.Coreset(**options["coreset"])
    labels = graphclust.coreset_sc(blocks.graph, 30, rng=11, **options).labels
    print(hashlib.sha256(labels.tobytes()).hexdigest())
"""
OBJECTIVES = ("modularity", "normalized_cut", "ratio_cut", "constant_potts")
USUAL = [{}, {"method": "two-step", "coreset": {"size": 3000}}]
FURTHER = [
    {"objective": "normalized_cut"},
    {"method": "paper", "coreset": {"embedding": "power", "size": 3000}},
    {"method": "paper", "coreset": {"embedding": "eigsh", "size": 3000}},
    {"method": "paper", "coreset": {"sampling": "parallel", "size": 3000}},
    *({"method": "two-step", "coreset": {"sampling": "parallel"}, "objective": name} for name in OBJECTIVES[:2]),
    *({"method": "multilevel", "objective": name} for name in OBJECTIVES[2:]),
    *({"method": "two-step", "objective": name} for name in OBJECTIVES),
]


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@pytest.mark.slow
@pytest.mark.parametrize("options", [USUAL, FURTHER], ids=["usual", "further"])
def test_same_labels_on_one_and_two_threads(options):
    outputs = set()
    for numba_threads, blas_threads in (("1", "1"), ("2", "1"), ("1", "2")):
        environment = {**os.environ, "NUMBA_NUM_THREADS": numba_threads, "OPENBLAS_NUM_THREADS": blas_threads,
                       "OMP_NUM_THREADS": blas_threads, "MKL_NUM_THREADS": blas_threads}  # fmt: skip
        run = subprocess.run(
            [sys.executable, "-c", THREADS_SCRIPT, json.dumps(options)],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        outputs.add(run.stdout)
    assert len(outputs) == 1
    labels = outputs.pop().split()
    assert len(labels) == len(options)
    assert len(set(labels)) > len(options) // 2  # methods and objectives that are told apart


@pytest.mark.slow
def test_processes_of_joblib_give_the_same_labels_and_use_the_threads_left_to_them():
    joblib = pytest.importorskip("joblib")
    graph, call = nx.les_miserables_graph(), joblib.delayed(graphclust.communities)
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1), joblib.Parallel(n_jobs=2) as run:
        found = run(call(graph, rng=seed) for seed in range(4))
        assert run(joblib.delayed(n_threads)() for _ in range(4)) == [1] * 4
    here = [graphclust.communities(graph, rng=seed) for seed in range(4)]
    assert [one.labels.tolist() for one in found] == [one.labels.tolist() for one in here]
