"""How well clusters explain the edges, and the resolution that follows: held to the model written out pair by pair."""

from math import comb, factorial, log

import networkx as nx
import numpy as np
import pytest
from aims import looped
from graphclust.partition.cycles import assigned
from graphclust.partition.healing import Partition, is_in_doubt, is_likelier
from graphclust.partition.moves import summed
from scipy import sparse

from graphclust import adjusted_rand_index, coreset_sc, planted_partition
from graphclust.compiled.graphs.objective import value_of
from graphclust.graph.gate import as_graph
from graphclust.objective.objective import Aim, Weighed, counted, node_terms, weighed
from graphclust.partition import healing, multilevel
from graphclust.partition.components import masked
from graphclust.partition.likelihood import description_length, implied_resolution, log_likelihood
from graphclust.partition.multilevel import partitioned
from graphclust.partition.resolution import Goal, goal_at
from graphclust.progress import Progress

N_NODES, K = 60, 4
AUTO = Aim("modularity", "auto")


def on_and_labels(objective, seed=5):
    on = weighed(as_graph(looped(N_NODES, seed, 0.15)), objective)
    drawn = np.random.default_rng(seed).integers(K, size=(2, N_NODES)).astype(np.int32)
    drawn[:, :K] = np.arange(K)
    return on, drawn


def sums_of(on, labels):
    return summed(on, labels.astype(np.int32), int(labels.max()) + 1)[1]


def by_pairs(on, labels, rates, between):
    """Sum over all ordered pairs of nodes of A log(rate) - rate x chance, for given rates."""
    A = on.graph.to_scipy().toarray()
    chance = on.chance * np.outer(on.terms.mass, on.terms.mass)
    rate = np.where(labels[:, None] == labels[None, :], rates[labels][:, None], between)
    return float((A * np.log(rate) - rate * chance).sum())


@pytest.mark.parametrize("objective", ["modularity", "constant_potts"])
def test_the_likelihood_is_that_of_the_best_rates(objective):
    on, (one, other) = on_and_labels(objective)
    values = []
    for labels in (one, other):
        sums = summed(on, labels, K)[1]
        expected = on.chance * sums.mass**2
        total = on.graph.total_volume
        rates, between = sums.inside / expected, (total - sums.inside.sum()) / (total - expected.sum())
        best = by_pairs(on, labels, rates, between)
        assert log_likelihood(on, sums) - total == pytest.approx(best, rel=1e-10)
        assert best > max(by_pairs(on, labels, 1.05 * rates, between), by_pairs(on, labels, rates, 0.95 * between))
        values.append(best)
    assert values[0] != pytest.approx(values[1], rel=1e-6)


@pytest.mark.parametrize("objective", ["modularity", "constant_potts"])
def test_the_description_is_of_the_clusters_their_rates_and_the_edges(objective):
    on, (labels, _) = on_and_labels(objective)
    sums = summed(on, labels, K)[1]
    ways = factorial(N_NODES) // np.prod([factorial(int(size)) for size in sums.size], dtype=object)
    clusters = log(N_NODES) + log(comb(N_NODES - 1, K - 1)) + log(ways)
    n_edges = on.graph.n_entries / 2
    edges = -log_likelihood(on, sums) * n_edges / on.graph.total_volume
    rates = (K + 1) / 2 * log(n_edges)  # K inside the clusters, and one between them
    assert description_length(on, sums) == pytest.approx(clusters + rates + edges, rel=1e-12)
    heavier = weighed(as_graph(1000.0 * on.graph.to_scipy()), objective)
    assert description_length(heavier, summed(heavier, labels, K)[1]) == pytest.approx(description_length(on, sums))


@pytest.mark.parametrize("objective", ["modularity", "constant_potts"])
def test_a_single_cluster_has_one_rate(objective):
    """It is described by its size, for which there are n possible ones, and one rate: its likelihood is 0 by chance."""
    on, _ = on_and_labels(objective)
    sums = sums_of(on, np.zeros(N_NODES, np.int64))
    assert log_likelihood(on, sums) == pytest.approx(0.0, abs=1e-9)
    assert description_length(on, sums) == pytest.approx(log(N_NODES) + log(on.graph.n_entries / 2) / 2, rel=1e-12)


