"""Which k: the planted one where there is one, and an honest answer where there is none."""

import os
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from cases import refuses

from graphclust import Coreset
from graphclust.engine.refinement import merge_clusters
from graphclust.errors import GraphWarning, ParameterError
from graphclust.estimators.k_means import KMeans
from graphclust.generators import planted_partition
from graphclust.interop.pyg import partition
from graphclust.io.graph_input import as_graph
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.objective import OBJECTIVES
from graphclust.partition.balanced_partition import balanced_partition
from graphclust.partition.coreset_sc import coreset_sc
from graphclust.points.k_means.lloyd import kmeans
from graphclust.points.neighbors.graphs import knn_graph
from graphclust.profile.path_builder import cluster_path
from graphclust.profile.select_k import (
    DRAWS,
    FOUND_AGAIN,
    LOWEST,
    SuggestedK,
    best_all_round,
    is_clear,
    own_path,
    rank_by_width,
)
from graphclust.progress import Progress
from graphclust.results.confidence import leave_out_edges
from graphclust.spectral.embedding import spectral_embedding
from graphclust.spectral.whole_graph import fast_spectral_clustering, spectral_clustering

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
PLANTED = [
    (3, 300, 14, 2, {}), (20, 100, 14, 2, {}), (40, 60, 14, 2, {}), (12, 150, 16, 2, {"size_ratio": 0.9}),
    (8, 250, 16, 2, {"degree_exponent": 2.5}),
]  # fmt: skip


@pytest.mark.parametrize(("n_blocks", "size", "inside", "outside", "options"), PLANTED)
def test_the_planted_number_is_suggested(n_blocks, size, inside, outside, options):
    graph = planted_partition(n_blocks, size, inside, outside, rng=n_blocks, **options).graph
    suggestion = cluster_path(graph, rng=0).suggest()
    assert suggestion.k == n_blocks and suggestion.clear
    assert suggestion.candidates[0].k == n_blocks not in [other.k for other in suggestion.runners_up]
    assert f"{n_blocks} clusters are the best from resolution" in suggestion.reasons[0]


LARGER = [
    (3, 1000, 16, 3, {}, 0.0), (30, 300, 14, 3, {}, 0.0), (100, 150, 12, 2, {}, 0.0), (200, 100, 12, 2, {}, 0.02),
    (20, 500, 16, 2, {"size_ratio": 0.9}, 0.0), (10, 800, 20, 3, {"degree_exponent": 2.5}, 0.0),
    (40, 600, 20, 2, {"degree_exponent": 2.5, "size_ratio": 0.96}, 0.05),
]  # fmt: skip


@pytest.mark.slow
def test_the_planted_number_is_suggested_for_nineteen_of_twenty_graphs():
    """Exactly up to 100 blocks, within 2 % above, within 5 % for unbalanced blocks of uneven degrees."""
    right = 0
    for n_blocks, size, inside, outside, options, tolerance in LARGER:
        for seed in range(3):
            graph = planted_partition(n_blocks, size, inside, outside, rng=seed, **options).graph
            found = cluster_path(graph, rng=seed).suggest().k
            right += abs(found - n_blocks) <= tolerance * n_blocks
    assert right >= 0.95 * 3 * len(LARGER)


@pytest.mark.slow
@pytest.mark.parametrize(("mixing", "seed"), [(0.3, 3), (0.3, 6), (0.4, 3), (0.4, 5), (0.4, 8)])
def test_where_the_widest_range_misleads_the_suggestion_is_within_a_tenth(mixing, seed):
    """By the widths of one path 53 clusters are suggested for 51, and 46 for 50 of such LFR graphs."""
    graph = nx.LFR_benchmark_graph(
        5000, 2.5, 1.5, mixing, average_degree=15, max_degree=150, min_community=30, max_community=300, seed=seed
    )
    graph.remove_edges_from(nx.selfloop_edges(graph))
    planted = len({frozenset(graph.nodes[node]["community"]) for node in graph})
    suggestion = cluster_path(nx.to_scipy_sparse_array(graph, weight=None), rng=seed).suggest()
    assert abs(suggestion.k - planted) <= 0.1 * planted


