"""Updates of models that were taken from a clustering, and of levels of unequal depth."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each

from graphclust import ParameterError, coreset_sc, hierarchy


def same_parts(one, other):
    return len({*zip(one, other, strict=True)}) == len({*one}) == len({*other})


pytestmark = pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")


@for_each("objective", ["modularity", "normalized_cut", "ratio_cut", "constant_potts"])
def test_a_model_updates_as_its_clustering_whatever_it_was_made_for(objective):
    for seed in range(4):
        graph = nx.gnm_random_graph(40, 90, seed=seed)
        found = coreset_sc(nx.to_scipy_sparse_array(graph), 6, objective=objective, rng=0)
        pairs = {*map(tuple, np.sort(np.random.default_rng(seed).integers(0, 40, (6, 2))).tolist())}
        added = sorted((u, v) for u, v in pairs if u != v and not graph.has_edge(u, v))
        of_model = found.model().update(found.graph, added=added, rng=0)
        assert (found.update(added=added, rng=0).labels == of_model.labels).all()


def test_far_clusters_are_split_where_they_were_though_others_have_more_levels_now():
    graph = nx.union(nx.ring_of_cliques(4, 8), nx.relabel_nodes(nx.complete_graph(3), lambda u: 100 + u))
    found = hierarchy(graph, max_size=5, rng=0)
    new = nx.barabasi_albert_graph(60, 2, seed=0)
    later = found.update(added=[(100, 200), *((200 + u, 200 + v) for u, v in new.edges)], rng=0)
    assert [len(levels.levels) for levels in (found, later)] == [2, 3]
    for old, levels in ((found.levels[0], later.levels[:1]), (found.levels[1], later.levels[1:])):
        for labels in levels:
            assert len({*zip(old[:32], labels[:32], strict=True)}) == len({*old[:32]}) == len({*labels[:32]})


def test_a_component_that_an_edge_links_to_another_cluster_leaves_its_own():
    """Two of three components are one cluster as k is 2; once its nodes can be in a connected one they are."""
    graph = nx.to_scipy_sparse_array(nx.disjoint_union_all(map(nx.complete_graph, (8, 6, 3))))
    found = coreset_sc(graph, 2, components="all", rng=1)
    apart = {place: int(found.labels[place]) for place in (0, 8, 16)}  # a node of each component
    linked = next(place for place in (0, 8) if apart[place] != apart[16])
    assert (found.update(added=[(linked, 16, 0.01)], rng=1).labels[14:] == apart[linked]).all()


def test_new_weights_change_clusters_of_their_component_alone_and_none_may_be_above_the_bound():
    """The levels far away stay, though a search from nothing splits them in another way."""
    graph = nx.disjoint_union(nx.complete_graph(8), nx.gnm_random_graph(80, 160, seed=1))
    found = hierarchy(graph, max_size=8, node_weight=np.ones(88), rng=0)
    later = found.update(node_weight={0: 2.0}, rng=1)
    fresh = hierarchy(graph, max_size=8, node_weight=later.node_sizes, rng=1)
    assert later.node_sizes[0] == 2.0 and len({*later.levels[-1][:8].tolist()}) > 1
    far = [[same_parts(one[8:], levels.levels[-1][8:]) for levels in (later, fresh)] for one in found.levels[-1:]]
    assert far == [[True, False]]
    with pytest.raises(ParameterError, match="node 3 alone weighs 9, more than max_size=8"):
        found.update(node_weight={3: 9.0}, rng=0)


def test_levels_forget_a_connectivity_that_an_update_cannot_keep():
    graph = nx.ring_of_cliques(4, 6)
    for asked, kept in (("well", "well"), (lambda n: 1.0, None)):
        found = hierarchy(graph, connectivity=asked, rng=0)
        assert found.update(added=[(0, 12)], rng=0).parameters.get("connectivity") == kept
