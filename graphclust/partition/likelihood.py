"""How well clusters explain the edges, whatever resolution they were made for, and the resolution that they call for.

They compare the weight inside clusters with what chance would put there, in a model with one rate of edges for each
cluster and one between all of them, so k + 1 rates for k clusters and one for a single cluster; with degrees as masses,
the degree-corrected blocks of Karrer & Newman 2011.
"""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs.levels import Partition
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.graph.container import Graph
from graphclust.objective.objective import Units, Weighed, node_terms
from graphclust.partition.levels import Run, run_on, with_sums


def log_likelihood(units: Units, sums: ClusterSums) -> float:
    """Logarithm of the likelihood of the edges, up to a constant of the graph: comparable at one number of clusters.

    Source: Karrer & Newman 2011, "Stochastic blockmodels and community structure in networks", equation 14, all rates
    between clusters being one.
    """
    total, expected = units.volume, units.chance * sums.mass**2
    between = total - float(sums.inside.sum())
    return _times_log_ratio(np.append(sums.inside, between), np.append(expected, total - expected.sum()))


def description_length(on: Weighed, sums: ClusterSums) -> float:
    """Nats that the clusters, their rates and the edges given those take, up to a constant of the graph.

    Other than the likelihood it compares partitions into any numbers of clusters; of a graph that has none, the
    shortest is that of a single cluster. Weights count by their ratio to the mean, whatever the unit that they come in.

    Source: Peixoto 2017, "Nonparametric Bayesian inference of the microcanonical stochastic block model", for the
    clusters; for a rate half the logarithm of the number of edges, as in Schwarz 1978, "Estimating the dimension of a
    model".
    """
    from scipy.special import gammaln  # takes a third of the package's import, and few calls come here

    n, k, size = on.graph.n_nodes, len(sums.size), sums.size
    n_edges = on.graph.n_entries / 2.0
    clusters = gammaln(n + 1.0) - gammaln(size + 1.0).sum() + np.log(n)
    clusters += gammaln(n) - gammaln(k) - gammaln(n - k + 1.0)
    edges = -log_likelihood(on.units, sums) * n_edges / on.graph.total_volume
    n_rates = k + 1 if k > 1 else 1  # of each cluster, and between them
    return float(clusters + 0.5 * n_rates * np.log(n_edges) + edges)


def implied_resolution(units: Units, sums: ClusterSums) -> float:
    """The resolution at which modularity is the likelihood of blocks with the rates that these clusters show.

    Source: Newman 2016, "Equivalence between modularity optimization and maximum likelihood methods for community
    detection", equation 17.
    """
    total, expected = units.volume, units.chance * float((sums.mass**2).sum())
    inside = float(sums.inside.sum())
    if not 0.0 < expected < total or not 0.0 < inside < total:
        return 1.0  # one cluster, or none linked to another: no two rates to compare
    within, between = inside / expected, (total - inside) / (total - expected)
    return within if within == between else (within - between) / float(np.log(within / between))


def is_likelier(run: Run, found: Partition, than: Partition) -> bool:
    """Whether the edges are likelier under one of two partitions: by their weights, and if they have any, without too.

    An edge of weight w is as likely as w edges at one place. That makes likely, where tails are heavy, what puts the
    heaviest edges into tiny clusters, and all that is left together; most edges then run between clusters.
    """
    if log_likelihood(run.units, found.sums) <= log_likelihood(run.units, than.sums):
        return False
    if not len(run.finest.rows.weights) or run.graph is None:
        return True
    alike = run_on(without_weights(run))
    after, before = (with_sums(alike.finest, one.labels, len(one.sums.size), alike).sums for one in (found, than))
    return log_likelihood(alike.units, after) > log_likelihood(alike.units, before)


def without_weights(run: Run) -> Weighed:
    """The graph of a run, each edge counting once whatever its weight; no entry is copied.

    Masses that are degrees become numbers of entries; nodes without a mass, whose rows are there, are left out again.
    """
    graph, terms = run.graph, run.finest.terms
    assert graph is not None
    is_in, n_entries = terms.mass > 0.0, np.diff(graph.indptr).astype(np.float64)
    degrees, loops = np.where(is_in, n_entries, 0.0), np.sign(graph.loops)
    by_degree = np.array_equal(terms.mass, np.where(is_in, graph.degrees, 0.0))
    counted = Graph(graph.indptr, graph.indices, None, degrees, loops)
    return Weighed(counted, node_terms(loops, degrees if by_degree else terms.mass, degrees))


def _times_log_ratio(weight: np.ndarray, expected: np.ndarray) -> float:
    """Sum of w log(w / e) over the positive weights, whose limit at weight 0 is 0, as is round-off where e is none."""
    some = (weight > 0) & (expected > 0)
    return float((weight[some] * np.log(weight[some] / expected[some])).sum())
