"""NetworkX's functions that find communities or halves, on a `BackendGraph`: its arguments, results and errors."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from graphclust.compiled.graphs.agglomeration import agglomerate
from graphclust.compiled.graphs.v_cycle import rows_within
from graphclust.engine.contraction import contract
from graphclust.engine.levels import level_of, run_on
from graphclust.engine.local_moving import find_regions
from graphclust.engine.resolution import task_at
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.node_order import in_order, in_rows, node_order
from graphclust.interop.networkx_backend.backend_graph import BackendGraph, is_partition, labels_modularity, labels_of
from graphclust.interop.seeds import as_rng
from graphclust.objective.cuts import cut_and_volume
from graphclust.objective.objective import weigh
from graphclust.partition.balanced_partition import balanced_partition, refine_parts
from graphclust.partition.communities import communities
from graphclust.partition.coreset_sc import coreset_sc

NO_GAIN = 1e-7  # NetworkX's own `threshold`: a level that gains no more than this is the last
ROUND_OFF = 1e-12  # of modularity: unions that gain no more gain nothing
MOST_ENTRIES = 1_000_000  # beyond, two starts instead of five find more modularity than Louvain does, in half the time

FEW_NODES = 1000  # of a graph that is swept: each node of a sweep looks at all others
_NO_SEED = vars(random)["_inst"]  # what NetworkX hands on where its caller gave none
RANDOM_STARTS = 4  # of sweeps, beside the partition of the multilevel method

Communities = list[set[Hashable]]
Halves = tuple[set[Hashable], set[Hashable]]


def louvain_communities(
    G: BackendGraph, weight="weight", resolution=1, threshold=NO_GAIN, max_level=None, seed=None, **options: Any
) -> Communities:
    """The communities of `graphclust.communities`, or with k of `coreset_sc`; earlier levels where those are asked for.

    max_level, threshold : see `louvain_partitions`, whose last partition this is.
    """
    if hasattr(max_level, "randrange"):  # NetworkX 3.2, which has no max_level and gives all arguments by place
        max_level, seed = None, max_level
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")
    if max_level is None and threshold <= NO_GAIN:
        return G.sets_of(best_labels(G, weight, resolution, np.random.default_rng(as_rng(seed)), options))
    *_, last = islice(louvain_partitions(G, weight, resolution, threshold, seed, **options), max_level)
    return last


def louvain_partitions(
    G: BackendGraph, weight="weight", resolution=1, threshold=NO_GAIN, seed=None, **options: Any
) -> Iterator[Communities]:
    """Partitions of which each unites communities of the one before; the last is that of `louvain_communities`.

    threshold : the first partition that gains no more modularity over the one before than this is the last.
    """
    rng = np.random.default_rng(as_rng(seed))
    labels = best_labels(G, weight, resolution, rng, options)  # at once: later NetworkX could not take its own
    levels = nested_levels(G.rows(weight), labels, resolution, rng) if G.has_edges else iter([labels])
    if threshold > NO_GAIN:
        levels = levels_while_gaining(G.rows(weight), levels, resolution, threshold)
    return map(G.sets_of, levels)


def leiden_communities(
    G: BackendGraph, weight="weight", resolution=1, max_level=None, seed=None, **options: Any
) -> Communities:
    """`louvain_communities`: those are connected already."""
    return louvain_communities(G, weight, resolution, NO_GAIN, max_level, seed, **options)


def leiden_partitions(
    G: BackendGraph, weight="weight", resolution=1, seed=None, **options: Any
) -> Iterator[Communities]:
    """`louvain_partitions`, to the last."""
    return louvain_partitions(G, weight, resolution, NO_GAIN, seed, **options)


def asyn_fluidc(G: BackendGraph, k: int, max_iter=100, seed=None, **options: Any) -> Iterator[set[Hashable]]:
    """Exactly k communities of a connected graph, those of `coreset_sc`; max_iter is checked and not needed."""
    from networkx import NetworkXError

    if not isinstance(k, int):
        raise NetworkXError("k must be an integer.")
    if k <= 0:
        raise NetworkXError("k must be greater than 0.")
    graph = G.rows(None)
    if graph.n_components > 1:
        raise NetworkXError("Fluid Communities require connected Graphs.")
    if len(G) < k:
        raise NetworkXError("k cannot be bigger than the number of nodes.")
    if max_iter <= 0:
        raise ValueError(f"max_iter={max_iter!r} must be greater than 0")
    return iter(G.sets_of(best_labels(G, None, None, np.random.default_rng(as_rng(seed)), {"k": k} | options)))


def greedy_modularity_communities(
    G: BackendGraph, weight=None, resolution=1, cutoff=1, best_n=None
) -> list[frozenset[Hashable]]:
    """Greedy unions: always the pair that gains most, until none gains, `cutoff` or `best_n` are met.

    The same as NetworkX's where no two pairs gain as much. With unit weights many do, and the unions may differ.
    """
    n = len(G)
    if not G.has_edges:
        return [frozenset([node]) for node in G]
    if cutoff < 1 or cutoff > n:
        raise ValueError(f"cutoff must be between 1 and {n}. Got {cutoff}.")
    best_n = n if best_n is None else best_n
    if best_n < 1 or best_n > n:
        raise ValueError(f"best_n must be between 1 and {n}. Got {best_n}.")
    if best_n < cutoff:
        raise ValueError(f"Must have best_n >= cutoff. Got {best_n} < {cutoff}")
    gains, pairs = unions_of(G.rows(weight), resolution, cutoff)
    left = n
    while left > cutoff and not np.isnan(gains[left - 1]) and (gains[left - 1] >= 0 or left > best_n):
        left -= 1
    clusters = clusters_by_size(G, pairs[left:])
    while len(clusters) > best_n:  # no two of them are linked
        clusters[:2] = [clusters[0] | clusters[1]]
    return clusters


def naive_greedy_modularity_communities(G: BackendGraph, resolution=1, weight=None) -> list[frozenset[Hashable]]:
    """`greedy_modularity_communities` until no union gains: two that neither gain nor lose stay apart."""
    if not G.has_edges:
        return [frozenset([node]) for node in G]
    gains, pairs = unions_of(G.rows(weight), resolution, 1)
    left = len(G)
    while left > 1 and gains[left - 1] > ROUND_OFF:
        left -= 1
    return clusters_by_size(G, pairs[left:])


def clusters_by_size(G: BackendGraph, unions: np.ndarray) -> list[frozenset[Hashable]]:
    """The clusters after some unions, largest first; unions : two nodes of the clusters that each unites, (m, 2)."""
    links = sparse.coo_array((np.ones(len(unions)), unions.T), shape=(len(G), len(G)))
    return sorted(map(frozenset, G.sets_of(connected_components(links)[1])), key=len, reverse=True)


def unions_of(graph: Graph, resolution: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """What each greedy union down to k gains, and two nodes of the clusters that it unites, by how many are left.

    Gains are float64, (n,), NaN where no two clusters were linked; pairs are int32, (n, 2).
    """
    on = weigh(graph, "modularity")
    level, task = level_of(on), task_at(on, resolution, "modularity")._replace(k=k)
    gains, pairs = np.full(graph.n_nodes, np.nan), np.zeros((graph.n_nodes, 2), np.int32)
    agglomerate(level, task, gains, pairs)
    return gains, pairs


def best_labels(
    G: BackendGraph, weight: str | None, resolution: float | None, rng: np.random.Generator, options: dict[str, Any]
) -> np.ndarray:
    """A community of each node, int64, shape (n,); a node without edges, or a component put aside, is one by itself."""
    if not G.has_edges:  # of no nodes there would be no graph
        return np.arange(len(G))
    given: Any = G.arcs(weight) if G.is_directed() else G.rows(weight)
    graph = given.combined if G.is_directed() else given
    if graph.n_entries == 0:
        return np.arange(len(G))
    options = {**options, "rng": rng} | ({} if resolution is None else {"resolution": resolution})
    if options.get("k") is None:
        options.pop("k", None)
        effort = "normal" if graph.n_entries <= MOST_ENTRIES else "low"
        labels = communities(given, **{"effort": effort} | options).labels.copy()
    else:
        labels = coreset_sc(given, **options).labels.copy()
    aside = np.flatnonzero(labels < 0)
    labels[aside] = labels.max() + 1 + np.unique(graph.components[aside], return_inverse=True)[1]
    return labels


def nested_levels(
    graph: Graph, labels: np.ndarray, resolution: float, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Partitions by local moving and contraction inside the given communities, finest first; these come last."""
    if graph.n_entries:
        on = weigh(graph, "modularity")
        task, within = task_at(on, resolution, "modularity"), labels.astype(np.int32)
        run = run_on(on, rng)
        level = run.finest
        regions_of, k = np.arange(len(labels)), int(labels.max()) + 1
        while True:
            regions = find_regions(rows_within(level, within), task.objective.penalty, run)
            n_regions = len(regions.sums.size)
            if n_regions == k or n_regions == len(within):
                break
            regions_of = regions.labels[regions_of]
            yield regions_of
            coarser = np.empty(n_regions, np.int32)
            coarser[regions.labels] = within
            level, within = contract(level, regions, run).coarse, coarser
    yield labels


