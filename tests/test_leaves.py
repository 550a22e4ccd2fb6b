"""Leaves folded into their neighbors: the same values, no smaller cut missed, and nothing lost on the way back."""

import itertools
import os

import networkx as nx
import numpy as np
import pytest
import reference_objectives as reference
from aims import AIMS, on_and_objective, random_labels
from scipy import sparse
from test_budgets import InterruptAt
from test_exactly_k import GRAPHS, assert_exactly_k, graph_of, some_k

from graphclust.compiled.graphs.objective import value_of
from graphclust.errors import Interrupted
from graphclust.generators import planted_partition
from graphclust.graph.gate import as_graph
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.cuts import normalized_cut
from graphclust.objective.objective import BY_DEGREE, as_aim, weighed
from graphclust.partition import leaves, multilevel
from graphclust.partition.leaves import without_leaves
from graphclust.partition.moves import summed
from graphclust.partition.multilevel import multilevel_partition
from graphclust.partition.pipeline import coreset_sc
from graphclust.progress import Progress

LARGE = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")


def with_leaves(core: np.ndarray, n_leaves: int, seed: int, weighted: bool = False) -> np.ndarray:
    """A dense graph, and so many nodes that hang on random ones of it; all in random order."""
    rng = np.random.default_rng(seed)
    n = len(core) + n_leaves
    A = np.zeros((n, n))
    A[: len(core), : len(core)] = core
    for leaf in range(len(core), n):
        on = rng.integers(len(core))
        A[leaf, on] = A[on, leaf] = rng.exponential() if weighted else 1.0
    order = rng.permutation(n)
    return A[np.ix_(order, order)]


