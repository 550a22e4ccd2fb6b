"""Exactly k connected clusters wherever the graph has them: in memory, from a store, by blocks, with parts aside."""

import networkx as nx
import numpy as np
import pytest
from aims import assert_exact_sums, looped, parts_of_clusters
from cases import for_each
from scipy import sparse

import graphclust as gc
from graphclust.compiled.graphs.levels import Task
from graphclust.engine import connectivity, contraction
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.resolution import objective_of
from graphclust.graph.executor import Engine
from graphclust.objective.objective import OBJECTIVES, as_objective_choice, weigh
from graphclust.partition.components import mask_nodes
from graphclust.two_step.in_blocks import GraphSource, InBlocks, bring_labels
from graphclust.two_step.in_memory import InMemory

TWO_STEP = {"in memory": {"method": "two-step"}, "by blocks": {"coreset": gc.Coreset(sampling="parallel")}}


def sparse_graph(seed: int, n: int = 120, degree: float = 3.0) -> gc.Graph:
    """A connected graph of few cycles, on which moves of single nodes cut clusters into parts."""
    graph = nx.gnp_random_graph(n, degree / n, seed=seed)
    return gc.as_graph(nx.convert_node_labels_to_integers(graph.subgraph(max(nx.connected_components(graph), key=len))))


def goal_of(run, name: str, k: int) -> Task:
    return Task(objective_of(as_objective_choice(name, None), k, 1.0, run.totals)[0], k)


@for_each("name", OBJECTIVES)
@for_each("seed", range(3))
def test_parts_of_random_clusters_join_neighbors_and_the_sums_follow(name, seed):
    k, graph = 6, looped(60, seed, 0.05)
    run = run_on(weigh(graph, name))
    labels = np.random.default_rng(seed).permutation(np.arange(60) % k).astype(np.int32)
    found = connectivity.connect_once(run.finest, with_sums(run.finest, labels, k, run), goal_of(run, name, k), run)
    assert parts_of_clusters(graph, found.labels) == [1] * k
    assert_exact_sums(found, run)


def test_a_part_for_which_no_neighbor_has_room_stays_and_the_sums_follow():
    """Cluster 0 holds the end of a path, which joins cluster 1, and a branch of two nodes, which would be too many."""
    graph = nx.path_graph(6)
    graph.add_edges_from([(4, 6), (6, 7), (7, 7)])
    run = run_on(weigh(gc.as_graph(graph), "modularity"), size=np.ones(8))
    start = with_sums(run.finest, np.array([0, 0, 0, 1, 1, 0, 0, 0], np.int32), 2, run)
    task = goal_of(run, "modularity", 2)._replace(most=3.0)
    found = connectivity.connect_once(run.finest, start, task, run)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1, 0, 0]
    assert_exact_sums(found, run)


@for_each("name", OBJECTIVES)
@for_each("aside", [False, True])
def test_blocks_and_memory_connect_the_same_clusters(name, aside):
    k, graph = 5, looped(60, 4, 0.05)
    if aside:
        crumbs = [np.ones((3, 3)), np.ones((2, 2))]
        graph = gc.as_graph(sparse.block_diag([graph.to_scipy(), *crumbs], format="csr"))
    searched = np.arange(graph.n_nodes) < 60
    rng, progress = np.random.default_rng(0), gc.Progress()
    memory = InMemory(graph, searched, k, rng, progress)
    source = GraphSource(mask_nodes(graph, searched))
    engine = Engine(source, np.linspace(0, graph.n_nodes, 4).astype(int))
    blocks = InBlocks(engine, graph.n_entries, k, "all", 0, progress, bring_labels)
    labels = np.random.default_rng(1).permutation(np.arange(graph.n_nodes) % k).astype(np.int32)
    labels[~searched] = 0
    run = memory.run(name)
    task = goal_of(run, name, k)
    apart = with_sums(run.finest, np.where(searched, labels, np.int32(k)), k + 1, run)
    alone = connectivity.connect_once(run.finest, apart, task._replace(k=k + 1), run)
    outside = np.where(searched, labels, np.int32(-1))
    sums = blocks.sums(outside, k, name)
    given = blocks.engine.once(lambda source: outside)
    found = blocks.connect_once(with_sums(run.finest, labels, k, run)._replace(labels=given, sums=sums), task, name)
    together = blocks.engine.fetch(found.labels)
    assert (together[searched] == alone.labels[searched]).all() and (together[~searched] == -1).all()
    assert parts_of_clusters(graph, together) == [1] * k
    assert found.sums.mass == pytest.approx(alone.sums.mass[:k]) and len(found.sums.mass) == k
    assert blocks.connect_once(found, task, name) is found


