"""What an updated clustering has lost against one from nothing, and when an update says so."""

import networkx as nx
import numpy as np
import pytest

from graphclust import Drift, balanced_partition, communities, coreset_sc, hierarchy, planted_partition
from graphclust.errors import ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
PLANTED = planted_partition(8, 30, 10, 2, rng=1).graph


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (lambda G: communities(G, rng=0), lambda found: found.modularity),
        (lambda G: coreset_sc(G, 8, objective="normalized_cut", rng=0), lambda found: -found.normalized_cut),
        (
            lambda G: communities(G, max_size=40, node_weight=np.ones(240) + (np.arange(240) == 3), rng=0),
            lambda found: found.modularity,
        ),
        pytest.param(
            lambda G: balanced_partition(G, 4, rng=0),
            lambda found: -2 * found.edge_cut / found.graph.total_volume,
            marks=pytest.mark.slow,
        ),
    ],
    ids=["communities", "exactly k", "bounds", "equal parts"],
)
def test_drift_is_measured_against_the_same_question_asked_anew(make, value):
    found = make(PLANTED)
    later = found.update(removed=[(0, int(PLANTED.neighbors(0)[0]))], rng=0)
    told = later.drift(rng=0)
    assert isinstance(told, Drift) and told.fresh.graph == later.graph
    assert {**told.fresh.parameters, "node_weight": 0} == {**found.parameters, "node_weight": 0}
    assert (told.fresh.node_sizes is None) == (later.node_sizes is None)
    assert told.value == pytest.approx(value(later), rel=1e-12)
    assert told.fresh_value == pytest.approx(value(told.fresh), rel=1e-12)
    assert told.lost == pytest.approx((told.fresh_value - told.value) / abs(told.fresh_value))


def test_an_update_says_when_the_value_has_fallen_since_the_clusters_were_made():
    graph = nx.ring_of_cliques(10, 6)
    found = communities(graph, rng=0)
    rng, first = np.random.default_rng(0), found.modularity
    assert found.first_value is None
    for step in range(6):
        pairs = {tuple(sorted(rng.choice(60, 2, replace=False).tolist())) for _ in range(8)}
        found = found.update(added=[pair for pair in pairs if not found.graph.to_scipy()[pair]], rng=step)
        assert found.first_value == pytest.approx(first, rel=1e-12)
        has_fallen = found.modularity < first * 0.998
        assert any(f"gone from {first:.4f} to {found.modularity:.4f}" in said for said in found.remarks) == has_fallen
    assert has_fallen
    unchanged = communities(graph, rng=0).update(added=[(0, 2, 1.0)] if not graph.has_edge(0, 2) else None, rng=0)
    assert unchanged.remarks == ()


def test_a_cut_of_a_hierarchy_is_not_asked_anew():
    with pytest.raises(ParameterError, match=r"expected hierarchy\(G\)\.cut\(5\) anew"):
        hierarchy(nx.ring_of_cliques(8, 5), max_size=5, rng=0).cut(5).drift()
