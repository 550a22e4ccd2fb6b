"""Edits of a graph give the graph that would be made of the edited edges."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from hypothesis import given, settings
from hypothesis import strategies as st

from graphclust.errors import EditError, GraphValidationError, GraphWarning, ParameterError
from graphclust.io.graph_input import as_graph
from graphclust.updates.edits import apply_edits

pytestmark = pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 9), st.integers(0, 10_000), st.booleans(), st.booleans())
def test_random_edits_give_the_graph_made_anew(n, seed, weighted, named):
    rng = np.random.default_rng(seed)
    A = np.triu((rng.random((n, n)) < 0.4) * (rng.integers(1, 5, (n, n)) if weighted else 1.0))
    A[0, 1] = 1.0
    A = np.maximum(A, A.T)
    names = [f"node {u}" for u in range(n + 2)] if named else list(range(n + 2))
    base = as_graph(A)
    graph = nx.relabel_nodes(nx.from_numpy_array(A), dict(enumerate(names))) if named else base
    graph, B = as_graph(graph), np.zeros((n + 2, n + 2))
    B[:n, :n] = A
    edits = {"added": [], "removed": [], "reweighted": []}
    for u in range(n + 2):
        for v in range(u + 1):
            if rng.random() < 0.3 and (B[u, v] > 0 or rng.random() < 0.5):
                w = float(rng.integers(1, 5)) if weighted else 1.0
                kind = "added" if B[u, v] == 0 else "removed" if rng.random() < 0.5 else "reweighted"
                ends = (names[u], names[v]) if rng.random() < 0.5 else (names[v], names[u])
                edits[kind].append(ends if kind == "removed" else (*ends, w))
                B[u, v] = B[v, u] = 0.0 if kind == "removed" else w
    if not named and len({u for edge in edits["added"] for u in edge[:2] if u >= n}) < 2:
        edits["added"] = [edge for edge in edits["added"] if max(edge[:2]) < n]
        B[n:] = B[:, n:] = 0.0
    found = apply_edits(graph, **edits)
    listed = list(found.graph.nodes) if named else list(range(found.graph.n_nodes))
    rows = [names.index(name) for name in listed]
    assert (found.graph.to_scipy().toarray() == B[np.ix_(rows, rows)]).all()
    assert not B[[u for u in range(n + 2) if u not in rows]].any()
    again = as_graph(found.graph.to_scipy())
    assert (found.graph.degrees == again.degrees).all() and (found.graph.loops == again.loops).all()
    ends = [listed.index(u) for edges in edits.values() for edge in edges for u in edge[:2]]
    assert found.n_changed.tolist() == [ends.count(u) for u in range(len(listed))]
    assert found.before.tolist() == [row if row < n else -1 for row in rows]


def test_nodes_leave_with_their_edges():
    found = apply_edits(as_graph(nx.path_graph(5)), removed_nodes=[1], added=[(0, 9), (3, 0)])
    assert list(found.graph.nodes) == [0, 2, 3, 4, 9]
    assert sorted(zip(*found.graph.to_scipy().nonzero(), strict=True)) == sorted(
        [(0, 4), (4, 0), (1, 2), (2, 1), (2, 3), (3, 2), (0, 2), (2, 0)]
    )
    assert found.n_changed.tolist() == [3, 1, 1, 0, 1] and found.before.tolist() == [0, 2, 3, 4, -1]


def test_nodes_leave_with_their_loops_and_those_of_others_stay():
    G = nx.path_graph(5)
    G.add_edges_from([(1, 1), (3, 3), (4, 4)])
    nx.set_edge_attributes(G, {edge: 2.0 + i for i, edge in enumerate(G.edges)}, "weight")
    for gone in ([1], [4], [1, 4], [0, 3]):
        found, left = apply_edits(as_graph(G), removed_nodes=gone), G.copy()
        left.remove_nodes_from(gone)
        again = as_graph(left)
        assert found.graph.to_scipy().toarray().tolist() == again.to_scipy().toarray().tolist()
        assert (found.graph.degrees == again.degrees).all() and (found.graph.loops == again.loops).all()
        source, target, weight = found.changes
        ends = {tuple(sorted(edge)): w for *edge, w in zip(source.tolist(), target.tolist(), weight, strict=True)}
        assert ends == {tuple(sorted(edge)): -G.edges[edge]["weight"] for edge in G.edges if {*edge} & {*gone}}


def test_arrays_are_edges_too():
    graph = as_graph(nx.to_numpy_array(nx.path_graph(4)))
    found = apply_edits(graph, added=np.array([[0, 2], [3, 4]]), removed=np.array([[0, 1]]), reweighted=[[2, 3, 5.0]])
    assert found.graph.to_scipy().toarray()[2].tolist() == [1.0, 1.0, 0.0, 5.0, 0.0]
    weighted = apply_edits(graph, added=np.array([[0.0, 2.0, 5.0]]))
    assert weighted.graph.to_scipy().toarray()[0].tolist() == [0.0, 1.0, 5.0, 0.0]
    named = apply_edits(as_graph(nx.path_graph(["a", "b", "c"])), added=np.array([["a", "c", "2"]]))
    assert named.graph.to_scipy().toarray()[0].tolist() == [0.0, 1.0, 2.0]


def test_tables_are_edges_too():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"w": [2.0, 3.0], "to": ["c", "d"], "from": ["a", "a"]})
    found = apply_edits(as_graph(nx.path_graph(["a", "b", "c"])), added=table, removed=table[:0])
    assert list(found.graph.nodes) == ["a", "b", "c", "d"]
    assert found.graph.to_scipy().toarray()[0].tolist() == [0.0, 1.0, 2.0, 3.0]
    again = apply_edits(found.graph, removed=table)
    assert again.graph.to_scipy().toarray()[0].tolist() == [0.0, 1.0, 0.0, 0.0]


def test_new_nodes_have_no_edges_and_come_in_the_order_in_which_they_are_listed():
    graph = replace(as_graph(nx.path_graph(["a", "b"])), node_weights=np.array([2.0, 3.0]))
    found = apply_edits(graph, added=[("y", "a")], added_nodes=["x", "y"], node_weight={"y": 4, "b": 5.0})
    assert list(found.graph.nodes) == ["a", "b", "x", "y"] and found.graph.degrees.tolist() == [2.0, 1.0, 0.0, 1.0]
    assert found.graph.node_weights.tolist() == [2.0, 5.0, 1.0, 4.0] and found.node_weight.tolist() == [0, 5, 0, 4]
    assert apply_edits(as_graph(np.ones((2, 2))), added_nodes=[2, 3]).graph.n_nodes == 4


def test_names_are_looked_at_once_however_many_edits_follow():
    class Names(list):
        n_read = 0

        def __iter__(self):
            Names.n_read += 1
            return super().__iter__()

    graph = replace(as_graph(nx.path_graph(["a", "b", "c"])), nodes=Names("abc"))
    first = apply_edits(graph, added=[("a", "c")])
    n_read = Names.n_read
    second = apply_edits(first.graph, removed=[("a", "c")])
    third = apply_edits(second.graph, removed=[("a", "b")], added_nodes=["d"])
    assert n_read == 1 and Names.n_read == 2  # a list of one name more is copied
    assert apply_edits(third.graph, added=[("d", "c")]).graph.degrees.tolist() == [0.0, 1.0, 2.0, 1.0]
    assert apply_edits(graph, added=[("d", "a")]).graph.nodes == ["a", "b", "c", "d"]


@for_each(
    ("edits", "error", "words"),
    [
        ({"added": [("a", "b")]}, EditError, r"added holds the edge \('a', 'b'\), which is there already"),
        (
            {"removed": [("a", "c")], "added": [("b", "d")]},
            EditError,
            r"removed holds .*'c'\), which .*; leave it out$",
        ),
        ({"reweighted": [("c", "a", 2.0)]}, EditError, r"reweighted holds the edge \('c', 'a'\), .* added= takes new"),
        (
            {"reweighted": [("c", "z", 2.0)]},
            EditError,
            "reweighted names node 'z', .*; added= takes edges of new nodes$",
        ),
        ({"removed": [("a", "z")]}, EditError, "removed names node 'z', which the graph does not have; leave it out$"),
        ({"removed_nodes": ["z"]}, EditError, "removed_nodes names node 'z'"),
        ({"added": [("a", "c"), ("c", "a")]}, EditError, r"the edge \('a', 'c'\) is edited twice"),
        (
            {"added": [("b", "d"), ("c", "a")], "removed_nodes": ["a"]},
            EditError,
            r"added holds the edge \('c', 'a'\), but removed_nodes leaves out 'a'; expected edges of nodes that stay",
        ),
        (
            {"reweighted": [("a", "b", 2.0)], "removed_nodes": ["a"]},
            EditError,
            r"reweighted holds the edge \('a', 'b'\), but removed_nodes leaves out 'a'",
        ),
        ({"added": [("a", "c", 0.0)]}, ParameterError, "added holds the weight 0"),
        ({"reweighted": [("a", "b", 1e300)]}, GraphValidationError, "degree overflow or underflow: degrees run"),
        ({"added": [("a", "d", 1e-300)]}, GraphValidationError, "degree overflow or underflow: degrees run"),
        ({"added": [("a", "c", 10**400)]}, TypeError, "added holds weights that are not numbers"),
        ({"added": [("a", "c", [2])]}, TypeError, "added holds weights that are not numbers"),
        ({"added": ["ac"]}, TypeError, "added holds something else than edges"),
        ({"added": [("a", "c"), ("a", "d", 2.0)]}, TypeError, "added has weights on some edges only"),
        ({"reweighted": [("a", "b")]}, TypeError, "reweighted has no weights"),
        ({"added": np.array([[0.5, 2.0, 1.0]])}, TypeError, "added names nodes by numbers that are not whole"),
        ({"removed": np.zeros((2, 3))}, TypeError, r"removed has shape \(2, 3\)"),
        ({"added": {("a", "c"): 2.0}}, TypeError, r"added is a dict, expected a list of \(u, v\) or"),
        ({"removed": 5}, TypeError, r"removed is a int, expected a list of \(u, v\)$"),
        ({"added": [("a", None)]}, ParameterError, "added holds an edge that ends in None"),
        ({"added": [("a", float("nan"))]}, ParameterError, "added holds an edge that ends in nan"),
        ({"removed_nodes": [["a"]]}, TypeError, r"removed_nodes names node \['a'\], a list"),
        ({"removed_nodes": 5}, TypeError, r"removed_nodes=5 is a int, expected a list of nodes, as \[5\]"),
        ({"added_nodes": "d"}, TypeError, r"added_nodes='d' is a str, expected a list of nodes, as \['d'\]"),
        ({"added_nodes": ["d", "a"]}, EditError, "added_nodes names node 'a', which is there already"),
        ({"added_nodes": ["d", "d"]}, EditError, "added_nodes names a node twice"),
        ({"added_nodes": ["d"], "removed_nodes": ["d"]}, EditError, "added_nodes names node 'd', which removed_nodes"),
        ({"added_nodes": [None]}, ParameterError, "added_nodes holds None, expected names of nodes"),
        ({"node_weight": {"z": 2.0}}, EditError, "node_weight names node 'z', which the graph does not have"),
        ({"node_weight": {"a": 2.0}, "removed_nodes": ["a"]}, EditError, "node_weight names node 'a', which removed"),
        ({"node_weight": {"a": 0}}, ParameterError, "node_weight holds 0 for node 'a', expected finite numbers > 0"),
        ({"node_weight": {"a": "heavy"}}, TypeError, "node_weight holds weights that are not numbers"),
        ({"node_weight": [1.0, 2.0, 3.0]}, TypeError, "node_weight is a list, expected a mapping or a pandas Series"),
    ],
)
def test_impossible_edits_are_named(edits, error, words):
    refuses(error, "^" + words, apply_edits, as_graph(nx.path_graph(["a", "b", "c"])), **edits)


def test_edits_that_do_not_fit_are_errors_of_one_kind():
    assert issubclass(EditError, ParameterError) and issubclass(EditError, GraphValidationError)
    with pytest.raises(EditError, match=r"removed names node '1', which the graph does not have; it has 1, a int$"):
        apply_edits(as_graph(nx.path_graph(3)), removed=[(0, "1")])


def test_a_new_node_that_differs_from_another_by_its_type_alone_is_warned_of():
    for there, new in ((7, "7"), ("7", 7)):
        graph = as_graph(nx.path_graph([there, "a", "b"]))
        with pytest.warns(GraphWarning, match=f"^added names node {new!r}, a .* comes about beside {there!r}, a "):
            found = apply_edits(graph, added=[(new, "a")])
        assert list(found.graph.nodes) == [there, "a", "b", new]


@pytest.mark.parametrize("kind", [np.uint8, np.uint64, np.int8])
def test_rows_may_be_numbers_of_any_width(kind):
    graph = as_graph(nx.to_numpy_array(nx.path_graph(3)))
    found = apply_edits(graph, added=np.array([[0, 2], [3, 0]], kind), removed=np.array([[1, 0]], kind))
    assert found.graph.to_scipy().toarray()[0].tolist() == [0.0, 0.0, 1.0, 1.0]


def test_nodes_without_names_are_whole_numbers():
    graph = as_graph(nx.to_numpy_array(nx.path_graph(3)))
    refuses(TypeError, "added names nodes by <U1", apply_edits, graph, added=[("a", "b")])
    for odd in ({"added": [(0, [1])]}, {"added": [(0, 1), ([1], [1, 2])]}, {"removed_nodes": np.array([[1]])}):
        refuses(TypeError, r"names nodes by .* expected whole numbers", apply_edits, graph, **odd)
    with pytest.raises(EditError, match=r"removed names node 5, expected a row of the graph, which has 1 node$"):
        apply_edits(as_graph(np.ones((1, 1))), removed=[(0, 5)])
    with pytest.raises(EditError, match=r"added names node 900, .* 3 nodes, or for new ones the next rows: 3, 4,"):
        apply_edits(graph, added=[(0, 900)])
