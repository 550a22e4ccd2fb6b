"""How much memory a clustering takes: what the arrays of each stage add up to, and refusal where there is less."""

from math import ceil

import numpy as np

from graphclust.checks import K_OF_GRAPH, as_choice, as_whole_number
from graphclust.coreset.paper import published_size
from graphclust.engine.contraction import LANES, MOST_IN_A_TABLE, SAMPLED, STREAMED
from graphclust.engine.v_cycle import BUDGET
from graphclust.errors import ParameterError, ResourceLimitError, in_mebibytes
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.node_order import MOST_ENTRIES
from graphclust.io.container_limits import available_bytes
from graphclust.io.graph_input import as_graph
from graphclust.partition.options import METHODS
from graphclust.two_step.method import FIRST_REGIONS, default_size, suits_a_coreset
from graphclust.two_step.shared_neighbors import MOST_NEIGHBORS, MOST_VISITORS

# Bytes a node. Sampling: degrees, self-affinities and squared distances 8 each, the tree 16, the nearest seed 8, masses
# on their way into the tree 8, components and labels 8 each, four masks. Afterwards, while the coreset is linked or
# nodes move, fewer.
TO_SAMPLE, AFTERWARDS = 76, 60
# Bytes of a node while nodes move: its label, three sums of its cluster, whether it waits, that it moved, the stack of
# empty clusters, the link to each cluster and the clusters met, its place and its entries in a round.
MOVING = 4 + 24 + 1 + 4 + 4 + 8 + 4 + 4 + 8
# Links on the levels of a graph that has clusters. The first coarse level has as many as the graph at most. The next
# has some 7.5 for each node of the graph, measured on planted partitions, and is held twice while it is made. A V-cycle
# over the whole graph begins with rows of as many, which lead to no other cluster.
LINKS_BELOW, LINKS_WITHIN = 15, 8
# A graph put in another order: the order, starts of rows, degrees and loops of a node; an entry, or one with a weight.
TO_ORDER, ORDERED, ORDERED_WITH_WEIGHTS = 32, 4, 12
LINK, COPIES = 12, 2  # an entry of a weighted graph, and how many of a coarser graph there are at a time
ROWS = 2  # copies of the coreset's rows: by coreset node, and by neighbor
OBJECTS = 6 << 20  # bytes of Python's objects, of threads, and of arrays that do not grow with the graph
AT_HAND = 1 << 24  # bytes that any process gets; to ask what there is takes longer than clustering a small graph
TABLE_ENTRY = 8 * LANES + 28  # of a table of clusters, and what becomes of it
SAMPLED_ENTRY, DIMENSION = 40, 40


def estimate_memory(
    G: GraphLike | tuple[int, int], k: int = 1, *, method: str = "auto", coreset_size: int | None = None
) -> int:
    """About the most bytes that a clustering takes at a time, beside the graph itself; calls check the same figure.

    G : a graph, or its number of nodes and of entries, two for each edge, without weights; from those alone the
        estimate is that of a graph in which all nodes have equally many neighbors; a coreset prefers nodes with many.
    k : for the methods of coresets.
    method, coreset_size : as `coreset_sc` takes them; "multilevel" is also that of `communities`, `hierarchy`,
        `balanced_partition` and `cluster_path`.

    The graph itself has 4 bytes an entry, 12 with weights, and 24 a node; from a store it takes none. What the levels
    of "multilevel" take depends on the clusters: the estimate is that of graphs which have some, and a random graph
    without any takes up to twice as much.

    Raises what `as_graph` does, and ParameterError for k or a number of nodes below 1, for one of entries below 0, and
    for a coreset_size below k.

    >>> estimate_memory((1_000_000, 20_000_000), 50, method="paper")
    176000000
    """
    as_choice(method, "method", METHODS)
    k = as_whole_number(k, "k", at_least=1, if_none=K_OF_GRAPH)
    if coreset_size is not None:
        coreset_size = as_whole_number(coreset_size, "coreset_size", at_least=k, why=f" for k={k}")
    if not isinstance(G, tuple):
        return bytes_for_graph(as_graph(G), k, method, coreset_size)
    if len(G) != 2:
        raise ParameterError(f"G={G!r} has {len(G)} numbers, expected (n_nodes, n_entries), or a graph")
    n_nodes = as_whole_number(G[0], "G[0]", at_least=1, at_most=2**31 - 1)
    n_entries = as_whole_number(G[1], "G[1]", at_least=0, at_most=2**62)
    if method == "auto":
        method = "multilevel" if n_entries < BUDGET else "two-step"
    if method == "multilevel":
        return _bytes_of_levels(n_nodes, n_entries, False)
    alike = np.array([n_entries / n_nodes]), np.array([n_nodes])
    return _bytes_of_coreset(n_nodes, n_entries, False, alike, k, method, coreset_size)


