"""The two-step coreset graph against dense products, its memory, and its eigenvectors."""

from math import ceil

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from coresets import some_coreset
from graphs import all_graphs, make, make_graph
from peaks import traced
from reference import algorithms as reference
from scipy import sparse

import graphclust as gc
from graphclust.compiled.graphs.objective import Rows
from graphclust.coreset.by_blocks import copy_row_subset
from graphclust.two_step import shared_neighbors
from graphclust.two_step.shared_neighbors import MOST_VISITORS

WITH_EDGES = [name for name in all_graphs() if name not in ("one node", "no edges", "hub")]


def dense_two_step(matrix: np.ndarray, coreset: gc.CoresetSample) -> np.ndarray:
    """w'_x w'_y / (d_x d_y) sum_z A_xz A_yz / d_z with the degrees of implied loops and the edges as they are."""
    _, d = reference.dense_kernel(matrix)
    scale = coreset.weights / d[coreset.nodes]
    rows = matrix[coreset.nodes]
    inverse = np.divide(1.0, d, out=np.zeros(len(d)), where=d > 0)
    return np.outer(scale, scale) * (rows @ np.diag(inverse) @ rows.T)


@pytest.mark.parametrize("name", WITH_EDGES)
def test_formed_and_factored_equal_the_dense_product(name, monkeypatch):
    monkeypatch.setattr(shared_neighbors, "MOST_VISITORS", 10**6)
    monkeypatch.setattr(shared_neighbors, "MOST_NEIGHBORS", 10**6)
    matrix = make(name).toarray()
    kernel = gc.NormalizedCutKernel.of(make_graph(name))
    coreset = some_coreset(kernel, 3)
    expected = dense_two_step(matrix, coreset)
    B = gc.two_step_factor(kernel, coreset)
    np.testing.assert_allclose((B @ B.T).toarray(), expected, rtol=1e-10)
    formed = gc.two_step_coreset_graph(kernel, coreset)
    assert formed.to_scipy().has_sorted_indices
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(formed.to_scipy().toarray(), expected, rtol=1e-10)
    np.testing.assert_allclose(formed.degrees, expected.sum(axis=1), rtol=1e-10)


@for_each("name", WITH_EDGES)
def test_the_square_of_the_kernel_is_the_two_step_product_and_the_paths_over_implied_loops(name):
    """(A + L) D^-1 (A + L), whose rows sum to D, is A D^-1 A and what goes once or twice along a loop of L."""
    A = make(name).toarray()
    kernel = gc.NormalizedCutKernel.of(make_graph(name))
    points = kernel.points
    A, D = A[np.ix_(points, points)], kernel.degrees[points]
    L = np.diag(D - A.sum(axis=1))  # the implied loops
    B = gc.two_step_factor(kernel, gc.CoresetSample(points, D)).toarray()[:, points]
    over_loops = L / D @ A + A / D @ L + L / D @ L
    square = np.outer(D, D) * ((K := (A + L) / np.outer(D, D)) @ np.diag(D) @ K)
    np.testing.assert_allclose(B @ B.T + over_loops, square, rtol=1e-10, atol=1e-12 * D.max())
    np.testing.assert_allclose(square.sum(axis=1), D, rtol=1e-10)
    assert ((B @ B.T).sum(axis=1) <= D * (1 + 1e-12)).all()


def test_a_hub_links_its_visitors_in_runs_and_keeps_their_total():
    n = 200
    star = nx.star_graph(n)
    kernel = gc.NormalizedCutKernel.of(star)
    leaves = gc.CoresetSample(np.arange(1, n + 1), kernel.degrees[1:])
    formed = gc.two_step_coreset_graph(kernel, leaves)
    assert formed.n_entries <= n * MOST_VISITORS
    exact = dense_two_step(nx.to_numpy_array(star), leaves)
    np.fill_diagonal(exact, 0)
    np.testing.assert_allclose(formed.degrees, exact.sum(axis=1), rtol=1e-9)
    links = formed.to_scipy()
    assert abs(links - links.T).max() < 1e-12


def test_a_coreset_node_of_many_neighbors_is_linked_through_some_and_keeps_its_total(monkeypatch):
    """A hub with 400 neighbors, each of them the neighbor of one of 40 other coreset nodes too."""
    n_others, n_between = 40, 400
    between = np.arange(1, n_between + 1)
    others = n_between + 1 + np.arange(n_between) % n_others
    n = n_between + n_others + 1
    edges = np.concatenate([[np.zeros(n_between, int), between], [between, others]], axis=1)
    matrix = sparse.coo_array((np.ones(edges.shape[1]), edges), shape=(n, n)).tocsr()
    kernel = gc.NormalizedCutKernel.of(gc.as_graph(matrix + matrix.T))
    nodes = np.concatenate([[0], np.arange(n_between + 1, n)])
    coreset = gc.CoresetSample(nodes, kernel.degrees[nodes])
    monkeypatch.setattr(shared_neighbors, "MOST_NEIGHBORS", 200.0)  # times the mean of 3.6
    whole = gc.two_step_coreset_graph(kernel, coreset)
    monkeypatch.setattr(shared_neighbors, "MOST_NEIGHBORS", 30.0)
    assert shared_neighbors.most_neighbors(kernel.graph) == ceil(30 * 1600 / n) == 109
    some = gc.two_step_coreset_graph(kernel, coreset)
    assert some.degrees[0] == pytest.approx(whole.degrees[0], rel=1e-12)
    links = some.to_scipy().toarray()
    assert (links == links.T).all() and 0.75 * n_others < np.count_nonzero(links[0]) <= n_others
    assert len(set(links[0].tolist())) > len(set(whole.to_scipy().toarray()[0].round(9).tolist()))  # more by chance


