"""The multilevel engine and the function `communities`: what holds of every partition that it returns."""

import warnings

import networkx as nx
import numpy as np
import pytest
from aims import RATIOS, WITH_EDGES, each_at, looped, parts_of_clusters, random_partition
from cases import for_each, refuses
from graphs import make_graph
from reference.objectives import gains_of_unions, partitions, value
from scipy import sparse
from shell import said

import graphclust
from graphclust.compiled.graphs.levels import Partition
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.compiled.runtime.blocks import most_threads
from graphclust.engine import engine, family_tree, levels, local_moving
from graphclust.engine.connectivity import split_disconnected
from graphclust.engine.family_tree import overlay
from graphclust.engine.resolution import schedule_for_any_number, task_at
from graphclust.errors import GraphWarning, ParameterError
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, weigh
from graphclust.partition.communities import communities

QUESTIONS = [("modularity", 3.0), *each_at(1.0, 0.3)[len(RATIOS) :]]
FEW = ["two cliques", "barbell", "isolates", "some loops", "weights of all sizes", "tiny pieces", "loops only"]


def graph_of(G):
    """The graph, without a word about its isolated nodes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        return graphclust.as_graph(G)


def run_on(graph, objective="modularity", seed=0):
    on = weigh(graph, objective)
    return on, levels.run_on(on, seed)


@for_each(("objective", "resolution"), QUESTIONS)
@for_each("name", FEW)
def test_no_union_of_two_clusters_and_no_move_of_a_node_gains(name, objective, resolution):
    graph = make_graph(name)
    found, A = communities(graph, objective=objective, resolution=resolution, rng=1), graph.to_scipy().toarray()
    labels, before = found.labels, value(A, found.labels, objective, resolution)
    rounding = 1e-9 * abs(A).sum()
    assert gains_of_unions(A, labels, objective, resolution).max() <= rounding
    for u in range(len(A)):
        for to in {*labels.tolist(), found.k}:
            moved = labels.copy()
            moved[u] = to
            assert value(A, moved, objective, resolution) <= before + rounding


@for_each(("objective", "resolution"), QUESTIONS)
@for_each("seed", [518, 2209, 7741, 31, 97])
def test_finds_the_best_of_all_partitions_of_seven_nodes(seed, objective, resolution):
    A = looped(7, seed, 0.5).to_scipy().toarray()
    best = max(value(A, labels, objective, resolution) for labels in partitions(7))
    assert len(partitions(4)) == 15
    found = communities(A, objective=objective, resolution=resolution, rng=seed).labels
    assert value(A, found, objective, resolution) == pytest.approx(best, rel=1e-12)


def test_finds_an_optimum_that_few_starts_lead_to():
    rows = ["0224342", "2040034", "2404023", "4040421", "3004015", "4322100", "2431500"]
    A = np.array([[*map(float, row)] for row in rows])
    best = max(value(A, labels, "modularity", 1.0) for labels in partitions(7))
    for seed in range(20):
        assert value(A, communities(A, rng=seed).labels, "modularity", 1.0) == pytest.approx(best)


WITHOUT_CLUSTERS = nx.gnp_random_graph(200, 0.04, seed=1)  # very many local optima


@pytest.mark.parametrize("seed", range(2))
def test_as_many_new_partitions_as_are_asked_for_never_lead_to_a_worse_one(seed):
    values, read = [], []
    for n_new in (0, 16, 64):
        on, run = run_on(graph_of(WITHOUT_CLUSTERS), seed=seed)
        run.progress.watch(on.graph)
        schedule = schedule_for_any_number(task_at(on, 1.0, "modularity"))
        found = engine.v_cycle(run.finest, None, schedule.task, schedule.penalties[0], run)
        values.append(levels.value(family_tree.evolve(run.finest, found, schedule, n_new, run), schedule.task))
        read.append(sum(run.progress.entries_read.values()))
    assert values == sorted(values) and values[0] < values[1] and 2 * read[1] < read[2]


@pytest.mark.parametrize(
    ("blocks", "size", "degrees", "resolution"), [(6, 20, (4, 4, 2.5), 0.5), (3, 60, (0.5, 7, 3.2), 0.6)]
)
def test_two_halves_that_are_worth_it_are_not_united_at_a_low_resolution(blocks, size, degrees, resolution):
    """Of two halves made of blocks; unions of regions gain until all nodes are in one cluster."""
    own, half, other = degrees
    rates = np.full((2 * blocks, 2 * blocks), other / (blocks * size))
    rates[:blocks, :blocks] = rates[blocks:, blocks:] = half / ((blocks - 1) * size)
    np.fill_diagonal(rates, own / size)
    G = nx.stochastic_block_model([size] * 2 * blocks, rates.tolist(), seed=1)
    G.remove_nodes_from(list(nx.isolates(G)))
    A, halves = nx.to_scipy_sparse_array(G, dtype=float), np.array([u // (blocks * size) for u in G])
    least = graphclust.modularity(A, halves, resolution=resolution)
    assert least > 1.0 - resolution  # what one cluster is worth
    found = [communities(A, resolution=resolution, rng=seed).labels for seed in range(8)]
    values = [graphclust.modularity(A, labels, resolution=resolution) for labels in found]
    assert np.median(values) > least


def test_a_search_ends_where_every_new_partition_is_the_best():
    graph = graphclust.planted_partition(4, 40, 12, 1, rng=0).graph
    read = sum(communities(graph, effort="high", rng=0).entries_read.values())
    assert read < engine.EFFORTS["high"].free.spare / 2


def test_rounds_of_v_cycles_go_on_while_they_gain():
    values = []
    for better in (engine.improve, engine.improve_while_worth):
        on, run = run_on(graph_of(WITHOUT_CLUSTERS), seed=2)
        schedule = schedule_for_any_number(task_at(on, 5.0, "modularity"))
        found = engine.v_cycle(run.finest, None, schedule.task, schedule.penalties[0], run)
        values.append(levels.value(better(run.finest, found, schedule, run, 3), schedule.task))
    assert values[0] < values[1]


@for_each("seed", range(20))
def test_small_graphs_have_their_proven_optimum_for_every_seed(seed):
    karate = communities(nx.karate_club_graph(), weight=None, rng=seed)
    assert karate.modularity == pytest.approx(0.4197896, abs=1e-7)  # Brandes et al. 2008
    les_miserables = communities(nx.les_miserables_graph(), weight=None, rng=seed)
    assert les_miserables.modularity == pytest.approx(0.5600083, abs=1e-6)


@for_each(("objective", "resolution"), [*QUESTIONS, ("modularity", 0.05), ("constant_potts", 0.01)])
@for_each("name", WITH_EDGES)
def test_every_cluster_is_connected_and_labels_have_no_gap(name, objective, resolution):
    graph = make_graph(name)
    found = communities(graph, objective=objective, resolution=resolution, rng=7)
    assert (np.unique(found.labels) == np.arange(found.k)).all()
    assert parts_of_clusters(graph, found.labels) == [1] * found.k


@pytest.mark.parametrize("free", [True, False])
def test_steps_over_blocks_are_those_in_one_call(free, monkeypatch):
    graph = looped(120, 11, 0.08)
    made = []
    for at_once in (0, levels.AT_ONCE):
        monkeypatch.setattr(levels, "AT_ONCE", at_once)
        on, run = run_on(graph, seed=4)
        task = task_at(on, 1.0, "modularity")._replace(k=0 if free else 6)
        found, penalty = random_partition(run, 6), 2.0 * task.objective.penalty
        made.append(engine.v_cycle(run.finest, found, task, penalty, run))
    assert (made[0].labels == made[1].labels).all()
    assert made[0].sums.inside == pytest.approx(made[1].sums.inside)


def test_overlay_is_what_all_partitions_have_in_one_cluster():
    _, run = run_on(looped(60, 3, 0.1))
    several = [random_partition(run, k, seed=k) for k in (3, 7, 2)]
    made = overlay(run.finest, several, run)
    expected = np.unique(np.c_[tuple(one.labels for one in several)], axis=0, return_inverse=True)[1].ravel()
    assert len(made.sums.size) == expected.max() + 1
    assert len(np.unique(np.c_[made.labels, expected], axis=0)) == expected.max() + 1


@pytest.mark.parametrize("seed", range(5))
def test_disconnected_clusters_are_split_into_their_parts(seed):
    graph = graph_of(nx.gnp_random_graph(60, 0.05, seed=seed))
    _, run = run_on(graph, "constant_potts")
    found = random_partition(run, 6, seed)
    parts = split_disconnected(run.finest, found, run)
    assert len(parts.sums.size) == sum(parts_of_clusters(graph, found.labels)) > 6
    assert len(np.unique(np.c_[parts.labels, found.labels], axis=0)) == len(parts.sums.size)
    assert split_disconnected(run.finest, parts, run) is parts


def test_a_node_that_no_cluster_suits_becomes_one_by_itself():
    on, run = run_on(make_graph("barbell"), "constant_potts")
    everything = Partition(np.zeros(20, np.int32), ClusterSums(np.array([182.0]), np.array([20.0]), np.array([20])))
    found = local_moving.refine(run.finest, everything, task_at(on, 5.0, "constant_potts"), run)
    assert len(found.sums.size) == 20


def test_labels_do_not_depend_on_threads_format_or_weights_of_one():
    graph = nx.random_partition_graph([60] * 8, 0.3, 0.02, seed=5)
    matrix = nx.to_scipy_sparse_array(graph, format="csr")
    expected = communities(graph, rng=3).labels
    forms = [matrix, matrix.tocoo(), matrix.astype(np.float32), matrix.toarray(), sparse.csc_matrix(matrix)]
    wide = sparse.csr_matrix(matrix)
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    for form in [*forms, wide]:
        assert (communities(form, rng=3).labels == expected).all()
    high = communities(graph, effort="high", rng=3).labels
    for n in (1, most_threads()):
        with graphclust.limit_threads(n):
            assert (communities(graph, effort="high", rng=3).labels == high).all()
            assert (communities(graph, rng=3).labels == expected).all()


def test_a_store_gives_the_labels_of_the_graph_in_memory(tmp_path):
    graph = graphclust.planted_partition(12, 100, 10, 2, rng=4).graph
    graphclust.save_store(tmp_path / "graph.store", graph)
    stored = communities(graphclust.open_store(tmp_path / "graph.store"), rng=2)
    assert (stored.labels == communities(graph, rng=2).labels).all()


def test_an_isolated_node_is_a_cluster_by_itself():
    graph = graph_of(nx.disjoint_union(nx.complete_graph(4), nx.empty_graph(3)))
    for objective in ADDITIVE_OBJECTIVES:
        found = communities(graph, objective=objective, resolution=0.5, rng=0)
        assert found.labels.tolist() == [0, 0, 0, 0, 1, 2, 3] and found.normalized_cut == 0.0
        assert sorted(map(len, found.communities())) == [1, 1, 1, 4]


def test_the_largest_component_alone():
    graph = graph_of(nx.disjoint_union_all([nx.path_graph(3), nx.complete_graph(6), nx.empty_graph(1)]))
    found = communities(graph, components="largest", rng=0)
    assert found.labels.tolist() == [-1, -1, -1, 0, 0, 0, 0, 0, 0, -1] and found.k == 1
    assert any("1 component of 3 nodes put aside" in remark for remark in found.remarks)


@pytest.mark.slow
def test_more_effort_and_more_time_find_better_partitions():
    graph = graphclust.lfr_like(1500, mean_degree=12, mixing=0.55, rng=3).graph
    low, normal, high, timed = (
        np.mean([communities(graph, rng=seed, **options).modularity for seed in range(3)])
        for options in ({"effort": "low"}, {}, {"effort": "high"}, {"time_budget": 0.6})
    )
    assert max(low, normal) < high and low < timed


def test_a_time_budget_of_almost_nothing_gives_a_partition():
    graph = graphclust.planted_partition(20, 100, 12, 3, rng=1).graph
    found = communities(graph, time_budget=1e-6, rng=1)
    assert found.k > 1 and any("time budget" in remark for remark in found.remarks)


def test_work_ends_where_nothing_is_gained():
    found = communities(nx.karate_club_graph(), time_budget=600, rng=0)  # far less than a second, or this never ends
    assert found.k == 4


def test_the_account_of_the_work():
    found = communities(nx.les_miserables_graph(), resolution=1.5, effort="low", rng=0)
    assert (found.objective, found.resolution) == ("modularity", 1.5)
    assert found.parameters["effort"] == "low" and found.parameters["resolution"] == 1.5
    assert found.entries_read["partition"] > 0 and "partition" in found.seconds
    assert "modularity at resolution 1.5" in str(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"resolution": 0}, "resolution=0.*> 0"),
        ({"objective": "normalized_cut"}, "objective='normalized_cut'.*'modularity'.*'constant_potts'"),
        ({"effort": "most"}, "effort='most'.*'high'"),
        ({"components": "large"}, "components='large'.*'largest'"),
        ({"time_budget": 0}, "time_budget=0.*> 0"),
    ],
)
def test_impossible_arguments_are_named(options, words):
    refuses(ParameterError, words, communities, nx.karate_club_graph(), **options)


def test_the_input_is_left_as_it_was():
    matrix = sparse.csr_matrix(nx.to_scipy_sparse_array(nx.les_miserables_graph()))
    before = matrix.copy()
    communities(matrix, rng=0)
    assert (before != matrix).nnz == 0 and (before.indices == matrix.indices).all()


def test_the_command_writes_the_labels_of_the_function(tmp_path, capsys):
    output = tmp_path / "labels.tsv"
    code, out, _ = said(capsys, "communities", "karate", "--resolution", 2, "--seed", 5, "-o", output)
    expected = communities(nx.karate_club_graph(), weight=None, resolution=2.0, rng=5)
    assert graphclust.read_labels(output)[1].tolist() == expected.labels.tolist()
    assert code == 0 and f"in {expected.k} clusters" in out
    assert said(capsys, "communities", "karate", "--resolution", 0)[0] == 2


def test_the_estimator_clusters_the_graph_of_nearest_neighbors():
    centers = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 60, axis=0)
    X = centers + np.random.default_rng(0).normal(size=centers.shape)
    model = graphclust.GraphClustering(0.1, n_neighbors=15, random_state=1).fit(X)
    expected = communities(graphclust.knn_graph(X, 15), resolution=0.1, rng=1)
    assert model.n_clusters_ == expected.k == 3 and (model.labels_ == expected.labels).all()
    assert (model.predict(X[::7] + 0.01) == model.labels_[::7]).all()


def test_no_warning_of_an_ordinary_graph():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert communities(nx.karate_club_graph(), rng=0).remarks == ()
