"""Sparse matrices with damaged arrays, handed over in memory: refused by name wherever one is taken, never followed."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from gate_inputs import fingerprint, raw_csr
from scipy import sparse

import graphclust as gc
from graphclust.graph.matrices import as_checked_csr

MATRIX = sparse.csr_array(nx.to_scipy_sparse_array(nx.karate_club_graph(), dtype=np.float64))
N = 34


def with_indptr(place: int, value: int) -> dict[str, np.ndarray]:
    indptr = MATRIX.indptr.copy()
    indptr[place] = value
    return {"indptr": indptr}


def with_index(value: int) -> dict[str, np.ndarray]:
    indices = MATRIX.indices.copy()
    indices[3] = value
    return {"indices": indices}


DAMAGE = {
    "a start far away": with_indptr(1, 10**9), "starts that decrease": with_indptr(2, 1),
    "starts beyond the entries": with_indptr(-1, 10**9), "a start below zero": with_indptr(0, -(10**9)),
    "an index too large": with_index(N), "an index far away": with_index(2**31 - 1),
    "an index below zero": with_index(-1), "too few indices": {"indices": MATRIX.indices[:5]},
    "too few values": {"data": MATRIX.data[:5]},
    "too few starts": {"indptr": MATRIX.indptr[:5]}, "starts in fractions": {"indptr": MATRIX.indptr.astype(float)},
    "values in a table": {"data": MATRIX.data.reshape(-1, 2)},
}  # fmt: skip


def damaged(kind: str, layout: str):
    """The matrix with an array set after SciPy has checked it."""
    matrix = sparse.csr_array((N, N)) if layout == "csr" else sparse.csc_array((N, N))
    for name in ("indptr", "indices", "data"):
        setattr(matrix, name, DAMAGE[kind].get(name, getattr(MATRIX, name)).copy())
    return matrix


@pytest.fixture(scope="module")
def model():
    return gc.coreset_sc(nx.karate_club_graph(), 2, rng=0).model()


def takers(model) -> dict:
    """Every function that takes another's sparse matrix."""
    found = {
        "as_graph": gc.as_graph, "modularity": lambda X: gc.modularity(X, np.zeros(N, int)),
        "coreset_sc": lambda X: gc.coreset_sc(X, 2, rng=0), "predict": model.predict, "SparseKernel": gc.SparseKernel,
        "against": lambda X: gc.SparseKernel(MATRIX).against(X, np.arange(N)),
        "GraphKernel": gc.GraphKernel, "kmeans": lambda X: gc.kmeans(X, 2, rng=0),
        "minibatch_kmeans": lambda X: gc.minibatch_kmeans(X, 2, rng=0),
        "spherical_kmeans": lambda X: gc.spherical_kmeans(X, 2, rng=0),
        "kernel_kmeans": lambda X: gc.kernel_kmeans(X, 2, kernel="precomputed", rng=0),
        "block_power_embedding": lambda X: gc.block_power_embedding(X, 2, rng=0),
        "knn_graph": lambda X: gc.knn_graph(X, 3),
        "knn_graph, distances": lambda X: gc.knn_graph(X, 1, metric="precomputed"),
        "graph_from_neighbors": gc.graph_from_neighbors,
    }  # fmt: skip
    try:
        import sklearn  # noqa: F401
    except ImportError:
        return found
    return found | {
        "SpectralClustering": lambda X: gc.SpectralClustering(2, affinity="precomputed").fit(X),
        "SpectralClustering, distances": lambda X: gc.SpectralClustering(
            2, affinity="precomputed_nearest_neighbors", n_neighbors=2
        ).fit(X),
        "CoresetSpectralClustering": lambda X: gc.CoresetSpectralClustering(2, affinity="precomputed").fit(X),
        "KMeans": lambda X: gc.KMeans(2).fit(X),
        "MiniBatchKMeans": lambda X: gc.MiniBatchKMeans(2).fit(X),
        "KernelKMeans": lambda X: gc.KernelKMeans(2, kernel="precomputed").fit(X),
    }


@for_each("layout", ["csr", "csc"])
@for_each("kind", DAMAGE)
def test_damaged_arrays_are_refused_wherever_a_matrix_is_taken(model, kind, layout):
    for name, take in takers(model).items():
        matrix = damaged(kind, layout)
        before = fingerprint(matrix)
        with pytest.raises(gc.GraphValidationError) as caught:
            take(matrix)
        assert "indices" in str(caught.value) or "indptr" in str(caught.value) or "weights" in str(caught.value) or (
            "column out of range" in str(caught.value)
        ), (name, caught.value)  # fmt: skip
        assert fingerprint(matrix) == before, name


