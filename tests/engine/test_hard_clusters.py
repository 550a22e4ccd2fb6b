"""Clusters that a single resolution or single moves would miss: they are found, or what is likelier is taken."""

import os

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from graphclust import adjusted_rand_index, coreset_sc, planted_partition, stochastic_block_model
from graphclust.engine import engine
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.likelihood import log_likelihood
from graphclust.io.graph_input import as_graph
from graphclust.objective.objective import as_aim, weigh
from graphclust.partition import coreset_sc as pipeline

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")


@pytest.mark.parametrize("objective", ["modularity", "normalized_cut"])
@pytest.mark.parametrize("budget", [engine.BUDGET, 0])
def test_blocks_that_hardly_show_are_found(objective, budget, monkeypatch):
    """As many links leave a block as stay: regions mix the blocks, and the resolution matched to them is below 1."""
    monkeypatch.setattr(engine, "BUDGET", budget)  # 0: no V-cycles run on the nodes
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
    monkeypatch.setattr(pipeline, "suits_a_coreset", lambda *of: True)
    monkeypatch.setattr(pipeline, "default_size", lambda *of: 1_500)
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


@pytest.mark.parametrize(("seed", "least"), [(0, 0.4), (1, 0.44)])
def test_of_communities_that_are_hard_to_tell_apart_likelier_ones_at_a_higher_resolution_are_taken(seed, least):
    """The range in which their number is natural ends below the resolution that they call for."""
    graph, truth, k = hard_communities(seed)
    run = run_on(weigh(graph, "modularity"))

    def likelihood(found):
        return log_likelihood(run.units, with_sums(run.finest, found.labels.astype(np.int32), k, run).sums)

    plan = engine.plan_on(run.finest, k, as_aim("modularity", "auto"), run)
    found = coreset_sc(graph, k, rng=seed)
    matched = coreset_sc(graph, k, resolution=plan.resolution, rng=seed)
    assert plan.resolution <= plan.highest < found.resolution / 1.15
    assert likelihood(found) > likelihood(matched)
    indices = [adjusted_rand_index(truth, one.labels) for one in (found, matched)]
    assert indices[0] > max(indices[1] + 0.01, least)
