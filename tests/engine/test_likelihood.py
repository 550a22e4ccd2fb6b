"""How well clusters explain the edges, and the resolution that follows: held to the model written out pair by pair."""

from itertools import product
from math import comb, exp, factorial, log

import networkx as nx
import numpy as np
import pytest
from aims import looped
from scipy import sparse

import graphclust as gc
from graphclust.compiled.graphs.objective import value_of
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.likelihood import (
    edges_worth,
    is_likelier,
    is_likelier_labeling,
    length_of_clusters,
    log_likelihood,
    resolution_of_clusters,
    without_weights,
)
from graphclust.objective.objective import (
    ADDITIVE_OBJECTIVES,
    OBJECTIVE_SPECS,
    OBJECTIVES,
    WeighedGraph,
    additive_objective,
    node_terms,
    weigh,
)
from graphclust.partition.components import mask_nodes

N_NODES, K = 60, 4


def on_and_labels(objective, seed=5):
    on = weigh(gc.as_graph(looped(N_NODES, seed, 0.15)), objective)
    drawn = np.random.default_rng(seed).integers(K, size=(2, N_NODES)).astype(np.int32)
    drawn[:, :K] = np.arange(K)
    return on, drawn


def partition_of(run, labels):
    return with_sums(run.finest, labels.astype(np.int32), int(labels.max()) + 1, run)


def nats_saved(graph, labels):
    return gc.Clustering(labels, int(labels.max()) + 1, graph, objective="modularity").certainty().nats_saved


def sums_of(on, labels):
    return partition_of(run_on(on), labels).sums


def by_pairs(on, labels, rates, between):
    """Sum over all ordered pairs of nodes of A log(rate) - rate x chance, for given rates."""
    A = on.graph.to_scipy().toarray()
    chance = on.totals.chance * np.outer(on.terms.mass, on.terms.mass)
    rate = np.where(labels[:, None] == labels[None, :], rates[labels][:, None], between)
    return float((A * np.log(rate) - rate * chance).sum())


@pytest.mark.parametrize("objective", ADDITIVE_OBJECTIVES)
def test_the_likelihood_is_that_of_the_best_rates(objective):
    on, (one, other) = on_and_labels(objective)
    values = []
    for labels in (one, other):
        sums = sums_of(on, labels)
        expected = on.totals.chance * sums.mass**2
        total = on.graph.total_volume
        rates, between = sums.inside / expected, (total - sums.inside.sum()) / (total - expected.sum())
        best = by_pairs(on, labels, rates, between)
        assert log_likelihood(on.totals, sums) - total == pytest.approx(best, rel=1e-10)
        assert best > max(by_pairs(on, labels, 1.05 * rates, between), by_pairs(on, labels, rates, 0.95 * between))
        values.append(best)
    assert values[0] != pytest.approx(values[1], rel=1e-6)


def slow_nats_saved(graph, labels):
    """Both descriptions written out pair by pair: which clusters, which rates, which edges; the shorter one counts."""
    A = graph.to_scipy().toarray()
    n, k, degrees = len(A), int(labels.max()) + 1, A.sum(axis=1)
    chance, same = np.outer(degrees, degrees) / A.sum(), labels[:, None] == labels[None, :]
    n_edges = A.sum() ** 2 / (A**2).sum() / 2
    own = np.array([A[np.ix_(labels == c, labels == c)].sum() for c in range(k)])
    own /= [chance[np.ix_(labels == c, labels == c)].sum() for c in range(k)]
    within, between = A[same].sum() / chance[same].sum(), A[~same].sum() / chance[~same].sum()
    ways = factorial(n) // np.prod([factorial(int(size)) for size in np.bincount(labels)], dtype=object)
    clusters, lengths = log(n) + log(comb(n - 1, k - 1)) + log(ways) - log(factorial(k)), []
    for rates, n_rates in ((own[labels], k + 1), (np.full(n, within), 2)):
        rate = np.where(same, rates[:, None], between)
        edges = -(A * np.log(np.where(A > 0, rate, 1.0))).sum() * n_edges / A.sum()
        lengths.append(clusters + n_rates / 2 * log(n_edges) + edges + log(2))
    one_cluster = log(n) + log(n_edges) / 2
    return one_cluster - min(lengths)