def levels_while_gaining(
    graph: Graph, levels: Iterator[np.ndarray], resolution: float, threshold: float
) -> Iterator[np.ndarray]:
    """The levels up to the first that gains no more modularity than the threshold over the one before."""
    before = labels_modularity(graph, np.arange(graph.n_nodes), resolution)
    for level in levels:
        yield level
        after = labels_modularity(graph, level, resolution)
        if after - before <= threshold:
            return
        before = after


def label_propagation_communities(G: BackendGraph) -> list[set[Hashable]]:
    """The communities of NetworkX's function: its coloring, its order of the colors and its rule for ties.

    Source: Cordasco and Gargano 2010, "Community detection via semi-synchronous label propagation algorithms".
    """
    pattern = G.matrices[None]
    labels = np.arange(len(G))
    classes = [(nodes, pattern[nodes]) for nodes in colors_of(pattern)]
    everyone = np.arange(len(G)), pattern
    while (frequent_labels(*everyone, labels) != labels).any():
        for nodes, rows in classes:
            labels[nodes] = frequent_labels(nodes, rows, labels)
    return G.sets_of(labels)


def frequent_labels(nodes: np.ndarray, rows: sparse.csr_array, labels: np.ndarray) -> np.ndarray:
    """The most frequent label among the neighbors of each node: its own where that is one, else the largest."""
    best = labels[nodes]
    if not rows.nnz:
        return best
    place = np.repeat(np.arange(len(nodes)), np.diff(rows.indptr))
    pairs, counts = np.unique(place * len(labels) + labels[rows.indices], return_counts=True)
    place, label = np.divmod(pairs, len(labels))
    most = np.zeros(len(nodes), np.int64)
    np.maximum.at(most, place, counts)
    is_most = counts == most[place]
    place, label = place[is_most], label[is_most]
    keeps = np.zeros(len(nodes), bool)
    keeps[place[label == best[place]]] = True
    largest = best.copy()
    largest[place] = label  # in increasing order: the last one stays
    return np.where(keeps, best, largest)


