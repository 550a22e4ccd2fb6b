"""What a Graph is, and that every format of a matrix becomes the same one; nothing of the caller's changes."""

import copy
import pickle
import warnings

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from gate_inputs import PATH, fingerprint, raw_csr, remarks_of, same
from graphs import all_graphs, make, make_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

from graphclust.compiled.runtime import blocks
from graphclust.errors import GraphValidationError, GraphWarning
from graphclust.io.graph_input import as_graph

# --- What a Graph is ---


def test_a_path_has_the_rows_and_degrees_by_hand():
    graph = as_graph(PATH)
    assert graph.indptr.tolist() == [0, 1, 3, 4] and graph.indices.tolist() == [1, 0, 2, 1]
    assert graph.weights.tolist() == [1, 1, 2, 2] and graph.degrees.tolist() == [1, 3, 2]
    assert (graph.n_nodes, graph.n_edges, graph.n_entries, graph.total_volume) == (3, 2, 4, 6.0)
    assert graph.neighbors(1).tolist() == [0, 2]
    assert (graph.nodes, graph.remarks) == (None, ())


def test_a_loop_is_stored_once_and_counts_once():
    graph = as_graph(np.array([[5.0, 1.0], [1.0, 0.0]]))
    assert graph.degrees.tolist() == [6, 1] and graph.loops.tolist() == [5, 0] and graph.n_edges == 2


@for_each("name", all_graphs())
def test_degrees_loops_and_components_are_those_of_the_matrix(name):
    matrix, graph = make(name), make_graph(name)
    assert graph.degrees == pytest.approx(matrix.sum(axis=1), rel=1e-14, abs=0)
    assert np.array_equal(graph.loops, matrix.diagonal())
    assert np.array_equal(graph.isolated, np.diff(matrix.indptr) == 0)
    assert (graph.to_scipy() != matrix).nnz == 0
    n_components, labels = csgraph.connected_components(matrix, directed=False)
    assert graph.n_components == n_components
    assert np.array_equal(graph.components, labels)  # both by first appearance
    assert graph.indptr.dtype == np.int64 and graph.indices.dtype == np.int32
    assert (graph.weights is None) == (matrix.data == 1).all()


@for_each("name", all_graphs())
def test_a_graph_passes_unchanged(name):
    graph = make_graph(name)
    assert as_graph(graph) is graph


def test_a_notebook_shows_a_table():
    graph = as_graph([("<a>", "b", 2.0), ("b", "b", 1.0)])
    shown = graph._repr_html_()
    for name, value in (("nodes", 2), ("edges", 2), ("weights", "on the edges"), ("self-loops", 1)):
        assert f"<tr><th>{name}</th><td>{value}</td></tr>" in shown
    assert "isolated" not in shown and "file" not in shown


def test_arrays_are_read_only_views():
    graph = make_graph("weighted")
    for name in ("indptr", "indices", "weights", "degrees", "loops"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(graph, name)[0] = 7
    with pytest.raises(AttributeError):
        graph.indptr = np.zeros(3)


@for_each("name", ["weighted", "star", "isolates"])
@for_each("copied", [lambda graph: pickle.loads(pickle.dumps(graph)), copy.deepcopy, copy.copy])
def test_a_copy_is_the_same_and_read_only_too(name, copied):
    graph = make_graph(name)
    assert graph.n_components > 0  # kept once it is known
    again = copied(graph)
    assert same(again, graph) and again.remarks == graph.remarks and again.n_components == graph.n_components
    for array in ("indptr", "indices", "weights", "degrees", "loops"):
        assert getattr(again, array) is None or not getattr(again, array).flags.writeable


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 60), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_components_of_random_graphs_are_those_of_scipy(n_edges, n, seed):
    u, v = np.random.default_rng(seed).integers(n, size=(2, n_edges))
    matrix = sparse.csr_array((np.ones(2 * n_edges), (np.r_[u, v], np.r_[v, u])), shape=(n, n))
    matrix.data[:] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        graph = as_graph(matrix)
    assert np.array_equal(graph.components, csgraph.connected_components(matrix, directed=False)[1])


# --- Every format of the same graph ---


FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


@for_each("name", ["weighted", "some loops", "karate", "star", "one looped node", "tiny pieces"])
@for_each("form", FORMATS)
@for_each("kind", ["array", "matrix"])
def test_every_scipy_format_gives_the_same_graph_and_is_left_alone(name, form, kind):
    matrix = make(name).asformat(form)
    if kind == "matrix":
        matrix = getattr(sparse, f"{form}_matrix")(matrix)
    before = fingerprint(matrix)
    graph, remarks = remarks_of(matrix)
    assert same(graph, make_graph(name))
    assert fingerprint(matrix) == before
    assert [remark for remark in remarks if "isolated" not in remark] == []


@for_each("index_type", [np.int32, np.int64, np.int16, ">i4", ">i8"])
@for_each("name", ["weighted", "karate"])
def test_every_signed_index_type_gives_the_same_graph(index_type, name):
    matrix = make(name)
    given = raw_csr(matrix.indptr.astype(index_type), matrix.indices.astype(index_type), matrix.data)
    assert same(as_graph(given), make_graph(name))