def test_the_planted_clusters_have_the_shortest_description():
    graph, truth = planted_partition(8, 60, 8, 4, rng=3)
    on = weighed(graph, "modularity")
    half = np.random.default_rng(0).random(graph.n_nodes) < 0.5
    others = [
        np.zeros_like(truth),
        np.where(truth == 7, 0, truth),
        np.where((truth == 0) & half, 8, truth),
        truth + 8 * half,
        np.arange(graph.n_nodes),
    ]
    lengths = [description_length(on, sums_of(on, other)) for other in others]
    assert description_length(on, sums_of(on, truth)) < min(lengths)


def test_clusters_of_a_random_graph_are_likelier_than_none_but_not_worth_describing():
    graph = as_graph(nx.fast_gnp_random_graph(300, 0.05, seed=1))
    on, found = weighed(graph, "modularity"), coreset_sc(graph, 10, rng=0).labels
    none = np.zeros_like(found)
    assert log_likelihood(on, sums_of(on, found)) > log_likelihood(on, sums_of(on, none))
    assert description_length(on, sums_of(on, found)) > description_length(on, sums_of(on, none))


@pytest.mark.parametrize("objective", ["modularity", "constant_potts"])
def test_at_the_implied_resolution_the_objective_is_the_likelihood_of_two_rates(objective):
    """Of any two partitions the difference is the same, up to the logarithm of the ratio of the rates."""
    on, (labels, other) = on_and_labels(objective)
    sums = summed(on, labels, K)[1]
    total, expected = on.graph.total_volume, on.chance * float((sums.mass**2).sum())
    within, between = sums.inside.sum() / expected, (total - sums.inside.sum()) / (total - expected)
    goal = goal_at(Aim(objective, "auto"), on, K, implied_resolution(on, sums), None)
    gained = value_of(goal.objective, sums) - value_of(goal.objective, summed(on, other, K)[1])
    likelier = by_pairs(on, labels, np.full(K, within), between) - by_pairs(on, other, np.full(K, within), between)
    assert gained * np.log(within / between) == pytest.approx(likelier, rel=1e-9)


def test_clusters_without_rates_to_compare():
    for graph, labels in ((nx.path_graph(4), [0, 0, 0, 0]), (nx.Graph([(0, 1), (2, 3)]), [0, 0, 1, 1])):
        on = weighed(as_graph(graph), "modularity")
        sums = summed(on, np.array(labels, np.int32), max(labels) + 1)[1]
        assert implied_resolution(on, sums) == 1.0 and np.isfinite(log_likelihood(on, sums))
    on = weighed(as_graph(nx.complete_bipartite_graph(2, 2)), "modularity")
    sums = summed(on, np.array([0, 0, 1, 1], np.int32), 2)[1]  # no edge inside any cluster
    assert implied_resolution(on, sums) == 1.0
    assert log_likelihood(on, sums) == pytest.approx(on.graph.total_volume * np.log(2.0))


def test_clusters_that_call_for_a_resolution_where_k_is_not_natural_are_in_doubt():
    on = weighed(as_graph(nx.connected_caveman_graph(12, 6)), "modularity")
    labels = np.arange(72, dtype=np.int32) // 6

    def doubt(highest, aim=AUTO, on=on):
        sums = summed(on, labels, 12)[1]
        return is_in_doubt(aim, on, Partition(labels, sums, Goal(None, 0.9, (0.1, highest))))

    called_for = implied_resolution(on, summed(on, labels, 12)[1])
    assert called_for > 1.02 and doubt(0.99 * called_for) and doubt(1.01)
    assert not doubt(1.01 * called_for)  # k is natural there too
    assert not doubt(0.99)  # fewer clusters than modularity finds by itself
    assert not doubt(0.99 * called_for, Aim("modularity", 0.9))  # given
    assert not is_in_doubt(Aim("normalized_cut", None), on, Partition(labels, None, Goal(None, None, None)))
    potts = weighed(on.graph, "constant_potts")
    called_for = implied_resolution(potts, summed(potts, labels, 12)[1]) * potts.chance
    for highest, expected in ((0.99 * called_for, True), (1.01 * called_for, False)):
        assert doubt(highest, Aim("constant_potts", "auto"), potts) == expected
    for beyond, expected in ((1.01, True), (0.99, False)):
        assert doubt(beyond * potts.chance, Aim("constant_potts", "auto"), potts) == expected