def test_of_long_rows_one_entry_stands_for_each_run_of_them():
    lengths = np.array([100, 3, 0, 1000, 10])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    rows = Rows(indptr, np.arange(indptr[-1], dtype=np.int32) * 7, np.arange(float(indptr[-1])))
    nodes = np.array([0, 1, 2, 3, 4, 3])
    some = copy_row_subset(rows, nodes, 10)
    assert np.diff(some.indptr).tolist() == [10, 3, 0, 10, 10, 10]
    assert (some.indices == some.weights * 7).all()
    parts = np.split(some.weights, some.indptr[1:-1])
    assert (parts[1] == rows.weights[100:103]).all() and (parts[4] == rows.weights[1103:]).all()
    for part, start, length in ((parts[0], 0, 10), (parts[3], 103, 100)):
        assert ((part - start) // length).tolist() == list(range(10))
        assert len(set(((part - start) % length).tolist())) > 3  # not the same of each run
    assert (parts[3] == parts[5]).all()
    whole = copy_row_subset(rows, nodes)
    assert (whole.weights == np.concatenate([rows.weights, rows.weights[103:1103]])).all()
    assert len(copy_row_subset(rows._replace(weights=np.empty(0)), nodes, 10).weights) == 0


@pytest.mark.slow
def test_memory_is_linear_where_a_hub_has_100_000_neighbors():
    n = 100_001
    ring = np.arange(1, n)
    u = np.concatenate([np.zeros(n - 1, int), ring])
    v = np.concatenate([ring, np.roll(ring, 1)])
    matrix = sparse.coo_array((np.ones(len(u)), (u, v)), shape=(n, n))
    graph = gc.as_graph(matrix.maximum(matrix.T))
    kernel = gc.NormalizedCutKernel.of(graph)
    coreset = gc.CoresetSample(np.arange(n), kernel.degrees)
    peak, formed = traced(lambda: gc.two_step_coreset_graph(kernel, coreset))
    assert formed.n_entries < 40 * n
    assert peak < 1000 * graph.n_entries  # a formed clique of the hub's neighbors would take 80 GB
    found = gc.coreset_sc(
        graph, 4, method="two-step", coreset=gc.Coreset(size=20_000), objective="normalized_cut", rng=0
    )
    assert found.n_clusters == 4


def test_block_power_spans_the_top_eigenvectors():
    planted = gc.planted_partition(6, 100, 20, 2, rng=4)
    kernel = gc.NormalizedCutKernel.of(planted.graph)
    coreset = gc.CoresetSample(np.arange(600), kernel.degrees)
    B = gc.two_step_factor(kernel, coreset)
    full = (B @ B.T).toarray()
    d = full.sum(axis=1)
    _, exact = np.linalg.eigh(full / np.sqrt(np.outer(d, d)))
    found = gc.block_power_embedding(B, 10, n_steps=40, rows="degree", rng=1) * np.sqrt(d)[:, None]
    overlap = exact[:, ::-1][:, :6].T @ found[:, :6]
    np.testing.assert_allclose(np.linalg.svd(overlap)[1], 1, atol=1e-6)
    assert (found[np.abs(found).argmax(axis=0), np.arange(10)] > 0).all()
    unit = gc.block_power_embedding(B, 10, rng=1)
    np.testing.assert_allclose((unit**2).sum(axis=1), 1)
    refuses(gc.ParameterError, "n_columns=601", gc.block_power_embedding, B, 601)


@pytest.mark.parametrize("rows", ["unit", "degree"])
@pytest.mark.parametrize("exponent", [-700, 550])
def test_block_power_does_not_hang_on_the_unit(rows, exponent):
    B = sparse.csr_array([[1.0, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 1], [0, 0, 1, 3]])
    plain, scaled = (gc.block_power_embedding(np.ldexp(1.0, e) * B, 2, rows=rows, rng=0) for e in (0, exponent))
    assert np.allclose(scaled if rows == "unit" else np.ldexp(scaled, exponent), plain, rtol=1e-12)


def test_products_of_tiny_weights_link_each_pair_once():
    """Each node has an edge of weight 1, and the others are so light that their products are zero."""
    tiny = np.zeros((60, 60))
    tiny[:20, 20:40] = tiny[20:40, :20] = 1e-170
    tiny[np.arange(40), np.arange(40) % 20 + 40] = tiny[np.arange(40) % 20 + 40, np.arange(40)] = 1.0
    kernel = gc.NormalizedCutKernel.of(gc.as_graph(tiny))
    coreset = gc.CoresetSample(np.arange(40), np.ones(40))
    links = gc.two_step_coreset_graph(kernel, coreset)
    assert (links.weights > 0.0).all()
    for row in range(40):
        neighbors = links.indices[links.indptr[row] : links.indptr[row + 1]]
        assert len(neighbors) == len(np.unique(neighbors))