@pytest.mark.parametrize(
    "graph",
    [
        nx.fast_gnp_random_graph(600, 0.02, seed=1), nx.random_regular_graph(4, 400, seed=2), nx.complete_graph(40),
        nx.barabasi_albert_graph(500, 4, seed=3), nx.star_graph(60), nx.complete_bipartite_graph(20, 25),
        nx.cycle_graph(200), nx.path_graph(2),
    ],
    ids=["random", "regular", "complete", "preferential", "star", "bipartite", "cycle", "edge"],
)  # fmt: skip
def test_a_graph_without_clusters_shows_no_number_of_them(graph):
    suggestion = cluster_path(as_graph(graph), rng=0).suggest()
    assert not suggestion.clear and suggestion.k >= 1
    assert suggestion.reasons[0].startswith("the graph shows no number of clusters clearly")
    assert str(suggestion).split("\n") == list(suggestion.reasons)


def heavy_tailed(seed):
    """A random graph whose weights are of log-normal law: the heaviest edges alone would seem to be clusters."""
    graph, rng = nx.gnm_random_graph(300, 1200, seed=seed), np.random.default_rng(seed)
    nx.set_edge_attributes(graph, {edge: float(rng.lognormal(0.0, 1.5)) for edge in graph.edges}, "weight")
    return graph


NULL = {
    "random": lambda seed: nx.gnm_random_graph(300, 1500, seed=seed),
    "regular": lambda seed: nx.random_regular_graph(6, 300, seed=seed),
    "preferential": lambda seed: nx.barabasi_albert_graph(300, 4, seed=seed),
    "below the threshold": lambda seed: planted_partition(4, 75, 4.5, 5.5, rng=seed).graph,  # d lambda^2 is 0.7
    "heavy-tailed": heavy_tailed,
}


@pytest.mark.parametrize("kind", NULL)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
def test_no_clusters_are_suggested_where_they_would_describe_noise(kind, seed):
    suggestion = cluster_path(NULL[kind](seed), rng=seed).suggest()
    assert suggestion.k == 1 and not suggestion.clear and suggestion.nats_saved < 0.0
    assert "; 1 is the fewest, since nothing shows assortative clusters: " in suggestion.reasons[0]


def test_a_planted_graph_at_that_degree_has_clusters():
    suggestion = cluster_path(planted_partition(4, 50, 10, 3, rng=1).graph, rng=0).suggest()
    assert suggestion.k == 4 and suggestion.nats_saved > 300.0
    assert max(suggestion.candidates, key=lambda one: one.nats_saved).k == 4


def test_without_k_1_the_fewest_clusters_are_the_answer_where_nothing_shows_any():
    suggestion = cluster_path(nx.gnm_random_graph(300, 1500, seed=1), [2, 3], rng=0).suggest()
    assert suggestion.k == 2 and suggestion.nats_saved < 0.0


FEW_EDGES = {
    "les miserables": (nx.les_miserables_graph(), 6),
    "karate": (nx.karate_club_graph(), 2),
    "florentine": (nx.florentine_families_graph(), 3),
    "southern women": (nx.davis_southern_women_graph(), 2),
}


@pytest.mark.parametrize("name", FEW_EDGES)
def test_stable_clusters_of_few_edges_are_suggested_though_not_clear(name):
    graph, k = FEW_EDGES[name]
    suggestion = cluster_path(graph, rng=0).suggest()
    assert suggestion.k == k and not suggestion.clear and suggestion.nats_saved < 0.0
    assert max(one.stability for one in suggestion.candidates) >= FOUND_AGAIN
    assert "; evidence: none" in str(suggestion) and "evidence is by how many nats" in str(suggestion)