@pytest.mark.parametrize("kind", ["weighted", "unweighted", "separate rates", "isolated and left out"])
def test_nats_saved_are_those_written_out(kind):
    weights = sparse.triu(gc.as_graph(looped(N_NODES, 5, 0.15)).to_scipy(), 1)
    A, labels = weights + weights.T, np.arange(N_NODES) % K
    if kind != "weighted":
        A = A.sign()
    if kind == "separate rates":
        sizes = (20, 40)
        A = sparse.csr_array(
            nx.to_scipy_sparse_array(nx.stochastic_block_model(sizes, [[0.9, 0.02], [0.02, 0.2]], seed=1))
        )
        labels = np.repeat([0, 1], sizes)
    else:
        labels = gc.coreset_sc(A, K, components="all", rng=0).labels
    graph = gc.as_graph(A)
    isolated = graph.isolated
    expected = slow_nats_saved(graph.subgraph(np.flatnonzero(~isolated)), labels[~isolated])
    if kind == "isolated and left out":
        with pytest.warns(gc.GraphWarning, match="3 isolated nodes"):
            graph = gc.as_graph(sparse.block_diag([A, np.eye(2)[::-1], np.zeros((3, 3))], format="csr"))
        labels = np.concatenate([labels, [-1, -1], [K, K + 1, K + 2]])
    assert nats_saved(graph, labels) == pytest.approx(expected, rel=1e-10)
    heavier = gc.Graph(graph.indptr, graph.indices, 1000.0 * graph.to_scipy().data, 1000.0 * graph.degrees, graph.loops)
    assert nats_saved(heavier, labels) == pytest.approx(expected)


def test_clusters_are_described_by_a_code():
    """Over all partitions of 5 nodes the probabilities that the lengths stand for sum to 1."""
    n = 5
    numbered_as_met = [of for of in product(range(n), repeat=n) if [*dict.fromkeys(of)] == [*range(max(of) + 1)]]
    assert sum(exp(-length_of_clusters(n, np.bincount(of))) for of in numbered_as_met) == pytest.approx(1.0)


def test_weights_that_differ_count_as_fewer_edges():
    path = gc.as_graph(nx.path_graph(5))
    assert edges_worth(path) == 4.0
    weights = {(0, 1): 3.0, (1, 2): 1.0, (2, 3): 1.0, (3, 4): 1.0}
    graph = nx.Graph([(*pair, {"weight": weight}) for pair, weight in weights.items()])
    assert edges_worth(gc.as_graph(graph)) == pytest.approx(36.0 / 12.0)


def test_nothing_is_saved_by_one_cluster_or_by_what_are_no_clusters():
    assert nats_saved(gc.as_graph(nx.complete_graph(6)), np.zeros(6, int)) == 0.0
    sides = nx.complete_bipartite_graph(30, 30)  # the rate between the sides tells much, but they are no clusters
    assert nats_saved(gc.as_graph(sides), np.repeat([0, 1], 30)) < 0.0


def test_clusters_found_in_noise_save_nothing_and_planted_ones_do():
    graph, labels = gc.planted_partition(4, 50, 10, 3, rng=1)
    noise = nx.gnm_random_graph(200, 1300, seed=1)
    assert nats_saved(graph, labels) > 300.0
    assert max(gc.coreset_sc(noise, k, rng=0).certainty().nats_saved for k in (2, 4, 8)) < -30.0
    assert nats_saved(graph, np.random.default_rng(0).permutation(labels)) < -100.0


def test_the_planted_clusters_have_the_most_evidence():
    graph, truth = gc.planted_partition(8, 60, 8, 4, rng=3)
    half = np.random.default_rng(0).random(graph.n_nodes) < 0.5
    others = [
        np.where(truth == 7, 0, truth),
        np.where((truth == 0) & half, 8, truth),
        truth + 8 * half,
        np.arange(graph.n_nodes),
    ]
    assert nats_saved(graph, truth) > max(0.0, *(nats_saved(graph, other) for other in others))


def test_clusters_of_a_random_graph_are_likelier_than_none_but_not_worth_describing():
    graph = gc.as_graph(nx.fast_gnp_random_graph(300, 0.05, seed=1))
    on, found = weigh(graph, "modularity"), gc.coreset_sc(graph, 10, rng=0).labels
    assert log_likelihood(on.totals, sums_of(on, found)) > log_likelihood(on.totals, sums_of(on, np.zeros_like(found)))
    assert nats_saved(graph, found) < 0.0


@pytest.mark.parametrize("objective", ADDITIVE_OBJECTIVES)
def test_at_the_implied_resolution_the_objective_is_the_likelihood_of_two_rates(objective):
    """Of any two partitions the difference is the same, up to the logarithm of the ratio of the rates."""
    on, (labels, other) = on_and_labels(objective)
    sums = sums_of(on, labels)
    total, expected = on.graph.total_volume, on.totals.chance * float((sums.mass**2).sum())
    within, between = sums.inside.sum() / expected, (total - sums.inside.sum()) / (total - expected)
    implied = additive_objective(on.totals, K, resolution_of_clusters(on.totals, sums))
    gained = value_of(implied, sums) - value_of(implied, sums_of(on, other))
    likelier = by_pairs(on, labels, np.full(K, within), between) - by_pairs(on, other, np.full(K, within), between)
    assert gained * np.log(within / between) == pytest.approx(likelier, rel=1e-9)


