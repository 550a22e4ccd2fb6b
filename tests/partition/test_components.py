"""Which connected components take part in exactly k clusters, and what becomes of the others."""

import itertools

import networkx as nx
import numpy as np
import pytest
from cases import for_each

import graphclust as gc
from graphclust.objective.objective import OBJECTIVES
from graphclust.partition import components
from graphclust.partition.components import (
    FineClusters,
    fine_clusters,
    gain_of_separation,
    labels_of_all_nodes,
    mask_nodes,
    nodes_to_partition,
    reduce_to,
    worth_of_two,
)

PLANTED = np.repeat(range(4), 60)


@pytest.fixture(params=[1 << 17, 0], ids=["measured", "estimated"])
def measured_or_estimated(request, monkeypatch):
    """Up to how many entries the worth of components is measured."""
    monkeypatch.setattr(components, "MOST_ENTRIES", request.param)


def planted() -> nx.Graph:
    return nx.planted_partition_graph(4, 60, 0.2, 0.01, seed=3)


def with_an_isolated_node(graph: nx.Graph) -> gc.Graph:
    graph.add_node("alone")
    with pytest.warns(gc.GraphWarning, match="1 isolated node"):
        return gc.as_graph(graph)


def sizes_that_take_part(graph: nx.Graph, k: int, which: str = "large") -> list[int]:
    checked = gc.as_graph(graph)
    searched = nodes_to_partition(checked, k, which, gc.Progress()).nodes
    sizes = np.bincount(checked.components[searched], minlength=checked.n_components)
    assert ((sizes == np.bincount(checked.components)) | (sizes == 0)).all()  # whole components
    return sorted(sizes[sizes > 0].tolist(), reverse=True)


def test_where_most_nodes_are_put_aside_that_is_said_first():
    groups = nx.disjoint_union_all([planted(), *[nx.complete_graph(3)] * 100, nx.empty_graph(2)])
    with pytest.warns(gc.GraphWarning, match="isolated"):
        found, whole = gc.coreset_sc(groups, 4, rng=0), gc.communities(groups, components="largest", rng=0)
    for one in (found, whole):
        assert one.n_aside == 300
        assert one.remarks[0].startswith("most nodes, 300 of 540, ") and "communities(G)" in one.remarks[0]
    assert not any("most nodes" in one for one in gc.coreset_sc(planted(), 4, rng=0).remarks)


@for_each("objective", OBJECTIVES)
@for_each("length", [2, 5, 8, 9, 14, 30])
def test_components_of_any_small_size_leave_the_clusters_of_the_others_alone(length, objective):
    graph = nx.disjoint_union_all([planted(), *[nx.path_graph(length)] * 3])
    found = gc.coreset_sc(graph, 4, objective=objective, rng=0)
    assert gc.adjusted_rand_index(found.labels[:240], PLANTED) > 0.97
    assert found.n_clusters == 4 and found.sizes.sum() == 240
    assert (found.labels[240:] == -1).all() and found.n_aside == 3 * length


def test_a_component_that_grows_takes_a_cluster_once_and_one_at_most(measured_or_estimated):
    taken = []
    for size in (10, 40, 80, 120, 240, 480):
        ring = nx.random_regular_graph(8, size, seed=1)
        taken.append(len(sizes_that_take_part(nx.disjoint_union(planted(), ring), 4)) == 2)
    assert taken == sorted(taken) and not taken[0] and taken[-1]


def test_a_graph_without_communities_is_not_split_to_put_a_component_aside():
    blob = nx.random_regular_graph(10, 400, seed=2)
    for size in (24, 60, 200):
        graph = nx.disjoint_union(blob, nx.random_regular_graph(10, size, seed=3))
        found = gc.coreset_sc(graph, 2, rng=0)
        assert found.sizes.tolist() == [400, size] and found.n_aside == 0
    cliques = nx.disjoint_union_all([nx.complete_graph(20), nx.complete_graph(20), nx.complete_graph(4)])
    assert gc.coreset_sc(cliques, 3, rng=0).sizes.tolist() == [20, 20, 4]


