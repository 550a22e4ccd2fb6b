"""communities: graphs without edges, partitions of equal value, and clusters below `min_size`."""

import json

import networkx as nx
import numpy as np
import pytest

from graphclust import balanced_partition, cluster_path, communities, coreset_sc, hierarchy
from graphclust.errors import GraphValidationError

pytestmark = pytest.mark.filterwarnings("ignore:.*isolated node:graphclust.errors.GraphWarning")


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_without_edges_each_node_is_a_cluster_and_every_figure_is_defined():
    nothing = nx.empty_graph(3)
    cases = [
        {},
        {"objective": "constant_potts", "resolution": 0.5},
        {"effort": "high"},
        {"components": "largest"},
        {"max_size": 2},
    ]
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
        with pytest.raises(GraphValidationError, match=r"no edges, .*communities\(G\) makes each node a cluster"):
            refuse()


def partitions_of(n):
    """All labels 0, 1, ... of n nodes, numbered by first appearance."""
    found = [[0]]
    for _ in range(n - 1):
        found = [[*labels, c] for labels in found for c in range(max(labels) + 2)]
    return found


def test_of_equally_good_partitions_the_one_of_fewest_clusters_is_returned():
    """By brute force over partitions into connected clusters; the constant Potts model has many ties."""
    n_tied = n_in_vain = 0
    everything = [np.array(labels) for labels in partitions_of(6)]
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
