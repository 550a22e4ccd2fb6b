"""The gate: what becomes a Graph, what is repaired and said, what is refused; nothing of the caller's changes."""

import hashlib
import warnings

import networkx as nx
import numpy as np
import pytest
from graphs import all_graphs, make, make_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

from graphclust.compiled.runtime import blocks
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError
from graphclust.graph.checked_rows import graph_from_csr
from graphclust.graph.container import Graph
from graphclust.graph.gate import as_graph

PATH = sparse.csr_array([[0, 1.0, 0], [1, 0, 2], [0, 2, 0]])


def fingerprint(matrix) -> str:
    """Hash of every array of a sparse matrix, in the order and types they are stored."""
    digest = hashlib.sha256()
    for name in ("data", "indices", "indptr", "row", "col", "rows", "offsets"):
        if (array := getattr(matrix, name, None)) is not None:
            digest.update(f"{name}{array.dtype}{array.shape}".encode())
            digest.update(repr(array.tolist()).encode() if array.dtype == object else array.tobytes())
    return digest.hexdigest()


def same(one: Graph, two: Graph) -> bool:
    weights = (one.weights is None) == (two.weights is None) and np.array_equal(
        one.weights_or_empty, two.weights_or_empty
    )
    return weights and all(
        np.array_equal(getattr(one, a), getattr(two, a)) for a in ("indptr", "indices", "degrees", "loops")
    )


def raw_csr(indptr, indices, data=None, n=None) -> sparse.csr_array:
    """A CSR matrix as a careless program leaves it: arrays set after scipy has checked."""
    n = len(indptr) - 1 if n is None else n
    matrix = sparse.csr_array((n, n))
    matrix.indptr, matrix.indices = np.asarray(indptr), np.asarray(indices)
    matrix.data = np.ones(len(matrix.indices)) if data is None else np.asarray(data)
    return matrix