def test_k_equal_components_are_the_k_clusters(measured_or_estimated):
    graph = nx.disjoint_union_all([nx.gnp_random_graph(40, 0.3, seed=s) for s in range(6)])
    for options in ({}, {"method": "paper"}):
        found = gc.coreset_sc(graph, 6, rng=1, **options)
        assert gc.adjusted_rand_index(found.labels, np.repeat(range(6), 40)) == 1 and found.n_aside == 0


@pytest.mark.parametrize("k", [2, 4])
def test_equal_components_in_fewer_clusters_are_united_and_a_remark_says_so(k):
    graph = nx.disjoint_union_all([nx.complete_graph(12)] * 6)
    found = gc.coreset_sc(graph, k, rng=1)
    assert found.n_clusters == k and found.n_aside == 0
    assert f"k = {k} lies below the 6 components that take part: some of them are united" in found.remarks
    for part in np.split(found.labels, 6):
        assert len(set(part.tolist())) == 1
    assert not any("lies below" in remark for remark in gc.coreset_sc(graph, 6, rng=1).remarks)


def test_a_giant_and_many_crumbs_is_clustered_as_the_giant_alone():
    crumbs = [nx.path_graph(2 + s % 4) for s in range(30)]
    found = gc.coreset_sc(nx.disjoint_union_all([planted(), *crumbs]), 4, rng=0)
    alone = gc.coreset_sc(planted(), 4, rng=0)
    assert gc.adjusted_rand_index(found.labels[:240], alone.labels) > 0.97
    n_aside = sum(len(crumb) for crumb in crumbs)
    assert found.n_aside == n_aside == found.report()["n_aside"]
    assert any(remark.startswith(f"30 components of {n_aside} nodes put aside") for remark in found.remarks)
    assert f"{n_aside} nodes (" in str(found) and "of 30 components, in no cluster" in str(found)
    assert found.communities()[4:] == [{node} for node in range(240, 240 + n_aside)]


def test_which_components_are_searched_is_a_choice():
    graph = nx.disjoint_union_all([planted(), nx.complete_graph(30), nx.path_graph(2)])
    assert sizes_that_take_part(graph, 5) == [240, 30]
    assert sizes_that_take_part(graph, 5, "largest") == [240]
    assert sizes_that_take_part(graph, 5, "all") == [240, 30, 2]
    assert gc.coreset_sc(graph, 3, components="largest", rng=0).n_aside == 32
    assert (gc.coreset_sc(graph, 6, components="all", rng=0).labels >= 0).all()


def test_where_the_components_that_take_part_have_too_few_nodes_all_do():
    graph = nx.disjoint_union_all([nx.complete_graph(5), *[nx.path_graph(2)] * 4])
    found = gc.coreset_sc(graph, 13, rng=0)
    assert found.n_clusters == 13 and found.n_aside == 0


@pytest.mark.parametrize(
    "options", [{"method": "two-step"}, {"coreset": gc.Coreset(sampling="parallel")}, {"method": "multilevel"}]
)
def test_every_method_puts_the_same_nodes_aside(options):
    graph = with_an_isolated_node(nx.disjoint_union_all([planted(), *[nx.path_graph(9)] * 4]))
    found = gc.coreset_sc(graph, 4, rng=2, **options)
    assert np.flatnonzero(found.aside).tolist() == list(range(240, 276))
    assert found.isolated.sum() == 1 and found.labels[-1] == -1
    assert gc.adjusted_rand_index(found.labels[:240], PLANTED) > 0.97


def test_where_k_is_open_all_components_take_part_that_are_no_crumbs_beside_the_typical_one():
    """Half of the volume of paths of 2 to 5 nodes is in those of 4 and 5; planted groups and edges have a giant."""
    graph = gc.as_graph(nx.disjoint_union_all([nx.path_graph(n) for n in (2, 3, 4, 5) * 6]))
    volumes = np.bincount(graph.components, weights=graph.degrees)
    assert components.typical_volume(volumes) == 6.0
    assert components.typical_volume(np.array([50.0, 1.0, 2.0])) == 50.0
    assert len(gc.cluster_path(graph, rng=0).kept) == graph.n_nodes
    with_crumbs = gc.as_graph(nx.disjoint_union_all([planted(), *[nx.path_graph(2)] * 9]))
    assert len(gc.cluster_path(with_crumbs, rng=0).kept) == 240