def of_format(kind: str, **arrays) -> sparse.sparray:
    matrix = MATRIX.asformat(kind, copy=True)
    for name, values in arrays.items():
        setattr(matrix, name, values)
    return matrix


def test_damaged_arrays_of_every_other_format_are_refused():
    coo, dia, bsr = MATRIX.tocoo(), MATRIX.todia(), MATRIX.tobsr((2, 2))
    lil, dok = MATRIX.tolil(), MATRIX.todok()
    lil.rows[3].append(7)
    dok._dict[(40, 40)] = 1.0
    row = coo.row.copy()
    row[0] = N
    blocks = bsr.copy()
    blocks.indptr = blocks.indptr + np.array([*[0] * 17, 10**9])
    for matrix in (
        of_format("coo", coords=(row, coo.col)), of_format("coo", coords=(coo.row, row)),
        of_format("coo", coords=(coo.row, -row)), of_format("coo", data=coo.data[:5]),
        of_format("coo", coords=(coo.row[:5], coo.col)), of_format("dia", offsets=dia.offsets[:2]),
        of_format("dia", data=dia.data[0]), blocks, of_format("bsr", data=np.ones(7)),
        of_format("bsr", data=np.ones((len(bsr.indices), 0, 0))), lil, dok,
    ):  # fmt: skip
        for take in (gc.as_graph, lambda X: gc.kmeans(X, 2, rng=0), gc.SparseKernel, lambda X: as_checked_csr(X, "X")):
            refuses(gc.GraphValidationError, None, take, matrix)


@for_each("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_whole_matrices_of_every_format_are_taken_as_they_are(kind):
    matrix = MATRIX.asformat(kind)
    before = fingerprint(matrix)
    found = as_checked_csr(matrix, "X")
    assert (found != MATRIX).nnz == 0 and fingerprint(matrix) == before
    assert np.array_equal(gc.kmeans(matrix, 3, rng=0).labels, gc.kmeans(MATRIX, 3, rng=0).labels)


def test_entries_behind_the_last_row_are_no_entries():
    """As SciPy leaves them where it drops entries in place."""
    indices, data = np.append(MATRIX.indices, [5, 5]), np.append(MATRIX.data, [9.0, np.nan])
    longer = raw_csr(MATRIX.indptr, indices, data)
    assert gc.as_graph(longer) == gc.as_graph(MATRIX)
    assert np.array_equal(as_checked_csr(longer, "X").data, MATRIX.data)
    assert np.array_equal(gc.kmeans(longer, 3, rng=0).centroids, gc.kmeans(MATRIX, 3, rng=0).centroids)
    assert np.array_equal(gc.SparseKernel(longer).diagonal, MATRIX.diagonal())


@pytest.mark.parametrize("take", ["knn_graph", "SparseKernel", "kmeans", "predict"])
def test_rows_out_of_order_and_with_duplicates_count_as_sums_and_the_callers_matrix_stays(model, take):
    """Even where a flag of the matrix says that all is in order."""
    order = np.concatenate(
        [np.arange(b - 1, a - 1, -1) for a, b in zip(MATRIX.indptr, MATRIX.indptr[1:], strict=False)]
    )
    halves = raw_csr(MATRIX.indptr * 2, np.repeat(MATRIX.indices[order], 2), np.repeat(MATRIX.data[order] / 2, 2))
    halves.has_canonical_format = True
    before = fingerprint(halves)
    run = {
        "knn_graph": lambda X: gc.knn_graph(X, 3).indices,
        "SparseKernel": lambda X: gc.SparseKernel(X).block(np.arange(N), np.arange(N)),
        "kmeans": lambda X: gc.kmeans(X, 3, rng=0).centroids,
        "predict": model.predict,
    }[take]
    if take == "knn_graph":
        pytest.importorskip("sklearn")
    assert np.array_equal(run(halves), run(MATRIX)) and fingerprint(halves) == before


def test_what_has_no_rows_of_neighbors_is_refused():
    for indices in (MATRIX, 5, [1, 2], [[0.5]]):
        refuses(gc.GraphValidationError, "expected whole numbers, shape", gc.graph_from_neighbors, indices)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr"])
def test_unsigned_indices_are_indices(layout):
    for kind in (np.uint8, np.uint32, np.uint64):
        matrix = MATRIX.asformat(layout).copy()
        if layout == "coo":
            matrix.coords = tuple(places.astype(kind) for places in matrix.coords)
        else:
            matrix.indices, matrix.indptr = matrix.indices.astype(kind), matrix.indptr.astype(np.uint32)
        assert (gc.as_graph(matrix).to_scipy() != MATRIX).nnz == 0
