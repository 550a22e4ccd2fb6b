"""The quotient graph of a graph that is read in the order of its file: for rows that should not be jumped to and fro.

Up to some thousand clusters the weights between all of them are summed in a table, in one pass. The table of more would
not fit, and where clusters are that many, so are the pairs of them that share an edge or two: then runs of rows all
over the file stand for the others. Volumes are exact either way, where anything stays in a cluster at all.
"""

import numpy as np
from scipy import sparse

from graphclust.compiled.graphs import streamed_links as loops
from graphclust.compiled.runtime.blocks import run_in_blocks
from graphclust.graph.container import Graph

STREAMED = 1 << 28  # entries from which a graph is read in order
MOST_IN_A_TABLE = 6_144  # clusters: 300 MB a lane
LANES = 2  # halves of the rows that are summed side by side, each into a table of its own
ENTRIES_PER_STEP = 1 << 24
SAMPLED, RUN = 1 << 25, 64  # entries, and rows one after the other
ESTIMATED = (
    f"weights between more than {MOST_IN_A_TABLE:,} regions were estimated from a sample of the graph's rows, so that "
    "the merging of regions is not exact; moves of single nodes are"
)


def is_estimate(graph: Graph, n_clusters: int) -> bool:
    """Whether the quotient graph of so many clusters is made of a sample of the rows."""
    return graph.n_entries >= max(STREAMED, SAMPLED + 1) and n_clusters > MOST_IN_A_TABLE


def contract_in_order(graph: Graph, cluster: np.ndarray, n_clusters: int) -> Graph:
    """`contract` in one pass over the rows as they lie, or over a sample of them; cluster int32, -1 for left out."""
    of_cluster = np.maximum(cluster, 0)
    volumes = np.bincount(of_cluster, weights=np.where(cluster < 0, 0.0, graph.degrees), minlength=n_clusters)
    del of_cluster
    if n_clusters <= MOST_IN_A_TABLE:
        return _from_table(_table(graph, cluster, n_clusters), volumes)
    return _from_sample(graph, cluster, volumes)


def _table(graph: Graph, cluster: np.ndarray, k: int) -> np.ndarray:
    """Weight between any two clusters, (k, k)."""
    links = np.zeros((LANES, k, k))
    lanes = np.unique(np.searchsorted(graph.indptr, graph.n_entries * np.arange(LANES) // LANES))
    lanes = np.append(lanes[lanes < graph.n_nodes], graph.n_nodes)
    n_parts = 1 + graph.n_entries // (LANES * ENTRIES_PER_STEP)
    for part in range(n_parts):
        run_in_blocks(loops.add_links, lanes, part, n_parts, graph.rows, cluster, links)
    for lane in range(1, LANES):
        links[0] += links[lane]
    return links[0]


def links_in_order(graph: Graph, nodes: np.ndarray, cluster: np.ndarray, k: int) -> sparse.csr_array:
    """Weight between some nodes, in increasing order and all in clusters, of each cluster and all nodes of each."""
    links = np.zeros((LANES, k, k))
    lanes = np.unique(len(nodes) * np.arange(LANES + 1) // LANES)
    run_in_blocks(loops.add_links_of, lanes, nodes, graph.rows, cluster, links)
    return sparse.csr_array(links.sum(axis=0))


def _from_table(links: np.ndarray, volumes: np.ndarray) -> Graph:
    matrix = sparse.csr_array(links)
    loops_of = links.diagonal().copy()
    return Graph(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, volumes, loops_of)


def _from_sample(graph: Graph, cluster: np.ndarray, volumes: np.ndarray) -> Graph:
    k = len(volumes)
    every = -(-graph.n_entries // SAMPLED)
    starts = np.arange(0, graph.n_nodes, RUN)[::every]
    no_weights = np.empty(0)
    n_listed = loops.list_links(starts, RUN, graph.rows, cluster, k, np.empty(0, np.int64), no_weights)
    keys = np.empty(n_listed, np.int64)
    weights = no_weights if graph.weights is None else np.empty(n_listed)
    loops.list_links(starts, RUN, graph.rows, cluster, k, keys, weights)
    sums: np.ndarray
    if graph.weights is None:
        keys, sums = np.unique(keys, return_counts=True)
    else:
        order = np.argsort(keys, kind="stable")
        keys, first = np.unique(keys[order], return_index=True)
        sums = np.add.reduceat(weights[order], first) if len(keys) else weights
    seen = sparse.csr_array((sums.astype(np.float64), (keys // k, keys % k)), shape=(k, k))
    read = np.asarray(seen.sum(axis=1)).ravel()
    scale = np.divide(volumes, 2.0 * read, out=np.zeros(k), where=read > 0)
    scaled = sparse.dia_array((scale[None, :], [0]), shape=(k, k)) @ seen
    links = (scaled + scaled.T).tocsr()
    between = links - sparse.dia_array((links.diagonal()[None, :], [0]), shape=(k, k))
    # What is not seen to leave a cluster stays, so that volumes are right.
    stays = np.maximum(volumes - np.asarray(between.sum(axis=1)).ravel(), 0.0)
    matrix = (between + sparse.dia_array((stays[None, :], [0]), shape=(k, k))).tocsr()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    return Graph(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, degrees, stays)