def hard_communities(seed):
    """Communities of unequal sizes and degrees, more than half of all links leaving them."""
    graph = nx.LFR_benchmark_graph(
        1000, 2.5, 1.5, 0.55, average_degree=20, max_degree=50, min_community=20, max_community=100, seed=seed,
        max_iters=1000,
    )  # fmt: skip
    communities = sorted({tuple(sorted(graph.nodes[node]["community"])) for node in graph})
    graph.remove_edges_from(nx.selfloop_edges(graph))
    truth = np.empty(len(graph), int)
    for number, community in enumerate(communities):
        truth[list(community)] = number
    return as_graph(graph), truth, len(communities)


@pytest.mark.parametrize("seed", [0, 1])
def test_where_clusters_are_hard_to_tell_apart_a_likelier_resolution_is_found(seed, monkeypatch):
    graph, truth, k = hard_communities(seed)
    found = coreset_sc(graph, k, rng=seed)
    lowest, highest = found.natural_range
    assert highest < 1.2 * lowest and found.resolution > 1.2 * highest and found.n_clusters == k
    for step in ("likeliest", "likelier_by_ratio"):
        monkeypatch.setattr(multilevel, step, lambda on, found, *of: found)
    matched = coreset_sc(graph, k, rng=seed)
    assert lowest <= matched.resolution <= highest
    on = weighed(graph, "modularity")
    likelihoods = [log_likelihood(on, summed(on, one.labels.astype(np.int32), k)[1]) for one in (found, matched)]
    assert likelihoods[0] > likelihoods[1]
    assert adjusted_rand_index(truth, found.labels) > adjusted_rand_index(truth, matched.labels) + 0.02


@pytest.mark.parametrize("objective", ["modularity", "constant_potts"])
def test_counted_every_edge_has_the_weight_one(objective):
    graph = as_graph(looped(N_NODES, 5, 0.15))
    assert graph.weights is not None and graph.loops.any()
    without = counted(weighed(graph, objective), objective)
    ones = graph.to_scipy().copy()
    ones.data[:] = 1.0
    expected = weighed(as_graph(ones), objective)
    assert expected.graph.weights is None and without.graph.weights is None
    assert np.array_equal(without.graph.to_scipy().toarray(), ones.toarray()) and without.chance == expected.chance
    for terms, of_ones in zip(without.terms, expected.terms, strict=True):
        assert np.array_equal(terms, of_ones)


@pytest.mark.parametrize("objective", ["modularity", "constant_potts"])
def test_what_is_left_out_is_not_counted(objective):
    A = as_graph(looped(N_NODES, 5, 0.15)).to_scipy()
    graph = as_graph(sparse.block_diag([A, 3.0 * A[:20, :20]], format="csr"))
    searched = np.arange(graph.n_nodes) < N_NODES
    on = weighed(masked(graph, searched), objective)
    on = Weighed(on.graph, node_terms(on.terms.loops, np.where(searched, on.terms.mass, 0.0), on.terms.degrees))
    alone, left_out = counted(weighed(as_graph(A), objective), objective), counted(on, objective)
    labels = np.random.default_rng(0).integers(K, size=N_NODES).astype(np.int32)
    in_all = np.append(labels, np.full(20, -1, np.int32))
    likelihoods = [log_likelihood(of, summed(of, at, K)[1]) for of, at in ((alone, labels), (left_out, in_all))]
    assert likelihoods[0] == pytest.approx(likelihoods[1], rel=1e-12)


def heavy_tailed(seed):
    """Blocks of unequal sizes and degrees, whose edges have weights that have nothing to do with them."""
    planted = planted_partition(40, 200, 10, 2, size_ratio=0.93, degree_exponent=2.5, rng=seed)
    upper = sparse.triu(planted.graph.to_scipy(), 1).tocoo()
    upper.data = np.random.default_rng(seed).lognormal(0.0, 1.5, upper.nnz)
    connected = np.flatnonzero(~planted.graph.isolated)
    return as_graph((upper + upper.T).tocsr()[connected][:, connected]), planted.labels[connected]