@pytest.mark.parametrize(
    "graph",
    [planted_partition(12, 200, 4, 1.6, rng=0).graph, as_graph(nx.les_miserables_graph())],
    ids=["planted", "real"],
)
def test_stability_and_evidence_are_of_the_clusters_that_the_path_returns(graph):
    path = cluster_path(graph, rng=DRAWS)
    candidate, rng = path.suggest().candidates[0], np.random.default_rng(8)
    found = path[candidate.k]
    assert candidate.nats_saved == pytest.approx(found.certainty().nats_saved)
    others = [leave_out_edges(graph, 0.1, rng) for _ in range(5)]
    again = [coreset_sc(other, candidate.k, resolution=found.resolution, components="all", rng=rng) for other in others]
    measured = np.mean([adjusted_rand_index(found.labels, one.labels) for one in again])
    assert candidate.stability == pytest.approx(measured, abs=0.08)


@pytest.mark.parametrize("seed", range(3))
def test_no_candidate_comes_twice_and_each_has_its_own_width(seed):
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-10.0, 10.0, (12, 2))
    points = np.repeat(centers, 60, axis=0) + 0.5 * rng.normal(size=(720, 2))
    path = cluster_path(knn_graph(points, 15), rng=DRAWS)
    candidates = path.suggest().candidates
    ks = [one.k for one in candidates]
    assert len({*ks}) == len(ks) and all(abs(a - b) > 0.05 * a for a in ks for b in ks if a != b)
    for one in candidates:
        near = np.array([path.best_range(k) for k in path.ks if abs(k - one.k) <= 0.05 * one.k])
        low, high = np.maximum(near, LOWEST).T
        assert one.width == pytest.approx(np.log(high / low).sum()) and one.best_range == path.best_range(one.k)


@pytest.mark.parametrize("name", ["karate", "random", "blocks"])
def test_the_suggestion_is_the_same_for_every_seed_of_the_path(name):
    graph = {
        "karate": nx.karate_club_graph(),
        "random": nx.random_regular_graph(5, 80, seed=1),
        "blocks": planted_partition(5, 30, 6, 3, rng=1).graph,
    }[name]
    found = [cluster_path(graph, rng=seed).suggest() for seed in (0, 1, 2, None)]
    assert len({(one.k, one.clear, one.candidates, one.nats_saved) for one in found}) == 1


def test_one_dense_graph_is_one_cluster():
    assert cluster_path(nx.complete_graph(40), rng=0).suggest().k == 1


@pytest.mark.parametrize("objective", [name for name in OBJECTIVES if name != "modularity"])
def test_the_other_objectives_suggest_too_and_cuts_say_by_what(objective):
    graph = planted_partition(6, 80, 14, 2, rng=1).graph
    suggestion = cluster_path(graph, objective=objective, rng=0).suggest()
    assert suggestion.k == 6 and suggestion.clear
    assert ("has no resolution" in suggestion.reasons[-1]) == objective.endswith("_cut")


def test_a_suggestion_is_of_the_ks_asked_for():
    path = cluster_path(planted_partition(6, 80, 14, 2, rng=1).graph, [2, 3, 5, 8], rng=0)
    assert path.suggest().k in path.ks
    assert cluster_path(nx.karate_club_graph(), [1], rng=0).suggest().k == 1


def test_disconnected_clusters_are_natural_down_to_no_resolution():
    suggestion = cluster_path(nx.disjoint_union_all([nx.complete_graph(n) for n in (9, 8, 7, 9)]), rng=0).suggest()
    assert suggestion.k == 4 and suggestion.clear and suggestion.candidates[0].best_range[0] == 0.0
    assert suggestion.candidates[0].stability == 1.0


SMALL_GROUPS = {
    "K5": (nx.disjoint_union_all([nx.complete_graph(5)] * 50), 50),
    "edges": (nx.disjoint_union_all([nx.path_graph(2)] * 101), 101),
    "ring of cliques": (nx.ring_of_cliques(200, 4), 200),
}
MORE_GROUPS = {
    "paths from two nodes on": (nx.disjoint_union_all([nx.path_graph(n) for n in (2, 3, 4, 5) * 20]), 80),
    "caveman": (nx.caveman_graph(100, 3), 100),
    "K3": (nx.disjoint_union_all([nx.complete_graph(3)] * 300), 300),
    "paths": (nx.disjoint_union_all([nx.path_graph(n) for n in (4, 5, 6) * 25]), 75),
    "connected caveman": (nx.connected_caveman_graph(100, 4), 100),
    "planted": (planted_partition(200, 12, 8, 1.5, rng=1).graph.to_scipy(), 200),
}


