"""The same labels from all methods on any number of threads, of ours and of BLAS."""

import os
import subprocess
import sys

import pytest

# Two blocks of entries, and clusters that can hardly be found: a sum that is rounded otherwise changes some label.
THREADS_SCRIPT = """
import warnings, hashlib, sys
warnings.simplefilter("ignore")
import graphclust, numpy as np
blocks = graphclust.planted_partition(30, 2000, 14, 22, degree_exponent=2.5, rng=5)
assert blocks.graph.n_entries > 1 << 20
for options in ({"method": "paper", "embedding": "power"}, {"method": "paper", "embedding": "eigsh"},
                {"method": "two-step"}):
    labels = graphclust.coreset_sc(blocks.graph, 30, coreset_size=3000, rng=11, **options).labels
    print(hashlib.sha256(labels.tobytes()).hexdigest())
for method in ("multilevel", "two-step"):
    for objective in ("modularity", "normalized_cut", "ratio_cut", "constant_potts"):
        labels = graphclust.coreset_sc(blocks.graph, 30, method=method, objective=objective, rng=11).labels
        print(hashlib.sha256(labels.tobytes()).hexdigest())
"""


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
def test_same_labels_on_one_and_two_threads():
    outputs = set()
    for numba_threads, blas_threads in (("1", "1"), ("2", "1"), ("1", "2")):
        environment = {**os.environ, "NUMBA_NUM_THREADS": numba_threads, "OPENBLAS_NUM_THREADS": blas_threads,
                       "OMP_NUM_THREADS": blas_threads, "MKL_NUM_THREADS": blas_threads}  # fmt: skip
        run = subprocess.run(
            [sys.executable, "-c", THREADS_SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1
    labels = outputs.pop().split()
    assert len(labels) == 3 + 8
    assert len(set(labels)) > 6  # objectives that are told apart
