"""How sure a clustering is of each node, and of each cluster: one found again without some edges is stable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

import graphclust
from graphclust.checks import Seed, as_generator, as_whole_number, check_type
from graphclust.compiled.graphs.objective import RATIO, ClusterSums, Objective
from graphclust.engine.engine import EFFORTS, partition_into, partition_into_any_number
from graphclust.engine.levels import run_on
from graphclust.engine.likelihood import edges_worth, nats_of, nats_saved
from graphclust.engine.resolution import objective_of, task_at
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.node_order import mix_words
from graphclust.objective.objective import (
    ObjectiveChoice,
    WeighedGraph,
    best_unlinked,
    gain_of_joining,
    gain_of_union,
    loss_of_leaving,
    weigh,
)
from graphclust.partition.components import nodes_to_partition
from graphclust.progress import Progress, ProgressLike, as_progress

if TYPE_CHECKING:
    from graphclust.results.clustering import Clustering

SHARE_LEFT_OUT = 0.1  # of the edges: if fewer, weak clusters are found again too; if more, good ones fall apart
FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
LEAST = 1e-140  # of a degree, as every graph has them: products of two are within floating-point range


@dataclass(frozen=True, eq=False)
class Certainty:
    """How sure a clustering is of n nodes and k clusters. Nodes in no cluster have a share and a margin of 0.

    shares : CSR, shape (n, k): of the weight of a node's links to other nodes, the share that goes to each cluster; of
        a node whose only link is to itself, all to its own.
    second : int64, shape (n,), the other cluster that would be the best for the node, -1 where there is none.
    gains : shape (n,), how much the objective falls if the node goes there: for modularity times the graph's volume,
        and for the cuts as `coreset_sc` has them. Below zero where a move would have helped; infinite where the node
        cannot go, since it is all of its cluster or there is no other.
    margins : shape (n,), the same in links: by how many, beyond those of chance, the node's own cluster is ahead.
    undecided : bool, shape (n,): one link more to the second cluster would settle it; a node in none is undecided.
    conductance : shape (k,), as `Clustering.conductance`.
    next : int64, shape (k,), the cluster that each would join next, by the greatest gain or the least loss of the
        objective; -1 for the only one.
    stability : shape (k,), or None where it was not asked for: without a tenth of the edges, how much of the cluster
        is found as one again, as the mean Jaccard index of it and the cluster most like it. A cluster of isolated nodes
        alone has 1: there is no edge whose absence could change it.
    nats_saved : the evidence for assortative clusters: by how many nats they shorten the description of the edges,
        against a single cluster. Not above 0, the edges do not tell them from what a search finds in a random graph;
        where there are few edges, clusters that are real may have no evidence.
    """

    shares: sparse.csr_array
    second: npt.NDArray[np.int64]
    gains: npt.NDArray[np.float64]
    margins: npt.NDArray[np.float64]
    undecided: npt.NDArray[np.bool_]
    conductance: npt.NDArray[np.float64]
    next: npt.NDArray[np.int64]
    stability: npt.NDArray[np.float64] | None = None
    nats_saved: float = float("nan")

    def __repr__(self) -> str:
        n, k = self.shares.shape
        return f"Certainty({n} nodes in {k} clusters, {int(self.undecided.sum())} undecided)"


OTHER_SEEDS = "adjusted_rand_index tells how far communities(G, rng=...) of other seeds agree"


def certainty(
    clustering: graphclust.Clustering, *, n_repeats: int = 0, rng: Seed = None, progress: ProgressLike = None
) -> Certainty:
    """How sure a clustering is: for each node and each cluster, from one pass over the graph.

    n_repeats : how often the graph is clustered again without a tenth of its edges, >= 0, for `stability`: about the
        time of so many clusterings. They are into exactly k or at the resolution, and with the components that take
        part, as the clustering was made; bounds on sizes are left out.
    rng : None, a seed or a numpy Generator, for these clusterings; nothing else is random.

    A clustering made by hand without the resolution that its objective has is judged at 1, as by `update`.

    Raises TypeError for no Clustering, ParameterError or TypeError for an impossible n_repeats, and ParameterError for
    a normalized cut with clusters that have no edges.

    Source: the stability, Hennig 2007, "Cluster-wise assessment of cluster stability".

    >>> import networkx as nx
    >>> from graphclust import coreset_sc
    >>> sure = certainty(coreset_sc(nx.barbell_graph(5, 1), 2, rng=0))
    >>> sure.shares.toarray()[10].tolist(), bool(sure.undecided[10]), int(sure.undecided.sum())
    ([0.5, 0.5], True, 1)
    """
    check_type(clustering, "Clustering", "clustering", "coreset_sc(G, k) returns one")
    clustering.refuse_other_kinds("certainty is", OTHER_SEEDS)
    n_repeats = as_whole_number(n_repeats, "n_repeats", at_least=0)
    rng, progress = as_generator(rng), as_progress(progress)
    graph, labels, k, made_for = clustering.graph, clustering.labels, clustering.n_clusters, clustering.objective
    on, resolution = weigh(graph, made_for), clustering.resolution
    if resolution is None:  # of a clustering made by hand it is that of its updates; the edge cut has none
        resolution = 0.0 if made_for == "edge_cut" else 1.0
    objective, _ = objective_of(ObjectiveChoice(made_for, float(resolution)), clustering.k, 0.0, on.totals)
    sums, links = clustering.sums, links_to_clusters(graph, labels, k)
    if objective.kind == RATIO and not sums.mass.all():
        without = f"cluster {int(sums.mass.argmin())} has no edges, and no value as {made_for}"
        raise ParameterError(f"{without}; expected clusters with edges, and the label -1 for isolated nodes")
    second, gains, one_link = gains_over_second(on, objective, labels, links, sums)
    lone = np.diff(graph.indptr) == 0
    weight_of_one = np.divide(graph.degrees, np.diff(graph.indptr), out=np.zeros(graph.n_nodes), where=~lone)
    margins = gains / one_link
    stability = None
    if n_repeats:
        with progress.stage("clustering again"):
            stability = stabilities(clustering, n_repeats, rng, progress)
    return Certainty(
        shares_of(graph, labels, links), second, gains, margins, lone | (margins < weight_of_one),
        clustering.conductance, next_unions(objective, links, labels, sums), stability, _nats_saved(clustering),
    )  # fmt: skip


def _nats_saved(clustering: Clustering) -> float:
    """`nats_saved` of a clustering, from its sums where it holds all nodes with edges."""
    graph = clustering.graph
    if (clustering.labels[~graph.isolated] < 0).any():
        return nats_saved(graph, clustering.labels)
    volume, sizes = clustering.volume, clustering.sizes
    linked = volume > 0.0
    sums = ClusterSums((volume - clustering._cut_and_volume[0])[linked], volume[linked], sizes[linked])
    return nats_of(sums, weigh(graph, "modularity").totals, edges_worth(graph))


def links_to_clusters(graph: Graph, labels: npt.NDArray[np.int64], k: int) -> sparse.csr_array:
    """The weight between each node and the other nodes of each cluster; shape (n_nodes, k)."""
    n = graph.n_nodes
    members = np.flatnonzero(labels >= 0)
    member = sparse.csr_array((np.ones(len(members)), (members, labels[members])), shape=(n, k))
    adjacency = graph.to_scipy()
    if graph.loops.any():
        adjacency = adjacency - sparse.dia_array((graph.loops[None, :], [0]), shape=(n, n)).tocsr()
        adjacency.eliminate_zeros()
    links = sparse.csr_array(adjacency @ member)
    links.sort_indices()
    return links


def shares_of(graph: Graph, labels: npt.NDArray[np.int64], links: sparse.csr_array) -> sparse.csr_array:
    """Links as shares of the row's sum; for nodes linked only to themselves, all to their own cluster."""
    total = links.sum(axis=1)
    alone = np.flatnonzero((total == 0.0) & (labels >= 0))
    own = sparse.csr_array((np.ones(len(alone)), (alone, labels[alone])), shape=links.shape)
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(links.indptr))
    shares = sparse.csr_array((links.data / total[rows], links.indices, links.indptr), shape=links.shape)
    return sparse.csr_array(shares + own)