def a_core(n: int, seed: int, weighted: bool = False) -> np.ndarray:
    """A ring with chords, so that no node is a leaf; of a weighted one some nodes have loops."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < 0.3, 1) | np.eye(n, k=1, dtype=bool)
    upper[0, n - 1] = True
    values = upper * (rng.exponential(size=(n, n)) if weighted else 1.0)
    loops = np.diag(rng.exponential(size=n) * (np.arange(n) % 3 == 0)) if weighted else 0.0
    return values + values.T + loops


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("objective", "resolution"), AIMS)
def test_a_partition_has_the_value_that_it_has_on_the_whole_graph(objective, resolution, weighted):
    A = with_leaves(a_core(14, 3, weighted), 12, 5, weighted)
    on, wanted = on_and_objective(as_graph(A), objective, resolution, 4)
    folded = without_leaves(on, 1)
    assert folded.small.graph.n_nodes == 14 and folded.small.graph.total_volume == pytest.approx(A.sum())
    assert folded.small.chance == pytest.approx(on.chance)
    for seed in range(5):
        labels = random_labels(14, 4, seed).astype(np.int32)
        value = value_of(wanted, summed(folded.small, labels, 4)[1])
        assert value == pytest.approx(reference.value(A, folded.prolonged(labels), objective, resolution))


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_those_between_the_other_nodes(weighted):
    A = with_leaves(a_core(14, 3, weighted), 12, 5, weighted)
    folded = without_leaves(weighed(as_graph(A), "normalized_cut"), 1)
    left = np.count_nonzero(A, axis=1) > 1
    np.testing.assert_array_equal(folded.small.graph.to_scipy().toarray(), A[np.ix_(left, left)])
    assert (folded.small.graph.weights is None) == (not weighted), "what cuts are searched by depends on that"
    np.testing.assert_array_equal(folded.region[left], np.arange(14))
    neighbor = A.argmax(axis=1)
    assert (folded.region[~left] == folded.region[neighbor[~left]]).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_no_normalized_cut_is_smaller_for_leaves_that_are_apart(seed, weighted):
    """Of all partitions, tried one by one."""
    A = with_leaves(a_core(5, seed, weighted), 4, seed, weighted)
    folded = without_leaves(weighed(as_graph(A), "normalized_cut"), 1)

    def smallest(n: int, k: int, labels_of) -> float:
        cuts = []
        for rest in itertools.product(range(k), repeat=n - 1):
            if len({0, *rest}) == k:
                cuts.append(k - reference.value(A, labels_of(np.array([0, *rest])), "normalized_cut", None))
        return min(cuts)

    for k in (2, 3):
        assert smallest(5, k, folded.prolonged) == pytest.approx(smallest(9, k, np.asarray))


def test_what_is_worth_folding():
    """A quarter of the nodes, and enough others; two nodes that only have each other are a component."""

    def n_left(A, least=1) -> int | None:
        folded = without_leaves(weighed(as_graph(A), "normalized_cut"), least)
        return None if folded is None else folded.small.graph.n_nodes

    core = a_core(12, 1)
    assert n_left(core) is None
    assert n_left(with_leaves(core, 3, 0)) is None and n_left(with_leaves(core, 4, 0)) == 12
    assert n_left(with_leaves(core, 4, 0), 12) == 12 and n_left(with_leaves(core, 4, 0), 13) is None
    pairs = np.kron(np.eye(6), [[0.0, 1.0], [1.0, 0.0]])
    assert n_left(pairs) is None
    assert n_left(np.block([[core, np.zeros((12, 12))], [np.zeros((12, 12)), pairs]])) is None
    assert n_left(nx.star_graph(8)) == 1
    looped = np.diag([0.0, 1.0, 0.0]) + nx.to_numpy_array(nx.path_graph(3))
    assert n_left(looped) == 1
    assert n_left(np.diag([1.0, 0.0, 0.0]) + nx.to_numpy_array(nx.path_graph(3))) == 2, "its loop is an entry too"


@pytest.mark.parametrize("objective", BY_DEGREE)
@pytest.mark.parametrize("name", GRAPHS)
def test_exactly_k_without_leaves_too(name, objective, monkeypatch):
    monkeypatch.setattr(leaves, "MANY", 1e-9)
    monkeypatch.setattr(multilevel, "SMALL", 1)
    graph = graph_of(name)
    for k in some_k(int((~graph.isolated).sum())):
        assert_exactly_k(graph, k, objective=objective, components="all", rng=k)


@pytest.fixture(scope="module")
def many_leaves():
    """Planted blocks, and as many leaves as other nodes; which block each is of."""
    planted = planted_partition(8, 150, 9, 2, rng=4)
    rng = np.random.default_rng(0)
    n = planted.graph.n_nodes
    on = rng.integers(n, size=n)
    hang = sparse.coo_array((np.ones(n), (on, np.arange(n))), shape=(n, n))
    A = sparse.block_array([[planted.graph.to_scipy(), hang], [hang.T, None]], format="csr")
    assert (np.diff(A.indptr) == 1).mean() >= 0.5
    return as_graph(A), np.concatenate([planted.labels, planted.labels[on]])


@LARGE
@pytest.mark.parametrize("objective", BY_DEGREE)
def test_leaves_are_where_their_neighbors_are_and_blocks_are_found(many_leaves, objective, monkeypatch):
    graph, truth = many_leaves
    folds = []
    monkeypatch.setattr(multilevel, "without_leaves", lambda *of: folds.append(without_leaves(*of)) or folds[-1])
    found = coreset_sc(graph, 8, objective=objective, rng=1)
    assert folds[0].small.graph.n_nodes == graph.n_nodes // 2
    assert adjusted_rand_index(found.labels, truth) > 0.99
    hanging = np.flatnonzero(np.diff(graph.indptr) == 1)
    assert (found.labels[hanging] == found.labels[graph.indices[graph.indptr[hanging]]]).all()


@pytest.mark.parametrize(
    ("objective", "resolution", "weighted"),
    [("normalized_cut", None, False), ("normalized_cut", None, True), ("modularity", 10.0, False)],
)
def test_no_node_gains_by_a_move_once_the_leaves_are_back(objective, resolution, weighted, monkeypatch):
    """At this resolution clusters are too large, so that nodes leave them, and their leaves, on their own."""
    monkeypatch.setattr(multilevel, "SMALL", 1)
    A = with_leaves(a_core(15, 0, weighted), 15, 0, weighted)
    on, wanted = on_and_objective(as_graph(A), objective, resolution, 4)
    found = multilevel.partitioned(on, 4, as_aim(objective, resolution), 1.0, np.random.default_rng(0), Progress())
    assert value_of(wanted, found.sums) == pytest.approx(reference.value(A, found.labels, objective, resolution))
    assert found.sums.size.tolist() == np.bincount(found.labels).tolist()
    for u in range(len(A)):
        _, gain = reference.best_move(A, found.labels, u, objective, resolution)
        assert gain < 1e-9


@LARGE
def test_cuts_without_leaves_are_as_small_and_what_they_read_counts(many_leaves, monkeypatch):
    graph, truth = many_leaves
    found = [coreset_sc(graph, 8, objective="normalized_cut", rng=seed) for seed in range(3)]
    assert max(one.normalized_cut for one in found) <= 1.0001 * normalized_cut(graph, truth)
    reads = [sum(one.entries_read.values()) for one in found]
    monkeypatch.setattr(leaves, "MANY", np.inf)
    unfolded = [coreset_sc(graph, 8, objective="normalized_cut", rng=seed) for seed in range(3)]
    assert sum(one.normalized_cut for one in found) <= sum(one.normalized_cut for one in unfolded)
    assert min(reads) > 0.5 * min(sum(one.entries_read.values()) for one in unfolded), "also without the leaves' rows"


@LARGE
def test_an_interruption_returns_labels_of_all_nodes(many_leaves):
    graph, _ = many_leaves
    counter = InterruptAt(0)
    multilevel_partition(graph, 8, rng=0, progress=counter)
    n_carried = 0
    for n in range(1, counter.steps + 1):
        with pytest.raises(KeyboardInterrupt) as stop:
            multilevel_partition(graph, 8, rng=0, progress=InterruptAt(n))
        if isinstance(stop.value, Interrupted):
            n_carried += 1
            assert len(stop.value.best) == graph.n_nodes and set(stop.value.best) == set(range(8))
    assert n_carried > 0


@LARGE
@pytest.mark.parametrize("objective", ["modularity", "normalized_cut"])
def test_without_time_the_leaves_are_labelled_too(many_leaves, objective):
    graph, _ = many_leaves
    found = coreset_sc(graph, 8, objective=objective, time_budget=1e-9, rng=0)
    assert found.n_clusters == 8 and (found.labels >= 0).all()


def test_a_part_counts_where_the_graph_does():
    graph, part, other = object(), object(), object()
    progress = Progress()
    progress.watch(graph)
    progress.watch_part(part, graph)
    part_of_other = object()
    progress.watch_part(part_of_other, other)
    for read, n_entries in ((graph, 1), (part, 2), (other, 4), (part_of_other, 8)):
        progress.reads(read, n_entries)
    assert progress.entries_read == {"": 3}
    progress.watch(other)
    progress.reads(part, 16)
    assert progress.entries_read == {"": 3}, "another graph is watched in its place, of which that is no part"


def test_a_single_leaf_can_be_a_cluster_where_nodes_count():
    """Its cut is one edge, where that of half a clique is twenty a node."""
    graph = as_graph(with_leaves(nx.to_numpy_array(nx.complete_graph(40)), 20, 0))
    labels = multilevel_partition(graph, 2, objective="ratio_cut", rng=0)
    assert np.bincount(labels).min() == 1


@LARGE
def test_what_is_left_whole(many_leaves, monkeypatch):
    """Starts of a coreset, large graphs, and whatever is partitioned by an objective that counts nodes."""
    graph, _ = many_leaves
    asked = []
    monkeypatch.setattr(multilevel, "without_leaves", lambda *of: asked.append(of))
    for objective in ("ratio_cut", "constant_potts"):
        multilevel_partition(graph, 8, objective=objective, rng=0)
    multilevel_partition(graph, 8, effort=0.1, rng=0)
    monkeypatch.setattr(multilevel, "BUDGET", graph.n_entries - 1)
    multilevel_partition(graph, 8, rng=0)
    assert not asked, "nothing is gained by it"
    monkeypatch.setattr(multilevel, "BUDGET", graph.n_entries)
    multilevel_partition(graph, 8, rng=0)
    assert len(asked) == 1