@pytest.mark.parametrize("name", [*SMALL_GROUPS, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE_GROUPS)])
def test_many_small_groups_are_suggested_beyond_three_times_the_square_root_of_the_nodes(name):
    graph, k = (SMALL_GROUPS | MORE_GROUPS)[name]
    graph = as_graph(graph)
    assert k > 3 * np.sqrt(graph.n_nodes)
    path = cluster_path(graph, rng=0)
    suggestion = path.suggest()
    assert suggestion.k == k and suggestion.clear and suggestion.k in path
    assert coreset_sc(graph, k=None, rng=0).n_clusters == k


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_no_suggestion_unites_components_where_the_path_holds_a_larger_k(seed):
    rng = np.random.default_rng(seed)
    parts = [nx.gnp_random_graph(int(n), 0.5, seed=seed) for n in rng.integers(3, 12, 40)]
    graph = nx.disjoint_union_all(parts)
    graph.remove_nodes_from(list(nx.isolates(graph)))
    path = cluster_path(graph, components="all", rng=seed)
    assert path.n_components == nx.number_connected_components(graph) <= path.suggest().k
    alone = cluster_path(graph, range(2, path.n_components + 1), components="all", rng=seed).suggest()
    assert alone.k == path.n_components


def test_a_larger_k_is_suggested_rather_than_one_that_unites_components():
    cliques = nx.disjoint_union_all([nx.complete_graph(4)] * 12)
    assert cluster_path(cliques, [5, 11, 30], rng=0).suggest().k == 30


def test_the_end_of_a_path_that_unites_components_is_named():
    graph = nx.disjoint_union_all([nx.complete_graph(4)] * 12)
    suggestion = cluster_path(graph, range(1, 9), rng=0).suggest()
    assert not suggestion.clear and suggestion.k == 8
    assert "the path ends at 8 clusters, so that some of the 12 components are united" in suggestion.reasons[0]
    remark = next(remark for remark in coreset_sc(nx.fast_gnp_random_graph(300, 0.05, seed=1), rng=0).remarks)
    assert remark.endswith("; the path ends at 51, larger ks were not looked at")


@pytest.mark.slow
def test_a_default_path_ends_at_4000_clusters_and_says_so():
    suggestion = cluster_path(nx.disjoint_union_all([nx.path_graph(2)] * 4100), rng=0).suggest()
    assert suggestion.k == 4000 and not suggestion.clear
    assert "ends at 4,000 clusters, so that some of the 4,100 components are united" in suggestion.reasons[0]


@pytest.mark.parametrize(
    "graph",
    [nx.fast_gnp_random_graph(600, 0.02, seed=1), nx.cycle_graph(200), nx.grid_2d_graph(20, 20), nx.path_graph(300)],
    ids=["random", "cycle", "grid", "path"],
)
def test_a_path_without_small_groups_ends_at_three_times_the_square_root_of_the_nodes(graph):
    assert cluster_path(as_graph(graph), rng=0).ks[-1] == int(3 * np.sqrt(graph.number_of_nodes()))


def test_a_wide_stable_lead_of_enough_evidence_is_clear():
    def of(width, stability, runner_up, nats=90.0, of_runner_up=100.0, its_stability=1.0, n_components=1):
        first = SuggestedK(5, (1, 2), width, stability, nats)
        return is_clear((first, SuggestedK(9, (2, 3), runner_up, its_stability, of_runner_up)), n_components)

    assert of(0.8, 0.6, 0.4) and not of(0.8, 0.6, 0.41)
    assert of(0.8, 0.8, 0.5) and not of(0.8, 0.8, 0.6)
    assert not of(0.57, 0.9, 0.1)
    assert not of(0.8, 0.49, 0.1)
    assert not of(0.8, 0.6, 0.4, nats=84.0) and of(0.8, 0.6, 0.4, nats=84.0, its_stability=0.49)
    assert not of(0.8, 0.6, 0.4, nats=-1.0, of_runner_up=-9.0) and of(0.8, 0.6, 0.4, nats=-1.0, n_components=5)
    assert is_clear((SuggestedK(5, (1, 2), 0.8, 0.6, 1.0),), 1) and not is_clear((), 1)


