"""Moves, merging, quotient graphs and multilevel partitions: exact changes, never worse, nothing lost."""

import os

import networkx as nx
import numpy as np
import pytest
from graphs import all_graphs, make_graph
from scipy import sparse

from graphclust import coreset_sc
from graphclust.coreset.spreading import spread_labels
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.generators import planted_partition
from graphclust.graph.container import Graph
from graphclust.graph.gate import as_graph
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.cuts import normalized_cut
from graphclust.partition import moves as local_moves
from graphclust.partition import multilevel
from graphclust.partition.merging import merge_clusters
from graphclust.partition.moves import improve, move_nodes, normalized_cut_of, staying_inside_volume
from graphclust.partition.multilevel import multilevel_partition, refine_partition
from graphclust.partition.quotient import quotient_graph
from graphclust.progress import Progress

WITH_EDGES = [name for name in all_graphs() if name not in ("one node", "no edges")]


def connected_part(name: str) -> Graph:
    graph = make_graph(name)
    return graph.subgraph(np.flatnonzero(~graph.isolated))


def random_labels(n: int, k: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(np.arange(n) % k)


@pytest.mark.parametrize("name", WITH_EDGES)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_moves_never_raise_the_cut_and_keep_every_cluster(name, k):
    graph = make_graph(name)
    k = min(k, graph.n_nodes)
    labels = random_labels(graph.n_nodes, k, 518)
    labels[graph.isolated] = -1
    present = set(labels) - {-1}
    improved = move_nodes(graph, labels)
    assert set(improved) - {-1} == present
    assert (improved[graph.isolated] == -1).all()
    assert normalized_cut(graph, improved) <= normalized_cut(graph, labels) + 1e-12


@pytest.mark.parametrize("name", ["karate", "weights of all sizes", "power-law blocks", "looped block model"])
def test_every_single_move_changes_the_cut_by_the_gain_it_was_made_for(name, monkeypatch):
    """One node a step: after each, the running sums equal those recomputed, and the cut has fallen."""
    graph = make_graph(name)
    labels = random_labels(graph.n_nodes, 3, 7).astype(np.int32)
    cuts = [normalized_cut(graph, labels.astype(np.int64))]
    real = local_moves.loops.move_nodes

    def one_node(budget, *arrays):
        before = arrays[4].copy()
        real(1, *arrays)
        assert np.count_nonzero(before != arrays[4]) <= 1
        _, inside, volume = staying_inside_volume(graph, arrays[4], 3)
        np.testing.assert_allclose(arrays[5], inside, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(arrays[6], volume, rtol=1e-9)
        cuts.append(normalized_cut(graph, arrays[4].astype(np.int64)))

    monkeypatch.setattr(local_moves.loops, "move_nodes", one_node)
    reported = improve(graph, labels, 3, Progress())
    assert len(cuts) > 10
    assert (np.diff(cuts) <= 1e-12).all()
    assert cuts[-1] < cuts[0]
    assert reported == pytest.approx(normalized_cut(graph, labels.astype(np.int64)), rel=1e-9)


@pytest.mark.parametrize("name", WITH_EDGES)
@pytest.mark.parametrize("k", [2, 4])
def test_moves_made_all_at_once_never_raise_the_cut_and_keep_every_cluster(name, k, monkeypatch):
    graph = connected_part(name)
    labels = random_labels(graph.n_nodes, min(k, graph.n_nodes), 518)
    monkeypatch.setattr(local_moves, "MANY_MOVES", 1)
    monkeypatch.setattr(local_moves.loops, "move_nodes", lambda budget, *arrays: arrays[10].fill(0))
    improved = labels.astype(np.int32)
    reported = improve(graph, improved, len(set(labels)), Progress(), most_sweeps=1)
    assert reported == pytest.approx(normalized_cut(graph, improved.astype(np.int64)), abs=1e-12)
    assert reported <= normalized_cut(graph, labels) + 1e-12
    assert set(improved) == set(labels)


def test_a_round_in_which_all_would_change_sides_is_refused(monkeypatch):
    """In a complete bipartite graph cut across its sides every node would follow the others to where they leave."""
    graph = as_graph(nx.complete_bipartite_graph(4, 4))
    labels = np.repeat(np.array([0, 1], np.int32), 4)
    before = normalized_cut(graph, labels)
    monkeypatch.setattr(local_moves, "MANY_MOVES", 1)
    rounds = []
    real = local_moves.staying_inside_volume
    monkeypatch.setattr(local_moves, "staying_inside_volume", lambda *of: rounds.append(of[1].copy()) or real(*of))
    improve(graph, labels, 2, Progress())
    assert (rounds[1] == [1, 1, 1, 1, 0, 0, 0, 0]).all()  # tried: all of them, which cuts as much as before
    assert normalized_cut(graph, labels) < before  # one after the other they find a better place


def test_rounds_find_what_single_moves_find(monkeypatch):
    graph, planted = planted_partition(10, 200, 12, 3, rng=2209)
    mistaken = planted.astype(np.int32)
    wrong = np.random.default_rng(7).choice(graph.n_nodes, 500, replace=False)
    mistaken[wrong] = (mistaken[wrong] + 1) % 10
    for many in (1, graph.n_nodes + 1):
        monkeypatch.setattr(local_moves, "MANY_MOVES", many)
        labels = mistaken.copy()
        improve(graph, labels, 10, Progress(), most_sweeps=10)
        assert adjusted_rand_index(labels, planted) > 0.99


def test_long_and_short_rows_count_what_stays_alike():
    graph = as_graph(nx.complete_graph(local_moves.loops.LONG_ROW + 2))
    labels = random_labels(graph.n_nodes, 3, 518).astype(np.int32)
    labels[5] = -1
    alike = [(labels[graph.neighbors(u)] == labels[u]).sum() for u in range(graph.n_nodes)]
    stays, _, _ = staying_inside_volume(graph, labels, 3)
    assert (stays == np.where(labels < 0, 0, alike)).all()
    short = graph.subgraph(np.arange(20))
    stays, _, _ = staying_inside_volume(short, labels[:20], 3)
    assert stays[0] == (labels[1:20] == labels[0]).sum()


def test_no_move_is_left_that_would_help():
    graph = make_graph("karate")
    labels = move_nodes(graph, random_labels(34, 3, 2209))
    best = normalized_cut(graph, labels)
    for node in range(34):
        for c in range(3):
            other = labels.copy()
            other[node] = c
            if len(set(other)) == 3 and c in labels[graph.neighbors(node)]:
                assert normalized_cut(graph, other) >= best - 1e-9


@pytest.mark.parametrize("name", WITH_EDGES)
def test_quotient_graph_keeps_cuts_and_volumes(name):
    graph = make_graph(name)
    k = min(5, graph.n_nodes)
    labels = random_labels(graph.n_nodes, k, 3)
    quotient = quotient_graph(graph, labels)
    member = np.eye(k)[labels]
    dense = member.T @ graph.to_scipy().toarray() @ member
    np.testing.assert_allclose(quotient.to_scipy().toarray(), dense, rtol=1e-12)
    np.testing.assert_allclose(quotient.degrees, dense.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(quotient.loops, np.diag(dense), rtol=1e-12)
    coarse = np.arange(k) % 2
    if quotient.degrees.all() and k > 1:
        assert normalized_cut(quotient, coarse) == pytest.approx(normalized_cut(graph, coarse[labels]), rel=1e-9)


@pytest.mark.parametrize("method", ["multilevel", "two-step", "paper"])
def test_a_quotient_graph_is_clustered_like_any_other(method):
    rng = np.random.default_rng(518)
    matrix, _ = planted_partition(20, 100, 12, 3, rng=rng)
    quotient = quotient_graph(matrix, np.unique(rng.integers(0, 400, 2000), return_inverse=True)[1])
    through_the_gate = as_graph(quotient.to_scipy())
    for name in ("indptr", "indices", "weights"):
        assert np.array_equal(getattr(quotient, name), getattr(through_the_gate, name))
    one, other = (coreset_sc(graph, 20, method=method, rng=1) for graph in (quotient, through_the_gate))
    assert np.array_equal(one.labels, other.labels)


def test_quotient_graph_needs_every_label_and_every_node():
    with pytest.raises(GraphValidationError, match="every node a cluster"):
        quotient_graph(nx.path_graph(3), np.array([0, -1, 1]))
    with pytest.raises(GraphValidationError, match="none empty"):
        quotient_graph(nx.path_graph(3), np.array([0, 2, 2]))


def greedy_twin(A: np.ndarray, k: int) -> float:
    """Normalised cut after merging, among pairs that are linked or include the giant, always the best pair."""
    groups = [[u] for u in range(len(A))]

    def cut(g):
        volume = A[g].sum()
        return 1 - A[np.ix_(g, g)].sum() / volume

    while len(groups) > k:
        volumes = [A[g].sum() for g in groups]
        giant = int(np.argmax(volumes))
        best = None
        for i in range(len(groups)):
            for j in range(i):
                if A[np.ix_(groups[i], groups[j])].any() or giant in (i, j):
                    gain = cut(groups[i]) + cut(groups[j]) - cut(groups[i] + groups[j])
                    if best is None or gain > best[0]:
                        best = (gain, i, j)
        _, i, j = best
        groups[j] = groups[j] + groups[i]
        del groups[i]
    return sum(cut(g) for g in groups)


@pytest.mark.parametrize("name", ["karate", "barbell", "weighted", "two cliques", "path", "some loops"])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_merging_reaches_what_its_slow_twin_reaches(name, k):
    graph = connected_part(name)
    found = normalized_cut(graph, merge_clusters(graph, k))
    assert found <= greedy_twin(graph.to_scipy().toarray(), k) * 1.1 + 1e-9


def test_the_predicted_fall_of_a_merge_equals_the_recomputed_one():
    from graphclust.compiled.graphs.merging import _gain

    graph = make_graph("power-law blocks")
    labels = random_labels(graph.n_nodes, 12, 4)
    quotient = quotient_graph(graph, labels)
    links = quotient.to_scipy().toarray()
    for a in range(12):
        for b in range(a):
            merged = np.where(labels == a, b, labels)
            predicted = _gain(a, b, links[a, b], quotient.loops, quotient.degrees)
            recomputed = normalized_cut(graph, labels) - normalized_cut(graph, merged)
            assert predicted == pytest.approx(recomputed, abs=1e-10)


@pytest.mark.parametrize("name", WITH_EDGES)
@pytest.mark.parametrize("k", [1, 2, 7])
def test_merging_and_multilevel_give_exactly_k_clusters(name, k):
    graph = connected_part(name)
    k = min(k, graph.n_nodes)
    for labels in (merge_clusters(graph, k), multilevel_partition(graph, k, rng=5)):
        assert sorted(set(labels)) == list(range(k))
    assert set(multilevel_partition(graph, graph.n_nodes, rng=1)) == set(range(graph.n_nodes))


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
def test_a_hub_with_many_leaves_merges_quickly():
    """Leaves that want to join the growing giant shift each other's gains: that must not cost a look at all of them."""
    rows = np.concatenate([np.zeros(30_000, int), np.arange(1, 30_000)])
    columns = np.concatenate([np.arange(1, 30_001), np.arange(2, 30_001)])
    star = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(30_001, 30_001))
    graph = as_graph(star.maximum(star.T))
    steps = []
    labels = multilevel_partition(graph, 5, rng=0, progress=lambda *seen: steps.append(seen))
    assert len(set(labels)) == 5
    assert len(steps) < 400


def test_best_cuts_of_small_graphs():
    """Known optima: halves of a path, of a ring and of a grid; the two circles of karate."""
    assert normalized_cut(nx.path_graph(40), multilevel_partition(nx.path_graph(40), 2, rng=1)) == pytest.approx(2 / 39)
    assert normalized_cut(nx.cycle_graph(40), multilevel_partition(nx.cycle_graph(40), 2, rng=1)) == pytest.approx(0.1)
    grid = as_graph(nx.grid_2d_graph(8, 16))
    assert normalized_cut(grid, multilevel_partition(grid, 2, rng=1)) == pytest.approx(2 * 8 / (grid.total_volume / 2))
    karate = make_graph("karate")
    assert normalized_cut(karate, multilevel_partition(karate, 2, rng=1)) == pytest.approx(0.2564, abs=1e-4)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
def test_multilevel_finds_planted_blocks_weighted_or_not():
    planted = planted_partition(20, 400, 16, 3, rng=6)
    for weighted in (False, True):
        matrix = planted.graph.to_scipy()
        if weighted:
            noise = sparse.triu(matrix, 1)
            noise.data = np.random.default_rng(2).gamma(2.0, 0.5, noise.nnz)
            matrix = (noise + noise.T).tocsr()
        labels = multilevel_partition(matrix, 20, rng=9)
        assert adjusted_rand_index(labels, planted.labels) > 0.999
        assert normalized_cut(matrix, labels) <= normalized_cut(matrix, planted.labels) * 1.0001


def test_a_cluster_that_is_two_is_split_and_two_that_are_one_are_joined():
    planted = planted_partition(10, 300, 16, 4, rng=2209)
    labels = planted.labels.copy()
    labels[labels == 1] = 0
    labels[np.flatnonzero(labels == 2)[::2]] = 1
    best = normalized_cut(planted.graph, planted.labels)
    assert normalized_cut(planted.graph, move_nodes(planted.graph, labels)) > 1.2 * best  # moves alone do not get out
    refined = refine_partition(planted.graph, labels, rng=0)
    assert normalized_cut(planted.graph, refined) < 1.001 * best
    assert adjusted_rand_index(refined, planted.labels) > 0.99


@pytest.mark.parametrize("name", WITH_EDGES)
@pytest.mark.parametrize("k", [1, 3])
def test_refining_never_raises_the_cut_and_keeps_every_cluster(name, k):
    graph = connected_part(name)
    k = min(k, graph.n_nodes)
    labels = random_labels(graph.n_nodes, k, 7)
    refined = refine_partition(graph, labels, rng=0)
    assert set(refined) == set(range(k))
    assert normalized_cut(graph, refined) <= normalized_cut(graph, labels) + 1e-9
    assert (labels == random_labels(graph.n_nodes, k, 7)).all()


def test_what_cannot_be_refined_is_refused():
    graph = as_graph(nx.path_graph(4))
    for labels in ([0, 0, 2, 2], [0, 0, 1, -1]):
        with pytest.raises(ParameterError, match="every node a cluster"):
            refine_partition(graph, np.array(labels))


def test_cycles_of_the_whole_graph_mend_what_uneven_weights_spoilt():
    shares = []
    for seed in (1, 7, 518):
        pattern = sparse.triu(planted_partition(20, 500, 9, 2, rng=seed).graph.to_scipy(), 1).tocoo()
        pattern.data = np.random.default_rng(7).exponential(size=pattern.nnz) + 1e-3
        both = (pattern + pattern.T).tocsr()
        linked = np.flatnonzero(np.diff(both.indptr))
        graph = as_graph(both[linked][:, linked])
        once = multilevel.partition(graph, 20, 1.0, np.random.default_rng(0), Progress())
        polished = multilevel_partition(graph, 20, rng=0)
        shares.append(normalized_cut(graph, polished) / normalized_cut(graph, once.astype(np.int64)))
    assert max(shares) <= 1.0 and np.mean(shares) < 0.96


def test_more_effort_is_never_worse_on_average():
    graph = make_graph("power-law blocks")
    cuts = {
        effort: np.mean([normalized_cut(graph, multilevel_partition(graph, 9, effort=effort, rng=s)) for s in range(8)])
        for effort in (0.1, 4.0)
    }
    assert cuts[4.0] <= cuts[0.1]


def test_labels_spread_to_everything_in_reach():
    graph = make_graph("path")
    labels = np.full(40, -1, np.int32)
    labels[[0, 39]] = 0, 1
    spread = spread_labels(graph, labels, 2, 50, Progress())
    assert spread.n_labelled == list(range(2, 41, 2))
    assert spread.labels.tolist() == [0] * 20 + [1] * 20
    two_pieces = make_graph("two cliques")
    labels = np.full(20, -1, np.int32)
    labels[3] = 0
    assert spread_labels(two_pieces, labels, 1, 9, Progress()).n_labelled == [1, 9, 9]


def test_spreading_takes_the_label_of_most_weight():
    graph = make_graph("power-law blocks")
    A = graph.to_scipy().toarray()
    labels = random_labels(len(A), 3, 11).astype(np.int32)
    labels[::2] = -1
    after = spread_labels(graph, labels, 3, 1, Progress()).labels
    links = A @ np.array([labels == c for c in range(3)]).T.astype(float)
    expected = np.where(labels >= 0, labels, np.where(links.any(axis=1), links.argmax(axis=1), -1))
    assert (after == expected).all()


@pytest.mark.filterwarnings("ignore:1 isolated")
@pytest.mark.parametrize(
    "call",
    [
        lambda graph: multilevel_partition(graph, 2),
        lambda graph: merge_clusters(graph, 2),
        lambda graph: refine_partition(graph, np.array([0, 0, 1, 1])),
    ],
)
def test_isolated_nodes_are_refused(call):
    graph = nx.path_graph(3)
    graph.add_node(3)
    with pytest.raises(ParameterError, match="G has 1 isolated node, which"):
        call(graph)


def test_impossible_effort():
    with pytest.raises(ParameterError, match="effort=0"):
        multilevel_partition(nx.path_graph(4), 2, effort=0)


def test_the_cut_over_used_clusters_only():
    assert normalized_cut_of(np.array([3.0, 0.0]), np.array([4.0, 0.0])) == 0.25