def test_clusters_without_rates_to_compare():
    for graph, labels in ((nx.path_graph(4), [0, 0, 0, 0]), (nx.Graph([(0, 1), (2, 3)]), [0, 0, 1, 1])):
        on = weigh(gc.as_graph(graph), "modularity")
        sums = sums_of(on, np.array(labels))
        assert resolution_of_clusters(on.totals, sums) == 1.0 and np.isfinite(log_likelihood(on.totals, sums))
    on = weigh(gc.as_graph(nx.complete_bipartite_graph(2, 2)), "modularity")
    sums = sums_of(on, np.array([0, 0, 1, 1]))  # no edge inside any cluster
    assert resolution_of_clusters(on.totals, sums) == 1.0
    assert log_likelihood(on.totals, sums) == pytest.approx(on.graph.total_volume * np.log(2.0))


@pytest.mark.parametrize("objective", ADDITIVE_OBJECTIVES)
def test_without_weights_every_edge_counts_once(objective):
    graph = gc.as_graph(looped(N_NODES, 5, 0.15))
    assert graph.weights is not None and graph.loops.any()
    without = without_weights(run_on(weigh(graph, objective)))
    ones = graph.to_scipy().copy()
    ones.data[:] = 1.0
    expected = weigh(gc.as_graph(ones), objective)
    assert expected.graph.weights is None and without.graph.weights is None
    assert np.array_equal(without.graph.to_scipy().toarray(), ones.toarray()) and without.totals == expected.totals
    for terms, of_ones in zip(without.terms, expected.terms, strict=True):
        assert np.array_equal(terms, of_ones)


@pytest.mark.parametrize("objective", ADDITIVE_OBJECTIVES)
def test_what_is_left_out_is_not_counted(objective):
    A = gc.as_graph(looped(N_NODES, 5, 0.15)).to_scipy()
    graph = gc.as_graph(sparse.block_diag([A, 3.0 * A[:20, :20]], format="csr"))
    searched = np.arange(graph.n_nodes) < N_NODES
    on = weigh(mask_nodes(graph, searched), objective)
    on = WeighedGraph(on.graph, node_terms(on.terms.loops, np.where(searched, on.terms.mass, 0.0), on.terms.degrees))
    alone, left_out = (without_weights(run_on(of)) for of in (weigh(gc.as_graph(A), objective), on))
    labels = np.random.default_rng(0).integers(K, size=N_NODES)
    in_all = np.append(labels, np.full(20, -1))
    likelihoods = [log_likelihood(of.totals, sums_of(of, at)) for of, at in ((alone, labels), (left_out, in_all))]
    assert likelihoods[0] == pytest.approx(likelihoods[1], rel=1e-12)


def test_the_likelier_of_two_is_so_with_the_weights_and_without():
    """In the one the weights are likelier, of the heaviest edges in clusters of their own, in the other the edges."""
    A = np.ones((8, 8)) - np.eye(8)
    A[:4, 4:] = A[4:, :4] = 0.0
    A[3, 4] = A[4, 3] = 1.0
    A[0, 1] = A[1, 0] = 200.0
    for scale, expected in ((A, False), (np.sign(A), True)):
        run = run_on(weigh(gc.as_graph(scale), "modularity"))
        cliques, heaviest = (partition_of(run, np.array(of)) for of in ([0] * 4 + [1] * 4, [0] * 2 + [1] * 6))
        by_weights = log_likelihood(run.totals, cliques.sums) - log_likelihood(run.totals, heaviest.sums)
        assert (by_weights > 0.0) == expected
        assert is_likelier(run, cliques, heaviest) == expected
        assert not is_likelier(run, heaviest, cliques)
        assert not is_likelier(run, cliques, cliques)


def test_the_likelier_labeling_is_that_of_the_cliques_whatever_the_masses():
    graph = gc.as_graph(nx.barbell_graph(6, 0))
    cliques, alternating = np.repeat([0, 1], 6).astype(np.int32), np.tile([0, 1], 6).astype(np.int32)
    for objective in OBJECTIVES:
        twin = OBJECTIVE_SPECS[objective].additive
        assert is_likelier_labeling(graph, twin, cliques, alternating)
        assert not is_likelier_labeling(graph, twin, alternating, cliques)
