"""The path of partitions into every k: exact figures, nested unions, a true envelope, exactly k, no surprise."""

import os
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from aims import WITH_EDGES, connected_part, looped
from cases import for_each, refuses
from graphs import make_graph
from reference import objectives as reference
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

from graphclust import limit_threads
from graphclust.engine.resolution import best_ranges
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.generators import planted_partition
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.cuts import modularity, normalized_cut
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, OBJECTIVES
from graphclust.partition.coreset_sc import coreset_sc
from graphclust.profile.path import ClusterPath, match_numbers
from graphclust.profile.path_builder import cluster_path


@pytest.fixture(scope="module")
def blocks() -> tuple:
    if "NUMBA_DISABLE_JIT" in os.environ:
        pytest.skip("too large for plain Python")
    return planted_partition(9, 60, 10, 2, rng=4)


@pytest.fixture(scope="module")
def path(blocks) -> ClusterPath:
    return cluster_path(blocks.graph, rng=0)


@for_each("seed", range(30))
def test_the_envelope_is_where_each_line_is_the_highest(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    inside, squares = rng.integers(0, 12, n) / 4.0, rng.integers(1, 12, n) / 8.0  # many ties
    ranges = best_ranges(inside, squares)
    bounds = np.unique(ranges[np.isfinite(ranges)])
    for g in [*(bounds[:-1] + bounds[1:]) / 2.0, bounds[-1] + 1.0, *rng.exponential(1.0, 40)]:
        values = inside - g * squares
        chosen = np.flatnonzero((ranges[:, 0] < g) & (g < ranges[:, 1]))
        if g in bounds:
            continue
        assert len(chosen) == 1 and values[chosen[0]] == pytest.approx(values.max(), abs=1e-12)
        strict = np.flatnonzero(values >= values.max() - 1e-12)
        assert chosen[0] == strict.min() or len(strict) > 1
    lengths = ranges[:, 1] - ranges[:, 0]
    assert (lengths >= 0).all() and ranges.min() == 0.0 and ranges.max() == np.inf


def test_lines_below_the_envelope_come_nearest_where_their_empty_range_is():
    inside, squares = np.array([1.0, 0.8, 0.5, 0.62]), np.array([1.0, 0.5, 0.1, 0.3])
    ranges = best_ranges(inside, squares)
    assert ranges.tolist() == [[0.0, pytest.approx(0.4)], [pytest.approx(0.4), pytest.approx(0.75)],
                               [pytest.approx(0.75), np.inf], [pytest.approx(0.75)] * 2]  # fmt: skip


@for_each("name", [*WITH_EDGES, "uneven and looped"])
@for_each("objective", OBJECTIVES)
def test_every_k_has_exactly_k_clusters_and_the_tree_is_one(name, objective):
    graph = looped() if name == "uneven and looped" else make_graph(name)
    path = cluster_path(graph, objective=objective, rng=5)
    linked = int((~graph.isolated).sum())
    assert path.ks == tuple(range(1, len(path.ks) + 1)) and path.ks[-1] <= linked
    for k in {1, min(2, linked), len(path) // 2 or 1, path.ks[-1]}:
        found = path[k]
        assert found.n_clusters == k and found.objective == objective and found is path[k]
        assert (found.labels >= 0).tolist() == (~graph.isolated).tolist()
    tree = path.tree()
    assert tree.shape == (path.ks[-1] - 1, 4)
    assert path.ks[-1] == 1 or is_valid_linkage(tree, throw=True)
    assert (np.diff(tree[:, 2]) >= 0).all() and np.isfinite(tree).all()


@for_each("name", ["uneven and looped", "tiny pieces", "karate", "looped block model", "power-law blocks"])
@for_each("objective", OBJECTIVES)
def test_the_table_holds_the_recomputed_figures(name, objective):
    graph = looped() if name == "uneven and looped" else make_graph(name)
    path = cluster_path(graph, objective=objective, components="all", rng=1)
    A = graph.to_scipy().toarray()
    for row in path.table():
        labels = path.labels_before_moves(row.k)
        assert sorted(set(labels[labels >= 0])) == list(range(row.k))
        assert row.sizes.tolist() == sorted(np.bincount(labels[labels >= 0]), reverse=True)
        assert row.normalized_cut == pytest.approx(normalized_cut(graph, labels), abs=1e-9)
        assert row.modularity == pytest.approx(modularity(graph, labels), abs=1e-9)
        kept = np.flatnonzero(labels >= 0)  # isolated nodes take no part
        value = reference.value(A[np.ix_(kept, kept)], labels[kept], objective, row.resolution)
        assert row.value == pytest.approx(value / (A.sum() if OBJECTIVES[objective].is_relative else 1.0), abs=1e-9)


@pytest.mark.parametrize("objective", ADDITIVE_OBJECTIVES)
def test_best_ranges_are_where_k_is_the_best_of_the_path(path, blocks, objective):
    if objective != "modularity":
        path = cluster_path(blocks.graph, objective=objective, rng=0)
    A, n = blocks.graph.to_scipy().toarray(), blocks.graph.n_nodes
    rows = {row.k: row for row in path.table()}
    assert rows[1].best_range[0] == 0.0
    for k in (1, 5, 9, 12):
        low, high = rows[k].best_range
        if not low < high:
            continue
        middle = (low + min(high, 2.0 * low + 1e-9)) / 2.0
        values = {k: reference.value(A, path.labels_before_moves(k), objective, middle) for k in path.ks[:-16]}
        assert max(values, key=values.__getitem__) == k
    low, high = rows[9].best_range
    assert high > 3 * low and path[9].resolution == rows[9].resolution
    assert path[9].natural_range == pytest.approx((low, path[9].resolution))  # of clusters after moves, which did not
    assert path[9].resolution == pytest.approx(np.sqrt(low * high)) or objective == "modularity"
    assert n == sum(rows[9].sizes)


def test_ranges_of_a_path_of_ratio_cuts_are_resolutions_of_potts():
    graph = nx.ring_of_cliques(6, 5)
    path, A = cluster_path(graph, objective="ratio_cut", rng=0), nx.to_numpy_array(graph)
    low, high = path.best_range(6)
    for g in (low * 1.01, (low + high) / 2.0, high * 0.99):
        values = {k: reference.value(A, path.labels_before_moves(k), "constant_potts", g) for k in path.ks}
        assert max(values, key=values.__getitem__) == 6


def test_one_union_leads_from_each_k_to_the_next_smaller(path):
    """Between the stops where regions move, labels are nested; at all of them one cluster is named as the split one."""
    stops = path.descent.stops
    rows = path.table()
    assert rows[0].splits is None
    for smaller, larger in pairwise(rows):
        k, place = larger.splits
        assert k == smaller.k == larger.k - 1 and 0 <= place < k
        if smaller.k not in stops:
            fine, coarse = (path.descent.labels(row.k) for row in (larger, smaller))
            pairs = np.unique(np.stack([fine, coarse]), axis=1)
            assert pairs.shape[1] == larger.k
            (split,) = np.flatnonzero(np.bincount(pairs[1]) == 2)
            whole = path.labels_before_moves(smaller.k)
            assert (whole == split).sum() == smaller.sizes[place]
    assert len(path.ks) - 1 in stops or len(path) > 50


def test_the_tree_joins_the_clusters_of_the_largest_k(blocks):
    """On a graph of two groups of three cliques the tree says so, whatever the clusters are numbered."""
    groups = nx.disjoint_union_all([nx.complete_graph(n) for n in (7, 5, 6, 9, 8, 4)])
    starts = [0, 7, 12, 18, 27, 35]
    for a, b in ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)):
        groups.add_edges_from([(starts[a] + i, starts[b] + i) for i in range(2)])
    groups.add_edge(3, 21)
    path = cluster_path(groups, range(2, 7), rng=0)
    tree = path.tree()
    assert is_valid_linkage(tree, throw=True) and tree[-1, 3] == 6
    leaves = fcluster(tree, 2, "maxclust")
    assert adjusted_rand_index(leaves[path[6].labels], path[2].labels) == 1.0
    assert path[2].sizes.tolist() == [21, 18]
    for k in (3, 4, 5):
        assert adjusted_rand_index(fcluster(tree, k, "maxclust")[path[6].labels], path[k].labels) == 1.0