def gains_over_second(
    on: WeighedGraph, objective: Objective, labels: npt.NDArray[np.int64], links: sparse.csr_array, sums: ClusterSums
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The best other cluster of each node, how much worse it is than the own, and what one more link would change.

    The candidates are the clusters to which a node is linked, and the best cluster for a node without links.
    """
    n = len(labels)
    loops, mass = on.terms.loops, on.terms.mass
    second, best = best_unlinked(objective, on.terms, labels, sums)
    rows = np.repeat(np.arange(n), np.diff(links.indptr))
    is_own = links.indices == labels[rows]
    stays = np.bincount(rows[is_own], links.data[is_own], n)
    elsewhere = ~is_own & (labels[rows] >= 0)
    rows, to, link = rows[elsewhere], links.indices[elsewhere], links.data[elsewhere]
    gain = gain_of_joining(objective, link, loops[rows], mass[rows], sums.inside[to], sums.mass[to])
    order = np.lexsort((to, -gain, rows))
    rows, to, gain = rows[order], to[order], gain[order]
    first = np.diff(rows, prepend=-1) > 0
    rows, to, gain = rows[first], to[first], gain[first]
    better = gain >= best[rows]
    second[rows[better]], best[rows[better]] = to[better], gain[better]
    movable = (second >= 0) & (sums.size[labels] > 1)
    own, target = labels[movable], second[movable]
    loss = loss_of_leaving(objective, stays[movable], loops[movable], mass[movable], sums.inside[own], sums.mass[own])
    gains, one_link = np.where(labels >= 0, np.inf, 0.0), np.ones(n)
    gains[movable] = loss - best[movable]
    one_link[movable] = 1.0 / sums.mass[own] + 1.0 / sums.mass[target] if objective.kind == RATIO else 2.0
    return second, gains, one_link


def next_unions(
    objective: Objective, links: sparse.csr_array, labels: npt.NDArray[np.int64], sums: ClusterSums
) -> npt.NDArray[np.int64]:
    """The other cluster whose union with each raises the objective most, or lowers it least."""
    n, k = links.shape
    members = np.flatnonzero(labels >= 0)
    member = sparse.csr_array((np.ones(len(members)), (labels[members], members)), shape=(k, n))
    between = sparse.csr_array(member @ links)
    following = np.full(k, -1)
    for c in range(k if k > 1 else 0):
        link = np.zeros(k)
        row = slice(between.indptr[c], between.indptr[c + 1])
        link[between.indices[row]] = between.data[row]
        gain = gain_of_union(objective, link, sums.inside[c], sums.mass[c], sums.inside, sums.mass)
        gain[c] = -np.inf
        following[c] = gain.argmax()
    return following.astype(np.int64)


def stabilities(
    clustering: Clustering, n_repeats: int, rng: np.random.Generator, progress: Progress
) -> npt.NDArray[np.float64]:
    """For each cluster the mean Jaccard index with the most similar cluster found without some edges."""
    labels, k, asked = clustering.labels, clustering.n_clusters, clustering.parameters
    choice, components = ObjectiveChoice(clustering.objective, clustering.resolution), asked.get("components", "all")
    at = None if {"method", "cut"} & {*asked} else clustering.resolution  # where that makes the number of clusters
    has_edges = np.bincount(labels[(labels >= 0) & ~clustering.graph.isolated], minlength=k) > 0
    n_linked = int(np.count_nonzero(has_edges))
    agreement = np.zeros((n_repeats, k))
    for n_done, row in enumerate(agreement, start=1):
        if n_done > 1 and progress.out_of_time():
            agreement = agreement[: n_done - 1]
            break
        less = leave_out_edges(clustering.graph, SHARE_LEFT_OUT, rng)
        taken = labels >= 0
        if at is None:
            taken &= nodes_to_partition(less, n_linked, components, progress).nodes
        kept = np.flatnonzero(taken)
        part = less.subgraph(kept)
        if part.n_entries == 0:  # no cluster is found again
            continue
        on = weigh(part, choice.name)
        run = run_on(on, rng, progress)
        if at is None:
            again = partition_into(run.finest, min(n_linked, len(kept)), choice, EFFORTS["normal"], run)[0].labels
        else:
            again = partition_into_any_number(run.finest, task_at(on, at, choice.name), EFFORTS["normal"], run).labels
        own, k_found = labels[kept], int(again.max()) + 1
        both = sparse.coo_array((np.ones(len(kept)), (own, again)), shape=(k, k_found))
        both.sum_duplicates()
        of_own, of_found = np.bincount(own, minlength=k), np.bincount(again, minlength=k_found)
        np.maximum.at(row, both.row, both.data / (of_own[both.row] + of_found[both.col] - both.data))
    return np.where(has_edges, agreement.mean(axis=0), 1.0)


def leave_out_edges(graph: Graph, share: float, rng: np.random.Generator) -> Graph:
    """The graph without about that share of its edges; self-loops stay, nodes may become isolated.

    Edges lighter than the least degree that a graph may have are all left out.
    """
    rows = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    # A hash of the two ends decides, so that both entries of an edge share its fate.
    low, high = np.minimum(rows, graph.indices), np.maximum(rows, graph.indices)
    bits = low.astype(np.uint64) * np.uint64(FACTORS[0]) + high.astype(np.uint64) * np.uint64(FACTORS[1])
    bits += rng.integers(2**64, dtype=np.uint64)
    stays = mix_words(bits) >= np.uint64(share * 2.0**64)
    if graph.weights is not None:
        stays &= graph.weights > LEAST
    stays |= low == high
    indptr = np.concatenate([[0], np.cumsum(stays)])[graph.indptr]
    weights = None if graph.weights is None else graph.weights[stays]
    degrees = np.bincount(rows[stays], weights=weights, minlength=graph.n_nodes).astype(np.float64)
    return Graph(indptr, graph.indices[stays], weights, degrees, graph.loops)