def test_the_path_puts_the_same_nodes_aside_for_every_k():
    graph = nx.disjoint_union_all([planted(), *[nx.path_graph(4)] * 5])
    path = gc.cluster_path(graph, range(1, 7), rng=0)
    assert [row.sizes.sum() for row in path.table()] == [240] * 6
    for row in path.table()[1:]:
        found = path[row.k]
        assert found.n_aside == 20 and found.n_clusters == row.k
    assert gc.adjusted_rand_index(path[4].labels[:240], PLANTED) > 0.97
    row = path.table()[0]
    assert row.modularity == pytest.approx(path[1].modularity) and row.normalized_cut == 0.0


def test_figures_predictions_and_files_cope_with_nodes_put_aside(tmp_path):
    graph = with_an_isolated_node(nx.disjoint_union_all([planted(), *[nx.path_graph(3)] * 3]))
    found = gc.coreset_sc(graph, 4, rng=0)
    assert found.n_aside == 9
    assert found.modularity == pytest.approx(gc.modularity(graph, found.labels))
    assert found.normalized_cut == pytest.approx(gc.normalized_cut(graph, found.labels))
    assert found.conductance == pytest.approx(gc.conductance(graph, found.labels))
    alone = gc.coreset_sc(planted(), 4, rng=0)
    assert found.normalized_cut == pytest.approx(alone.normalized_cut)
    assert found.imbalance == pytest.approx(alone.imbalance)
    assert found.predict({"new": [0, 1, 2], "beside a crumb": [240]}).tolist() == [found.labels[0], -1]
    certainty = found.certainty(n_repeats=1, rng=0)
    assert certainty.shares[240:].nnz == 0 and (certainty.second[240:] == -1).all()
    target = tmp_path / "labels.tsv"
    gc.write_labels(target, found)
    names, labels = gc.read_labels(target)
    assert (np.asarray(labels) == found.labels).all() and len(names) == 250


def test_communities_has_all_components_and_counts_what_is_left_out():
    graph = nx.disjoint_union_all([planted(), *[nx.path_graph(3)] * 3])
    everything = gc.communities(graph, rng=0)
    assert everything.n_aside == 0 and everything.n_clusters == everything.k >= 7
    largest = gc.communities(graph, components="largest", rng=0)
    assert largest.n_aside == 9 and largest.remarks[-1].startswith("3 components of 9 nodes put aside")


def test_the_choice_does_not_depend_on_the_seed_or_the_order_of_nodes():
    graph = nx.disjoint_union_all([planted(), nx.random_regular_graph(4, 40, seed=1), *[nx.path_graph(20)] * 3])
    aside = {gc.coreset_sc(graph, 4, rng=seed).n_aside for seed in range(4)}
    order = np.random.default_rng(0).permutation(len(graph))
    mixed = nx.relabel_nodes(graph, dict(enumerate(order.tolist())))
    aside |= {gc.coreset_sc(nx.to_scipy_sparse_array(mixed, nodelist=range(len(graph))), 4, rng=0).n_aside}
    assert len(aside) == 1


def test_left_out_nodes_keep_their_rows_and_lose_their_degrees():
    graph = gc.as_graph(nx.disjoint_union(nx.complete_graph(3), nx.path_graph(2)))
    part = mask_nodes(graph, np.arange(5) < 3)
    assert part.degrees.tolist() == [2, 2, 2, 0, 0] and np.shares_memory(part.indices, graph.indices)
    assert mask_nodes(graph, np.ones(5, bool)) is graph
    assert labels_of_all_nodes(np.arange(5) < 3, np.array([0, 1, 0])).tolist() == [0, 1, 0, -1, -1]


def test_where_whole_components_are_the_clusters_others_like_them_are_united(measured_or_estimated):
    blob = nx.random_regular_graph(10, 300, seed=2)
    alike = [nx.random_regular_graph(10, size, seed=3) for size in (150, 148, 146, 120)]
    found = gc.coreset_sc(nx.disjoint_union_all([blob, *alike]), 2, rng=0)
    assert found.n_aside == 0 and found.n_clusters == 2
    assert all(len(set(found.labels[found.graph.components == c])) == 1 for c in range(5))
    assert any("k = 2 lies below the 5 components" in remark for remark in found.remarks)