def remarks_of(G, **options) -> tuple[Graph, tuple[str, ...]]:
    """The graph and its remarks, which must be what the one warning says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = as_graph(G, **options)
    assert len(caught) == bool(graph.remarks)
    if caught:
        assert caught[0].category is GraphWarning and str(caught[0].message) == "; ".join(graph.remarks)
        assert caught[0].filename == __file__
    return graph, graph.remarks


# --- What a Graph is ---


def test_a_path_by_hand():
    graph = as_graph(PATH)
    assert graph.indptr.tolist() == [0, 1, 3, 4] and graph.indices.tolist() == [1, 0, 2, 1]
    assert graph.weights.tolist() == [1, 1, 2, 2] and graph.degrees.tolist() == [1, 3, 2]
    assert (graph.n_nodes, graph.n_edges, graph.n_entries, graph.total_volume) == (3, 2, 4, 6.0)
    assert graph.neighbors(1).tolist() == [0, 2]
    assert (graph.nodes, graph.remarks) == (None, ())


def test_a_loop_is_stored_once_and_counts_once():
    graph = as_graph(np.array([[5.0, 1.0], [1.0, 0.0]]))
    assert graph.degrees.tolist() == [6, 1] and graph.loops.tolist() == [5, 0] and graph.n_edges == 2


@pytest.mark.parametrize("name", all_graphs())
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


@pytest.mark.parametrize("name", all_graphs())
def test_a_graph_passes_unchanged(name):
    graph = make_graph(name)
    assert as_graph(graph) is graph


def test_arrays_are_read_only_views():
    graph = make_graph("weighted")
    for name in ("indptr", "indices", "weights", "degrees", "loops"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(graph, name)[0] = 7
    with pytest.raises(AttributeError):
        graph.indptr = np.zeros(3)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 60), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_components_of_random_graphs(n_edges, n, seed):
    u, v = np.random.default_rng(seed).integers(n, size=(2, n_edges))
    matrix = sparse.csr_array((np.ones(2 * n_edges), (np.r_[u, v], np.r_[v, u])), shape=(n, n))
    matrix.data[:] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        graph = as_graph(matrix)
    assert np.array_equal(graph.components, csgraph.connected_components(matrix, directed=False)[1])


# --- Every format of the same graph ---


FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


@pytest.mark.parametrize("name", ["weighted", "some loops", "karate", "star", "one looped node", "tiny pieces"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_scipy_format_gives_the_same_graph_and_is_left_alone(name, form, kind):
    matrix = make(name).asformat(form)
    if kind == "matrix":
        matrix = getattr(sparse, f"{form}_matrix")(matrix)
    before = fingerprint(matrix)
    graph, remarks = remarks_of(matrix)
    assert same(graph, make_graph(name))
    assert fingerprint(matrix) == before
    assert [remark for remark in remarks if "isolated" not in remark] == []


@pytest.mark.parametrize("index_type", [np.int32, np.int64, np.int16, ">i4", ">i8"])
@pytest.mark.parametrize("name", ["weighted", "karate"])
def test_every_signed_index_type_gives_the_same_graph(index_type, name):
    matrix = make(name)
    given = raw_csr(matrix.indptr.astype(index_type), matrix.indices.astype(index_type), matrix.data)
    assert same(as_graph(given), make_graph(name))


@pytest.mark.parametrize("name", ["karate", "some loops"])
@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int64, np.uint64, np.float32, np.longdouble, ">f8", ">i2"]
)
def test_every_real_dtype_gives_the_same_graph(name, dtype):
    matrix = make(name)
    if dtype is bool and name == "some loops":
        pytest.skip("its weights are not all one")
    given = raw_csr(matrix.indptr, matrix.indices, matrix.data.astype(dtype))
    assert same(as_graph(given), make_graph(name))


def test_half_precision_weights_are_exact():
    given = raw_csr(PATH.indptr, PATH.indices, PATH.data.astype(np.float16))
    assert same(as_graph(given), as_graph(PATH))


@pytest.mark.parametrize("name", ["weighted", "karate", "isolates", "some loops"])
def test_dense_arrays_give_the_same_graph(name):
    dense = make(name).toarray()
    for written in (
        dense,
        np.asfortranarray(dense),
        dense.astype(np.float32),
        np.kron(dense, np.ones((2, 2)))[::2, ::2],
    ):
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


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match=r"masked array.*G.filled"):
        as_graph(np.ma.masked_array([[0.0, 1.0], [1.0, 0.0]], mask=[[False, True], [True, False]]))


@pytest.mark.parametrize("dtype", [np.complex128, object, "U3", "M8[s]"])
def test_weights_that_are_no_real_numbers_are_type_errors(dtype):
    with pytest.raises(TypeError, match=r"expected (real )?numbers"):
        as_graph(raw_csr([0, 1, 2], [1, 0], np.ones(2, int).astype(dtype)))
    with pytest.raises(TypeError, match=r"expected (real )?numbers"):
        as_graph(np.array([[0, 1], [1, 0]]).astype(dtype))


@pytest.mark.parametrize("G", [None, 3, [[0, 1], [1, 0]], {"a": ["b"]}, object(), (PATH, 2)])
def test_what_is_no_graph_is_a_type_error_that_lists_what_is(G):
    with pytest.raises(TypeError, match=r"G is a [\w.]+, expected a networkx.Graph, a SciPy sparse matrix"):
        as_graph(G)


def test_a_data_frame_is_a_type_error():
    with pytest.raises(TypeError, match=r"G is a pandas[\w.]*DataFrame"):
        as_graph(pytest.importorskip("pandas").DataFrame([[0, 1], [1, 0]]))


# --- Sharing and leaving alone ---


def test_canonical_float64_csr_is_shared():
    matrix = make("weighted")
    graph = as_graph(matrix)
    assert np.shares_memory(graph.indices, matrix.indices) and np.shares_memory(graph.weights, matrix.data)
    wide = raw_csr(matrix.indptr.astype(np.int64), matrix.indices, matrix.data)
    assert np.shares_memory(as_graph(wide).indptr, wide.indptr)


def test_the_input_stays_writable():
    matrix = make("weighted")
    graph = as_graph(matrix)
    assert not graph.weights.flags.writeable and not graph.indices.flags.writeable
    assert matrix.data.flags.writeable and matrix.indices.flags.writeable and matrix.indptr.flags.writeable


def test_read_only_memory_mapped_and_misaligned_arrays_are_read(tmp_path):
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


def test_strided_arrays_are_read():
    matrix = make("weighted")
    doubled = [np.repeat(array, 2)[::2] for array in (matrix.indptr, matrix.indices, matrix.data)]
    assert same(as_graph(raw_csr(*doubled)), as_graph(matrix))


def test_spare_room_behind_the_entries_is_ignored():
    matrix = make("weighted")
    indices, data = np.r_[matrix.indices, 99, -5].astype(np.int32), np.r_[matrix.data, np.nan, -1]
    assert same(as_graph(raw_csr(matrix.indptr, indices, data)), as_graph(matrix))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_same_on_any_number_of_threads(n_threads, monkeypatch):
    expected = make_graph("weights of all sizes")
    monkeypatch.setattr(
        "graphclust.graph.checked_rows.entry_blocks", lambda indptr: blocks.row_blocks(len(indptr) - 1, 3)
    )
    monkeypatch.setattr(blocks.numba, "get_num_threads", lambda: n_threads)
    assert same(make_graph("weights of all sizes"), expected)
    with pytest.raises(GraphValidationError, match=r"2 entries with negative weight, the first -1.0 at \(0, 1\)"):
        as_graph(sparse.csr_array(np.kron(np.eye(2), [[0, -1.0], [-1, 0]])).tocsr()[:2, :2])


# --- Repairs, each said once ---


def test_unsorted_rows_are_sorted_without_a_word():
    matrix = make("weighted")
    flipped = raw_csr(matrix.indptr, matrix.indices.copy(), matrix.data.copy())
    for u in range(6):
        row = slice(matrix.indptr[u], matrix.indptr[u + 1])
        flipped.indices[row], flipped.data[row] = matrix.indices[row][::-1], matrix.data[row][::-1]
    before = fingerprint(flipped)
    graph, remarks = remarks_of(flipped)
    assert same(graph, as_graph(matrix)) and remarks == () and fingerprint(flipped) == before


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
def test_duplicates_are_summed(form):
    halves = sparse.coo_array(
        ([1, 1, 1.0, 1, 0.5, 0.5, 1], ([0, 1, 1, 2, 1, 2, 2], [1, 0, 2, 1, 2, 1, 1])), shape=(3, 3)
    )
    halves.data[6], halves.data[3] = 0.25, 0.75
    if form != "coo":
        order = np.lexsort((halves.col, halves.row))
        major, minor = (halves.row, halves.col) if form == "csr" else (halves.col, halves.row)
        order = np.lexsort((minor, major))
        arrays = halves.data[order], minor[order], np.searchsorted(major[order], np.arange(4))
        halves = getattr(sparse, f"{form}_array")(arrays, shape=(3, 3))
    before = fingerprint(halves)
    graph, remarks = remarks_of(halves)
    assert graph.to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 1.5], [0, 1.5, 0]]
    assert remarks == ("3 duplicate entries were summed",) or remarks == ("2 duplicate entries were summed",)
    assert fingerprint(halves) == before


def test_duplicates_of_a_boolean_matrix_collapse():
    matrix = raw_csr([0, 2, 4], [1, 1, 0, 0], np.ones(4, bool))
    graph, remarks = remarks_of(matrix)
    assert graph.weights is None and graph.degrees.tolist() == [1, 1]
    assert remarks == ("2 duplicate entries were collapsed",)
    coo = sparse.coo_array((np.ones(4, bool), ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    assert remarks_of(coo)[1] == ("2 duplicate entries were collapsed",)


def test_an_entry_that_says_false_is_no_edge():
    matrix = raw_csr([0, 3, 5, 6], [1, 1, 2, 0, 0, 0], np.array([True, True, False, True, True, False]))
    graph, remarks = remarks_of(matrix)
    assert graph.to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert remarks[:2] == ("2 duplicate entries were collapsed", "2 stored zeros were dropped")


def test_two_ones_in_one_place_make_a_weight_of_two():
    graph, remarks = remarks_of(raw_csr([0, 2, 4], [1, 1, 0, 0], np.ones(4)))
    assert graph.weights.tolist() == [2, 2] and remarks == ("2 duplicate entries were summed",)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
def test_stored_zeros_are_dropped(form):
    matrix = sparse.csr_array(make("some loops"))
    matrix.data[matrix.data == 3.0] = 0.0
    expected = matrix.copy()
    expected.eliminate_zeros()
    given = matrix.asformat(form)
    before = fingerprint(given)
    graph, remarks = remarks_of(given)
    assert same(graph, as_graph(expected)) and fingerprint(given) == before
    assert remarks == (() if form in ("dia", "bsr") else ("1 stored zeros were dropped",))
    negative_zero = raw_csr([0, 1, 2], [1, 0], [-0.0, -0.0])
    assert remarks_of(negative_zero)[1][0] == "2 stored zeros were dropped"


def test_rounding_differences_between_both_directions_become_their_mean():
    matrix = make("weighted")
    wobbly = matrix.copy()
    wobbly.data = wobbly.data * (1 + 1e-12 * np.arange(matrix.nnz))
    graph, remarks = remarks_of(wobbly)
    A = graph.to_scipy().toarray()
    assert np.array_equal(A, A.T) and np.allclose(A, matrix.toarray(), rtol=1e-10, atol=0)
    assert len(remarks) == 1 and "differed by rounding and became their mean" in remarks[0]


@pytest.mark.parametrize("name", ["isolates", "no edges", "one node", "tiny pieces"])
def test_isolated_nodes_are_counted(name):
    graph, remarks = remarks_of(make(name))
    assert remarks == (f"{graph.isolated.sum()} isolated nodes are labelled -1 and left out of quality",)


def test_all_remarks_come_in_one_warning():
    matrix = raw_csr([0, 3, 5, 5], [1, 1, 2, 0, 0], [1.0, 2, 0, 1, 2])
    assert len(remarks_of(matrix)[1]) == 3


# --- Directed graphs ---


ONE_WAY = np.array([[1.0, 2, 0], [0.5, 0, 4], [0, 0, 0]])


def test_a_directed_matrix_is_refused_with_the_remedy():
    words = r'not symmetric: A\[1, 2\]=4, A\[2, 1\]=0 \(of 2 pairs that differ\).*symmetrize="sum" or "max"'
    with pytest.raises(GraphValidationError, match=words):
        as_graph(ONE_WAY)
    with pytest.raises(GraphValidationError, match="not symmetric"):
        as_graph(PATH * sparse.csr_array([[1, 1 + 1e-7, 1]] * 3))


@pytest.mark.parametrize(
    ("form", "dtype", "noise"),
    [("csr", np.float32, 4e-7), ("coo", np.float32, 4e-7), ("dense", np.float32, 4e-7), ("dense", np.float16, 4e-3)],
)
def test_rounding_is_that_of_the_type_of_the_weights(form, dtype, noise):
    rounded = np.array([[0, 1, 0], [1 + noise, 0, 1], [0, 1, 0]], dtype)
    assert rounded[0, 1] != rounded[1, 0]
    make = {"csr": sparse.csr_array, "coo": sparse.coo_array, "dense": np.array}[form]
    graph, remarks = remarks_of(make(rounded))
    assert remarks == ("1 pairs of entries (i, j), (j, i) differed by rounding and became their mean",)
    assert graph.weights[0] == graph.weights[1] == (1 + float(rounded[1, 0])) / 2
    with pytest.raises(GraphValidationError, match="not symmetric"):
        as_graph(make(rounded.astype(np.float64)))


def test_without_weights_every_form_is_read_without_weights(tmp_path):
    matrix = np.array([[2.0, 3, 0], [3, 0, 5], [0, 5, 0]])
    (tmp_path / "graph.csv").write_text("source,target,weight\n0,0,2\n0,1,3\n1,2,5\n")
    forms = [matrix, sparse.csr_array(matrix), as_graph(matrix), nx.from_numpy_array(matrix), tmp_path / "graph.csv"]
    for form in forms:
        graph = as_graph(form, weight=None)
        assert graph.to_scipy().toarray().tolist() == [[1, 1, 0], [1, 0, 1], [0, 1, 0]]
        assert graph.degrees.tolist() == [2, 2, 1] and graph.loops.tolist() == [1, 0, 0]


def test_an_attribute_that_no_edge_has_is_refused():
    graph = nx.Graph([(0, 1, {"length": 2.0}), (1, 2)])
    with pytest.raises(GraphValidationError, match="no edge has the attribute 'lenght'"):
        as_graph(graph, weight="lenght")
    assert as_graph(graph, weight="length").weights.tolist() == [2, 2, 1, 1]
    assert as_graph(nx.path_graph(3)).weights is None
    assert remarks_of(nx.empty_graph(3), weight="length")[0].n_edges == 0


@pytest.mark.parametrize(
    ("rule", "expected"), [("max", [[1, 2, 0], [2, 0, 4], [0, 4, 0]]), ("sum", [[1, 2.5, 0], [2.5, 0, 4], [0, 4, 0]])]
)
@pytest.mark.parametrize("form", ["csr", "coo", "dense", "networkx"])
def test_directions_are_joined_by_the_rule(rule, expected, form):
    given = {
        "csr": sparse.csr_array,
        "coo": sparse.coo_array,
        "dense": np.array,
        "networkx": lambda A: nx.from_numpy_array(A, create_using=nx.DiGraph),
    }[form](ONE_WAY)
    graph, remarks = remarks_of(given, symmetrize=rule)
    assert graph.to_scipy().toarray().tolist() == expected
    assert len(remarks) == 1 and "the graph was directed" in remarks[0]
    assert same(as_graph(graph.to_scipy(), symmetrize=rule), graph)


def test_the_rule_is_checked():
    with pytest.raises(ParameterError, match="symmetrize='mean' is unknown, expected one of 'max', 'sum'"):
        as_graph(PATH, symmetrize="mean")


def test_any_single_difference_between_the_directions_is_seen():
    matrix = make("block model")
    rng = np.random.default_rng(12)
    for entry in rng.choice(matrix.nnz, 50, replace=False):
        one_off = matrix.copy()
        one_off.data[entry] = rng.choice([0.5, 2.0, 1 + 1e-7])
        with pytest.raises(GraphValidationError, match="not symmetric"):
            as_graph(one_off)


def test_entries_that_are_swapped_between_rows_are_seen():
    swapped = make("karate")  # same degrees, same columns, other pairs: only the pairs themselves tell
    swapped.indices = np.roll(swapped.indices, 1)
    with pytest.raises(GraphValidationError, match="not symmetric"):
        as_graph(swapped)


# --- NetworkX ---


def test_networkx_nodes_keep_their_names_and_order():
    graph = nx.Graph([("b", "a"), ("a", (1, 2)), ((1, 2), frozenset([3]))])
    result = as_graph(graph)
    assert list(result.nodes) == ["b", "a", (1, 2), frozenset([3])]
    assert result.to_scipy().toarray().tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]


def test_networkx_weights_parallel_edges_and_loops():
    graph = nx.MultiGraph()
    graph.add_edge(0, 1, weight=2.0)
    graph.add_edge(0, 1, weight=3.0)
    graph.add_edge(1, 2)  # a missing weight counts 1
    graph.add_edge(2, 2, weight=7.0, cost=0.5)
    assert as_graph(graph).to_scipy().toarray().tolist() == [[0, 5, 0], [5, 0, 1], [0, 1, 7]]
    assert as_graph(graph, weight=None).to_scipy().toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 1]]
    assert as_graph(graph, weight="cost").loops.tolist() == [0, 0, 0.5]
    assert graph.number_of_edges() == 4


def test_networkx_graphs_that_are_refused():
    for directed in (nx.DiGraph([(0, 1)]), nx.MultiDiGraph([(0, 1)])):
        with pytest.raises(GraphValidationError, match=r'directed .*symmetrize="sum" or "max".*to_undirected'):
            as_graph(directed)
    with pytest.raises(GraphValidationError, match="0 nodes"):
        as_graph(nx.Graph())
    for weight, words in [
        ("heavy", "does not hold numbers"),
        (-1, "negative"),
        (np.nan, "non-finite"),
        (None, "non-finite"),
    ]:
        with pytest.raises(GraphValidationError, match=words):
            as_graph(nx.Graph([(0, 1, {"weight": weight})]))


def test_views_and_frozen_networkx_graphs_are_read():
    graph = nx.freeze(nx.karate_club_graph())
    assert same(as_graph(graph, weight=None), make_graph("karate"))
    assert as_graph(graph.subgraph(range(5)), weight=None).n_nodes == 5


# --- Refused ---


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (0, 2)])
def test_a_matrix_that_is_not_square_is_refused(shape):
    for written in (sparse.csr_array(shape), sparse.coo_array(shape), np.zeros(shape)):
        with pytest.raises(GraphValidationError, match=rf"shape \({shape[0]}, {shape[1]}\), expected a square"):
            as_graph(written)


def test_vectors_and_cubes_are_refused():
    for written in (np.zeros(4), np.zeros((2, 2, 2)), sparse.coo_array(np.ones(4)), np.array(3.0)):
        with pytest.raises(GraphValidationError, match="expected a square"):
            as_graph(written)


def test_a_graph_without_nodes_is_refused():
    for written in (sparse.csr_array((0, 0)), sparse.coo_array((0, 0)), np.zeros((0, 0))):
        with pytest.raises(GraphValidationError, match="0 nodes, expected at least 1"):
            as_graph(written)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-1.5, r"2 entries with negative weight, the first -1.5 at \(1, 2\); .*abs\(G\)"),
        (np.nan, r"2 entries with non-finite weight, the first nan at \(1, 2\)"),
        (np.inf, r"2 entries with non-finite weight, the first inf at \(1, 2\)"),
        (-np.inf, r"2 entries with non-finite weight, the first -inf at \(1, 2\)"),
    ],
)
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dense"])
def test_impossible_weights_are_refused(value, words, form):
    A = PATH.toarray()
    A[1, 2] = A[2, 1] = value
    with pytest.raises(GraphValidationError, match=words):
        as_graph(A if form == "dense" else sparse.csr_array(A).asformat(form))


@pytest.mark.parametrize("scale", [1e300, 1e-320, 1e160])
def test_degrees_out_of_floating_point_range_are_refused(scale):
    with pytest.raises(GraphValidationError, match="degree overflow"):
        as_graph(PATH * scale)
    with pytest.raises(GraphValidationError, match="degree overflow"):
        as_graph(PATH.toarray() * scale)


def test_weights_over_24_orders_of_magnitude_are_fine():
    A = sparse.csr_array([[0, 1e-12, 0], [1e-12, 0, 1e12], [0, 1e12, 0]])
    assert as_graph(A).degrees.tolist() == [1e-12, 1e12 + 1e-12, 1e12]


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (raw_csr([0, 1, 2], [5, 0]), r"1 entries with column out of range, the first 5 at \(0, 5\)"),
        (raw_csr([0, 1, 2], [2, 0]), r"column out of range, the first 2 at \(0, 2\); expected columns in \[0, 2\)"),
        (raw_csr([0, 1, 2], [1, -1]), r"column out of range, the first -1 at \(1, -1\)"),
        (raw_csr([0, 1, 2], [1, -(2**31)]), "column out of range"),
        (raw_csr([0, 1, 2], np.array([1, 2**40])), "column out of range"),
        (raw_csr([0, 1, 2], np.array([1, 2**32])), "column out of range"),  # 0 if it were cut to 32 bits
        (raw_csr([0, 2, 1, 2], [1, 0]), "indptr decreases after row 1"),
        (raw_csr([0, -5, 2], [1, 0]), "indptr decreases after row 0"),
        (raw_csr([1, 1, 2], [1, 0]), "indptr has 3 numbers from 1 on, expected 3 from 0 on"),
        (raw_csr([-1, 1, 2], [1, 0]), "indptr has 3 numbers from -1 on"),
        (raw_csr([0, 1, 9], [1, 0]), "indptr ends at 9, but only 2 entries are stored"),
        (raw_csr([0, 1, 2], [1, 0], [1.0]), "indptr ends at 2, but only 1 entries are stored"),
        (raw_csr([0, 1, 2], [1, 0], [2.0]), "indptr ends at 2, but only 1 entries are stored"),
        (raw_csr([0, 1], [1], n=2), "indptr has 2 numbers from 0 on, expected 3"),
        (raw_csr([0, 1, 1, 2], [1, 0], n=2), "indptr has 4 numbers"),
        (raw_csr(np.array([], int), [], n=2), "0 nodes|indptr"),
        (raw_csr([0, 1, 2], [[1], [0]]), "indices has dtype int64 and 2 dimensions"),
        (raw_csr([0.0, 1, 2], [1, 0]), "indptr has dtype float64"),
        (raw_csr([0, 1, 2], [1.0, 0]), "indices has dtype float64"),
        (raw_csr([0, 1, 2], np.array([1, 0], np.uint64)), "indices has dtype uint64"),
        (raw_csr(np.array([0, 1, 2], np.uint32), [1, 0]), "indptr has dtype uint32"),
        (raw_csr([0, 1, 2], [1, 0], [[2.0], [2.0]]), "weights has 2 dimensions"),
    ],
)
def test_a_malformed_csr_never_reaches_a_loop(matrix, words):
    with pytest.raises(GraphValidationError, match=words):
        as_graph(matrix)


@pytest.mark.parametrize("index", [-1, 3, 2**31 - 1, -(2**31)])
def test_a_malformed_matrix_of_another_format_is_refused_too(index):
    columns = sparse.csc_array(PATH, copy=True)
    columns.indices[1] = index
    with pytest.raises(GraphValidationError, match=rf"G has indices from .*{index}.*expected them in \[0, 3\)"):
        as_graph(columns)
    for row in (True, False):
        pairs = sparse.coo_array(PATH, copy=True)
        (pairs.row if row else pairs.col)[1] = index
        with pytest.raises(GraphValidationError, match=rf"G has indices from .*{index}"):
            as_graph(pairs)
    short = sparse.csc_array(PATH, copy=True)
    short.indptr = np.array([0, 1, 30, 4])
    with pytest.raises(GraphValidationError, match="indptr decreases after row 2"):
        as_graph(short)


def test_long_doubles_beyond_a_float_are_not_finite():
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("long doubles are plain doubles here")
    with pytest.raises(GraphValidationError, match="non-finite weight, the first inf"):
        as_graph(raw_csr([0, 1, 2], [1, 0], np.full(2, np.longdouble(10) ** 400)))


def test_the_refusal_names_the_first_bad_entry_of_many_blocks():
    n = 200_000  # several blocks of rows
    indices = (np.arange(n) ^ 1).astype(np.int32)
    weights = np.ones(n)
    weights[[150_001, 150_000, 199_999, 199_998]] = -2
    with pytest.raises(GraphValidationError, match=r"4 entries .* the first -2.0 at \(150000, 150001\)"):
        as_graph(raw_csr(np.arange(n + 1), indices, weights))


def test_more_nodes_than_an_int32_can_name_are_refused_before_any_work():
    class Long:
        """Stands for an indptr of 2^31 + 2 numbers that nobody has to allocate."""

        ndim, dtype = 1, np.dtype(np.int64)

        def __len__(self):
            return 2**31 + 2

    with pytest.raises(ParameterError, match=r"2147483649 nodes, expected fewer than 2\^31"):
        graph_from_csr(Long(), np.zeros(1, np.int32), None)


# --- Relations between inputs ---


@pytest.mark.parametrize("name", ["weighted", "some loops", "power-law blocks", "tiny pieces"])
def test_renaming_nodes_permutes_the_graph(name):
    matrix, graph = make(name), make_graph(name)
    order = np.random.default_rng(9).permutation(graph.n_nodes)
    renamed, _ = remarks_of(matrix[order][:, order])
    assert renamed.degrees == pytest.approx(graph.degrees[order], rel=1e-15)
    assert np.array_equal(renamed.loops, graph.loops[order])
    assert renamed.n_components == graph.n_components


@settings(deadline=None, derandomize=True, max_examples=80)
@given(
    n=st.integers(1, 12),
    entries=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.sampled_from([1.0, 2.0, 0.25])), max_size=40),
    form=st.sampled_from(["csr", "csc", "coo"]),
    split=st.booleans(),
    zeros=st.booleans(),
    wide=st.booleans(),
)
def test_any_way_of_writing_a_graph_down_gives_the_same_graph(n, entries, form, split, zeros, wide):
    dense = np.zeros((n, n))
    for u, v, weight in entries:
        dense[u % n, v % n] = dense[v % n, u % n] = weight
    row, column = dense.nonzero()
    data = dense[row, column]
    if split:  # the same weight in two entries
        row, column, data = np.r_[row, row], np.r_[column, column], np.r_[data / 4, data * 3 / 4]
    if zeros:
        row, column, data = np.r_[row, 0], np.r_[column, n - 1], np.r_[data, 0.0]
    shuffled = np.random.default_rng(n).permutation(len(row))
    kind = np.int64 if wide else np.int32
    matrix = sparse.coo_array(
        (data[shuffled], (row[shuffled].astype(kind), column[shuffled].astype(kind))), shape=(n, n)
    )
    graph, _ = remarks_of(matrix.asformat(form))
    expected, _ = remarks_of(sparse.csr_array(dense))
    assert same(graph, expected)
