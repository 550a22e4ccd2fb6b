"""NetworkX's functions that find communities, on a `BackendGraph`: arguments and results are those of NetworkX."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from graphclust.compiled.graphs.agglomeration import agglomerate_into
from graphclust.compiled.graphs.v_cycle import rows_within
from graphclust.engine.contraction import contract
from graphclust.engine.levels import level_of, room_for, run_on
from graphclust.engine.local_moving import find_regions
from graphclust.engine.resolution import task_at
from graphclust.graph.container import Graph
from graphclust.interop.networkx_backend.backend_graph import BackendGraph
from graphclust.interop.networkx_backend.quality import labels_modularity
from graphclust.interop.seeds import as_rng
from graphclust.objective.objective import weigh
from graphclust.partition.communities import communities
from graphclust.partition.coreset_sc import coreset_sc

NO_GAIN = 1e-7  # NetworkX's own `threshold`: a level that gains no more than this is the last
ROUND_OFF = 1e-12  # of modularity: unions that gain no more gain nothing
MOST_ENTRIES = 1_000_000  # beyond, two starts instead of five find more modularity than Louvain does, in half the time

Communities = list[set[Hashable]]


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
    found = clusters_by_size(G, pairs[left:])
    while len(found) > best_n:  # no two of them are linked
        found[:2] = [found[0] | found[1]]
    return found


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
    agglomerate_into(level, task, gains, pairs, room_for(level, graph.n_nodes))
    return gains, pairs


def best_labels(
    G: BackendGraph, weight: str | None, resolution: float | None, rng: np.random.Generator, options: dict[str, Any]
) -> np.ndarray:
    """A community of each node, int64, shape (n,); a node without edges, or a component put aside, is one by itself."""
    if not G.has_edges:
        return np.arange(len(G))
    given: Any = G.arcs(weight) if G.is_directed() else G.rows(weight)
    graph, k = given.combined if G.is_directed() else given, options.get("k")
    if graph.n_entries == 0:
        return np.arange(len(G))
    options = {name: value for name, value in options.items() if name != "k"}
    at: dict[str, Any] = {} if resolution is None else {"resolution": resolution}
    if k is None:
        effort = "normal" if graph.n_entries <= MOST_ENTRIES else "low"
        labels = communities(given, rng=rng, **at, **{"effort": effort, **options}).labels
    else:
        labels = coreset_sc(given, k, rng=rng, **at, **options).labels
    aside = np.flatnonzero(labels < 0)
    if not len(aside):
        return labels
    found = labels.copy()
    found[aside] = labels.max() + 1 + np.unique(graph.components[aside], return_inverse=True)[1]
    return found


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
