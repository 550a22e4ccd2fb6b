"""What the second process of `side_by_side` compiles: the loops of a clustering, those of agglomeration first."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings

import numpy as np
from scipy import sparse

K, SIZE = 3, 8  # clusters, and nodes of each


def main() -> None:
    """Compile, as long as the first process lives."""
    threading.Thread(target=_end_with_the_first, daemon=True).start()
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # where memory runs out this process ends, and not the other
    compile_from_the_end()


def compile_from_the_end() -> None:
    """Cluster a few nodes, with what a process needs last taken first."""
    from graphclust.engine.levels import run_on
    from graphclust.engine.resolution import dendrogram_of
    from graphclust.io.graph_input import as_graph
    from graphclust.objective.objective import weigh
    from graphclust.partition.coreset_sc import coreset_sc

    nodes = np.arange(K * SIZE)
    same, next_to = nodes[:, None] // SIZE == nodes // SIZE, abs(nodes[:, None] - nodes) == 1
    graph = as_graph(sparse.csr_array(1.0 * ((same | next_to) & (nodes[:, None] != nodes))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = run_on(weigh(graph, "modularity"))
        dendrogram_of(run.finest, run, K)
        coreset_sc(graph, K, rng=0)


def _end_with_the_first() -> None:
    sys.stdin.buffer.read()
    os._exit(0)