@pytest.mark.parametrize("name", ["karate", "some loops"])
@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, np.longdouble, ">f8", ">i2"]
)
def test_every_real_dtype_gives_the_same_graph(name, dtype):
    matrix = make(name)
    if dtype is bool and name == "some loops":
        pytest.skip("its weights are not all one")
    given = raw_csr(matrix.indptr, matrix.indices, matrix.data.astype(dtype))
    assert same(as_graph(given), make_graph(name))


@pytest.mark.parametrize("name", ["weighted", "karate", "isolates", "some loops"])
def test_dense_arrays_give_the_same_graph(name):
    dense = make(name).toarray()
    strided = np.kron(dense, np.ones((2, 2)))[::2, ::2]
    for written in (dense, np.asfortranarray(dense), dense.astype(np.float32), strided):
        before = written.copy()
        graph, _ = remarks_of(written)
        assert same(graph, make_graph(name)) and np.array_equal(written, before)


def test_narrow_types_do_not_overflow():
    star = sparse.csr_array(nx.to_scipy_sparse_array(nx.star_graph(300), dtype=np.uint8))
    for form in ("csr", "coo", "csc"):
        assert as_graph(star.asformat(form)).degrees[0] == 300
    row, column = np.zeros(300, int), np.ones(300, int)
    many = sparse.coo_array((np.ones(600, np.uint8), (np.r_[row, column], np.r_[column, row])), shape=(2, 2))
    assert remarks_of(many)[0].degrees.tolist() == [300, 300]


@pytest.mark.parametrize("dtype", [np.complex128, object, "U3", "M8[s]"])
def test_weights_that_are_no_real_numbers_are_type_errors(dtype):
    refuses(TypeError, r"expected (real )?numbers", as_graph, raw_csr([0, 1, 2], [1, 0], np.ones(2, int).astype(dtype)))
    refuses(TypeError, r"expected (real )?numbers", as_graph, np.array([[0, 1], [1, 0]]).astype(dtype))


@pytest.mark.parametrize("G", [None, 3, {"a": ["b"]}, object()])
def test_what_is_no_graph_is_a_type_error_that_lists_what_is(G):
    refuses(TypeError, r"G is a [\w.]+, expected a networkx.Graph, a SciPy sparse matrix", as_graph, G)


@pytest.mark.parametrize("G", [[[0, 1], [1, 0]], (PATH, 2)])
def test_what_is_no_list_of_edges_is_a_type_error_that_says_what_is(G):
    refuses(TypeError, r"(?s)G is a \w+ that holds a \w+, .*expected a networkx.Graph, .*or edges", as_graph, G)


# --- Sharing and leaving alone ---


def test_canonical_float64_csr_is_shared_and_stays_writable():
    matrix = make("weighted")
    graph = as_graph(matrix)
    assert np.shares_memory(graph.indices, matrix.indices) and np.shares_memory(graph.weights, matrix.data)
    wide = raw_csr(matrix.indptr.astype(np.int64), matrix.indices, matrix.data)
    assert np.shares_memory(as_graph(wide).indptr, wide.indptr)
    assert not graph.weights.flags.writeable and not graph.indices.flags.writeable
    assert matrix.data.flags.writeable and matrix.indices.flags.writeable and matrix.indptr.flags.writeable


def test_read_only_memory_mapped_misaligned_and_strided_arrays_are_read(tmp_path):
    matrix = make("weights of all sizes")
    expected = as_graph(matrix)
    for array in (matrix.indptr, matrix.indices, matrix.data):
        array.flags.writeable = False
    assert same(as_graph(matrix), expected)

    mapped = []
    for name in ("indptr", "indices", "data"):
        np.save(tmp_path / f"{name}.npy", getattr(matrix, name))
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    graph = as_graph(raw_csr(*mapped))
    assert same(graph, expected)
    assert type(graph.weights) is np.ndarray and np.shares_memory(graph.weights, mapped[2])

    buffer = np.zeros(matrix.data.nbytes + 1, np.uint8)
    misaligned = buffer[1:].view(np.float64)
    misaligned[:] = matrix.data
    assert not misaligned.flags.aligned
    assert same(as_graph(raw_csr(matrix.indptr, matrix.indices, misaligned)), expected)
    strided = [np.repeat(array, 2)[::2] for array in (matrix.indptr, matrix.indices, matrix.data)]
    assert same(as_graph(raw_csr(*strided)), expected)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_same_on_any_number_of_threads(n_threads, monkeypatch):
    expected = make_graph("weights of all sizes")
    monkeypatch.setattr("graphclust.graph.matrices.entry_blocks", lambda indptr: blocks.row_blocks(len(indptr) - 1, 3))
    monkeypatch.setattr(blocks, "n_threads", lambda: n_threads)
    assert same(make_graph("weights of all sizes"), expected)
    with pytest.raises(GraphValidationError, match=r"2 entries with negative weight, the first -1.0 at \(0, 1\)"):
        as_graph(sparse.csr_array(np.kron(np.eye(2), [[0, -1.0], [-1, 0]])).tocsr()[:2, :2])
