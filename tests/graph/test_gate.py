"""The gate: what it repairs and says, what it refuses, how it sums; ways of writing one graph down are alike."""

import math

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from gate_inputs import ONE_WAY, PATH, fingerprint, raw_csr, remarks_of, same
from graphs import make, make_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from graphclust.errors import GraphValidationError, GraphWarning, ParameterError
from graphclust.graph.matrices import graph_from_csr, graph_of_checked_rows
from graphclust.graph.node_order import in_order
from graphclust.io.graph_input import as_graph
from graphclust.updates.edits import apply_edits

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
        major, minor = (halves.row, halves.col) if form == "csr" else (halves.col, halves.row)
        order = np.lexsort((minor, major))
        arrays = halves.data[order], minor[order], np.searchsorted(major[order], np.arange(4))
        halves = getattr(sparse, f"{form}_array")(arrays, shape=(3, 3))
    before = fingerprint(halves)
    graph, remarks = remarks_of(halves)
    assert graph.to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 1.5], [0, 1.5, 0]]
    assert remarks == ("3 duplicate entries were summed",)
    assert fingerprint(halves) == before


def test_duplicates_of_a_boolean_matrix_collapse_and_two_ones_make_a_weight_of_two():
    graph, remarks = remarks_of(raw_csr([0, 2, 4], [1, 1, 0, 0], np.ones(4)))
    assert graph.weights.tolist() == [2, 2] and remarks == ("2 duplicate entries were summed",)
    graph, remarks = remarks_of(raw_csr([0, 2, 4], [1, 1, 0, 0], np.ones(4, bool)))
    assert graph.weights is None and graph.degrees.tolist() == [1, 1]
    assert remarks == ("2 duplicate entries were collapsed",)
    coo = sparse.coo_array((np.ones(4, bool), ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    assert remarks_of(coo)[1] == ("2 duplicate entries were collapsed",)


def test_an_entry_that_says_false_is_no_edge():
    matrix = raw_csr([0, 3, 5, 6], [1, 1, 2, 0, 0, 0], np.array([True, True, False, True, True, False]))
    graph, remarks = remarks_of(matrix)
    assert graph.to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert remarks[:2] == ("2 duplicate entries were collapsed", "2 stored zeros were dropped")


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
    assert remarks == (() if form in ("dia", "bsr") else ("1 stored zero was dropped",))
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
    n = graph.isolated.sum()
    said = "nodes have" if n > 1 else "node has"
    assert remarks == (f"{n} isolated {said} no edge: each is a cluster, or in none (label -1) where k is given",)


def test_all_remarks_come_in_one_warning():
    matrix = raw_csr([0, 3, 5, 5], [1, 1, 2, 0, 0], [1.0, 2, 0, 1, 2])
    assert len(remarks_of(matrix)[1]) == 3


# --- Directed graphs ---


def test_a_directed_matrix_is_refused_with_the_remedy():
    words = r'not symmetric: A\[1, 2\]=4, A\[2, 1\]=0 \(of 2 pairs that differ\).*symmetrize="sum" .* or "max"'
    refuses(GraphValidationError, words, as_graph, ONE_WAY)
    refuses(GraphValidationError, "not symmetric", as_graph, PATH * sparse.csr_array([[1, 1 + 1e-7, 1]] * 3))


@for_each(
    ("make", "dtype", "noise"),
    [
        *((kind, np.float32, 4e-7) for kind in (sparse.csr_array, sparse.coo_array, np.array)),
        (np.array, np.float16, 4e-3),
    ],
)
def test_rounding_is_that_of_the_type_of_the_weights(make, dtype, noise):
    rounded = np.array([[0, 1, 0], [1 + noise, 0, 1], [0, 1, 0]], dtype)
    assert rounded[0, 1] != rounded[1, 0]
    graph, remarks = remarks_of(make(rounded))
    assert remarks == ("1 pair of entries (i, j), (j, i) differed by rounding and became their mean",)
    assert graph.weights[0] == graph.weights[1] == (1 + float(rounded[1, 0])) / 2
    refuses(GraphValidationError, "not symmetric", as_graph, make(rounded.astype(np.float64)))


def test_without_weights_every_form_is_read_without_weights(tmp_path):
    matrix = np.array([[2.0, 3, 0], [3, 0, 5], [0, 5, 0]])
    (tmp_path / "graph.csv").write_text("source,target,weight\n0,0,2\n0,1,3\n1,2,5\n")
    forms = [matrix, sparse.csr_array(matrix), as_graph(matrix), nx.from_numpy_array(matrix), tmp_path / "graph.csv"]
    for form in forms:
        graph = as_graph(form, weight=None)
        assert graph.to_scipy().toarray().tolist() == [[1, 1, 0], [1, 0, 1], [0, 1, 0]]
        assert graph.degrees.tolist() == [2, 2, 1] and graph.loops.tolist() == [1, 0, 0]


@for_each(
    ("rule", "expected"), [("max", [[1, 2, 0], [2, 0, 4], [0, 4, 0]]), ("sum", [[1, 2.5, 0], [2.5, 0, 4], [0, 4, 0]])]
)
@for_each("form", [sparse.csr_array, sparse.coo_array, np.array, "networkx"])
def test_directions_are_joined_by_the_rule(rule, expected, form):
    given = nx.from_numpy_array(ONE_WAY, create_using=nx.DiGraph) if form == "networkx" else form(ONE_WAY)
    graph, remarks = remarks_of(given, symmetrize=rule)
    assert graph.to_scipy().toarray().tolist() == expected
    assert len(remarks) == 1 and "the graph was directed" in remarks[0]
    assert same(as_graph(graph.to_scipy(), symmetrize=rule), graph)
    refuses(ParameterError, "symmetrize='mean' .* expected one of 'max', 'sum'", as_graph, given, symmetrize="mean")


def test_any_single_difference_between_the_directions_is_seen():
    matrix = make("block model")
    rng = np.random.default_rng(12)
    for entry in rng.choice(matrix.nnz, 50, replace=False):
        one_off = matrix.copy()
        one_off.data[entry] = rng.choice([0.5, 2.0, 1 + 1e-7])
        refuses(GraphValidationError, "not symmetric", as_graph, one_off)


def test_entries_that_are_swapped_between_rows_are_seen():
    swapped = make("karate")  # same degrees, same columns, other pairs: only the pairs themselves tell
    swapped.indices = np.roll(swapped.indices, 1)
    refuses(GraphValidationError, "not symmetric", as_graph, swapped)


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
    refuses(GraphValidationError, "no edge has the attribute 'nonsense'", as_graph, graph, weight="nonsense")
    with pytest.warns(GraphWarning, match="counted once"):  # of a list, or a table
        assert as_graph([(0, 1), (0, 1), (1, 2)]).weights is None
    assert remarks_of(nx.empty_graph(3), weight="cost")[0].n_edges == 0
    assert graph.number_of_edges() == 4


def test_networkx_graphs_that_are_refused():
    for directed in (nx.DiGraph([(0, 1)]), nx.MultiDiGraph([(0, 1)])):
        refuses(GraphValidationError, r'directed .*pass symmetrize="sum".* or "max"', as_graph, directed)
    refuses(GraphValidationError, "0 nodes", as_graph, nx.Graph())
    for weight in ("heavy", 10**400):
        refuses(GraphValidationError, "does not hold numbers", as_graph, nx.Graph([(0, 1, {"weight": weight})]))


def test_views_and_frozen_networkx_graphs_are_read():
    graph = nx.freeze(nx.karate_club_graph())
    assert same(as_graph(graph, weight=None), make_graph("karate"))
    assert as_graph(graph.subgraph(range(5)), weight=None).n_nodes == 5


# --- Refused ---


def test_a_matrix_that_is_not_square_or_has_no_rows_is_refused():
    for kind in (sparse.csr_array, sparse.coo_array, np.zeros):
        for n, m in ((2, 3), (3, 2), (0, 2)):
            refuses(GraphValidationError, rf"shape \({n}, {m}\), expected a square", as_graph, kind((n, m)))
        refuses(GraphValidationError, "0 nodes, expected at least 1", as_graph, kind((0, 0)))
    for written in (np.zeros(4), np.zeros((2, 2, 2)), sparse.coo_array(np.ones(4)), np.array(3.0)):
        refuses(GraphValidationError, "expected a square", as_graph, written)


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
    huge = raw_csr([0, 1, 2], [1, 0], np.full(2, np.longdouble(10) ** 400))
    refuses(GraphValidationError, "non-finite weight, the first inf", as_graph, huge)


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


def star(weights):
    """Node 0 joined to all others by these weights."""
    n = len(weights) + 1
    rows = np.zeros(n - 1, int), np.arange(1, n)
    upper = sparse.csr_array((np.asarray(weights, dtype=float), rows), shape=(n, n))
    return sparse.csr_array(upper + upper.T)


def degrees_of(matrix):
    """As the gate sums them, and as for rows that are known to be right."""
    again = graph_of_checked_rows(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, None, ()
    )
    found = as_graph(matrix).degrees
    assert (again.degrees == found).all()
    return found


@pytest.mark.parametrize("at", [0, 500, 99_998])
def test_one_heavy_edge_swallows_no_light_ones(at):
    weights = np.ones(99_999)
    weights[at] = 1e16
    assert degrees_of(star(weights))[0] == 1e16 + 99_998


@for_each("spread", [1, 20, 60])
@for_each("seed", [518, 2209])
def test_degrees_are_exact_to_the_last_bit_or_two(seed, spread):
    rng = np.random.default_rng(seed)
    weights = 10.0 ** rng.uniform(-spread, spread, 3000)
    found = degrees_of(star(weights))
    assert abs(found[0] / math.fsum(weights) - 1.0) <= 2**-52
    assert (found[1:] == weights).all()


@for_each("bad", [np.nan, np.inf, -np.inf, -1.0])
def test_what_is_no_weight_is_still_found(bad):
    weights = np.ones(50)
    weights[17] = bad
    refuses(GraphValidationError, rf"2 entries .* the first {bad} at \(0, 18\)", as_graph, star(weights))


def test_degrees_of_a_subgraph_and_of_another_order_are_those_of_the_graph():
    rng = np.random.default_rng(5)
    upper = np.triu(rng.random((30, 30)) * (rng.random((30, 30)) < 0.5), 1)
    upper[0, 1] = 1e16  # swallows the others, where they are added one after the other
    graph = as_graph(upper + upper.T)
    assert np.array_equal(graph.subgraph(np.arange(30)).degrees, graph.degrees)
    order = rng.permutation(30)
    turned = in_order(graph, order)
    assert np.array_equal(turned.degrees, as_graph(graph.to_scipy()[order][:, order]).degrees)
    assert np.array_equal(turned.degrees, graph.degrees[order])


def test_degrees_after_an_edit_are_those_of_the_new_graph():
    heavy = nx.Graph([("a", "b", {"weight": 1e16}), ("a", "c", {"weight": 1.0}), ("b", "c", {"weight": 1.0})])
    edited = apply_edits(as_graph(heavy), added=[("a", "d", 1.0)]).graph
    heavy.add_edge("a", "d", weight=1.0)
    assert edited.degrees.tolist() == as_graph(heavy).degrees.tolist()
