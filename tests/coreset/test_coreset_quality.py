"""How good a coreset is: its costs are the definitions', and its verdict holds where more draws help and where not."""

import os

import networkx as nx
import numpy as np
import pytest
from cases import refuses

from graphclust import Coreset
from graphclust.coreset.sampling import CoresetSample
from graphclust.errors import ParameterError
from graphclust.generators.planted_graphs import planted_partition
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.partition.coreset_sc import coreset_sc
from graphclust.points.kernel_k_means.coreset import coreset_kernel_kmeans
from graphclust.results.coreset_quality import compare_coresets, coreset_quality, cost_on_all, cost_on_coreset


@pytest.mark.slow
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@pytest.mark.parametrize(
    ("planted", "size", "helps"),
    [
        ((4, 150, 60, 2), 150, False),
        ((3, 150, 40, 3), 240, False),
        ((3, 150, 40, 3), 45, True),  # too few to be sure of each node
        ((5, 200, 12, 2), 250, True),  # below what shows any clusters, and twice is not yet enough either
    ],
)
def test_the_verdict_on_a_coreset_is_true(planted, size, helps):
    graph, labels = planted_partition(*planted, rng=0)
    found = coreset_sc(graph, planted[0], method="paper", coreset=Coreset(size=size, embedding="eigsh"), rng=0)
    quality = coreset_quality(found, rng=0)
    assert quality.larger_helps == helps and quality.size == size < quality.larger_size
    assert ("would help" in str(quality)) == helps == ("hardly" not in str(quality))
    larger = [
        coreset_sc(graph, planted[0], method="paper", coreset=Coreset(size=quality.larger_size), rng=seed)
        for seed in range(3)
    ]
    gain = np.mean([adjusted_rand_index(one.labels, labels) for one in larger])
    gain -= np.mean(
        [
            adjusted_rand_index(
                coreset_sc(graph, planted[0], method="paper", coreset=Coreset(size=size), rng=s).labels, labels
            )
            for s in range(3)
        ]
    )
    assert gain > 0.01 if helps else gain < 0.01
    assert quality.cost_on_coreset < quality.cost_on_all


@pytest.mark.parametrize("loops", ["implied", "given"])
def test_on_the_whole_graph_both_costs_are_the_same(loops):
    graph = nx.karate_club_graph()
    graph.add_edges_from((u, u) for u in range(0, 34, 3))
    kernel = NormalizedCutKernel.of(graph, loops)
    labels = np.arange(34) % 3
    whole = CoresetSample(np.arange(34), kernel.degrees)
    loops_of = kernel.degrees - kernel.graph.degrees + kernel.graph.loops
    A = kernel.graph.to_scipy().toarray()
    A[np.arange(34), np.arange(34)] = loops_of
    expected = sum(1.0 - A[np.ix_(labels == c, labels == c)].sum() / A[labels == c].sum() for c in range(3))
    assert cost_on_all(kernel, labels) == pytest.approx(expected)
    assert cost_on_coreset(kernel, whole, labels) == pytest.approx(expected)


@pytest.mark.parametrize("max_iter", [1, 2, 300])
def test_cost_on_a_coreset_is_that_of_its_points_about_the_means_of_their_last_clusters(max_iter):
    rng = np.random.default_rng(4)
    points, weights = rng.normal(size=(60, 2)), rng.random(60)
    found = coreset_kernel_kmeans(
        points, 3, coreset_size=60, kernel="linear", sample_weight=weights, max_iter=max_iter, rng=2
    )
    labels = found.centers.coefficients.tocsc().indices  # of the coreset, each point being part of one center
    means = [np.average(points[labels == c], axis=0, weights=weights[labels == c]) for c in range(3)]
    expected = (weights * ((points - np.array(means)[labels]) ** 2).sum(axis=1)).sum()
    assert found.cost_on_coreset == pytest.approx(expected, rel=1e-12)


def test_figures_of_coresets_that_are_made_up():
    labels = np.arange(10) % 2
    costs = {10: 2.0, 20: 1.99, 80: 1.0}

    quality = compare_coresets(lambda size: (labels, 0.5, costs[size]), 10, 1000, 3)
    assert not quality.larger_helps and quality.larger_size == 20 and quality.agreement == 1.0
    turn = iter(range(100))

    def changing(size):
        return np.roll(np.arange(10) // 5, next(turn)), 0.5, costs[size]

    quality = compare_coresets(changing, 10, 1000, 3)
    assert quality.larger_helps and quality.larger_size == 80 and quality.costs_of_larger.tolist() == [1.0] * 3
    whole = compare_coresets(lambda size: (labels, 2.0, costs[size]), 10, 10, 2)
    assert not whole.larger_helps and whole.larger_size == 10 and whole.spread == 0.0
    assert compare_coresets(lambda size: (labels, 2.0, costs[size]), 10, 20, 2).larger_size == 20


def test_what_has_no_coreset_to_judge():
    with pytest.raises(ParameterError, match="made by method 'multilevel', expected 'paper'"):
        coreset_quality(coreset_sc(nx.karate_club_graph(), 2, rng=0))
    found = coreset_sc(nx.karate_club_graph(), 2, method="paper", rng=0)
    refuses(ParameterError, "n_repeats=1", coreset_quality, found, n_repeats=1)
