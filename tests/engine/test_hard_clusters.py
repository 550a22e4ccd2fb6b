"""Clusters that a single resolution or single moves would miss: they are found, or what is likelier is taken."""

import os

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from graphclust import adjusted_rand_index, coreset_sc, planted_partition, stochastic_block_model
from graphclust.engine import engine, v_cycle
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.likelihood import log_likelihood
from graphclust.io.graph_input import as_graph
from graphclust.objective.objective import weigh
from graphclust.partition import coreset_sc as door

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")


@pytest.mark.parametrize("objective", ["modularity", "normalized_cut"])
@pytest.mark.parametrize("budget", [engine.BUDGET, 600_000])
def test_blocks_that_hardly_show_are_found(objective, budget, monkeypatch):
    """Regions mix the blocks, and the resolution matched to them is below 1."""
    for module in (engine, v_cycle):
        monkeypatch.setattr(module, "BUDGET", budget)  # the smaller one: no V-cycles run on the nodes
    planted = planted_partition(20, 2_000, 8, 8, rng=1)
    found = coreset_sc(planted.graph, 20, objective=objective, method="multilevel", rng=1)
    assert adjusted_rand_index(found.labels, planted.labels) > 0.96


def few_large_ones(scale, inside, outside, seed):
    """Two large blocks among sixty small ones."""
    sizes = np.array([1500, 1000, *[40] * 60]) * scale
    return stochastic_block_model(sizes.tolist(), (inside / sizes).tolist(), outside / sizes.sum(), rng=seed)


@pytest.mark.parametrize("seed", [1, 2])
def test_clusters_of_very_unequal_sizes_are_found_where_no_one_resolution_suits_them(seed):
    """At one for all of them the large ones fall apart, or small ones come together."""
    hidden = few_large_ones(1, 10, 9, seed)
    found = coreset_sc(hidden.graph, 62, rng=seed)
    at_matched = coreset_sc(hidden.graph, 62, resolution=found.resolution, rng=seed)
    assert adjusted_rand_index(found.labels, hidden.labels) > 0.95
    assert adjusted_rand_index(at_matched.labels, hidden.labels) < 0.9


@pytest.mark.slow
def test_clusters_of_very_unequal_sizes_that_a_coreset_cannot_show_are_found(monkeypatch):
    hidden = few_large_ones(4, 12, 10, 1)
    monkeypatch.setattr(door, "suits_a_coreset", lambda *of: True)
    monkeypatch.setattr(door, "default_size", lambda *of: 1_500)
    found = [coreset_sc(hidden.graph, 62, rng=seed).labels for seed in range(4)]
    assert np.median([adjusted_rand_index(labels, hidden.labels) for labels in found]) > 0.97


def unequal_with_hubs(seed, n_blocks=100, inside=10, outside=2):
    """A graph without isolated nodes of blocks of 50 to 7,550 nodes, in which some nodes have far more links."""
    rng = np.random.default_rng(seed)
    sizes = (7500 * 0.85 ** np.arange(n_blocks)).astype(int) + 50
    truth = np.repeat(np.arange(n_blocks), sizes)
    n, last = len(truth), np.cumsum(sizes)
    share = np.concatenate([[0.0], np.cumsum(rng.pareto(2.5, n) + 1.0)])

    def ends(low, high):
        return np.searchsorted(share, low + rng.random(len(low)) * (high - low), side="right") - 1

    block = truth[rng.integers(n, size=n * inside // 2)]
    bounds = [np.append(share[(last - sizes)[block]], np.zeros(n * outside // 2))]
    bounds.append(np.append(share[last[block]], np.full(n * outside // 2, share[-1])))
    u, v = ends(*bounds), ends(*bounds)
    matrix = sparse.coo_array((np.ones(len(u)), (u, v)), shape=(n, n)).tocsr()
    matrix.setdiag(0.0)
    matrix = sparse.csr_array((matrix + matrix.T) != 0, dtype=float)
    linked = np.flatnonzero(np.diff(matrix.indptr))
    return as_graph(matrix[linked][:, linked]), truth[linked]


@pytest.mark.slow
@pytest.mark.xfail(strict=False, reason="ARI .98; V-cycles that find .993 are not made where a tenth of the mass stays")
def test_clusters_of_unequal_sizes_and_degrees_are_found():
    graph, truth = unequal_with_hubs(1)
    assert min(adjusted_rand_index(coreset_sc(graph, 100, rng=seed).labels, truth) for seed in (0, 1)) > 0.99


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


def test_of_communities_that_are_hard_to_tell_apart_likelier_ones_are_taken(monkeypatch):
    """Than those of the most modularity at the resolution at which their number is natural."""
    found, graphs = [], [hard_communities(seed) for seed in range(4)]
    found.append([coreset_sc(graph, k, rng=1).labels for graph, _, k in graphs])
    monkeypatch.setattr(engine, "accept_likelier", lambda level, found, task, run: found)
    found.append([coreset_sc(graph, k, rng=1).labels for graph, _, k in graphs])
    for labels, others, (graph, _, k) in zip(*found, graphs, strict=True):
        run = run_on(weigh(graph, "modularity"))
        likelihoods = [
            log_likelihood(run.totals, with_sums(run.finest, one.astype(np.int32), k, run).sums)
            for one in (labels, others)
        ]
        assert likelihoods[0] > likelihoods[1]
    mean = [
        np.mean([adjusted_rand_index(truth, one) for one, (_, truth, _) in zip(of, graphs, strict=True)])
        for of in found
    ]
    assert mean[0] > mean[1]