def test_an_unclear_number_is_the_best_by_width_stability_and_evidence_together():
    def of(*figures):
        return best_all_round(tuple(SuggestedK(k, (1, 2), *rest) for k, rest in enumerate(figures, 2)))

    assert of((0.8, 0.9, 100.0), (0.7, 0.9, 200.0)) == 3  # the evidence
    assert of((0.8, 0.4, 100.0), (0.7, 0.9, 100.0)) == 3  # the stability
    assert of((0.8, 0.9, 100.0), (0.39, 0.9, 900.0)) == 2  # less than half as wide
    assert of((0.8, 0.9, -2.0), (0.7, 0.9, -1.0)) == 2  # no evidence for any
    assert of((0.8, np.nan, 100.0), (0.7, np.nan, 90.0)) == 2  # no time for stability


def test_numbers_near_one_another_are_one_answer():
    ks = range(1, 61)
    ranges = {k: (1.0, 1.0 + 0.1 * (k in (39, 40, 41)) + 0.15 * (k == 10) + 9.0 * (k == 1)) for k in ks}
    path = SimpleNamespace(ks=ks, ranges=ranges, descent=SimpleNamespace(unions=np.empty((80, 2))), n_components=1)
    found = rank_by_width(path)
    assert [k for k, _ in found] == [39, 10]
    assert found[0][1] == pytest.approx(2 * np.log(1.1)) and found[1][1] == pytest.approx(np.log(1.15))  # 41 is too far
    assert rank_by_width(path, first=40)[0] == (40, pytest.approx(3 * np.log(1.1)))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_share_of_edges_left_out_is_about_the_one_asked_for(weighted):
    rng = np.random.default_rng(0)
    A = np.triu((rng.random((200, 200)) < 0.3) * (rng.random((200, 200)) if weighted else 1.0))
    graph = as_graph(A + np.triu(A, 1).T)
    less = leave_out_edges(graph, 0.1, np.random.default_rng(1))
    before, after = graph.to_scipy().toarray(), less.to_scipy().toarray()
    assert (after == after.T).all() and (after.diagonal() == before.diagonal()).all()
    assert ((after == 0) | (after == before)).all()
    assert np.count_nonzero(after) / np.count_nonzero(before) == pytest.approx(0.9, abs=0.02)
    assert less.degrees == pytest.approx(after.sum(axis=1)) and (less.weights is None) == (graph.weights is None)
    other = leave_out_edges(graph, 0.1, np.random.default_rng(2)).to_scipy().toarray()
    assert (other != after).any()


def test_nodes_keep_no_degree_whose_square_is_zero_where_edges_are_left_out():
    pairs = np.kron(np.eye(50), [[0.0, 1.0], [1.0, 0.0]])
    graph = as_graph(np.where(pairs > 0.0, pairs, 1e-200) * (1.0 - np.eye(100)))
    degrees = leave_out_edges(graph, 0.5, np.random.default_rng(0)).degrees
    assert 0 < np.count_nonzero(degrees) < 100 and (degrees[degrees > 0.0] ** 2 > 0.0).all()