def log_likelihood(matrix: np.ndarray, labels: np.ndarray) -> float:
    """Of one rate for each pair of clusters, up to a constant of the graph; each edge counts once."""
    member = np.eye(labels.max() + 1)[labels]
    links, mass = member.T @ matrix @ member, member.T @ matrix.sum(axis=1)
    some = links > 0
    return float((links[some] * np.log(links[some] / np.outer(mass, mass)[some])).sum()) / 2.0


def test_worth_is_what_two_clusters_add_to_the_likelihood_of_one():
    for seed in range(4):
        graph = nx.gnp_random_graph(24, 0.3, seed=seed)
        matrix = nx.to_numpy_array(graph) * np.random.default_rng(seed).uniform(0.5, 2.0)
        labels = np.arange(24) % 2
        member = np.eye(2)[labels]
        links, mass = member.T @ matrix @ member, member.T @ matrix.sum(axis=1)
        pair = np.array([0]), np.array([1]), links[:1, 1]
        worth = worth_of_two(FineClusters(np.array([0, 1]), np.diag(links), mass, *pair))
        expected = log_likelihood(matrix, labels) - log_likelihood(matrix, np.zeros(24, int))
        assert worth == pytest.approx(expected) and worth > 0.0
    apart = np.kron(np.eye(2), np.ones((6, 6)))
    apart[6:, 6:] *= 3.0
    expected = log_likelihood(apart, np.repeat([0, 1], 6)) - log_likelihood(apart, np.zeros(12, int))
    assert gain_of_separation(np.array([36.0]), 108.0) == pytest.approx(expected)
    assert gain_of_separation(np.array([0.0, 36.0]), 1.0).tolist() == pytest.approx([0.0, 36.0 * np.log(2.0)])


@pytest.mark.parametrize("k", [1, 2, 3, 7, 20])
def test_reduced_clusters_are_k_and_lose_whole_components_only(k):
    graph = gc.as_graph(nx.disjoint_union_all([planted(), nx.complete_graph(9), *[nx.path_graph(4)] * 5]))
    fine = fine_clusters(graph, 20)
    assert len(fine.mass) >= 20 and fine.mass.sum() == graph.total_volume
    assert fine.inside.sum() + 2.0 * fine.link.sum() == pytest.approx(graph.total_volume)
    left = reduce_to(fine, k, graph.total_volume / k)
    assert len(left.mass) == k and (left.a < left.b).all()
    taken = np.isin(graph.components, graph.components[left.origin])
    assert left.mass.sum() == pytest.approx(graph.degrees[taken].sum())
    assert left.inside.sum() + 2.0 * left.link.sum() == pytest.approx(left.mass.sum())


@for_each("options", [{}, {"resolution": 1.0}, {"method": "two-step"}, {"kind": "directed"}])
def test_fewer_clusters_than_components_part_the_large_one_and_unite_the_others(options):
    graph = nx.disjoint_union_all([planted(), *[nx.path_graph(n) for n in (2, 2, 3, 2, 4, 2)]])
    given = graph.to_directed() if "kind" in options else graph
    found = gc.coreset_sc(given, 4, components="all", rng=0, **options)
    assert sorted(found.sizes.tolist()) == sorted(np.bincount(found.labels)) and found.n_clusters == 4
    assert gc.adjusted_rand_index(found.labels[: len(PLANTED)], PLANTED) > 0.9
    starts = np.cumsum([0, *map(len, nx.connected_components(graph))])
    assert all(len({*found.labels[a:b].tolist()}) == 1 for a, b in itertools.pairwise(starts[1:]))
    assert any("k = 4 lies below the 7 components" in remark for remark in found.remarks)


@for_each("kind", ["directed", "signed"])
def test_components_not_worth_a_cluster_are_put_aside_of_other_kinds_too(kind):
    graph = nx.disjoint_union(planted(), nx.path_graph(2))
    found = gc.coreset_sc(graph.to_directed() if kind == "directed" else graph, 4, kind=kind, rng=0)
    assert found.n_clusters == 4 and found.labels[-2:].tolist() == [-1, -1]
    assert gc.adjusted_rand_index(found.labels[:-2], PLANTED) > 0.9
