"""Nodes joined to regions: each in turn goes where the value gains most, pass after pass until most have settled."""

import numpy as np
import pytest
import reference_objectives as reference
from aims import connected_part, looped, random_labels
from scipy import sparse

from graphclust.compiled.graphs.joining import Joining, join_in_turn
from graphclust.generators import planted_partition
from graphclust.objective.objective import plain_objective, weighed
from graphclust.partition import coarsening, small_graphs
from graphclust.partition.coarsening import joined, rows_within
from graphclust.progress import Progress


def some_graph(name):
    return looped() if name == "uneven and looped" else connected_part(name)


def start(on, spare):
    """Every node a region of its own."""
    n = on.graph.n_nodes
    sums, scratch = (on.terms.mass.copy(), np.ones(n, np.int32)), (np.zeros(n), np.empty(n + 1, np.int32))
    return Joining(np.arange(n, dtype=np.int32), *sums, np.array([spare, 0]), *scratch)


def joined_slowly(A, order, name, resolution, parts):
    """A pass by the definition: each node tries all neighboring regions of its part; and the value after each move."""
    labels, values = np.arange(len(A)), []
    for u in order:
        best, most = -1, 1e-9
        for c in np.unique(labels[A[u] > 0]):
            if c != labels[u] and (parts is None or parts[c] == parts[labels[u]]):
                two = np.where((labels == labels[u]) | (labels == c), labels, -1)
                gain = reference.value(A, reference.moved(two, u, c), name, resolution)
                gain -= reference.value(A, two, name, resolution)
                if gain > most + 1e-9:
                    best, most = c, gain
        if best >= 0:
            labels[u] = best
            values.append(reference.value(A, labels, name, resolution))
    return labels, values


@pytest.mark.parametrize(("name", "resolution"), [("modularity", 1.0), ("modularity", 3.0), ("constant_potts", 0.2)])
@pytest.mark.parametrize("graph", ["karate", "grid", "uneven and looped", "weights of all sizes", "star"])
def test_each_node_goes_where_the_value_gains_most(graph, name, resolution):
    graph = some_graph(graph)
    on, n = weighed(graph, name), graph.n_nodes
    order = np.random.default_rng(5).permutation(n).astype(np.int32)
    unit = on.chance if name == "constant_potts" else 1.0
    objective = plain_objective(on, n, resolution / unit)
    for parts in (None, random_labels(n, 2, 7).astype(np.int32)):
        expected, values = joined_slowly(graph.to_scipy().toarray(), order, name, resolution, parts)
        rows = graph.rows if parts is None else rows_within(graph.rows, parts)
        joining = start(on, n)
        half = n // 2
        read = sum(join_in_turn(*of, order, rows, on.terms, objective, joining) for of in ((0, half), (half, n)))
        assert (np.diff(values) > 0).all()
        np.testing.assert_array_equal(joining.region, expected)
        assert read == rows.indptr[-1] and joining.state.tolist() == [len(set(expected)), len(values)]
        np.testing.assert_allclose(joining.mass, np.bincount(expected, weights=on.terms.mass, minlength=n), atol=1e-9)
        assert (joining.size == np.bincount(expected, minlength=n)).all() and not joining.link.any()


@pytest.mark.parametrize("graph", ["karate", "uneven and looped", "weights of all sizes", "star"])
def test_rows_within_parts_are_those_of_the_graph_without_what_leads_elsewhere(graph):
    graph = some_graph(graph)
    for n_parts in (1, 3, graph.n_nodes):
        parts = random_labels(graph.n_nodes, n_parts, 7).astype(np.int32)
        indptr, indices, weights = rows_within(graph.rows, parts)
        A, values = graph.to_scipy().tocsr(), weights if len(weights) else np.ones(len(indices))
        kept = sparse.csr_array((values[: indptr[-1]], indices[: indptr[-1]], indptr), A.shape)
        expected = A.toarray() * (parts[:, None] == parts[None, :])
        np.testing.assert_array_equal(kept.toarray(), expected)
        assert kept.nnz == np.count_nonzero(expected)


def test_a_pass_follows_while_the_last_moved_many_nodes(monkeypatch):
    """And in a hurry none does; in one call or in steps over blocks."""
    graph, _ = planted_partition(12, 80, 6, 4, rng=518)
    on = weighed(graph, "modularity")
    order = np.random.default_rng(1).permutation(graph.n_nodes).astype(np.int32)
    joining, shares, objective = start(on, graph.n_nodes), [], plain_objective(on, graph.n_nodes, 1.0)
    while not shares or shares[-1] > 0.2:
        joining.state[1] = 0
        join_in_turn(0, graph.n_nodes, order, graph.rows, on.terms, objective, joining)
        shares.append(joining.state[1] / graph.n_nodes)
    assert len(shares) > 3 and shares == sorted(shares, reverse=True)

    def n_passes(unsettled, progress):
        monkeypatch.setattr(coarsening, "UNSETTLED", unsettled)
        progress.watch(graph)
        joined(on, 1.0, None, 0, np.random.default_rng(1), progress)
        return sum(progress.entries_read.values()) / graph.n_entries

    for most_entries in (graph.n_entries, 0):
        monkeypatch.setattr(small_graphs, "AT_ONCE", most_entries)
        for i, share in enumerate(shares[:-1]):
            assert n_passes(share, Progress()) == i + 1
            assert n_passes((share + shares[i + 1]) / 2.0, Progress()) == i + 2
        assert n_passes(shares[-1], Progress(time_budget=1e-9)) == 1
