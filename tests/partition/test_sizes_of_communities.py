"""communities: graphs without edges, partitions of equal value, and clusters below `min_size`."""

import json

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from reference.objectives import partitions

from graphclust import balanced_partition, cluster_path, communities, coreset_sc, hierarchy, modularity
from graphclust.errors import GraphValidationError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore:.*isolated node:graphclust.errors.GraphWarning")


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_without_edges_each_node_is_a_cluster_and_every_figure_is_defined():
    nothing = nx.empty_graph(3)
    cases = [
        {}, {"objective": "constant_potts", "resolution": 0.5}, {"effort": "high"}, {"components": "largest"},
        {"max_size": 2},
    ]  # fmt: skip
    for options in cases:
        found = communities(nothing, **options)
        assert found.labels.tolist() == [0, 1, 2] and any("no edges" in one for one in found.remarks), options
        assert (found.modularity, found.normalized_cut, found.edge_cut, found.imbalance) == (0.0, 0.0, 0.0, 1.0)
        assert "3 clusters" in str(found) and json.dumps(found.report(), allow_nan=False)
        assert found.certainty().undecided.all() and len(found.natural_range) == 2
        assert found.update(added=[(0, 1), (1, 2), (0, 2)], rng=0).k < 3
    for options in [{}, {"max_size": 2}, {"levels": 3, "resolution": 2.0}]:
        levels = hierarchy(nothing, **options)
        assert [one.tolist() for one in levels.levels] == [[0, 1, 2]] and any(
            "no edges" in one for one in levels.remarks
        )
        assert "3 clusters" in str(levels) and levels.cut(1).modularity == 0.0
    assert sorted(balanced_partition(nothing, 2, rng=0).sizes) == [1, 2]
    assert communities(nx.path_graph(3)).update(removed=[(0, 1), (1, 2)]).k == 3
    for refuse in (lambda: coreset_sc(nothing, 2), lambda: cluster_path(nothing)):
        refuses(GraphValidationError, r"no edges, .*communities\(G\) makes each node a cluster", refuse)


def test_of_equally_good_partitions_the_one_of_fewest_clusters_is_returned():
    """By brute force over partitions into connected clusters; the constant Potts model has many ties."""
    n_tied = n_in_vain = 0
    everything = partitions(6)
    for seed in range(60):
        G = nx.gnm_random_graph(6, 5 + seed % 8, seed=seed)
        A = nx.to_numpy_array(G)
        B = A - (0.5 if seed % 2 else np.outer(A.sum(0), A.sum(0)) / A.sum())
        values = [float(B[labels[:, None] == labels].sum()) for labels in everything]
        best = [labels for labels, value in zip(everything, values, strict=True) if value > max(values) - 1e-9]
        numbers = {int(labels.max()) + 1 for labels in best if are_connected(G, labels)}
        found = communities(G, rng=seed, **({"objective": "constant_potts", "resolution": 0.5} if seed % 2 else {}))
        assert B[found.labels[:, None] == found.labels].sum() == pytest.approx(max(values))
        n_tied += len(numbers) > 1
        n_in_vain += found.k > min(numbers)  # unions pair by pair do not always come to the fewest
    assert n_tied > 5 and n_in_vain <= 1


def are_connected(G, labels):
    return all(nx.is_connected(G.subgraph(np.flatnonzero(labels == c).tolist())) for c in set(labels.tolist()))


def test_a_complete_bipartite_graph_is_one_cluster_unless_a_bound_forbids_it():
    G = nx.complete_bipartite_graph(10, 10)
    assert communities(G, rng=0).k == len(hierarchy(G, rng=0).ids[0]) == 1
    bounded = communities(G, max_size=8, rng=0)
    assert bounded.sizes.max() <= 8 and bounded.k <= 4


def groups_and_a_small_one():
    """Cliques of 12 and 30 nodes, a triangle with more weight to the second, a pair by itself and an isolated node."""
    G = nx.disjoint_union_all(map(nx.complete_graph, (12, 30, 3, 2, 1)))
    G.add_weighted_edges_from([(0, 42, 0.17), (12, 42, 2.0), (13, 43, 2.48)])
    return G


def test_small_clusters_join_the_neighbor_of_most_weight_and_a_remark_says_which():
    G = groups_and_a_small_one()
    free = communities(G, rng=0)
    assert sorted(free.sizes) == [1, 2, 3, 12, 30]
    found = communities(G, min_size=5, rng=0)
    assert found.sizes.tolist() == [33, 12, 2, 1] and set(found.labels[42:45]) == {0}
    united, alone = found.remarks[-2:]
    assert "min_size=5" in united and "cluster 0: 30 + 3" in united
    assert alone == "2 clusters hold less than min_size=5, of 1 to 2: no neighbor can take them"
    assert any("less than min_size=5, of 1 to 2" in one for one in hierarchy(G, min_size=5, rng=0).remarks)
    later = found.update(added=[(45, 0), (47, 1)], removed=[(12, 42), (13, 43)], rng=0)
    assert later.sizes.tolist() == [30, 18]


def test_a_long_list_of_unions_is_cut_short():
    pairs = nx.disjoint_union_all([nx.star_graph(9), *[nx.complete_graph(3)] * 40])
    pairs.add_edges_from((i % 10, 10 + 3 * i) for i in range(40))
    remarks = communities(pairs, min_size=60, rng=0).remarks
    assert any("min_size=60" in one for one in remarks) and max(map(len, remarks)) < 400


def test_small_clusters_apart_are_in_no_cluster():
    G = groups_and_a_small_one()
    found = communities(G, min_size=5, small="apart", rng=0)
    assert found.sizes.tolist() == [30, 12] and (found.labels[42:] == -1).all()
    assert any("6 nodes of 3 clusters" in one and "min_size=5" in one for one in found.remarks)
    assert found.modularity == pytest.approx(modularity(G, found.labels)) and found.n_aside == 5
    assert found.parameters["small"] == "apart" and "no cluster" in str(found)
    later = found.update(added=[(42, 45), (42, 46), (43, 45), (43, 46), (44, 45), (44, 46)], rng=0)
    assert later.sizes.tolist() == [30, 12, 5] and later.labels[47] == -1
    for options, words in [
        ({"small": "apart"}, "small='apart' .* min_size"),
        ({"small": "alone", "min_size": 5}, "'unite', 'apart'"),
        ({"small": "apart", "min_size": 40}, "min_size=40 .* at most 30"),
    ]:
        refuses(ParameterError, words, communities, G, rng=0, **options)
