"""A call on a graph of fewer than 1,000 nodes, after the first: how many milliseconds, and what for.

    GRAPHCLUST_DATA=... python bench_small_graphs.py [--repeats 31]

Real graphs with annotated classes, LFR graphs, planted blocks, and two graphs without clusters; k is the number of
classes, 20 and 10 for the last two. Medians over the seeds, our gate included. Leiden at k bisects its resolution until
k parts come out, see tools.py. Needs igraph and the data that $GRAPHCLUST_DATA names.
"""

from collections.abc import Iterator

import networkx as nx
import numpy as np
from harness import asked, shown, write_table
from peers_data import annotated_graphs, lfr, planted
from scipy import sparse
from tools import DEFAULT, LEIDEN_AT_K, SMALLEST_CUT, measure, percent

TOOLS = (DEFAULT, SMALLEST_CUT, LEIDEN_AT_K)
MOST_NODES = 999


def small_graphs() -> Iterator[tuple[str, sparse.csr_matrix, np.ndarray, int]]:
    """Name, matrix, classes, -1 where there are none, and k."""
    for name, matrix, classes in annotated_graphs():
        if matrix.shape[0] <= MOST_NODES:
            yield name, matrix, classes, int(classes.max()) + 1
    for mixing in (0.2, 0.5):
        matrix, classes = lfr(mixing, 900)
        yield f"LFR, mixing {mixing}", matrix, classes, int(classes.max()) + 1
    for spec in ("10x90:8:3", "40x24:8:3", "4x240:20:5"):
        matrix, classes = planted(spec)
        yield spec, matrix, classes, int(classes.max()) + 1
    without = np.full(MOST_NODES, -1)
    small_world = nx.connected_watts_strogatz_graph(MOST_NODES, 10, 0.1, seed=1)
    yield "Watts-Strogatz", nx.to_scipy_sparse_array(small_world, format="csr", dtype=float), without, 20
    by_preference = nx.barabasi_albert_graph(MOST_NODES, 8, seed=1)
    yield "Barabasi-Albert", nx.to_scipy_sparse_array(by_preference, format="csr", dtype=float), without, 10


def main() -> None:
    options = asked(__doc__, repeats=31)
    rows = []
    for name, matrix, classes, k in small_graphs():
        found = [measure(tool, matrix, k, classes, options.repeats) for tool in TOOLS]
        agreement = ["" if np.isnan(one.ari) else f"{one.ari:.3f}" for one in found]
        milliseconds = [f"{1e3 * one.seconds:.1f}" for one in found]
        spreads = [percent(one.spread, one.cut) for one in found]
        rows.append(shown([name, str(matrix.shape[0]), str(matrix.nnz), str(k), *milliseconds, *agreement, *spreads]))
    names = [tool.name for tool in TOOLS]
    header = ["graph", "nodes", "entries", "k", *(f"ms: {name}" for name in names), *(f"ARI: {name}" for name in names)]
    header += [f"spread of NCut, %: {name}" for name in names]
    write_table("small_graphs", f"Graphs of fewer than {MOST_NODES + 1:,} nodes", header, rows)


if __name__ == "__main__":
    main()
