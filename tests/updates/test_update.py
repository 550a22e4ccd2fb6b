"""Clusterings after edits: as good as clustered again, with the labels and ids that they had; what they have lost."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from reference import objectives as reference

import graphclust as gc
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.objective.objective import OBJECTIVES

pytestmark = pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")


def planted(seed, k=6, size=15, within=0.5, between=0.02):
    graph = nx.empty_graph(k * size)
    graph.add_edges_from(nx.random_partition_graph([size] * k, within, between, seed=seed).edges)
    return graph


def random_edits(graph, rng, share):
    """Edits in the forms that update takes, made on a copy of the graph too."""
    later, nodes = graph.copy(), list(graph)
    edges = [edge for edge in graph.edges if rng.random() < share]
    removed = [edge for edge in edges if rng.random() < 0.5]
    reweighted = [(*edge, float(rng.integers(1, 4))) for edge in edges if edge not in removed]
    added = {}
    for _ in range(len(edges)):
        u, v = sorted(rng.choice(len(nodes), 2, replace=False).tolist())
        if not graph.has_edge(nodes[u], nodes[v]):
            added[nodes[u], nodes[v]] = float(rng.integers(1, 4))
    later.remove_edges_from(removed)
    for u, v, w in [*reweighted, *((u, v, w) for (u, v), w in added.items())]:
        later.add_edge(u, v, weight=w)
    return later, {"added": [(u, v, w) for (u, v), w in added.items()], "removed": removed, "reweighted": reweighted}


def connected(graph, labels):
    return all(nx.is_connected(graph.subgraph(np.flatnonzero(labels == c).tolist())) for c in set(labels.tolist()))


@pytest.mark.parametrize("seed", range(4))
def test_many_random_edits_keep_the_value_of_a_full_run(seed):
    rng, graph = np.random.default_rng(seed), planted(seed)
    found = gc.communities(graph, rng=0)
    for _ in range(8):
        graph, edits = random_edits(graph, rng, 0.05)
        found = found.update(**edits, rng=0)
        assert (found.graph.to_scipy().toarray() == nx.to_numpy_array(graph)).all()
        assert sorted(set(found.labels.tolist())) == list(range(found.k)) and connected(graph, found.labels)
    fresh = gc.communities(graph, rng=0)
    assert found.modularity >= fresh.modularity - 0.01


def test_far_clusters_keep_their_labels():
    graph = nx.ring_of_cliques(20, 6)
    found = gc.communities(graph, rng=0)
    later = found.update(removed=[(0, 1), (0, 2), (0, 3)], added=[(0, 119)], rng=1)
    far = [u for u in graph if min(nx.shortest_path_length(graph, u, v) for v in (0, 1, 2, 3, 119)) > 2]
    assert len(far) > 80 and (later.labels[far] == found.labels[far]).all()


def test_exactly_k_clusters_stay():
    for objective in ("modularity", "normalized_cut"):
        graph = planted(3, k=4)
        found = gc.coreset_sc(graph, 4, objective=objective, rng=0)
        later = found.update(added=[(0, "new"), (1, "new")], removed=list(graph.edges(2)), rng=0)
        assert later.k == later.n_clusters == 4 and later.labels[2] == -1
        assert later.as_dict()["new"] == later.as_dict()[0]
        kept = [u for u in graph if u != 2]
        assert gc.adjusted_rand_index(found.labels[kept], later.labels[kept]) > 0.95
    cut = gc.hierarchy(nx.ring_of_cliques(8, 5), max_size=5, rng=0).cut(8)
    assert cut.update(removed=[(0, 1)], rng=0).k == 8


def test_a_cluster_that_loses_all_its_nodes_is_replaced_where_k_was_asked_for():
    graph = nx.ring_of_cliques(4, 5)
    found = gc.coreset_sc(graph, 4, rng=0)
    later = found.update(removed_nodes=range(5), rng=0)
    assert later.n_clusters == 4 and len(later.labels) == 15
    refuses(ParameterError, "3 nodes have edges, fewer than k=4", found.update, removed_nodes=range(17), rng=0)
    parts = gc.balanced_partition(nx.complete_graph(5), 4, rng=0)
    refuses(ParameterError, "3 nodes are left, fewer than k=4", parts.update, removed_nodes=np.array([0, 1]), rng=0)


def test_ids_are_never_given_again():
    graph = nx.disjoint_union_all([nx.complete_graph(n) for n in (7, 6, 5)])
    found = gc.communities(graph, rng=0)
    without = found.update(removed_nodes=range(13, 18), rng=0)
    assert (without.k, without.ids.tolist()) == (2, [0, 1])
    with_new = without.update(added=[(20, 21), (21, 22), (20, 22), (23, 24)], rng=0)
    assert with_new.ids.tolist() == [0, 1, 3, 4] and with_new.labels.tolist()[-5:] == [2, 2, 3, 2, 3]
    assert [change.kind for change in with_new.changes] == ["kept", "kept", "born", "born"]
    gone = with_new.update(removed_nodes=range(7), rng=0)
    assert gone.labels.tolist() == [1] * 6 + [2, 2, 0, 2, 0] and gone.ids.tolist() == [4, 1, 3]
    assert [(change.kind, change.before) for change in gone.changes] == [
        ("died", (0,)), ("kept", (1,)), ("kept", (3,)), ("kept", (4,)),
    ]  # fmt: skip
    assert [(change.kind, change.size_before) for change in gone.update(rng=0).changes] == [
        ("kept", 6), ("kept", 3), ("kept", 2),
    ]  # fmt: skip


def test_split_and_merged_clusters_are_told():
    left, right = nx.complete_graph(6), nx.relabel_nodes(nx.complete_graph(6), {u: u + 6 for u in range(6)})
    apart = nx.compose(left, right)
    apart.add_edge(0, 6)
    across = [(u, v) for u in range(6) for v in range(6, 12) if (u, v) != (0, 6)]
    two = gc.communities(apart, rng=0)
    one = two.update(added=across, rng=0)
    assert one.k == 1 and [(c.kind, c.before, c.after) for c in one.changes] == [("merged", (0, 1), (0,))]
    again = one.update(removed=across, rng=0)
    assert [(c.kind, c.before, c.after) for c in again.changes] == [("split", (0,), (0, 2))]


def test_what_cannot_be_edited_is_refused():
    found = gc.communities(nx.path_graph(3), rng=0)
    refuses(ParameterError, "is there already", found.update, added=[(0, 1)])
    largest = gc.communities(nx.Graph([(0, 1), (2, 3)]), components="largest", rng=0)
    with pytest.raises(GraphValidationError, match="no edge is left in the component that was clustered"):
        largest.update(removed=[(0, 1)])
    words = r"removed_nodes='12' is a str, expected a list of nodes, as \['12'\]"
    refuses(TypeError, words, found.update, removed_nodes="12")
    refuses(TypeError, "added holds weights that are not numbers", found.update, added=[(0, 2, "heavy")])


def test_no_edits_change_nothing():
    cliques = nx.ring_of_cliques(3, 4)
    cliques.add_nodes_from("xyz")
    levels = gc.hierarchy(nx.karate_club_graph(), max_size=5, rng=0)
    for found in (
        gc.communities(nx.karate_club_graph(), rng=0), levels, gc.hierarchy(cliques, max_size=4, rng=0).cut(6)
    ):  # fmt: skip
        later = found.update(rng=5)
        of_levels = (found.levels, later.levels) if found is levels else ([found.labels], [later.labels])
        assert all((one == other).all() for one, other in zip(*of_levels, strict=True))
        assert {change.kind for change in later.changes} == {"kept"}
    assert [ids.tolist() for ids in levels.update(rng=5).ids] == [ids.tolist() for ids in levels.ids]


def test_a_new_node_without_edges_is_a_cluster_or_in_a_part_as_at_first():
    """Row 10 comes about with row 11, which an edge names."""
    graph = nx.to_scipy_sparse_array(nx.barbell_graph(5, 0), format="csr")
    later = gc.communities(graph, rng=0).update(added=[(0, 11)], rng=0)
    assert later.sizes.tolist() == [6, 5, 1] and later.labels.min() == 0
    assert gc.balanced_partition(graph, 2, rng=0).update(added=[(0, 11)], rng=0).sizes.sum() == 12
    assert gc.coreset_sc(graph, 2, rng=0).update(added=[(0, 11)], rng=0).labels[10:].tolist() == [-1, 0]


def test_a_new_node_without_a_weight_is_told():
    graph, weights = nx.ring_of_cliques(4, 6), dict.fromkeys(range(24), 2.0)
    for found in (
        gc.hierarchy(graph, max_size=14, node_weight=weights, rng=0),
        gc.communities(graph, max_size=14, node_weight=weights, rng=0),
    ):
        later = found.update(added=[(0, "new")], rng=0)
        assert later.remarks == ("1 new node counts 1 in the bounds, as an update knows no node_weight of what is new",)
        assert found.update(removed=[(0, 1)], rng=0).remarks == ()


def test_a_cluster_of_as_many_nodes_but_others_is_told():
    found = gc.communities(nx.ring_of_cliques(4, 6), rng=0)
    later = found.update(added=[(0, "new"), (1, "new")], removed_nodes=[5], rng=0)
    (change,) = [change for change in later.changes if change.kind != "kept"]
    assert (change.kind, change.size_before, change.size_after) == ("changed", 6, 6)
    assert change.before == change.after == (later.ids[later.as_dict()["new"]],)


@pytest.mark.parametrize(
    ("make", "least", "most"),
    [
        (lambda G: gc.communities(G, max_size=12, rng=0), 1, 12),
        (lambda G: gc.communities(G, min_size=10, max_size=25, rng=0), 10, 25),
        pytest.param(lambda G: gc.balanced_partition(G, 6, rng=0), 1, 16, marks=pytest.mark.slow),
        pytest.param(lambda G: gc.balanced_partition(G, 6, max_imbalance=0.2, rng=0), 1, 18, marks=pytest.mark.slow),
    ],
    ids=["most", "both", "parts", "looser parts"],
)
@pytest.mark.parametrize("seed", range(2))
def test_bounds_on_sizes_are_kept_through_random_edits(make, least, most, seed):
    rng, graph = np.random.default_rng(seed), planted(seed)
    found = make(graph)
    fixed = found.k if found.objective == "edge_cut" else None
    for _ in range(6):
        graph, edits = random_edits(graph, rng, 0.08)
        found = found.update(**edits, rng=0)
        assert found.sizes.min() >= least and found.sizes.max() <= most
        assert fixed in (None, found.k) and found.labels.min() == 0
    fresh = make(graph)
    if fixed:
        assert found.edge_cut <= 1.15 * fresh.edge_cut
    else:
        assert found.modularity >= fresh.modularity - 0.02


@pytest.mark.parametrize(("n", "most", "seed"), [(15, 6, 2), (24, 9, 4), (24, 9, 5)])
def test_exactly_k_stay_where_no_two_clusters_fit_into_one(n, most, seed):
    """Most edges change, so that all clusters are opened; no two regions of the new ones fit into one cluster."""
    graph = nx.cycle_graph(n)
    found = gc.coreset_sc(graph, 3, objective="modularity", max_size=most, rng=0)
    graph, edits = random_edits(graph, np.random.default_rng(seed), 0.5)
    later = found.update(**edits, rng=0)
    assert later.k == later.n_clusters == 3 and later.sizes.max() <= most
    assert later.modularity == pytest.approx(gc.modularity(graph, later.as_dict()), rel=1e-12)


def test_a_component_that_was_put_aside_is_clustered_once_an_edge_links_it():
    graph = nx.disjoint_union(nx.barbell_graph(8, 0), nx.path_graph(3))
    found = gc.coreset_sc(graph, 2, rng=0)
    assert found.labels[16:].tolist() == [-1, -1, -1]
    later = found.update(added=[(0, 16)], rng=0)
    assert later.labels[16:].tolist() == [later.labels[0]] * 3
    again = later.update(added=[(1, 17)], rng=0)
    assert again.normalized_cut == pytest.approx(gc.normalized_cut(again.graph, again.labels), rel=1e-12)
    label_of = found.update(added=[(16, 18), (18, "new"), ("x", "y")], rng=0).as_dict()
    assert [label_of[u] for u in (16, 17, 18, "new")] == [-1] * 4 and min(label_of["x"], label_of["y"]) >= 0


def test_a_model_sees_that_edges_have_changed_however_light_they_are():
    ring = nx.cycle_graph(6)
    nx.set_edge_attributes(ring, 1e-12, "weight")
    model = gc.coreset_sc(ring, 2, rng=0).model()
    ring.add_edge(2, 3, weight=3e-12)
    ring.add_edge(4, 3, weight=3e-12)
    later = model.update(ring, rng=0)
    assert later.normalized_cut == pytest.approx(gc.normalized_cut(ring, later.as_dict()), rel=1e-9)


def test_bounds_count_what_nodes_weigh():
    graph, weights = planted(1), np.where(np.arange(90) % 9 == 0, 4.0, 1.0)
    found = gc.communities(graph, max_size=20, node_weight=weights, rng=0)
    later = found.update(added=[("new", 0), ("new", 1)], removed_nodes=[5], removed=[(9, next(iter(graph[9])))], rng=0)
    weights = np.append(np.delete(weights, 5), 1.0)
    assert later.node_sizes.tolist() == weights.tolist()
    assert np.bincount(later.labels, weights).max() <= 20 < np.bincount(later.labels, weights).sum()


@pytest.mark.parametrize("weights", [[1.0] * 6, [5.0] + [1.0] * 5])
def test_weights_that_came_with_the_graph_or_are_all_one_are_known_to_an_update(weights):
    graph = replace(gc.as_graph(nx.path_graph(6)), node_weights=np.array(weights))
    parts = gc.balanced_partition(graph, 2, rng=0)
    clusters = gc.communities(graph, max_size=5, node_weight=weights, rng=0)
    for found, most in ((parts, np.ceil(1.03 * sum(weights) / 2)), (clusters, 5)):
        later = found.update(added=[(1, 4)], rng=0)
        assert np.bincount(later.labels, weights).max() <= most
        assert ("of the weight of the nodes" in str(later)) == (weights[0] > 1.0)


def test_weights_that_came_with_the_graph_stay_with_its_nodes():
    graph = replace(gc.as_graph(nx.path_graph(6)), node_weights=np.array([5.0, 2, 3, 4, 1, 1]))
    found = gc.communities(graph, max_size=9, rng=0)
    assert found.update(added=[(1, 4)], rng=0).graph.node_weights.tolist() == [5, 2, 3, 4, 1, 1]
    later = found.update(added=[(1, 6)], removed_nodes=[0], rng=0)
    assert later.graph.node_weights.tolist() == later.node_sizes.tolist() == [2, 3, 4, 1, 1, 1]


def test_a_new_component_below_the_lower_bound_is_a_cluster():
    found = gc.communities(nx.ring_of_cliques(3, 4), min_size=4, rng=0)
    assert found.update(added=[(12, 13)], rng=0).sizes.tolist() == [4, 4, 4, 2]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_figures_of_quality_are_those_of_the_edited_graph(objective):
    rng, graph = np.random.default_rng(5), planted(5)
    found = gc.coreset_sc(graph, 6, objective=objective, rng=0)
    for _ in range(3):
        graph, edits = random_edits(graph, rng, 0.05)
        found = found.update(**edits, removed_nodes=[], rng=0)
        assert found.normalized_cut == pytest.approx(gc.normalized_cut(found.graph, found.labels), rel=1e-12)
        assert found.modularity == pytest.approx(gc.modularity(found.graph, found.labels), rel=1e-12)
    later = found.update(removed_nodes=[3, 4, 50], added=[("new", 0)], rng=0)
    assert later.edge_cut == pytest.approx(gc.edge_cut(later.graph, later.labels), rel=1e-12)


@pytest.mark.parametrize("heavy", [1e13, 1e15, 1e20])
def test_figures_of_quality_stand_after_a_weight_out_of_proportion_is_gone(heavy):
    graph = nx.ring_of_cliques(4, 5)
    nx.set_edge_attributes(graph, 1.1, "weight")
    found = gc.communities(graph, rng=0).update(added=[(2, 12, heavy)], rng=0)
    for later in (found.update(removed=[(2, 12)], rng=0), found.update(reweighted=[(2, 12, 0.7)], rng=0)):
        assert later.modularity == pytest.approx(gc.modularity(later.graph, later.labels), rel=1e-9)


def test_an_update_out_of_time_says_so():
    graph = planted(1)
    clusters, levels = gc.communities(graph, rng=0), gc.hierarchy(graph, max_size=5, rng=0)
    for found in (clusters, levels):
        later = found.update(removed=list(graph.edges)[:20], rng=0, progress=gc.Progress(time_budget=1e-9))
        assert [remark for remark in later.remarks if "the time budget of 1e-09 s ran out" in remark]
    assert np.bincount(later.levels[-1]).max() <= 5


def test_parts_of_a_cluster_that_is_cut_through_come_apart():
    graph = nx.barbell_graph(6, 3)
    found = gc.communities(graph, resolution=0.01, rng=0)
    later = found.update(removed=[(6, 7)], rng=0)
    assert found.k == 1 and later.k == 2 and connected(nx.Graph(later.graph.to_scipy()), later.labels)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["same groups", "nodes change their group"])
def test_a_hundred_updates_in_a_row_are_as_good_as_a_full_run(kind):
    groups, rng = np.repeat(np.arange(20), 100), np.random.default_rng(1)
    found = gc.communities(gc.planted_partition(20, 100, 12, 4, rng=1).graph, rng=0)
    for step in range(100):
        if kind != "same groups":
            groups[rng.choice(2000, 10, replace=False)] = rng.integers(0, 20, 10)
        entries = found.graph.to_scipy().tocoo()
        edges = np.stack([entries.row, entries.col], 1)[entries.row < entries.col]
        removed = edges[rng.choice(len(edges), 80, replace=False)]
        own = rng.integers(0, 2000, 80)
        inside = [rng.choice(np.flatnonzero(groups == groups[u])) for u in own]
        pairs = np.sort(np.stack([own, np.where(rng.random(80) < 0.75, inside, rng.integers(0, 2000, 80))], 1), axis=1)
        pairs = np.array(
            [(u, v) for u, v in set(map(tuple, pairs.tolist())) if u != v and v not in found.graph.neighbors(u)]
        )
        found = found.update(added=pairs, removed=removed, rng=step)
    assert found.modularity >= 0.9995 * gc.communities(found.graph, rng=0).modularity


@pytest.mark.slow
def test_nodes_far_from_every_change_keep_their_labels():
    graph = gc.planted_partition(100, 100, 8, 0.3, rng=2).graph
    found, far, kept = gc.communities(graph, rng=0), 0, 0
    for step in range(20):
        entries = found.graph.to_scipy().tocsr()
        center = int(np.random.default_rng(step).integers(0, 9_900))
        source, target = entries[center : center + 60].nonzero()
        removed = np.stack([source + center, target], 1)[source + center < target][:40]
        later = found.update(removed=removed, added=[(center, 10_000 + step)], rng=step)
        near = np.zeros(later.graph.n_nodes, bool)
        near[removed] = near[center] = True
        for _ in range(2):
            nodes = np.flatnonzero(near)
            for matrix in (entries, later.graph.to_scipy()):
                near[matrix[nodes[nodes < matrix.shape[0]]].indices] = True
        is_far = ~near[: found.graph.n_nodes]
        far += np.count_nonzero(is_far)
        kept += np.count_nonzero((later.labels[: len(is_far)] == found.labels)[is_far])
        found = later
    assert far > 100_000 and kept >= 0.999 * far


PLANTED = gc.planted_partition(8, 30, 10, 2, rng=1).graph


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (lambda G: gc.communities(G, rng=0), lambda found: found.modularity),
        (lambda G: gc.coreset_sc(G, 8, objective="normalized_cut", rng=0), lambda found: -found.normalized_cut),
        (
            lambda G: gc.communities(G, max_size=40, node_weight=np.ones(240) + (np.arange(240) == 3), rng=0),
            lambda found: found.modularity,
        ),
        (
            lambda G: gc.communities(G, objective="erdos_renyi", resolution=2.0, rng=0),
            lambda found: (
                reference.value(found.graph.to_scipy().toarray(), found.labels, "erdos_renyi", 2.0)
                / found.graph.total_volume
            ),
        ),
        pytest.param(
            lambda G: gc.balanced_partition(G, 4, rng=0),
            lambda found: -2 * found.edge_cut / found.graph.total_volume,
            marks=pytest.mark.slow,
        ),
    ],
    ids=["communities", "exactly k", "bounds", "pairs of nodes", "equal parts"],
)
def test_drift_is_measured_against_the_same_question_asked_anew(make, value):
    found = make(PLANTED)
    later = found.update(removed=[(0, int(PLANTED.neighbors(0)[0]))], rng=0)
    told = later.drift(rng=0)
    assert isinstance(told, gc.Drift) and told.fresh.graph == later.graph
    assert {**told.fresh.parameters, "node_weight": 0} == {**found.parameters, "node_weight": 0}
    assert (told.fresh.node_sizes is None) == (later.node_sizes is None)
    assert told.value == pytest.approx(value(later), rel=1e-12)
    assert told.fresh_value == pytest.approx(value(told.fresh), rel=1e-12)
    assert told.lost == pytest.approx((told.fresh_value - told.value) / abs(told.fresh_value))


def test_an_update_says_when_the_value_has_fallen_since_the_clusters_were_made():
    graph = nx.ring_of_cliques(10, 6)
    found = gc.communities(graph, rng=0)
    rng, first = np.random.default_rng(0), found.modularity
    assert found.first_value is None
    for step in range(6):
        pairs = {tuple(sorted(rng.choice(60, 2, replace=False).tolist())) for _ in range(8)}
        found = found.update(added=[pair for pair in pairs if not found.graph.to_scipy()[pair]], rng=step)
        assert found.first_value == pytest.approx(first, rel=1e-12)
        has_fallen = found.modularity < first * 0.998
        assert any(f"gone from {first:.4f} to {found.modularity:.4f}" in said for said in found.remarks) == has_fallen
    assert has_fallen
    unchanged = gc.communities(graph, rng=0).update(added=[(0, 2, 1.0)] if not graph.has_edge(0, 2) else None, rng=0)
    assert unchanged.remarks == ()


def test_a_cut_of_a_hierarchy_is_not_asked_anew():
    with pytest.raises(ParameterError, match=r"expected hierarchy\(G\)\.cut\(5\) anew"):
        gc.hierarchy(nx.ring_of_cliques(8, 5), max_size=5, rng=0).cut(5).drift()


@for_each("objective", OBJECTIVES)
def test_a_model_updates_as_its_clustering_whatever_it_was_made_for(objective):
    for seed in range(4):
        graph = nx.gnm_random_graph(40, 90, seed=seed)
        found = gc.coreset_sc(nx.to_scipy_sparse_array(graph), 6, objective=objective, rng=0)
        pairs = {*map(tuple, np.sort(np.random.default_rng(seed).integers(0, 40, (6, 2))).tolist())}
        added = sorted((u, v) for u, v in pairs if u != v and not graph.has_edge(u, v))
        of_model = found.model().update(found.graph, added=added, rng=0)
        assert (found.update(added=added, rng=0).labels == of_model.labels).all()


def test_a_component_that_an_edge_links_to_another_cluster_leaves_its_own():
    """Two of three components are one cluster as k is 2; once its nodes can be in a connected one they are."""
    graph = nx.to_scipy_sparse_array(nx.disjoint_union_all(map(nx.complete_graph, (8, 6, 3))))
    found = gc.coreset_sc(graph, 2, components="all", rng=1)
    apart = {place: int(found.labels[place]) for place in (0, 8, 16)}  # a node of each component
    linked = next(place for place in (0, 8) if apart[place] != apart[16])
    assert (found.update(added=[(linked, 16, 0.01)], rng=1).labels[14:] == apart[linked]).all()
