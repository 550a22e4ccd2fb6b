"""communities: graphs without edges, partitions of equal value, and clusters below `min_size`."""

import json

import networkx as nx
import pytest

from graphclust import balanced_partition, cluster_path, communities, coreset_sc, hierarchy
from graphclust.errors import GraphValidationError

pytestmark = pytest.mark.filterwarnings("ignore:.*isolated node:graphclust.errors.GraphWarning")


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_without_edges_each_node_is_a_cluster_and_every_figure_is_defined():
    nothing = nx.empty_graph(3)
    cases = [{}, {"objective": "constant_potts"}, {"effort": "high"}, {"components": "largest"}, {"max_size": 2}]
    for options in cases:
        found = communities(nothing, **options)
        assert found.labels.tolist() == [0, 1, 2] and any("no edges" in one for one in found.remarks), options
        assert (found.modularity, found.normalized_cut, found.edge_cut, found.imbalance) == (0.0, 0.0, 0.0, 1.0)
        assert "3 clusters" in str(found) and json.dumps(found.report(), allow_nan=False)
        assert found.certainty().undecided.all() and len(found.natural_range) == 2
        assert found.update(added=[(0, 1), (1, 2)], rng=0).k == 1
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