def bytes_for_graph(graph: Graph, k: int, method: str, coreset_size: int | None) -> int:
    """`estimate_memory` on checked arguments."""
    if method == "auto":
        method = "two-step" if suits_a_coreset(graph, k, np.random.default_rng(0)) else "multilevel"
    if method == "multilevel":
        return _bytes_of_levels(graph.n_nodes, graph.n_entries, graph.weights is not None)
    counts = np.bincount(np.diff(graph.indptr))
    lengths = np.flatnonzero(counts)
    rows, weighted = (lengths, counts[lengths]), graph.weights is not None
    return _bytes_of_coreset(graph.n_nodes, graph.n_entries, weighted, rows, k, method, coreset_size)


def _bytes_of_levels(n_nodes: int, n_entries: int, weighted: bool) -> int:
    links_a_node = LINKS_BELOW + (LINKS_WITHIN if n_entries <= BUDGET else 0)
    levels = MOVING * n_nodes + LINK * (n_entries + links_a_node * n_nodes)
    return _bytes_to_order(n_nodes, n_entries, weighted) + levels + OBJECTS


def _bytes_to_order(n_nodes: int, n_entries: int, weighted: bool) -> int:
    """Bytes of a copy of the graph in another order of its nodes, and of what makes it; larger ones do without."""
    entry = ORDERED_WITH_WEIGHTS if weighted else ORDERED
    return TO_ORDER * n_nodes + entry * n_entries if n_entries <= MOST_ENTRIES else 0


def _bytes_of_coreset(
    n_nodes: int, n_entries: int, weighted: bool, rows_by_length: tuple[np.ndarray, np.ndarray], k: int, method: str,
    coreset_size: int | None,
) -> int:  # fmt: skip
    """rows_by_length : the lengths that rows have, and how many have each."""
    if method == "paper":
        size = coreset_size or published_size(n_nodes, k)
        return TO_SAMPLE * n_nodes + DIMENSION * size * min(k, 64)
    size = min(coreset_size or default_size(n_nodes, n_entries, k), n_nodes)
    # A node is drawn in proportion to its row, and a row meets the others in proportion to its length.
    lengths, counts = rows_by_length
    shares = lengths / max(n_entries, 1)
    most = MOST_NEIGHBORS * n_entries / max(int(counts[lengths > 0].sum()), 1)
    coreset_entries = float((counts * np.minimum(lengths, most) * -np.expm1(-size * shares)).sum())
    visits = shares * coreset_entries
    n_links = min(float((counts * visits * np.minimum(visits, MOST_VISITORS)).sum()), size * size)
    links = COPIES * LINK * ceil(n_links) + ROWS * LINK * ceil(coreset_entries)
    regions = (FIRST_REGIONS + 1) * k  # and what moves have taken off them
    if n_entries < STREAMED:
        quotient = COPIES * LINK * min(regions * regions, n_entries)
    elif regions <= MOST_IN_A_TABLE:
        quotient = TABLE_ENTRY * regions * regions
    else:
        quotient = SAMPLED_ENTRY * SAMPLED
    work = max(TO_SAMPLE * n_nodes, AFTERWARDS * n_nodes + max(links, quotient))
    return _bytes_to_order(n_nodes, n_entries, weighted) + work + OBJECTS


def check_memory(
    graph: Graph,
    k: int = 1,
    method: str = "multilevel",
    coreset_size: int | None = None,
    memory_limit: int | None = None,
    remedy: str = 'free some, or cluster from a store: coreset_sc(open_store(path), k, method="two-step")',
) -> None:
    """Refuse work that takes more memory than is allowed, or than is left."""
    estimate = bytes_for_graph(graph, k, method, coreset_size)
    if memory_limit is None and estimate <= AT_HAND:
        return
    limit = available_bytes() if memory_limit is None else memory_limit
    if estimate > limit:
        source = "there is" if memory_limit is None else "memory_limit is"
        raise ResourceLimitError(
            f"method {method!r} needs about {in_mebibytes(estimate)} beside the graph of {graph.n_nodes} nodes and "
            f"{graph.n_entries} entries, but {source} {in_mebibytes(limit)}; {remedy}"
        )
