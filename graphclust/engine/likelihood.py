"""How well clusters explain the edges, whatever resolution they were made for, and the resolution that they imply.

The model has one rate of edges for each cluster and one between all clusters, so k + 1 rates for k clusters and one for
a single cluster; with degrees as masses it is the degree-corrected block model of Karrer & Newman 2011.

Description length tells whether there are clusters at all. By likelihood alone the best of the many partitions of a
random graph beats a single cluster, since it fits the noise. The nats that encode the partition outweigh that gain: a
random graph has its shortest description as one cluster.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Partition
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.engine.levels import Run, run_on, with_sums
from graphclust.graph.container import Graph
from graphclust.objective.objective import Totals, WeighedGraph, node_terms, weigh

EVIDENCE = (
    "evidence is by how many nats the clusters shorten the description of the edges against a single cluster; chance "
    "alone gives more than 5 in at most about one graph of a hundred"
)


def log_likelihood(totals: Totals, sums: ClusterSums) -> float:
    """Logarithm of the likelihood of the edges, up to a constant of the graph: comparable at one number of clusters.

    Source: Karrer & Newman 2011, "Stochastic blockmodels and community structure in networks", equation 14, all rates
    between clusters being one.
    """
    total, expected = totals.volume, totals.chance * sums.mass**2
    between = total - float(sums.inside.sum())
    return _times_log_ratio(np.append(sums.inside, between), np.append(expected, total - expected.sum()))


def length_of_clusters(n_nodes: int, sizes: npt.NDArray[np.int64]) -> float:
    """Nats to describe clusters of these sizes: how many, how large, and which nodes are in them; in any order.

    Source: Peixoto 2017, "Nonparametric Bayesian inference of the microcanonical stochastic block model", for numbered
    clusters. Here the k! ways to number them are one description, since the edges are as likely under each.
    """
    from scipy.special import gammaln  # takes a third of the package's import, and few calls come here

    n, k = n_nodes, len(sizes)
    which = gammaln(n + 1.0) - gammaln(sizes + 1.0).sum() - gammaln(k + 1.0)
    return float(which + np.log(n) + gammaln(n) - gammaln(k) - gammaln(n - k + 1.0))


def nats_saved(graph: Graph, labels: npt.NDArray[Any]) -> float:
    """The evidence for assortative clusters: by how many nats they shorten the description of the edges.

    labels : shape (n_nodes,); nodes in no cluster, -1, and isolated ones are left out. Degrees are given, as for
    modularity. Components of a graph are apart without any of this.

    There is one rate for each cluster and one between them, or one inside all clusters and one between them, whichever
    gives the shorter description. Unequal weights tell less than as many edges: they count as (sum w)² / sum w² edges.
    If edges were Poisson counts with known expected degrees, x would be exceeded with a probability of exp(-x) at most
    in a graph of one cluster, and of K exp(-x) by the best of K numbers of clusters. Degrees and rates are fitted to
    the graph, so that this is an approximation.

    Source: the clusters, as of `length_of_clusters`; a rate, Schwarz 1978, "Estimating the dimension of a model"; one
    rate inside clusters, Zhang & Peixoto 2020, "Statistical inference of assortative community structures"; the bound
    is Markov's inequality for a ratio of likelihoods; the number of edges, Kish 1965, "Survey Sampling".
    """
    counts = (labels >= 0) & ~graph.isolated
    if not counts.any():
        return 0.0
    if not counts.all():
        nodes = np.flatnonzero(counts)
        graph, labels = graph.subgraph(nodes), labels[nodes]
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    k, on = int(labels.max()) + 1, weigh(graph, "modularity")
    if k == 1 or graph.n_entries == 0:
        return 0.0
    run = run_on(on)
    return nats_of(with_sums(run.finest, labels, k, run).sums, on.totals, edges_worth(graph))


def nats_of(sums: ClusterSums, totals: Totals, n_edges: float) -> float:
    """`nats_saved` from the sums of the clusters under modularity; they hold all nodes with edges and no others."""
    k, n_nodes, total = len(sums.size), int(sums.size.sum()), totals.volume
    if k <= 1:
        return 0.0
    inside, expected = float(sums.inside.sum()) / total, totals.chance * float((sums.mass**2).sum()) / total
    saved = gain_at_one_rate(inside, expected, n_edges)
    if inside > expected:  # else they are no clusters, even if they describe the edges between them well
        own_rates = log_likelihood(totals, sums) * n_edges / total - 0.5 * k * np.log(n_edges)
        saved = max(saved, own_rates) - np.log(2.0)  # one bit says which of the two it is
    return float(saved - length_of_clusters(n_nodes, sums.size) + np.log(n_nodes))


def evidence_in_words(nats: float) -> str:
    """Nats saved as reports show them; below 0 their number says nothing."""
    return f"{nats:,.1f}" if nats > 0.0 else "none"


def gain_at_one_rate(inside: float, expected: float, n_edges: float) -> float:
    """Nats saved by one rate inside clusters and one between them instead of a single rate, less the second rate.

    inside : share of the weight inside clusters. expected : that share by chance. There is no gain if inside is less.
    """
    weight = np.array([inside, 1.0 - inside])
    gain = _times_log_ratio(weight, np.array([expected, 1.0 - expected])) if inside > expected else 0.0
    return float(gain * n_edges - 0.5 * np.log(n_edges))


def edges_worth(graph: Graph) -> float:
    """The effective number of edges: all if the weights are equal, fewer the more they differ."""
    n_entries = float(graph.n_entries)
    if graph.weights is None:
        return n_entries / 2.0
    return 0.5 * float(graph.weights.sum()) ** 2 / float(np.square(graph.weights).sum())


def resolution_of_clusters(totals: Totals, sums: ClusterSums) -> float:
    """The resolution at which modularity is the likelihood of a block model with the rates of these clusters.

    Source: Newman 2016, "Equivalence between modularity optimization and maximum likelihood methods for community
    detection", equation 17.
    """
    total, expected = totals.volume, totals.chance * float((sums.mass**2).sum())
    inside = float(sums.inside.sum())
    if not 0.0 < expected < total or not 0.0 < inside < total:
        return 1.0  # one cluster, or none linked to another: no two rates to compare
    within, between = inside / expected, (total - inside) / (total - expected)
    return within if within == between else (within - between) / float(np.log(within / between))


def is_likelier(run: Run, partition: Partition, than: Partition) -> bool:
    """Whether the edges are likelier under `partition` than under `than`: with weights and, if any, without too.

    By weights alone, an edge of weight w counts as w parallel edges. If weights have heavy tails, that favors tiny
    clusters around the heaviest edges and one cluster of all other nodes, with most edges between clusters.
    """
    if log_likelihood(run.totals, partition.sums) <= log_likelihood(run.totals, than.sums):
        return False
    if not len(run.finest.rows.weights) or run.graph is None:
        return True
    alike = run_on(without_weights(run))
    after, before = (with_sums(alike.finest, one.labels, len(one.sums.size), alike).sums for one in (partition, than))
    return log_likelihood(alike.totals, after) > log_likelihood(alike.totals, before)


def is_likelier_labeling(
    graph: Graph, additive: str, labels: npt.NDArray[np.int32], than: npt.NDArray[np.int32]
) -> bool:
    """`is_likelier` for two labelings, by the masses of an additive objective: sums of a cut hold no weight inside."""
    run = run_on(weigh(graph, additive))
    partition, other = (with_sums(run.finest, one, int(one.max()) + 1, run) for one in (labels, than))
    return is_likelier(run, partition, other)


def without_weights(run: Run) -> WeighedGraph:
    """The graph of a run with all weights 1, nothing copied; masses that are degrees become numbers of entries."""
    graph, terms = run.graph, run.finest.terms
    assert graph is not None
    is_in, n_entries = terms.mass > 0.0, np.diff(graph.indptr).astype(np.float64)
    degrees, loops = np.where(is_in, n_entries, 0.0), np.sign(graph.loops)
    by_degree = np.array_equal(terms.mass, np.where(is_in, graph.degrees, 0.0))
    counted = Graph(graph.indptr, graph.indices, None, degrees, loops)
    return WeighedGraph(counted, node_terms(loops, degrees if by_degree else terms.mass, degrees))


def _times_log_ratio(weight: np.ndarray, expected: np.ndarray) -> float:
    """Sum of w log(w / e) over positive w and e; at w = 0 the limit is 0, and w at e = 0 is round-off."""
    some = (weight > 0) & (expected > 0)
    return float((weight[some] * np.log(weight[some] / expected[some])).sum())
