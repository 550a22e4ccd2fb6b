"""What the gate refuses, and that ways of writing one graph down make no difference."""

import numpy as np
import pytest
from cases import for_each, refuses
from gate_inputs import PATH, raw_csr, remarks_of, same
from graphs import make, make_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from graphclust.errors import GraphValidationError, ParameterError
from graphclust.graph.matrices import graph_from_csr
from graphclust.io.graph_input import as_graph

# --- Refused ---


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (0, 2)])
def test_a_matrix_that_is_not_square_is_refused(shape):
    for written in (sparse.csr_array(shape), sparse.coo_array(shape), np.zeros(shape)):
        refuses(GraphValidationError, rf"shape \({shape[0]}, {shape[1]}\), expected a square", as_graph, written)


def test_vectors_and_cubes_are_refused():
    for written in (np.zeros(4), np.zeros((2, 2, 2)), sparse.coo_array(np.ones(4)), np.array(3.0)):
        refuses(GraphValidationError, "expected a square", as_graph, written)


def test_a_graph_without_nodes_is_refused():
    for written in (sparse.csr_array((0, 0)), sparse.coo_array((0, 0)), np.zeros((0, 0))):
        refuses(GraphValidationError, "0 nodes, expected at least 1", as_graph, written)


@for_each(
    ("value", "words"),
    [
        (-1.5, r"2 entries with negative weight, the first -1.5 at \(1, 2\); .* drop .* or pass weight=None"),
        (np.nan, r"2 entries with non-finite weight, the first nan at \(1, 2\)"),
        (np.inf, r"2 entries with non-finite weight, the first inf at \(1, 2\)"),
        (-np.inf, r"2 entries with non-finite weight, the first -inf at \(1, 2\)"),
    ],
)
@for_each("form", ["csr", "csc", "coo", "dense"])
def test_impossible_weights_are_refused(value, words, form):
    A = PATH.toarray()
    A[1, 2] = A[2, 1] = value
    refuses(GraphValidationError, words, as_graph, A if form == "dense" else sparse.csr_array(A).asformat(form))


@pytest.mark.parametrize("scale", [1e300, 1e-320, 1e160])
def test_degrees_out_of_floating_point_range_are_refused(scale):
    refuses(GraphValidationError, "degree overflow", as_graph, PATH * scale)
    refuses(GraphValidationError, "degree overflow", as_graph, PATH.toarray() * scale)


def test_weights_over_24_orders_of_magnitude_are_fine():
    A = sparse.csr_array([[0, 1e-12, 0], [1e-12, 0, 1e12], [0, 1e12, 0]])
    assert as_graph(A).degrees.tolist() == [1e-12, 1e12 + 1e-12, 1e12]


@for_each(
    ("matrix", "words"),
    [
        (raw_csr([0, 1, 2], [5, 0]), r"1 entry with column out of range, the first 5 at \(0, 5\)"),
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
        (raw_csr([0, 1, 2], [1, 0], [1.0]), "indptr ends at 2, but only 1 entry is stored"),
        (raw_csr([0, 1, 2], [1, 0], [2.0]), "indptr ends at 2, but only 1 entry is stored"),
        (raw_csr([0, 1], [1], n=2), "indptr has 2 numbers from 0 on, expected 3"),
        (raw_csr([0, 1, 1, 2], [1, 0], n=2), "indptr has 4 numbers"),
        (raw_csr(np.array([], int), [], n=2), "0 nodes|indptr"),
        (raw_csr([0, 1, 2], [[1], [0]]), "indices has dtype int64 and 2 dimensions"),
        (raw_csr([0.0, 1, 2], [1, 0]), "indptr has dtype float64"),
        (raw_csr([0, 1, 2], [1.0, 0]), "indices has dtype float64"),
        (raw_csr([0, 1, 2], [1, 0], [[2.0], [2.0]]), "weights has 2 dimensions"),
    ],
)
def test_a_malformed_csr_never_reaches_a_loop(matrix, words):
    refuses(GraphValidationError, words, as_graph, matrix)


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
