"""What a clustering was made for: objectives and resolutions as arguments, in the result and in its report."""

import json
import os

import networkx as nx
import numpy as np
import pytest
from aims import ONE_OF_EACH, looped
from cases import for_each, refuses
from quiet_calls import quietly
from reference import objectives as reference

import graphclust as gc
from graphclust.compiled.graphs.levels import Task
from graphclust.engine.contraction import agglomerate
from graphclust.engine.engine import contract_to_regions
from graphclust.engine.levels import run_on
from graphclust.engine.resolution import FLOOR, REGIONS_PER_CLUSTER, Dendrogram, dendrogram_of, schedule_for_k
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, OBJECTIVES, as_objective_choice, chance_objective, weigh

CLIQUES, BETWEEN = 5, 0.2  # two cliques, every two nodes of different ones linked too


def two_cliques():
    member = np.repeat(np.eye(2), CLIQUES, axis=0)
    A = np.where(member @ member.T > 0, 1.0, BETWEEN)
    np.fill_diagonal(A, 0.0)
    return gc.as_graph(A)


@for_each("objective", ADDITIVE_OBJECTIVES)
@for_each("resolution", [0.07, 1.0, np.float64(2.5), 3])
@for_each("method", ["multilevel", "two-step"])
def test_a_number_as_resolution_is_used_and_reported(method, resolution, objective):
    found = gc.coreset_sc(looped(60, 3, 0.1), 4, method=method, objective=objective, resolution=resolution, rng=0)
    assert found.resolution == pytest.approx(float(resolution), rel=1e-12)
    assert found.parameters["resolution"] == resolution and found.objective == objective
    assert f"at resolution {resolution:.3g}" in str(found)


@pytest.mark.parametrize("graph", [nx.karate_club_graph(), nx.connected_caveman_graph(6, 4)])
def test_another_resolution_is_another_clustering(graph):
    """Each is the better one at its own resolution; the lower one leaves clusters of less equal volume."""
    A = gc.as_graph(graph).to_scipy().toarray()
    low, high = (gc.coreset_sc(graph, 4, resolution=g, rng=0) for g in (0.1, 4.0))
    assert (low.labels != high.labels).any() and low.volume.max() > high.volume.max()
    for one, other in ((low, high), (high, low)):
        values = [reference.value(A, of.labels, "modularity", one.resolution) for of in (one, other)]
        assert values[0] > values[1]


def test_cliques_of_very_unequal_sizes_are_found_at_a_low_resolution():
    graph = nx.disjoint_union_all([nx.complete_graph(size) for size in (24, 4, 4)])
    graph.add_edges_from([(0, 24), (25, 28), (29, 1)])
    assert gc.coreset_sc(graph, 3, resolution=0.3, rng=0).sizes.tolist() == [24, 4, 4]


def test_the_resolution_of_the_constant_potts_model_is_in_weight_between_two_nodes():
    """Two cliques of weight 1 with weight 0.2 between any two of their nodes are natural from 0.2 to 1."""
    found = gc.coreset_sc(two_cliques(), 2, objective="constant_potts", rng=0)
    assert found.resolution == pytest.approx(np.sqrt(BETWEEN))
    assert found.natural_range == pytest.approx((BETWEEN, found.resolution))
    assert found.sizes.tolist() == [CLIQUES, CLIQUES]
    whole = gc.coreset_sc(two_cliques(), 1, objective="constant_potts", rng=0)
    assert whole.natural_range == (0.0, whole.resolution)


def test_the_range_of_modularity_is_links_over_what_chance_gives():
    graph = two_cliques()
    found = gc.coreset_sc(graph, 2, rng=0)
    degree = CLIQUES - 1 + BETWEEN * CLIQUES
    expected = (BETWEEN * graph.total_volume / degree**2, 1.0 * graph.total_volume / degree**2)
    assert found.resolution == pytest.approx(np.sqrt(expected[0] * expected[1]))
    assert found.natural_range == pytest.approx((expected[0], found.resolution))


def united_for_the_number(found) -> bool:
    return any("united for the number alone" in remark for remark in found.remarks)