def test_the_likelier_of_two_is_so_with_the_weights_and_without():
    """In the one the weights are likelier, of the heaviest edges in clusters of their own, in the other the edges."""
    A = np.ones((8, 8)) - np.eye(8)
    A[:4, 4:] = A[4:, :4] = 0.0
    A[3, 4] = A[4, 3] = 1.0
    A[0, 1] = A[1, 0] = 200.0
    for scale, expected in ((A, False), (np.sign(A), True)):
        on = weighed(as_graph(scale), "modularity")
        cliques, heaviest = (assigned(on, np.array(of, np.int32), 2) for of in ([0] * 4 + [1] * 4, [0] * 2 + [1] * 6))
        by_weights = log_likelihood(on, cliques.sums) - log_likelihood(on, heaviest.sums)
        assert (by_weights > 0.0) == expected
        assert is_likelier(AUTO, on, cliques, heaviest) == expected
        assert not is_likelier(AUTO, on, heaviest, cliques)
        assert not is_likelier(AUTO, on, cliques, cliques)


@pytest.mark.parametrize("seed", [0, 1])
def test_heavy_tails_make_a_resolution_likelier_less_often(seed, monkeypatch):
    """Than where only the weights are asked: less often beyond where k is natural, and never at a higher resolution."""
    graph, truth = heavy_tailed(seed)

    def runs():
        found = [coreset_sc(graph, 40, rng=run) for run in range(5)]
        index = np.mean([adjusted_rand_index(truth, of.labels) for of in found])
        return index, [of.resolution for of in found], sum(of.resolution > of.natural_range[1] for of in found)

    index, resolutions, n_beyond = runs()
    by_weights = lambda aim, on, one, other: log_likelihood(on, one.sums) > log_likelihood(on, other.sums)  # noqa: E731
    monkeypatch.setattr(healing, "is_likelier", by_weights)
    judged_index, judged_resolutions, n_judged_beyond = runs()
    assert n_beyond < n_judged_beyond and index > judged_index
    assert all(ours <= theirs for ours, theirs in zip(resolutions, judged_resolutions, strict=True))


def test_the_middle_is_tried_again_from_what_the_resolution_called_for_has_told_apart(monkeypatch):
    graph, _, k = hard_communities(0)
    on, tried = weighed(graph, "modularity"), []
    real = healing.in_cycles

    def noted(on, found, search):
        tried.append((search.objective.pull / on.chance, found.labels, real(on, found, search)))
        return tried[-1][2]

    monkeypatch.setattr(healing, "in_cycles", noted)
    monkeypatch.setattr(healing, "is_likelier", lambda *of: True)
    partitioned(on, k, AUTO, 1.0, np.random.default_rng(0), Progress())
    resolutions, starts, ends = zip(*tried, strict=True)
    assert len(tried) == 3 and resolutions[0] == resolutions[2] < resolutions[1]
    assert starts[1] is ends[0].labels and starts[2] is ends[1].labels


def test_a_try_is_kept_where_it_is_likelier_and_only_there(monkeypatch):
    graph, _, k = hard_communities(0)
    on = weighed(graph, "modularity")
    asked = []
    monkeypatch.setattr(multilevel, "likeliest", lambda *of: asked.append(of) or of[1])
    partitioned(on, k, AUTO, 1.0, np.random.default_rng(0), Progress())
    _, matched, _, search = asked[0]
    better = healing.likeliest(on, matched, AUTO, search)
    assert log_likelihood(on, better.sums) > log_likelihood(on, matched.sums)
    none = assigned(on, (np.arange(graph.n_nodes) % k).astype(np.int32), k)
    monkeypatch.setattr(healing, "in_cycles", lambda *of: none)
    assert healing.likeliest(on, matched, AUTO, search) is matched


def test_a_clear_number_of_clusters_keeps_the_matched_resolution():
    graph = nx.connected_caveman_graph(12, 6)
    on = weighed(as_graph(graph), "modularity")
    found = partitioned(on, 12, AUTO, 1.0, np.random.default_rng(0), Progress())
    lowest, highest = found.goal.natural
    assert lowest < found.goal.resolution < highest
