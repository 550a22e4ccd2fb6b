"""Levels after edits: bounds hold, clusters far away keep their ids, and every change is told."""

import networkx as nx
import numpy as np
import pytest
from nested_levels import check_levels
from test_histories import check_ids, members_of
from test_update import planted, random_edits

import graphclust as gc

pytestmark = pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")


def same_parts(one, other):
    return len({*zip(one, other, strict=True)}) == len({*one}) == len({*other})


def test_far_clusters_are_split_where_they_were_though_others_have_more_levels_now():
    graph = nx.union(nx.ring_of_cliques(4, 8), nx.relabel_nodes(nx.complete_graph(3), lambda u: 100 + u))
    found = gc.hierarchy(graph, max_size=5, rng=0)
    new = nx.barabasi_albert_graph(60, 2, seed=0)
    later = found.update(added=[(100, 200), *((200 + u, 200 + v) for u, v in new.edges)], rng=0)
    assert [len(levels.levels) for levels in (found, later)] == [2, 3]
    for old, levels in ((found.levels[0], later.levels[:1]), (found.levels[1], later.levels[1:])):
        for labels in levels:
            assert same_parts(old[:32], labels[:32])


def test_new_weights_change_clusters_of_their_component_alone_and_none_may_be_above_the_bound():
    """The levels far away stay, though a search from nothing splits them in another way."""
    graph = nx.disjoint_union(nx.complete_graph(8), nx.gnm_random_graph(80, 160, seed=1))
    found = gc.hierarchy(graph, max_size=8, node_weight=np.ones(88), rng=0)
    later = found.update(node_weight={0: 2.0}, rng=1)
    fresh = gc.hierarchy(graph, max_size=8, node_weight=later.node_sizes, rng=1)
    assert later.node_sizes[0] == 2.0 and len({*later.levels[-1][:8].tolist()}) > 1
    far = [[same_parts(one[8:], levels.levels[-1][8:]) for levels in (later, fresh)] for one in found.levels[-1:]]
    assert far == [[True, False]]
    with pytest.raises(gc.ParameterError, match="node 3 alone weighs 9, more than max_size=8"):
        found.update(node_weight={3: 9.0}, rng=0)


def bounded(found, graph, most):
    """Bounds, nesting and ids of a hierarchy, and that it has the edited graph."""
    assert (found.graph.to_scipy().toarray() == nx.to_numpy_array(graph, nodelist=found.nodes)).all()
    check_levels(found.graph.to_scipy().toarray(), found, most)
    members = {}
    for labels, ids in zip(found.levels, found.ids, strict=True):
        assert len(set(ids.tolist())) == len(ids)
        for c, one in enumerate(ids.tolist()):
            nodes = frozenset(np.flatnonzero(labels == c).tolist())
            assert members.setdefault(one, nodes) == nodes
    assert len(set(members.values())) == len(members)


def check_log(old, later):
    """Every cluster that came or went is told; none is said to that is a cluster before and after."""
    sizes = [{one.id: one.size for one in found.clusters} for found in (old, later)]
    before, after = (set(ids) for ids in sizes)
    told_before = {one for change in later.changes for one in change.before}
    told_after = {one for change in later.changes for one in change.after}
    assert told_before >= before - after and told_after >= after - before and before & after <= told_before & told_after
    for change in later.changes:
        assert (change.size_before, change.size_after) == tuple(
            sum(of[one] for one in ones) for of, ones in zip(sizes, (change.before, change.after), strict=True)
        )
        alive = change.kind == "died" and change.before[0] in after
        assert not alive and not (change.kind == "born" and change.after[0] in before)
        several = (len(change.before) > 1, len(change.after) > 1)
        assert several == {"split": (False, True), "merged": (True, False)}.get(change.kind, (False, False))
    check_ids(members_of(old), later, set())


@pytest.mark.parametrize("options", [{"max_size": 5}, {"max_size": 7, "min_size": 2}, {}, {"max_size": 6, "levels": 2}])
def test_a_hierarchy_holds_its_bounds_through_edits(options):
    rng, graph = np.random.default_rng(7), planted(7, k=4)
    found = gc.hierarchy(graph, **options, rng=0)
    for step in range(5):
        graph, edits = random_edits(graph, rng, 0.04)
        found, old = found.update(**edits, rng=step), found
        bounded(found, graph, options.get("max_size", np.inf))
        check_log(old, found)
    fresh = gc.hierarchy(graph, **options, rng=0)
    assert gc.modularity(found.graph, found.levels[0]) >= gc.modularity(found.graph, fresh.levels[0]) - 0.01


def test_leaves_without_room_stand_together_on_the_last_level_alone():
    """A path of hubs with leaves, a caterpillar: clusters that change and clusters that do not differ in depth."""
    graph = nx.path_graph(4)
    graph.add_edges_from((hub, 4 + 9 * hub + leaf) for hub in range(4) for leaf in range(9))
    found = gc.hierarchy(graph, max_size=4, rng=0)
    for seed in (6, 14, 16):
        later_graph, edits = random_edits(graph, np.random.default_rng(seed), 0.1)
        bounded(found.update(**edits, rng=0), later_graph, 4)


@pytest.mark.parametrize(("seed", "most", "least"), [(1466, 6, 3), (1784, 6, 3)])
def test_a_cluster_that_lost_nodes_is_split_anew(seed, most, least):
    """The nodes left for clusters that need no split, so that a part of the old split holds less than min_size."""
    graph = nx.barabasi_albert_graph(24, 1, seed=seed)
    found = gc.hierarchy(graph, max_size=most, min_size=least, rng=0)
    graph, edits = random_edits(graph, np.random.default_rng(seed), 0.12)
    later = found.update(**edits, rng=0)
    bounded(later, graph, most)
    above = np.zeros(24, int)
    for labels in later.levels:
        sizes = np.bincount(labels)
        for u, v in graph.edges:
            if above[u] == above[v] and labels[u] != labels[v] and min(sizes[labels[u]], sizes[labels[v]]) < least:
                assert sizes[labels[u]] + sizes[labels[v]] > most
        above = labels


def test_levels_that_are_gone_are_told():
    """Two cliques of 6 with a bound of 3 have a level of halves, of which removed nodes leave nothing to split."""
    old = gc.hierarchy(nx.barbell_graph(6, 0), max_size=3, rng=0)
    later = old.update(removed_nodes=[0, 1, 2, 9, 10, 11], rng=0)
    assert len(old.levels) > len(later.levels)
    check_log(old, later)


def test_far_clusters_of_every_level_keep_their_ids_and_nodes():
    graph = nx.ring_of_cliques(20, 7)
    found = gc.hierarchy(graph, max_size=4, rng=0)
    later = found.update(removed=[(0, 1), (0, 2)], added=[(0, 139)], rng=3)
    graph.remove_edges_from([(0, 1), (0, 2)])
    graph.add_edge(0, 139)
    bounded(later, graph, 4)
    far = list(range(30, 120))
    for old, new, old_ids, new_ids in zip(found.levels, later.levels, found.ids, later.ids, strict=True):
        assert (old_ids[old[far]] == new_ids[new[far]]).all()


def test_leaves_of_a_star_come_and_go():
    graph = nx.star_graph(20)
    found = gc.hierarchy(graph, max_size=6, rng=0)
    later = found.update(added=[(0, 21), (0, 22)], removed_nodes=[3], rng=0)
    graph.add_edges_from([(0, 21), (0, 22)])
    graph.remove_node(3)
    bounded(later, graph, 6)
    assert later.n_ids >= len(later.clusters)
