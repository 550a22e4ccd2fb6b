"""Spectral embeddings against dense eigenvectors, and labels from eigenvectors without k-means."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from graphs import all_graphs, make, make_graph
from reference import algorithms as reference
from scipy import sparse

from graphclust import planted_partition, spectral_clustering
from graphclust.errors import ConvergenceWarning, GraphValidationError, GraphWarning, ParameterError
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.spectral import eigenvectors
from graphclust.spectral.embedding import (
    NormalizedAdjacency,
    block_power_embedding,
    fast_spectral_embedding,
    spectral_embedding,
)
from graphclust.spectral.whole_graph import by_discretizing, by_pivoted_qr


@for_each("name", all_graphs())
def test_operator_equals_the_dense_matrix(name):
    N = reference.normalized_adjacency(make(name).toarray())
    operator = NormalizedAdjacency(make_graph(name))
    columns = np.random.default_rng(3).standard_normal((len(N), 4))
    np.testing.assert_allclose(operator @ columns, N @ columns, atol=1e-13)
    np.testing.assert_allclose(operator @ columns[:, 0], N @ columns[:, 0], atol=1e-13)
    np.testing.assert_allclose(operator.lazy_step(columns, 0.5), (columns + N @ columns) / 2, atol=1e-13)
    np.testing.assert_allclose(operator.T @ columns, N.T @ columns, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in all_graphs() if n not in ("one node", "no edges")])
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("sparse_solver", [True, False])
def test_columns_are_the_top_eigenvectors(name, k, sparse_solver, monkeypatch):
    if sparse_solver:
        monkeypatch.setattr(eigenvectors, "DENSE_SIZE", 1)
        monkeypatch.setattr(eigenvectors, "DENSE_SHARE", 1)
    A = make(name).toarray()
    k = min(k, len(A))
    scaled = spectral_embedding(make_graph(name), k, rows="degree", rng=4)
    vectors = scaled * np.sqrt(A.sum(axis=1))[:, None]
    N = reference.normalized_adjacency(A)
    values = np.sort(np.linalg.eigvalsh(N[np.ix_(A.any(axis=0), A.any(axis=0))]))[::-1][:k]
    found = min(k, len(values))
    np.testing.assert_allclose(vectors[:, :found].T @ vectors[:, :found], np.eye(found), atol=1e-6)
    np.testing.assert_allclose((vectors * (N @ vectors)).sum(axis=0)[:found], values, atol=1e-6)
    np.testing.assert_allclose(N @ vectors[:, :found], vectors[:, :found] * values, atol=1e-5)
    assert (vectors[:, found:] == 0).all()


def test_embedded_rows_have_unit_length_and_fixed_signs():
    points = spectral_embedding(nx.karate_club_graph(), 4, rng=1)
    np.testing.assert_allclose((points**2).sum(axis=1), 1)
    by_degree = spectral_embedding(nx.karate_club_graph(), 4, rows="degree", rng=1)
    d = np.array([d for _, d in nx.karate_club_graph().degree(weight="weight")])
    vectors = by_degree * np.sqrt(d)[:, None]
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(4)] > 0).all()
    assert by_degree[:, 0] == pytest.approx(np.full(34, by_degree[0, 0]))


def test_other_degrees_than_the_row_sums():
    A = make("karate").toarray()
    d = A.sum(axis=1) * np.linspace(0.5, 2, 34)
    scaled = spectral_embedding(make_graph("karate"), 3, degrees=d, rows="degree", rng=1)
    vectors = scaled * np.sqrt(d)[:, None]
    _, exact = np.linalg.eigh(A / np.sqrt(np.outer(d, d)))
    overlap = np.abs(exact[:, ::-1][:, :3].T @ vectors)
    np.testing.assert_allclose(overlap, np.eye(3), atol=1e-6)


def test_more_components_than_columns_take_the_largest():
    cliques = nx.disjoint_union_all([nx.complete_graph(size) for size in (3, 9, 5, 7)])
    points = spectral_embedding(cliques, 2, rng=0)
    used = np.flatnonzero(points.any(axis=1))
    assert used.tolist() == [*range(3, 12), *range(17, 24)]
    assert (points[3:12] == [1, 0]).all()
    assert (points[17:24] == [0, 1]).all()


def test_components_before_their_insides():
    """Three components and five columns: three indicators, then the best two vectors from inside any component."""
    graph = nx.disjoint_union_all([nx.barbell_graph(6, 2), nx.complete_graph(5), nx.barbell_graph(8, 0)])
    N = reference.normalized_adjacency(nx.to_numpy_array(graph))
    points = spectral_embedding(graph, 5, rows="degree", rng=0)
    vectors = points * np.sqrt([d for _, d in graph.degree()])[:, None]
    expected = np.sort(np.linalg.eigvalsh(N))[::-1][:5]
    np.testing.assert_allclose((vectors * (N @ vectors)).sum(axis=0), expected, atol=1e-8)


def test_the_same_generator_gives_the_same_bits_and_another_the_same_space():
    graph = make_graph("power-law blocks")
    one, again = (spectral_embedding(graph, 4, rng=6) for _ in range(2))
    assert (one == again).all()
    other = spectral_embedding(graph, 4, rng=7)
    np.testing.assert_allclose(other @ other.T, one @ one.T, atol=1e-5)


@pytest.mark.parametrize("name", ["karate", "block model", "isolates", "tiny pieces", "star"])
def test_power_method_equals_its_dense_twin(name):
    A = make(name).toarray()
    n, d = len(A), A.sum(axis=1)
    found = fast_spectral_embedding(make_graph(name), 2, n_columns=3, n_steps=7, rng=15)
    columns = np.random.default_rng(15).standard_normal((n, 3))
    top = np.sqrt(d) / np.sqrt(d.sum())
    columns -= np.outer(top, top @ columns)
    M = (np.eye(n) + reference.normalized_adjacency(A)) / 2
    expected = np.linalg.matrix_power(M, 7) @ columns
    expected = np.divide(expected, np.sqrt(d)[:, None], out=np.zeros((n, 3)), where=d[:, None] > 0)
    ratio = found[d > 0] / expected[d > 0]
    np.testing.assert_allclose(found[d > 0], expected[d > 0] * np.median(ratio), rtol=1e-9, atol=1e-12)
    assert (found[d == 0] == 0).all()


def test_power_method_takes_at_least_one_round_and_two_columns():
    steps = []
    points = fast_spectral_embedding(
        nx.path_graph(5), 5, rng=0, progress=lambda stage, done, total: steps.append(total)
    )
    assert points.shape == (5, 3)
    assert len(steps) == steps[0] == 10
    assert fast_spectral_embedding(nx.path_graph(5), 1, rng=0).shape == (5, 2)


def test_power_method_survives_a_very_long_walk():
    points = fast_spectral_embedding(nx.complete_graph(50), 2, n_steps=3000, rng=0)
    assert np.isfinite(points).all()
    assert np.abs(points).max() > 0


def test_impossible_arguments_are_named():
    refuses(ParameterError, "k=6", spectral_embedding, nx.path_graph(5), 6)
    refuses(ParameterError, "rows='length'", spectral_embedding, nx.path_graph(5), 2, rows="length")
    refuses(TypeError, r"k=2\.0", fast_spectral_embedding, sparse.eye_array(5).tocsr(), 2.0)


def test_embeddings_refuse_what_is_no_graph_or_no_factor():
    refuses(GraphValidationError, "square", spectral_embedding, sparse.csr_array(np.ones((2, 5))), 2)
    refuses(TypeError, "B is a Graph", block_power_embedding, make_graph("karate"), 2)


PLANTED = planted_partition(8, 60, 10.0, 1.0, rng=3)
HOW = ("cluster_qr", "discretize")


def marks(k, sizes, rng):
    """Orthonormal marks of k clusters in any order, turned by any rotation; and the clusters."""
    labels = rng.permutation(np.repeat(np.arange(k), sizes))
    columns = np.eye(k)[labels] / np.sqrt(np.bincount(labels))
    rotation, _ = np.linalg.qr(rng.standard_normal((k, k)))
    return columns @ rotation, labels


@for_each("seed", range(20))
def test_marks_that_were_turned_are_found(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 9))
    vectors, labels = marks(k, rng.integers(1, 30, k), rng)
    assert adjusted_rand_index(by_pivoted_qr(vectors, rng), labels) == 1.0
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert adjusted_rand_index(by_discretizing(unit, rng), labels) == 1.0


@pytest.mark.parametrize("how", HOW)
def test_a_planted_partition_is_found(how):
    found = spectral_clustering(PLANTED.graph, 8, assign_labels=how, rng=1)
    assert adjusted_rand_index(found.labels, PLANTED.labels) == 1.0
    assert found == spectral_clustering(PLANTED.graph, 8, assign_labels=how, rng=1)


def test_discretizing_ends_where_labels_and_rotation_fit_each_other():
    """No rotation is closer to the marks of the labels: the sum of what each node has of its own is the greatest."""
    rng = np.random.default_rng(0)
    rows = spectral_embedding(planted_partition(5, 40, 6.0, 3.0, rng=1).graph, 5, rng=0)
    labels = by_discretizing(rows, rng)
    left, spread, right = np.linalg.svd(rows.T @ np.eye(5)[labels])
    turned = rows @ (left @ right)
    assert (turned.argmax(axis=1) == labels).mean() > 0.99
    assert turned[np.arange(200), labels].sum() == pytest.approx(spread.sum())
    for _ in range(20):
        other, _ = np.linalg.qr(rng.standard_normal((5, 5)))
        assert (rows @ other)[np.arange(200), labels].sum() < spread.sum()


def test_discretized_rows_are_of_unit_length():
    graph = planted_partition(4, 50, 6.0, 4.0, rng=2).graph
    rng = np.random.default_rng(4)
    expected = by_discretizing(spectral_embedding(graph, 4, rng=rng), rng)
    found = spectral_clustering(graph, 4, assign_labels="discretize", rng=4).labels
    assert adjusted_rand_index(found, expected) == 1.0


@pytest.mark.parametrize("how", HOW)
def test_isolated_nodes_stay_out(how):
    graph = nx.disjoint_union(nx.barbell_graph(5, 0), nx.empty_graph(2))
    with pytest.warns(UserWarning, match="isolated"):
        found = spectral_clustering(graph, 2, assign_labels=how, rng=0)
    assert found.labels.tolist() == [0] * 5 + [1] * 5 + [-1] * 2


def test_more_or_fewer_eigenvectors_than_clusters():
    few = spectral_clustering(PLANTED.graph, 8, n_components=7, rng=1)
    many = spectral_clustering(PLANTED.graph, 8, n_components=12, rng=1)
    for found in (few, many):
        assert found.n_clusters == 8 and adjusted_rand_index(found.labels, PLANTED.labels) > 0.9
    with pytest.raises(ParameterError, match=r"n_components=9 with assign_labels='cluster_qr', expected at most k=8"):
        spectral_clustering(PLANTED.graph, 8, n_components=9, assign_labels="cluster_qr")
    with pytest.warns(ConvergenceWarning, match="only 7 of k=8"):
        spectral_clustering(PLANTED.graph, 8, n_components=7, assign_labels="cluster_qr")
    for wrong in ({"n_components": 0}, {"n_components": 481}, {"n_init": 0}, {"assign_labels": "qr"}):
        refuses(ParameterError, next(iter(wrong)), spectral_clustering, PLANTED.graph, 8, **wrong)


@pytest.mark.parametrize("assign_labels", ["kmeans", "cluster_qr", "discretize"])
def test_fewer_nodes_with_edges_than_clusters(assign_labels):
    one_edge = sparse.coo_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(5, 5))
    with pytest.warns(GraphWarning, match="3 isolated"), pytest.warns(ConvergenceWarning, match="2 of k=4"):
        found = spectral_clustering(one_edge, 4, assign_labels=assign_labels, rng=0)
    assert found.labels.tolist() == [0, 1, -1, -1, -1]
