"""Eigenvectors of graphs that deceive solvers, held against dense eigenvalues; solvers that lie."""

import os
import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from reference import algorithms as reference
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from graphclust import Coreset, coreset_sc, fast_spectral_clustering, spectral_clustering, spectral_embedding
from graphclust.coreset.label_extension import coreset_graph
from graphclust.coreset.paper import cluster_coreset
from graphclust.coreset.sampling import construct_coreset
from graphclust.errors import ConvergenceError, GraphValidationError, GraphWarning
from graphclust.generators import planted_partition, stochastic_block_model
from graphclust.io.graph_input import as_graph
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.spectral import eigenvectors
from graphclust.spectral.eigenvectors import top_eigenpairs
from graphclust.spectral.embedding import block_power_embedding, fast_spectral_embedding

DEGENERATE = {
    "star": nx.star_graph,
    "complete": nx.complete_graph,
    "complete bipartite": lambda n: nx.complete_bipartite_graph(n // 3, n - n // 3),
    "barbell": lambda n: nx.barbell_graph(n // 2, n % 3),
    "cycle": nx.cycle_graph,
    "path": nx.path_graph,
    "binary tree": lambda n: nx.full_rary_tree(2, n),
    "tree of threes": lambda n: nx.full_rary_tree(3, n),
    "tree of fives": lambda n: nx.full_rary_tree(5, n),
    "torus": lambda n: nx.grid_2d_graph(int(n**0.5), int(n**0.5), periodic=True),
    "grid": lambda n: nx.grid_2d_graph(int(n**0.5), int(n**0.5)),
    "hypercube": lambda n: nx.hypercube_graph(int(np.log2(n))),
    "equal cliques": lambda n: nx.disjoint_union_all([nx.complete_graph(n // 5)] * 5),
    "ring of cliques": lambda n: nx.ring_of_cliques(n // 5, 5),
}


def adjacency(name: str, n: int, loops: bool) -> sparse.csr_array:
    matrix = nx.to_scipy_sparse_array(DEGENERATE[name](n), weight=None, dtype=float, format="csr")
    return (matrix + sparse.eye_array(matrix.shape[0])).tocsr() if loops else matrix


def assert_eigenpairs_are_dense_ones(name: str, n: int, loops: bool, ks) -> None:
    matrix = adjacency(name, n, loops)
    N = reference.normalized_adjacency(matrix.toarray())
    exact = np.linalg.eigvalsh(N)[::-1]
    degrees = matrix.sum(axis=1)
    for k in (k for k in ks if k <= len(N)):
        found = spectral_embedding(as_graph(matrix), k, rows="degree", rng=n + k) * np.sqrt(degrees)[:, None]
        values = (found * (N @ found)).sum(axis=0)
        np.testing.assert_allclose(values, exact[:k], atol=1e-8, err_msg=f"{name}, {n} nodes, k={k}")
        np.testing.assert_allclose(found.T @ found, np.eye(k), atol=1e-8)
        np.testing.assert_allclose(N @ found, found * values, atol=1e-7)


@pytest.mark.parametrize("loops", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", DEGENERATE)
def test_eigenpairs_of_degenerate_graphs_are_those_of_a_dense_solver(name, loops):
    for n in (20, 31, 150, 260):
        assert_eigenpairs_are_dense_ones(name, n, loops, (2, 5, 10, 17))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cycle", "tree of threes", "torus", "ring of cliques"])
def test_missed_eigenvectors_are_found_without_a_dense_solver(name, monkeypatch):
    monkeypatch.setattr(eigenvectors, "QUICK_DENSE", 0)
    monkeypatch.setitem(eigenvectors.SOLVERS, "divide and conquer", lambda *a: pytest.fail("not needed"))
    assert_eigenpairs_are_dense_ones(name, 400, False, (5, 10))


@pytest.mark.slow
@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("name", DEGENERATE)
def test_eigenpairs_of_large_degenerate_graphs_are_those_of_a_dense_solver(name, loops):
    for n in (600, 1000) if loops else (600, 1000, 3000):
        assert_eigenpairs_are_dense_ones(name, n, loops, (2, 5, 10, 33))


@pytest.mark.parametrize("name", ["star", "complete", "torus", "tree of fives"])
def test_block_lanczos_alone_finds_all_eigenpairs(name):
    N = reference.normalized_adjacency(adjacency(name, 300, False).toarray())
    for k in (1, 6, 20):
        values, vectors = eigenvectors._by_block_lanczos(aslinearoperator(N), k, np.random.default_rng(k))
        np.testing.assert_allclose(values, np.linalg.eigvalsh(N)[::-1][:k], atol=1e-8)
        assert np.linalg.norm(N @ vectors - vectors * values, axis=0).max() < 1.1 * eigenvectors.TOLERANCE


def test_orthonormal_columns_span_what_lies_outside_a_basis():
    rng = np.random.default_rng(2)
    basis = np.linalg.qr(rng.standard_normal((40, 6)))[0]
    columns = rng.standard_normal((40, 5)) * [1.0, 9.0, 2.0, 5.0, 0.1]
    columns[:, 3] = basis @ rng.standard_normal(6)  # nothing of it is left
    q, r = eigenvectors._orthonormalize(columns, basis, rng)
    np.testing.assert_allclose(q @ r, columns - basis @ (basis.T @ columns), atol=1e-12)
    both = np.hstack([basis, q])
    np.testing.assert_allclose(both.T @ both, np.eye(11), atol=1e-12)


ON_ANY_PROCESSOR = """
import warnings, sys
warnings.simplefilter("ignore")
sys.path[:0] = ["tests/spectral", "tests"]
import networkx as nx, numpy as np
from graphclust import coreset_sc, spectral_clustering, spectral_embedding
from test_eigenvectors import assert_eigenpairs_are_dense_ones
for name in ("star", "complete", "complete bipartite", "barbell", "hypercube"):
    for n in (21, 30, 60, 100):
        assert_eigenpairs_are_dense_ones(name, n, True, (1, 2, 5, 8, 17))
        assert_eigenpairs_are_dense_ones(name, n, False, (1, 2, 5, 8, 17))
print(coreset_sc(nx.star_graph(30), 2, method="paper", rng=0).n_clusters)
print(coreset_sc(nx.barbell_graph(10, 0), 10, method="paper", rng=0).labels.tolist())
two_sides = nx.to_numpy_array(nx.complete_bipartite_graph(26, 54)) + np.eye(80)
print(spectral_clustering(two_sides, 5, rng=0).labels.tolist())
print(spectral_clustering(nx.complete_graph(21), 2, rng=0).labels.tolist())
print(spectral_clustering(nx.full_rary_tree(3, 600), 10, rng=0).labels.tolist())
"""


@pytest.mark.slow
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="the solvers are the same there")
def test_the_same_labels_whichever_way_lapack_takes():
    """OpenBLAS takes another path, and LAPACK meets other roundings, on each kind of processor."""
    outputs = set()
    for core in ("Haswell", "Prescott"):
        environment = {**os.environ, "OPENBLAS_CORETYPE": core}
        run = subprocess.run([sys.executable, "-c", ON_ANY_PROCESSOR], env=environment, capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (0, "")
        outputs.add(run.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 5


def test_clusters_of_trees_and_tori():
    assert spectral_clustering(nx.full_rary_tree(3, 600), 10, rng=0).normalized_cut < 0.25
    assert spectral_clustering(nx.grid_2d_graph(16, 16, periodic=True), 5, rng=0).normalized_cut < 1.1


def wide_weights(n_blocks: int, size: int) -> sparse.csr_array:
    upper = sparse.triu(planted_partition(n_blocks, size, 10, 1, rng=0).graph.to_scipy(), 1).tocsr()
    upper.data = 10.0 ** np.random.default_rng(1).uniform(-40, 40, upper.nnz)
    return (upper + upper.T).tocsr()


def test_very_wide_weights_are_answered_in_bounded_work():
    """ARPACK breaks down again and again on them and would never return."""
    matrix = wide_weights(3, 100)
    assert spectral_clustering(matrix, 3, rng=0).normalized_cut < 1e-6
    hold = spectral_embedding(matrix, 4, rng=0)
    assert np.isfinite(hold).all()


def test_no_solver_succeeds(monkeypatch):
    monkeypatch.setattr(eigenvectors, "LARGEST_DENSE", 10)
    monkeypatch.setattr(eigenvectors, "FEW_PRODUCTS", 500)
    with pytest.raises(ConvergenceError, match=r"\d of k=3 eigenvectors .* on 300 nodes .*arpack: .* 500 products"):
        spectral_clustering(wide_weights(3, 100), 4, rng=0)


def lies():
    """NaN, fewer pairs, none, one pair again and again, wrong values, wrong vectors."""
    rng = np.random.default_rng(3)
    yield lambda values, vectors: (values * np.nan, vectors * np.nan)
    yield lambda values, vectors: (values[1:], vectors[:, 1:])
    yield lambda values, vectors: (values[:0], vectors[:, :0])
    yield lambda values, vectors: (values[[-1, -1, -1, -1]], vectors[:, [-1, -1, -1, -1]])
    yield lambda values, vectors: (values + 0.01, vectors)
    yield lambda values, vectors: (values, np.linalg.qr(rng.standard_normal(vectors.shape))[0])


@pytest.mark.slow
@pytest.mark.parametrize("lie", list(lies()))
def test_solvers_that_lie(lie, monkeypatch, capfd):
    """What one solver gets wrong the next one mends; if all do, that is said."""
    graph = as_graph(adjacency("binary tree", 300, False))
    exact = spectral_embedding(graph, 5, rng=0)
    real = {solver: getattr(eigenvectors, solver) for solver in ("eigsh", "eigh")}
    monkeypatch.setattr(eigenvectors, "eigsh", lambda *a, **o: lie(*real["eigsh"](*a, **o)))
    np.testing.assert_allclose(spectral_embedding(graph, 5, rng=0) @ exact.T, exact @ exact.T, atol=1e-6)
    monkeypatch.setattr(eigenvectors, "eigh", lambda *a, **o: lie(*real["eigh"](*a, **o)) if o["driver"] == "evd"
                        else real["eigh"](*a, **o))  # fmt: skip
    np.testing.assert_allclose(spectral_embedding(graph, 5, rng=0) @ exact.T, exact @ exact.T, atol=1e-6)
    monkeypatch.setattr(eigenvectors, "eigh", lambda *a, **o: lie(*real["eigh"](*a, **o)))
    with pytest.raises(ConvergenceError, match=r"of k=4 .*arpack: .*divide and conquer: .*qr iteration: "):
        spectral_embedding(graph, 5, rng=0)
    assert capfd.readouterr() == ("", "")


def test_a_second_eigenvector_that_was_left_out_is_noticed():
    N = reference.normalized_adjacency(adjacency("cycle", 60, False).toarray())
    values, vectors = (array[..., ::-1] for array in np.linalg.eigh(N))
    operator, rng = aslinearoperator(N), np.random.default_rng(0)
    for kept, missed in (([0, 1, 2], False), ([0, 1], False), ([0, 1, 3], True), ([1, 2], True), ([0, 1, 2, 5], True)):
        assert eigenvectors._has_missed_one(operator, values[kept], vectors[:, kept], rng) == missed, kept


def test_rounding_does_not_bring_back_what_was_found():
    """Along a path the search takes hundreds of steps, in which the vectors found grow again if they are let."""
    N = reference.normalized_adjacency(adjacency("path", 900, False).toarray())
    values, vectors = (array[..., ::-1] for array in np.linalg.eigh(N))
    for k in (3, 40):
        found = values[:k], vectors[:, :k]
        assert not eigenvectors._has_missed_one(aslinearoperator(N), *found, np.random.default_rng(k))


def test_a_matrix_with_nan_is_refused(capfd):
    matrix = np.ones((200, 200))
    matrix[3, 4] = matrix[4, 3] = np.nan
    refuses(ConvergenceError, "non-finite", top_eigenpairs, aslinearoperator(matrix), 3, np.random.default_rng(0))
    assert capfd.readouterr() == ("", "")


def test_the_generator_advances_by_one_number_whatever_happens():
    for name in ("complete", "cycle", "path"):
        rng, twin = np.random.default_rng(5), np.random.default_rng(5)
        N = reference.normalized_adjacency(adjacency(name, 200, False).toarray())
        top_eigenpairs(aslinearoperator(N), 4, rng)
        twin.integers(2**63)
        assert rng.random() == twin.random()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_a_factor_of_impossible_entries_is_refused(bad):
    B = sparse.csr_array([[1.0, 1, 0], [0, bad, 1]])
    refuses(GraphValidationError, f"B holds {bad} among its entries", block_power_embedding, B, 1, rng=0)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, np.asarray])
def test_every_form_of_a_graph_gets_the_same_warning(form):
    matrix = np.zeros((5, 5))
    matrix[0, 1] = matrix[1, 0] = matrix[1, 2] = matrix[2, 1] = 1.0
    for embedding in (spectral_embedding, fast_spectral_embedding):
        with pytest.warns(GraphWarning, match="2 isolated nodes"):
            embedding(form(matrix), 2, rng=0)


def test_coreset_weights_as_degrees_of_the_walk():
    """Weights far below a row sum must not let a few nodes drown all others; k > 64 takes the walk by itself."""
    planted = planted_partition(70, 120, 60, 2, rng=4)
    kernel = NormalizedCutKernel.of(planted.graph)
    coreset = construct_coreset(kernel, 70, 1200, rng=4)
    induced = coreset_graph(kernel, coreset)
    truth = planted.labels[coreset.nodes]
    agreement = {
        degrees: adjusted_rand_index(cluster_coreset(induced, 70, coreset.weights, degrees=degrees, rng=4), truth)
        for degrees in ("row_sums", "weights")
    }
    assert agreement["weights"] > max(0.8, agreement["row_sums"] - 0.1)


def test_row_sums_as_degrees_change_nothing():
    graph = as_graph(nx.karate_club_graph())
    by_default = fast_spectral_embedding(graph, 2, rng=3)
    assert (fast_spectral_embedding(graph, 2, degrees=graph.degrees.copy(), rng=3) == by_default).all()
    assert (fast_spectral_embedding(graph, 2, degrees=graph.degrees / 4, rng=3) == by_default).all()  # no mass gained


def test_a_worthless_coreset_is_announced():
    planted = planted_partition(20, 400, 8, 2, rng=2)
    with pytest.warns(GraphWarning, match=r"no neighbor in .* 0\.5 neighbors in .*larger coreset.*method=.auto"):
        found = coreset_sc(planted.graph, 20, method="paper", coreset=Coreset(size=300), rng=0)
    assert adjusted_rand_index(found.labels, planted.labels) < 0.2
    assert any("larger coreset" in remark for remark in found.remarks)


def test_a_walk_of_the_wrong_length_is_announced():
    ring = nx.watts_strogatz_graph(600, 8, 0, seed=1)
    with pytest.warns(GraphWarning, match=r"eigenvectors where 2 would tell k=2"):
        found = fast_spectral_clustering(ring, 2, rng=0)
    assert any("worth little" in remark for remark in found.remarks)


def test_good_runs_of_both_say_nothing():
    blocks = stochastic_block_model([300] * 8, 0.2, 0.002, rng=404).graph
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not fast_spectral_clustering(blocks, 8, rng=0).remarks
        assert not any("larger coreset" in r for r in coreset_sc(blocks, 8, method="paper", rng=1).remarks)