def test_clustering_without_k_takes_the_suggestion_and_says_so():
    graph, labels = planted_partition(6, 80, 14, 2, rng=1)
    found = coreset_sc(graph, rng=0)
    assert found.k == 6 and adjusted_rand_index(found.labels, labels) > 0.99
    (remark,) = [remark for remark in found.remarks if "k was not given" in remark]
    assert remark.startswith("k was not given, 6 was taken: 6 clusters are the best from")
    assert "choosing k" in found.seconds and "descent" not in found.seconds
    assert coreset_sc(graph, None, objective="normalized_cut", rng=0).k == 6
    one, other = (coreset_sc(graph, k, method="two-step", coreset=Coreset(size=200), rng=1) for k in (None, 6))
    assert np.array_equal(one.coreset.nodes, other.coreset.nodes) and np.array_equal(one.labels, other.labels)
    random = coreset_sc(nx.fast_gnp_random_graph(300, 0.05, seed=1), rng=0)
    assert any("shows no number of clusters clearly" in remark for remark in random.remarks)
    assert random.k == 1 and not any("united for the number alone" in remark for remark in random.remarks)
    refuses(ParameterError, r"Coreset\(size=4\) is smaller than k=6", coreset_sc, graph, coreset=Coreset(size=4), rng=0)


BLOCKS = planted_partition(6, 40, 12, 1, rng=1).graph
CLIQUES_AND_A_PAIR = as_graph(nx.disjoint_union_all([nx.complete_graph(8), nx.complete_graph(8), nx.path_graph(2)]))
NOISE = as_graph(nx.gnm_random_graph(100, 500, seed=1))


@pytest.mark.parametrize("cluster", [spectral_clustering, fast_spectral_clustering])
def test_spectral_clustering_without_k_takes_the_suggestion_and_says_so(cluster):
    for graph, k in ((BLOCKS, 6), (NOISE, 1)):
        found = cluster(graph, rng=0)
        said = cluster_path(graph, components="all", rng=3).suggest()
        assert found == cluster(graph, k, rng=0) and said.k == k
        assert found.remarks[0].startswith(f"k was not given, {k} was taken: {said.reasons[0]}")


def test_no_small_component_is_left_out_where_all_are_clustered():
    assert spectral_clustering(CLIQUES_AND_A_PAIR, rng=0).k == 3


def test_functions_that_return_labels_alone_warn_of_a_k_that_is_not_clear():
    edges = np.array(NOISE.to_scipy().nonzero())
    with pytest.warns(GraphWarning, match="k was not given, 1 was taken: the graph shows no number of clusters"):
        partition(edges, 100, None)


def test_a_k_that_is_not_clear_comes_with_the_other_candidates():
    graph = nx.grid_2d_graph(12, 12)
    suggestion = cluster_path(graph, rng=0).suggest()
    others = ", ".join(str(one.k) for one in suggestion.runners_up)
    assert not suggestion.clear and suggestion.nats_saved > 0.0 and others
    assert coreset_sc(graph, rng=0).remarks[0].endswith(f"; other candidates are {others}")


def test_a_number_of_clusters_that_nothing_suggests_is_refused_with_a_remedy():
    points, graph = np.arange(8.0).reshape(4, 2), nx.path_graph(4)
    for call, remedy in (
        (lambda: merge_clusters(graph, None), r"coreset_sc\(G\).k"),
        (lambda: spectral_embedding(graph, None), r"coreset_sc\(G\).k"),
        (lambda: balanced_partition(graph, None), r"coreset_sc\(G\).k"),
        (lambda: kmeans(points, None), r"coreset_sc\(knn_graph\(X\)\).k"),
        (lambda: KMeans(None).fit(points), r"CoresetSpectralClustering\(None\)"),
    ):
        refuses(TypeError, f"=None is a NoneType, expected a whole number; .*{remedy}", call)


def test_a_path_that_the_suggestion_would_make_again_is_taken_as_it_is():
    graph = planted_partition(5, 30, 8, 2, rng=1).graph
    path = cluster_path(graph, rng=DRAWS)
    assert own_path(path, np.random.default_rng(DRAWS), Progress()) is path
    made = own_path(cluster_path(graph, rng=7), np.random.default_rng(DRAWS), Progress())
    assert made.key == path.key and made.ks == path.ks and made.ranges == path.ranges
    assert all((made.labels_before_moves(k) == path.labels_before_moves(k)[path.order]).all() for k in path.ks)
    path.cut_short = True
    assert own_path(path, np.random.default_rng(DRAWS), Progress()) is not path