def test_natural_distances_are_one_over_the_excess():
    """Three cliques of four in a ring: two are linked by one edge of 42 entries, with volumes of 14 each."""
    tree = cluster_path(nx.ring_of_cliques(3, 4), [3], rng=0).tree()
    assert tree[:, 2] == pytest.approx([14.0 * 14.0 / 42.0, 14.0 * 28.0 / (2.0 * 42.0)])


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
def test_one_cluster_of_a_graph_with_many_regions_holds_all_nodes():
    path = cluster_path(planted_partition(8, 500, 12, 3, rng=0).graph, [1, 8], rng=0)
    assert len(path.descent.stops[1]) < 4000 and path[1].sizes.tolist() == [4000]


@pytest.mark.slow
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
def test_no_cluster_is_lost_where_many_nodes_move_at_once():
    """Of 871 clusters of 20,000 regions some are of few, that all would leave while others would come."""
    path = cluster_path(planted_partition(50, 1000, 20, 4, rng=0).graph, rng=0)
    largest = max(path.ks)
    assert all(len(np.unique(path[k].labels)) == k for k in (largest, largest // 2, 50))
    assert adjusted_rand_index(path[50].labels, np.repeat(np.arange(50), 1000)) > 0.99


def test_unlinked_clusters_are_united_last_and_drawn_at_a_finite_distance():
    path = cluster_path(nx.disjoint_union(nx.complete_graph(9), nx.complete_graph(11)), [2], rng=0)
    assert path.tree().tolist() == [[0.0, 1.0, 1.0, 2.0]]
    assert path.best_range(2)[0] == 0.0


def test_partitions_are_as_good_as_those_for_one_k_alone(path, blocks):
    lacking = []
    for k in range(2, 31):
        alone, of_path = coreset_sc(blocks.graph, k, rng=0), path[k]
        values = [modularity(blocks.graph, found, resolution=alone.resolution) for found in (alone, of_path)]
        lacking.append(1.0 - values[1] / values[0])
    assert np.median(lacking) <= 0.02
    assert adjusted_rand_index(path[9].labels, blocks.labels) > 0.97


def test_moving_nodes_never_lowers_the_value_of_a_row(path, blocks):
    rows = {row.k: row for row in path.table()}
    for k in (2, 9, 20, 60):
        found = path[k]
        assert modularity(blocks.graph, found, resolution=found.resolution) >= rows[k].value - 1e-12


def test_the_same_seed_is_the_same_path_in_whatever_order_it_is_asked(blocks):
    one, other = (cluster_path(blocks.graph, range(2, 40), rng=3) for _ in range(2))
    for k in (30, 7):
        _ = one[k]
    for k in (7, 12, 30):
        assert (one[k].labels == other[k].labels).all()
    assert (one.tree() == other.tree()).all()


def test_threads_change_nothing(path, blocks):
    with limit_threads(1):
        alone = cluster_path(blocks.graph, rng=0)
        assert (alone.tree() == path.tree()).all() and alone.suggest() == path.suggest()
        assert all((alone[k].labels == path[k].labels).all() for k in (2, 9, 40))


def test_labels_take_the_numbers_that_their_clusters_had():
    before, after = (np.array(one, np.int32) for one in ([0, 0, 1, 1, 2, 2, 3], [3, 3, 0, 0, 1, 2, 2]))
    assert match_numbers(before, after, 4)[after].tolist()[:4] == [0, 0, 1, 1]
    assert sorted(set(match_numbers(before, after, 4)[after].tolist())) == [0, 1, 2, 3]
    nested = np.array([0, 0, 0, 0, 1, 2, 3], np.int32)  # cluster 0 unites two earlier ones, so one number is new
    found = match_numbers(before, nested, 4)[nested]
    assert sorted(set(found.tolist())) == [0, 1, 2, 3] and len(set(found[:4].tolist())) == 1 and found[6] == 3


def _written_anew(graph, rng):
    """The same graph with its nodes and edges in another order."""
    other = nx.Graph()
    other.add_nodes_from([list(graph)[i] for i in rng.permutation(len(graph))])
    edges = list(graph.edges(data=True))
    other.add_edges_from([edges[i] if rng.random() < 0.5 else (edges[i][1], edges[i][0], edges[i][2])
                          for i in rng.permutation(len(edges))])  # fmt: skip
    return other


def test_a_path_of_named_nodes_is_the_same_in_whatever_order_they_were_written():
    graph, rng = nx.les_miserables_graph(), np.random.default_rng(0)
    first = cluster_path(graph, range(1, 13), rng=5)
    said = first.suggest()
    wanted = {k: dict(zip(first[k].nodes, first[k].labels.tolist(), strict=True)) for k in (2, 6, 12)}
    for trial in range(30):
        path = cluster_path(_written_anew(graph, rng), range(1, 13), rng=5)
        assert path.tree().tobytes() == first.tree().tobytes()
        for k in (6,) if trial else (2, 6, 12):
            assert dict(zip(path[k].nodes, path[k].labels.tolist(), strict=True)) == wanted[k]
        if trial == 0:
            assert path.suggest() == said


def test_a_path_of_a_matrix_has_the_same_sizes_and_values_in_any_order_of_its_rows(blocks):
    A, rng = blocks.graph.to_scipy(), np.random.default_rng(0)
    first = cluster_path(A, range(2, 12), rng=5)
    for _ in range(3):
        order = rng.permutation(A.shape[0])
        path = cluster_path(A[order][:, order], range(2, 12), rng=5)
        assert [row.sizes.tolist() for row in path.table()] == [row.sizes.tolist() for row in first.table()]
        assert [row.value for row in path.table()] == pytest.approx([row.value for row in first.table()], rel=1e-12)
        assert path[9].modularity == pytest.approx(first[9].modularity, rel=1e-12)
        assert (path.labels_before_moves(9) == first.labels_before_moves(9)[order]).all()


def test_clusters_of_a_path_are_connected(path, blocks):
    network = nx.from_scipy_sparse_array(blocks.graph.to_scipy())
    for k in (2, 5, 14, 40):
        assert all(nx.is_connected(network.subgraph(members)) for members in path[k].communities())


def test_a_given_resolution_is_used_for_every_k():
    path = cluster_path(nx.karate_club_graph(), range(2, 6), resolution=1.0, weight=None, rng=0)
    assert {path[k].resolution for k in path.ks} == {1.0}
    assert path[4].modularity == pytest.approx(0.4198, abs=2e-4)  # the best that is known


def test_small_components_and_isolated_nodes():
    isolated = make_graph("tiny pieces").isolated
    path = cluster_path(make_graph("tiny pieces"), range(1, 4), components="all", rng=0)
    assert isolated.sum() == 2 and ((path[2].labels == -1) == isolated).all()
    crumbs = sparse.block_diag([planted_partition(4, 50, 10, 1, rng=0).graph.to_scipy(), np.ones((2, 2))]).tocsr()
    path = cluster_path(crumbs, range(2, 6), rng=0)
    assert path[4].sizes.min() > 2
    assert any("1 component of 2 nodes put aside" in remark for remark in path[4].remarks)
    assert [row.sizes.sum() for row in path.table()] == [200] * 4


def test_a_default_path_of_the_largest_component_ends_at_its_number_of_nodes():
    graph = nx.disjoint_union_all([nx.path_graph(4), *[nx.path_graph(2)] * 60])
    path = cluster_path(graph, components="largest", rng=0)
    assert path.ks == (1, 2, 3, 4) and path[4].sizes.tolist() == [1] * 4
    assert np.flatnonzero(coreset_sc(graph, components="largest", rng=0).labels >= 0).tolist() == [0, 1, 2, 3]
    with pytest.raises(ParameterError, match="ks holds 5, more than the 4 nodes of the largest component"):
        cluster_path(graph, [5], components="largest")


def test_numbers_of_clusters_may_have_gaps_and_come_in_any_order(blocks):
    path = cluster_path(blocks.graph, [20, 3, 3, 9], rng=0)
    assert path.ks == (3, 9, 20) == tuple(path) and len(path) == 3 and 9 in path and 4 not in path
    assert {k: path[k].n_clusters for k in path} == {3: 3, 9: 9, 20: 20}
    assert [None if row.splits is None else row.splits[0] for row in path.table()] == [None, 3, 9]
    assert path.tree().shape == (19, 4)
    assert "k = 3..20" in repr(path)
    for ask in (path.__getitem__, path.clustering, path.best_range, path.resolution):
        for k in (4, 21, -1):
            refuses(KeyError, f"k={k} is not on this path of 3 from 3 to 20", ask, k)
    with pytest.raises(TypeError, match=r"k=3\.0 is a float"):
        _ = path[3.0]


@pytest.mark.parametrize(
    ("ks", "error", "message"),
    [
        ([], ParameterError, "ks is empty"),
        (5, TypeError, "ks=5 is a int, expected whole numbers such as range"),
        ([0, 2], ParameterError, r"ks\[0\]=0 is out of range"),
        ([2, 2.5], TypeError, r"ks\[1\]=2.5 is a float"),
        ([2, 35], ParameterError, "ks holds 35, more than the 34 nodes of G with edges"),
    ],
)
def test_impossible_ks_are_named(ks, error, message):
    refuses(error, message, cluster_path, nx.karate_club_graph(), ks)


def test_graphs_and_options_that_cannot_be():
    refuses(GraphValidationError, "no edges", cluster_path, make_graph("no edges"))
    refuses(ParameterError, "components='tiny'", cluster_path, nx.path_graph(4), components="tiny")
    with pytest.raises(ParameterError, match="resolution=2 is not an option of objective 'normalized_cut'"):
        cluster_path(nx.path_graph(4), objective="normalized_cut", resolution=2)


def test_progress_is_told_and_can_stop_the_work():
    seen = []
    cluster_path(nx.karate_club_graph(), progress=lambda stage, done, total: seen.append((stage, done, total)))
    steps = [(done, total) for stage, done, total in seen if stage == "descent" and total > 20]
    assert steps and steps[-1][0] == steps[-1][1] - 1

    def stop(stage, done, total):
        raise InterruptedError

    refuses(InterruptedError, None, cluster_path, nx.karate_club_graph(), progress=stop)


@pytest.mark.parametrize("name", ["path", "star", "clique", "grid"])
def test_connected_graphs_have_linked_unions_only(name):
    path = cluster_path(connected_part(name), rng=0)
    assert (path.descent.excess[1:] > 0.0).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_nothing_is_cut_where_all_is_one_cluster(objective):
    """However the sums of the weights are rounded."""
    for seed in range(5):
        A = np.random.default_rng(seed).random((30, 30))
        rows = cluster_path(A + A.T, range(1, 6), objective=objective, rng=0).table()
        assert rows[0].normalized_cut == 0.0 and all(row.normalized_cut > 0.0 for row in rows[1:])
    apart = cluster_path(nx.disjoint_union(nx.complete_graph(7), nx.complete_graph(5)), [1, 2], rng=0).table()
    assert [row.normalized_cut for row in apart] == [0.0, 0.0]