@for_each("objective", OBJECTIVES)
@for_each("way", TWO_STEP)
@pytest.mark.filterwarnings("ignore::graphclust.errors.ConvergenceWarning")
def test_two_steps_end_with_connected_clusters(objective, way):
    for seed in range(3):
        graph = sparse_graph(seed)
        found = gc.coreset_sc(graph, 8, objective=objective, rng=seed, **TWO_STEP[way])
        assert parts_of_clusters(graph, found.labels) == [1] * 8


@pytest.mark.parametrize("way", TWO_STEP)
@pytest.mark.filterwarnings("ignore::graphclust.errors.ConvergenceWarning")
def test_clusters_are_connected_where_components_are_put_aside(way):
    for seed in range(3):
        graph = sparse_graph(seed)
        crumbs = sparse.block_diag([graph.to_scipy(), *[sparse.csr_array(1.0 - np.eye(2))] * 3], format="csr")
        found = gc.coreset_sc(crumbs, 8, components="largest", rng=seed, **TWO_STEP[way])
        assert found.n_aside == 6 and parts_of_clusters(found.graph, found.labels) == [1] * 8


@pytest.mark.parametrize("method", ["two-step", "multilevel"])
@pytest.mark.filterwarnings("ignore::graphclust.errors.ConvergenceWarning")
def test_clusters_of_a_graph_read_in_order_from_a_store_are_connected(method, tmp_path, monkeypatch):
    monkeypatch.setattr(contraction, "STREAMED", 0)
    for seed in range(3):
        store = gc.save_store(tmp_path / f"{seed}.store", sparse_graph(seed))
        found = gc.coreset_sc(store, 8, method=method, rng=seed)
        assert parts_of_clusters(found.graph, found.labels) == [1] * 8


@for_each(
    "options",
    [
        {"method": "two-step"},
        {"method": "two-step", "objective": "normalized_cut"},
        {"resolution": 1.0, "objective": "constant_potts"},
        {"resolution": 1.0, "kind": "directed"},
    ],
)
@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
def test_components_that_can_be_clusters_share_none(options):
    rng = np.random.default_rng(1)
    for seed in range(25):
        trees = [nx.random_labeled_tree(n, seed=seed + n) for n in (2, 3, 2, 4, 2, 5, 9, 20)]
        graph = nx.disjoint_union_all(trees[: rng.integers(2, 9)])
        given = graph.to_directed() if "kind" in options else graph
        if "kind" in options:
            given.remove_edges_from([(u, v) for u, v in graph.edges if rng.random() < 0.9])
        n_components = nx.number_connected_components(graph)
        for k in (n_components, min(n_components + 3, len(graph))):
            found = gc.coreset_sc(given, k, components="all", rng=seed, **options)
            assert parts_of_clusters(found.graph, found.labels) == [1] * k, (seed, k)


def test_clusters_that_unite_components_are_told_of():
    graph = nx.disjoint_union_all([nx.complete_graph(8)] * 5)
    for options in (*TWO_STEP.values(), {}):
        found = gc.coreset_sc(graph, 3, components="all", rng=0, **options)
        assert max(parts_of_clusters(found.graph, found.labels)) > 1
        assert any("k = 3 lies below the 5 components" in remark for remark in found.remarks)
