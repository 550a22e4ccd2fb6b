"""How much memory a clustering takes, from counts alone: what the arrays of each stage add up to."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2, sqrt

import numpy as np

from graphclust.checks import K_OF_GRAPH, as_choice, as_whole_number
from graphclust.compiled.runtime.blocks import n_threads
from graphclust.coreset.paper import default_size as published_size
from graphclust.engine.contraction import ENTRIES_PER_BLOCK
from graphclust.engine.levels import AT_ONCE
from graphclust.engine.sequential_contraction import LANES, MOST_IN_A_TABLE, SAMPLED, STREAMED
from graphclust.errors import ParameterError, ResourceLimitError, in_mebibytes
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.node_order import MOST_ENTRIES
from graphclust.io.edges import available_bytes
from graphclust.io.graph_input import as_graph
from graphclust.partition.options import METHODS
from graphclust.two_step.method import REGIONS_PER_CLUSTER, default_size
from graphclust.two_step.shared_neighbors import MOST_NEIGHBORS, MOST_VISITORS

__all__ = ["estimate_memory"]

# Bytes a node. Sampling: degrees, self-affinities and squared distances 8 each, the tree 16, the nearest seed 8, masses
# on their way into the tree 8, components and labels 8 each, four masks. Afterwards, while the coreset is linked or
# nodes move, fewer. Coarsening: a permutation, a queue, sums of every node's own cluster, weights to it.
TO_SAMPLE, AFTERWARDS, TO_COARSEN = 76, 60, 90
TO_ORDER = 40  # a node of a graph put in another order: hashes, places, degrees and loops
LINK, COPIES = 12, 3  # an entry of a weighted graph, and how many of a coarser graph there are at a time
ROWS = 2  # copies of the coreset's rows: by coreset node, and by neighbor
COARSE_ENTRY = 16  # bytes for each entry of a graph with clusters: few of them are there again a level higher
MOST_TRIES = 5  # V-cycles of a small graph that run side by side, each on a thread with levels of its own
OBJECTS = 1 << 17  # bytes of Python's objects and of arrays that do not grow with the graph
RUN_OF_ROWS = 1 << 18  # entries of the coreset's rows that a thread links at a time
AT_HAND = 1 << 24  # bytes that any process gets; to ask what there is takes longer than clustering a small graph
TABLE_ENTRY = 8 * LANES + 28  # of a table of clusters, and what becomes of it
SAMPLED_ENTRY, DIMENSION = 40, 40


def estimate_memory(
    G: GraphLike | tuple[int, int], k: int, *, method: str = "auto", coreset_size: int | None = None
) -> int:
    """About the most bytes that `coreset_sc` takes at a time, beside the graph itself.

    G : a graph, or its number of nodes and of entries, two for each edge; from those alone the estimate is that of a
        graph in which all nodes have equally many neighbors; a coreset prefers nodes with many.
    method, coreset_size : as `coreset_sc` takes them; for "auto" that of large graphs with few triangles.

    The graph itself has 4 bytes an entry, 12 with weights, and 24 a node; from a store it takes none. For
    "multilevel" this is a bound, of a graph without clusters: its entries are all there again on every level, whose
    nodes are half as many, until each is linked to every other. The better a graph falls into clusters, the fewer
    are: planted partitions take a twentieth to a half of the bound, random graphs up to three quarters.

    Raises what `as_graph` does, and ParameterError for k or a number of nodes below 1, and for one of entries below 0.

    >>> estimate_memory((1_000_000, 20_000_000), 50, method="paper")
    176000000
    """
    as_choice(method, "method", METHODS)
    k = as_whole_number(k, "k", at_least=1, if_none=K_OF_GRAPH)
    if not isinstance(G, tuple):
        return bytes_for_graph(as_graph(G), k, method, coreset_size)
    if len(G) != 2:
        raise ParameterError(f"G={G!r} has {len(G)} numbers, expected (n_nodes, n_entries), or a graph")
    n_nodes = as_whole_number(G[0], "G[0]", at_least=1, at_most=2**31 - 1)
    n_entries = as_whole_number(G[1], "G[1]", at_least=0, at_most=2**62)
    alike = np.array([n_entries / n_nodes]), np.array([n_nodes])
    return _bytes_of_method(n_nodes, n_entries, lambda: alike, k, method, coreset_size)


def bytes_for_graph(graph: Graph, k: int, method: str, coreset_size: int | None) -> int:
    """`estimate_memory` on checked arguments."""

    def rows_by_length() -> tuple[np.ndarray, np.ndarray]:
        counts = np.bincount(np.diff(graph.indptr))
        lengths = np.flatnonzero(counts)
        return lengths, counts[lengths]

    return _bytes_of_method(graph.n_nodes, graph.n_entries, rows_by_length, k, method, coreset_size)


def _bytes_of_method(
    n_nodes: int,
    n_entries: int,
    rows_by_length: Callable[[], tuple[np.ndarray, np.ndarray]],
    k: int,
    method: str,
    coreset_size: int | None,
) -> int:
    """rows_by_length : gives the lengths that rows have, and how many have each; only a coreset's rows ask for it."""
    if method == "multilevel":
        return _most_bytes_of_levels(n_nodes, n_entries) + _bytes_to_order(n_nodes, n_entries)
    if method == "paper":
        size = coreset_size or published_size(n_nodes, k)
        return TO_SAMPLE * n_nodes + DIMENSION * size * min(k, 64)
    size = min(coreset_size or default_size(n_nodes, n_entries, k), n_nodes)
    # A node is drawn in proportion to its row, and a row meets the others in proportion to its length.
    lengths, counts = rows_by_length()
    shares = lengths / max(n_entries, 1)
    most = MOST_NEIGHBORS * n_entries / max(int(counts[lengths > 0].sum()), 1)
    coreset_entries = float((counts * np.minimum(lengths, most) * -np.expm1(-size * shares)).sum())
    visits = shares * coreset_entries
    n_links = min(float((counts * visits * np.minimum(visits, MOST_VISITORS)).sum()), size * size)
    links = COPIES * LINK * ceil(n_links) + ROWS * LINK * ceil(coreset_entries)
    linking = _bytes_of_scratch(MOST_VISITORS * ceil(coreset_entries), MOST_VISITORS * RUN_OF_ROWS)
    regions = (REGIONS_PER_CLUSTER + 1) * k  # and what moves have taken off them
    if n_entries < STREAMED:
        quotient = COPIES * LINK * min(regions * regions, n_entries) + _bytes_of_scratch(n_entries, ENTRIES_PER_BLOCK)
    elif regions <= MOST_IN_A_TABLE:
        quotient = TABLE_ENTRY * regions * regions
    else:
        quotient = SAMPLED_ENTRY * SAMPLED
    return max(TO_SAMPLE * n_nodes, AFTERWARDS * n_nodes + max(links + linking, quotient))