WAYS = {
    "multilevel": lambda graph, k: gc.coreset_sc(graph, k, rng=0),
    "two-step": lambda graph, k: gc.coreset_sc(graph, k, method="two-step", rng=0),
    "by blocks": lambda graph, k: gc.coreset_sc(graph, k, coreset=gc.Coreset(sampling="parallel"), rng=0),
    "path": lambda graph, k: gc.cluster_path(graph, range(1, 41), rng=0)[k],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_graph_of_many_more_natural_clusters_is_cut_at_the_floor_and_a_remark_says_so(way):
    graph = nx.ring_of_cliques(30, 5)
    found, natural = WAYS[way](graph, 2), WAYS[way](graph, 30)
    assert found.resolution == FLOOR == found.natural_range[1] > found.natural_range[0]
    assert united_for_the_number(found) and not united_for_the_number(natural)


def test_a_named_resolution_and_a_cut_leave_nothing_to_say_of_the_number():
    graph = nx.ring_of_cliques(30, 5)
    assert not united_for_the_number(gc.coreset_sc(graph, 2, resolution=0.5, rng=0))
    assert not united_for_the_number(gc.coreset_sc(graph, 2, objective="normalized_cut", rng=0))


@for_each("objective", ADDITIVE_OBJECTIVES)
@for_each("k", [1, 3, 8])
def test_from_the_natural_range_on_no_union_of_two_clusters_pays(objective, k):
    for graph in (looped(40, 3, 0.2), gc.as_graph(nx.connected_caveman_graph(8, 5))):
        A, found = graph.to_scipy().toarray(), gc.coreset_sc(graph, k, objective=objective, rng=0)
        lowest, highest = found.natural_range
        assert highest == found.resolution
        for resolution, pays in ((lowest * 1.001, False), (lowest * 0.999, True)):
            gains = reference.gains_of_unions(A, found.labels, objective, resolution)
            if resolution <= highest * 1.001 and lowest < highest and lowest > 0.0:
                assert (gains.max() > 0.0) == pays
        assert k > 1 or lowest == 0.0


@pytest.mark.parametrize("name", ADDITIVE_OBJECTIVES)
def test_the_range_of_a_dendrogram_is_where_just_k_is_left(name):
    """No union of two of the k clusters pays in it, and of k + 1 clusters one does: by the definition."""
    graph = looped(30, 3)
    A, run = graph.to_scipy().toarray(), run_on(weigh(graph, name))
    dendrogram = dendrogram_of(run.finest, run)
    unit = OBJECTIVES[name].unit_of_resolution(run.totals)
    for k in (1, 2, 5, 12):
        lowest, highest = (end * unit for end in dendrogram.natural_range(k))
        by_excess = [Task(chance_objective(run.totals), n) for n in (k, k + 1)]
        of_k, of_more = (agglomerate(run.finest, task, run).labels for task in by_excess)
        if k > 1:
            assert reference.gains_of_unions(A, of_k, name, lowest * 1.001).max() < 0
            assert reference.gains_of_unions(A, of_k, name, lowest * 0.999).max() > 0
        else:
            assert lowest == 0.0
        assert reference.gains_of_unions(A, of_more, name, highest * 0.999).max() > 0
        assert reference.gains_of_unions(A, of_more, name, highest * 1.001).max() < 0
        schedule = schedule_for_k(as_objective_choice(name, "auto"), k, dendrogram, run.totals)
        middle = np.sqrt(lowest * highest) if k > 1 else 0.0
        assert schedule.resolution == pytest.approx(max(middle, FLOOR * unit)) or k == 1
        assert schedule.task.k == k and schedule.task.objective.penalty == pytest.approx(
            schedule.resolution * run.totals.chance / unit
        )


TREE = np.array([-np.inf, 0.1, 0.4, 2.0, 8.0, 9.0])  # six nodes
IN_PIECES = np.array([-np.inf, -np.inf, -np.inf, 2.0, 8.0, 9.0])


def test_natural_ranges_of_a_known_dendrogram():
    tree, pieces = Dendrogram(TREE), Dendrogram(IN_PIECES)
    assert tree.natural_range(1) == (0.0, 0.1) and tree.natural_range(3) == (0.4, 2.0)
    assert tree.natural_range(6) == (9.0, np.inf) == tree.natural_range(7)  # more than there are nodes
    assert pieces.natural_range(2) == (0.0, 0.0) and pieces.natural_range(3) == (0.0, 2.0)


def test_the_matched_resolution_is_in_the_middle_on_a_logarithmic_scale():
    tree = Dendrogram(TREE)
    assert tree.resolution(2) == pytest.approx(0.2) and tree.resolution(3) == pytest.approx(np.sqrt(0.8))
    assert tree.resolution(1) == pytest.approx(0.1)  # from the lower of the floor and the range
    assert tree.resolution(5) == tree.resolution(3)  # no more clusters than half the nodes
    assert Dendrogram(IN_PIECES).resolution(3) == pytest.approx(np.sqrt(FLOOR * 2.0))
    assert Dendrogram(np.array([-np.inf])).resolution(1) == FLOOR


def test_a_dendrogram_ends_one_union_below_k():
    run = run_on(weigh(looped(30, 3), "modularity"))
    whole, short = dendrogram_of(run.finest, run).excess, dendrogram_of(run.finest, run, 9).excess
    assert (short[8:] == whole[8:]).all() and (short[:8] == -np.inf).all() and np.isfinite(whole[1:]).all()


def test_regions_are_of_sizes_at_which_some_times_k_are_natural():
    run = run_on(weigh(gc.as_graph(nx.connected_caveman_graph(40, 6)), "modularity"))
    dendrogram = dendrogram_of(run.finest, run, 5)
    few, many = [n * 5 for n in REGIONS_PER_CLUSTER], [n * 20 for n in REGIONS_PER_CLUSTER]
    for choice, k, numbers in (
        (as_objective_choice("modularity", 0.7), 5, few),
        (as_objective_choice("normalized_cut", None), 20, many),
        (as_objective_choice("normalized_cut", None), 5, [few[0], many[0], few[1], many[2], few[2]]),
    ):
        schedule = schedule_for_k(choice, k, dendrogram, run.totals)
        expected = [run.totals.chance * dendrogram.resolution(n) for n in numbers]
        assert schedule.penalties == tuple(expected) and schedule.penalties[0] == min(schedule.penalties)
        assert schedule.resolution == (0.7 if choice.name == "modularity" else None) and schedule.task.k == k


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@for_each(("k", "size", "inner"), [(4, 500, 16), (8, 300, 14), (20, 200, 16)])
@for_each("name", ADDITIVE_OBJECTIVES)
def test_the_planted_number_of_clusters_is_natural_over_a_wide_range(name, k, size, inner):
    graph, _ = gc.planted_partition(k, size, inner, 2, rng=518)
    run, widths = run_on(weigh(graph.subgraph(np.flatnonzero(~graph.isolated)), name)), {}
    for n in range(2, 2 * k + 3):
        regions = contract_to_regions(run.finest, n, run)[-1].coarse
        lowest, highest = dendrogram_of(regions, run, n).natural_range(n)
        widths[n] = np.log(highest / lowest)
    assert widths[k] > 0.9 and widths[k] > 2.5 * max(width for n, width in widths.items() if n != k)


@pytest.mark.parametrize(("objective", "resolution"), ONE_OF_EACH)
def test_both_figures_are_reported_whatever_it_was_made_for(objective, resolution):
    graph = looped(40, 3, 0.2)
    found = gc.coreset_sc(graph, 3, objective=objective, resolution=resolution, rng=0)
    A = graph.to_scipy().toarray()
    modularity = reference.value(A, found.labels, "modularity", 1.0) / A.sum()
    assert found.modularity == pytest.approx(modularity, abs=1e-12)
    assert found.normalized_cut == pytest.approx(3 - reference.value(A, found.labels, "normalized_cut", None))
    assert found.normalized_cut == pytest.approx(gc.normalized_cut(graph, found.labels))
    data = json.loads(json.dumps(found.report()))
    assert data["modularity"] == found.modularity and data["normalized_cut"] == found.normalized_cut
    assert data["objective"] == objective == found.objective == found.parameters["objective"]
    assert data["resolution"] == found.resolution
    text = str(found)
    assert f"normalized cut   {found.normalized_cut:.4f}" in text
    assert f"modularity       {found.modularity:.4f}" in text
    assert f"made for         {OBJECTIVES[objective].words}" in text
    if OBJECTIVES[objective].is_ratio:
        assert found.resolution is None and found.natural_range is None and data["natural_range"] is None
        assert "resolution" not in text
    else:
        lowest, highest = found.natural_range
        assert 0 <= lowest <= highest and data["natural_range"] == [lowest, highest]
        assert f"3 clusters are natural from {lowest:.3g} to {highest:.3g}" in text


def test_modularity_at_the_matched_resolution_is_the_default():
    found = gc.coreset_sc(nx.karate_club_graph(), 2, rng=0)
    assert (found.objective, found.parameters["objective"]) == ("modularity", "modularity")
    assert found.parameters["resolution"] == "auto" and isinstance(found.resolution, float)
    for resolution in ("auto", None):
        assert gc.coreset_sc(nx.karate_club_graph(), 2, objective="modularity", resolution=resolution, rng=0) == found
    cut, same = (
        gc.coreset_sc(nx.path_graph(9), 2, objective="normalized_cut", resolution=r, rng=0) for r in ("auto", None)
    )
    assert cut == same and cut.resolution is None


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weights_in_another_unit_change_nothing(objective):
    """Four times every weight: the same labels and resolution of modularity, four times that of the Potts model."""
    graph = looped(60, 3, 0.1)
    A = graph.to_scipy()
    one, other = (gc.coreset_sc(gc.as_graph(weights), 5, objective=objective, rng=1) for weights in (A, 4.0 * A))
    assert (one.labels == other.labels).all()
    if one.resolution is not None:
        assert other.resolution == pytest.approx((1.0 if OBJECTIVES[objective].is_relative else 4.0) * one.resolution)


@pytest.mark.parametrize("objective", [name for name in OBJECTIVES if name != "normalized_cut"])
def test_the_published_method_is_for_the_normalized_cut(objective):
    with pytest.raises(gc.ParameterError, match=f"objective='{objective}' is not what method 'paper' is made for"):
        gc.coreset_sc(nx.karate_club_graph(), 2, method="paper", objective=objective)
    with pytest.raises(gc.ParameterError, match="is not what method 'paper'"):
        gc.coreset_sc(nx.karate_club_graph(), 2, coreset=gc.Coreset(embedding="power"), objective=objective)


def test_the_published_method_says_what_it_was_made_for():
    found = quietly(nx.karate_club_graph(), 2, method="paper", rng=0)
    assert (found.objective, found.resolution, found.natural_range) == ("normalized_cut", None, None)
    assert "a small normalized cut" in str(found)
    same = quietly(nx.karate_club_graph(), 2, method="paper", objective="normalized_cut", rng=0)
    assert (same.labels == found.labels).all()
    with pytest.raises(gc.ParameterError, match=r"resolution=1\.0 is not an option of method 'paper'"):
        gc.coreset_sc(nx.karate_club_graph(), 2, method="paper", resolution=1.0)


@for_each(
    ("objective", "resolution", "error", "words"),
    [
        ("conductance", None, gc.ParameterError, "objective='conductance'.*'modularity', 'normalized_cut'"),
        (3, None, gc.ParameterError, "objective=3"),
        ("normalized_cut", 1.0, gc.ParameterError, "resolution=1.0 is not an option of objective 'normalized_cut'"),
        ("ratio_cut", 2, gc.ParameterError, "resolution=2.* is not an option of objective 'ratio_cut'"),
        ("modularity", "automatic", gc.ParameterError, "resolution='automatic' is unknown, expected 'auto' or a num"),
        ("modularity", 0.0, gc.ParameterError, "resolution=0.0"),
        ("modularity", -1, gc.ParameterError, "resolution=-1"),
        ("constant_potts", float("nan"), gc.ParameterError, "resolution=nan"),
        ("constant_potts", float("inf"), gc.ParameterError, "resolution=inf"),
        ("modularity", [1.0], TypeError, "resolution="),
    ],
)
def test_what_is_no_aim_is_refused_by_all_that_take_one(objective, resolution, error, words):
    graph, labels = nx.path_graph(6), np.array([0, 0, 0, 1, 1, 1])
    options = {"objective": objective, "resolution": resolution}
    for call in (
        lambda: gc.coreset_sc(graph, 2, **options),
        lambda: gc.merge_clusters(graph, 2, **options),
        lambda: gc.move_nodes(graph, labels, **options),
        lambda: gc.refine_partition(graph, labels, **options),
    ):
        refuses(error, words, call)
