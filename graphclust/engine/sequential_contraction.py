"""Contraction of a graph that is larger than memory: its rows are read in the order of the file.

Up to some thousand clusters, one pass sums the weights between all of them in a table. For more clusters neither the
table nor a list of the linked pairs would fit: the weights are estimated from runs of rows, spread over the file.
"""

import numpy as np
from scipy import sparse

from graphclust.compiled.graphs import contraction as loops
from graphclust.compiled.graphs.objective import Rows
from graphclust.compiled.runtime.blocks import run_in_blocks

STREAMED = 1 << 28  # entries from which a graph is read in order
MOST_IN_A_TABLE = 6_144  # clusters: 300 MB a lane
LANES = 2  # halves of the rows that are summed side by side, each into a table of its own
ENTRIES_PER_STEP = 1 << 24  # of a lane, between two moments at which Ctrl-C is heard
# Entries of a sample: an eighth of the smallest graph that is sampled. Consecutive rows of a run: long runs are read
# faster, short ones come from more places of the file.
SAMPLED, RUN = 1 << 25, 64
ESTIMATED = (
    f"weights between more than {MOST_IN_A_TABLE:,} regions may have been estimated from a sample of the graph's rows, "
    "so that the merging of regions is not exact; moves of single nodes are"
)


def is_estimate(n_entries: int, k: int) -> bool:
    """Whether the links between k clusters are estimated from a sample of the rows."""
    return n_entries >= max(STREAMED, SAMPLED + 1) and k > MOST_IN_A_TABLE


def links_in_order(rows: Rows, labels: np.ndarray, k: int, degrees: np.ndarray) -> Rows:
    """The links between k clusters, without those of a cluster to itself, in one pass over the rows as they lie.

    Labels are int32. degrees : of the nodes, by which a sample of the rows is scaled.
    """
    if not is_estimate(len(rows.indices), k):
        return _without_loops(sparse.csr_array(_table(rows, labels, k)))
    return _without_loops(_estimate(rows, labels, np.bincount(labels, weights=degrees, minlength=k)))


def _table(rows: Rows, labels: np.ndarray, k: int) -> np.ndarray:
    """Weight between any two clusters, (k, k)."""
    n_entries, n = len(rows.indices), len(labels)
    links = np.zeros((LANES, k, k))
    lanes = np.unique(np.searchsorted(rows.indptr, n_entries * np.arange(LANES) // LANES))
    lanes = np.append(lanes[lanes < n], n)
    n_parts = 1 + n_entries // (LANES * ENTRIES_PER_STEP)
    for part in range(n_parts):
        run_in_blocks(loops.add_links, lanes, part, n_parts, rows, labels, links)
    for lane in range(1, LANES):
        links[0] += links[lane]
    return links[0]


def _estimate(rows: Rows, labels: np.ndarray, volumes: np.ndarray) -> sparse.csr_array:
    """Weight between clusters in runs of rows, scaled up to the volumes."""
    k, n_entries = len(volumes), len(rows.indices)
    starts = np.arange(0, len(labels), RUN)[:: -(-n_entries // SAMPLED)]
    no_weights = np.empty(0)
    n_listed = loops.list_links(starts, RUN, rows, labels, k, np.empty(0, np.int64), no_weights)
    keys, weights = np.empty(n_listed, np.int64), np.empty(n_listed) if len(rows.weights) else no_weights
    loops.list_links(starts, RUN, rows, labels, k, keys, weights)
    sums: np.ndarray
    if len(rows.weights):
        order = np.argsort(keys, kind="stable")
        keys, first = np.unique(keys[order], return_index=True)
        sums = np.add.reduceat(weights[order], first) if len(keys) else weights
    else:
        keys, sums = np.unique(keys, return_counts=True)
    seen = sparse.csr_array((sums.astype(np.float64), (keys // k, keys % k)), shape=(k, k))
    read = np.asarray(seen.sum(axis=1)).ravel()
    scale = np.divide(volumes, 2.0 * read, out=np.zeros(k), where=read > 0)
    scaled = sparse.dia_array((scale[None, :], [0]), shape=(k, k)) @ seen
    return sparse.csr_array(scaled + scaled.T)


def _without_loops(links: sparse.csr_array) -> Rows:
    between = sparse.csr_array(links - sparse.dia_array((links.diagonal()[None, :], [0]), shape=links.shape))
    between.eliminate_zeros()
    between.sort_indices()
    return Rows(between.indptr.astype(np.int64), between.indices.astype(np.int32), between.data)