def _bytes_to_order(n_nodes: int, n_entries: int) -> int:
    """Bytes of a copy of the graph in another order of its nodes, and of what makes it; larger ones keep theirs."""
    return TO_ORDER * n_nodes + COPIES * LINK * n_entries if n_entries <= MOST_ENTRIES else 0


def _most_bytes_of_levels(n_nodes: int, n_entries: int) -> int:
    """Most bytes of the levels of a graph. Tries run one by one on a large graph, and side by side on a small level."""
    at_once = max(2, min(n_threads(), MOST_TRIES))  # two: what one try has made is there while the next one runs
    small = _bytes_of_levels(n_nodes, n_entries) * at_once
    if n_entries > AT_ONCE:
        level = LINK * n_entries + _bytes_of_levels(n_nodes // 2, AT_ONCE) * at_once
        small = max(level, _bytes_of_levels(n_nodes, n_entries)) + _bytes_of_scratch(n_entries, ENTRIES_PER_BLOCK)
    return small + OBJECTS


def _bytes_of_levels(n_nodes: int, n_entries: int) -> int:
    """Bytes of a graph's levels: two copies of its links while one is made, and one on each level that has them all.

    A level has at most half of the nodes of the level below. Once n nodes have n^2 links, it has a quarter of its
    links.
    """
    halvings = log2(max(n_nodes / sqrt(max(n_entries, 1)), 1.0))
    return TO_COARSEN * n_nodes + ceil((2.0 + halvings) * LINK * n_entries)


def _bytes_of_typical_levels(n_nodes: int, n_entries: int) -> int:
    """About what the levels of a graph with clusters take."""
    return TO_COARSEN * n_nodes + COARSE_ENTRY * n_entries + _bytes_of_scratch(n_entries, ENTRIES_PER_BLOCK)


def _bytes_of_scratch(n_entries: int, most: int) -> int:
    """What threads write to before its length is known."""
    return LINK * min(n_entries, n_threads() * most)


def check_memory(graph: Graph, k: int, method: str, coreset_size: int | None, memory_limit: int | None) -> None:
    """Refuse work that could take more memory than is allowed, or that most likely takes more than there is."""
    estimate = bytes_for_graph(graph, k, method, coreset_size)
    if method == "multilevel" and memory_limit is None:  # a graph with clusters may well fit where the bound does not
        estimate = _bytes_of_typical_levels(graph.n_nodes, graph.n_entries)
    if memory_limit is None and estimate <= AT_HAND:
        return
    limit = available_bytes() if memory_limit is None else memory_limit
    if estimate > limit:
        source = "there is" if memory_limit is None else "memory_limit is"
        raise ResourceLimitError(
            f"method {method!r} needs about {in_mebibytes(estimate)} beside the graph of {graph.n_nodes} nodes and "
            f"{graph.n_entries} entries, but {source} {in_mebibytes(limit)}; pass a larger memory_limit, a smaller "
            "coreset_size or another method"
        )