def colors_of(pattern: sparse.csr_array) -> list[np.ndarray]:
    """The nodes of each color of `networkx.greedy_color`, which takes nodes of large degree first."""
    n = pattern.shape[0]
    indptr, indices = pattern.indptr.tolist(), pattern.indices.tolist()
    degrees = pattern.sum(axis=1) + pattern.diagonal()
    colors = [-1] * n
    for node in np.argsort(-degrees, kind="stable").tolist():
        taken = {colors[other] for other in indices[indptr[node] : indptr[node + 1]]}
        colors[node] = next(color for color in count() if color not in taken)
    of_node = np.array(colors, np.int64)
    return [np.flatnonzero(of_node == color) for color in range(int(of_node.max(initial=-1)) + 1)]


def kernighan_lin_bisection(
    G: BackendGraph, partition=None, max_iter=10, weight="weight", seed=None, **options: Any
) -> Halves:
    """Two halves with a small cut between them, as `balanced_partition` makes them; the first is never the smaller.

    partition : two sets of nodes, which keep their sizes; as in NetworkX the second of them comes first. A small graph
        is improved by Kernighan and Lin's sweeps, any by V-cycles.
    max_iter : sweeps at most, and V-cycles; the first that gains nothing is the last. Without a partition the effort
        decides, but for 0, which means random halves there too.
    seed : of what is random: where halves begin without a partition, and in both cases the V-cycles. With a partition
        None is 0, so that calls agree, as NetworkX's do; without one None draws anew in each call, as there.
    options : of `balanced_partition`; max_imbalance is 0 unless it is given.
    """
    if partition is not None and (seed is None or seed is _NO_SEED):
        seed = random.Random(0)  # nothing is random in NetworkX's either
    rng = np.random.default_rng(as_rng(seed))
    if partition is not None:
        if options:
            given = next(iter(options))
            raise ParameterError(f"{given} is not an option where a partition is given; leave out it or the partition")
        labels = _labels_of_two(G, partition)
        if max_iter > 0 and G.has_edges and 0 < labels.sum() < len(G):
            graph = G.rows(weight)
            if len(G) <= FEW_NODES:
                labels = _sweep(graph, labels, 0, max_iter, rng)
            labels = refine_parts(graph, labels, max_iter, rng)
    elif max_iter > 0 and G.has_edges:
        graph = G.rows(weight)
        parts = balanced_partition(graph, 2, rng=rng, **{"max_imbalance": 0} | options).labels
        labels = (parts != np.bincount(parts).argmax()).astype(np.int64)
        if len(G) <= FEW_NODES:
            labels = _sweep(graph, labels, RANDOM_STARTS, max_iter, rng)
    else:
        labels = _random_halves(len(G), rng)
    first, second = ({G.nodes[row] for row in np.flatnonzero(labels == half).tolist()} for half in (0, 1))
    return first, second


