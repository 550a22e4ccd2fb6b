"""What the gate repairs and says: duplicates, zeros, rounding, two directions; and graphs of NetworkX."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from gate_inputs import ONE_WAY, PATH, fingerprint, raw_csr, remarks_of, same
from graphs import make, make_graph
from scipy import sparse

from graphclust.errors import GraphValidationError, ParameterError
from graphclust.io.graph_input import as_graph

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


@pytest.mark.parametrize(
    ("form", "dtype", "noise"),
    [("csr", np.float32, 4e-7), ("coo", np.float32, 4e-7), ("dense", np.float32, 4e-7), ("dense", np.float16, 4e-3)],
)
def test_rounding_is_that_of_the_type_of_the_weights(form, dtype, noise):
    rounded = np.array([[0, 1, 0], [1 + noise, 0, 1], [0, 1, 0]], dtype)
    assert rounded[0, 1] != rounded[1, 0]
    make = {"csr": sparse.csr_array, "coo": sparse.coo_array, "dense": np.array}[form]
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
@for_each("form", ["csr", "coo", "dense", "networkx"])
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