def _sweep(graph: Graph, labels: np.ndarray, n_random: int, max_iter: int, rng: np.random.Generator) -> np.ndarray:
    """The labels after Kernighan and Lin's sweeps, or those of some random halves where these then cut less."""
    order = node_order(graph)
    ordered = in_order(graph, order)
    starts = [labels[order], *(_random_halves(graph.n_nodes, rng) for _ in range(n_random))]
    swept = [swap_pairs(ordered, start, max_iter) for start in starts]
    return in_rows(min(swept, key=lambda one: cut_and_volume(ordered, one, 2)[0].sum()), order)


def _random_halves(n: int, rng: np.random.Generator) -> np.ndarray:
    """Label 1 for half of the nodes, rounded down."""
    return (rng.permutation(n) >= n - n // 2).astype(np.int64)


def _labels_of_two(G: BackendGraph, partition: Any) -> np.ndarray:
    """Label 1 for the nodes of the first set, 0 for those of the second."""
    from networkx import NetworkXError

    try:
        first, second = map(set, partition)
    except (TypeError, ValueError):
        raise NetworkXError("partition must be two sets") from None
    if not is_partition(G, [first, second]):
        raise NetworkXError("partition invalid")
    return labels_of(G, [second, first])


def swap_pairs(graph: Graph, labels: np.ndarray, max_sweeps: int) -> np.ndarray:
    """Labels 0 and 1 after sweeps in which each node changes sides once, of which the best prefix of pairs is kept.

    Other than moves between linked clusters, a pair may be of nodes that no edge links to the other half.

    Source: Kernighan and Lin, "An efficient heuristic procedure for partitioning graphs", Bell System Technical
    Journal 1970.
    """
    matrix = graph.to_scipy()
    if graph.loops.any():  # they cut nothing, wherever their node is
        matrix = (matrix - sparse.diags_array(graph.loops)).tocsr()
    least = ROUND_OFF * matrix.sum()
    for _ in range(max_sweeps):
        sign = 1.0 - 2.0 * labels
        gain = -sign * (matrix @ sign)  # links to the other half less those to the own
        free = np.where(labels == np.array([[0], [1]]), gain, -np.inf)  # (2, n), of nodes that have not moved
        pairs, totals = [], [0.0]
        for _ in range(min(np.bincount(labels))):
            pair, total = [], totals[-1]
            for half in (0, 1):
                u = int(free[half].argmax())
                pair.append(u)
                total += free[half, u]
                free[half, u] = -np.inf
                row = slice(matrix.indptr[u], matrix.indptr[u + 1])
                free[half, matrix.indices[row]] += 2.0 * matrix.data[row]
                free[1 - half, matrix.indices[row]] -= 2.0 * matrix.data[row]
            pairs.append(pair)
            totals.append(total)
        best = int(np.argmax(totals))
        if totals[best] <= least:
            break
        labels = labels.copy()
        labels[np.array(pairs[:best])] ^= 1
    return labels
