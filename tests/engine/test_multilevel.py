"""Multilevel partitions: exactly k, known optima, planted clusters found, nothing lost on the way.

And clusters that a single resolution or single moves would miss: they are found, or what is likelier is taken.
"""

import os

import networkx as nx
import numpy as np
import pytest
from aims import ONE_OF_EACH, connected_part, looped
from cases import for_each, refuses
from graphs import make, make_graph, multilevel_labels
from reference import objectives as reference
from scipy import sparse

import graphclust as gc
from graphclust.engine import engine, family_tree, levels, local_moving, v_cycle
from graphclust.engine.levels import run_on, value, with_sums
from graphclust.engine.likelihood import log_likelihood
from graphclust.engine.resolution import schedule_for_any_number, task_at
from graphclust.objective.objective import as_objective_choice, weigh
from graphclust.partition import coreset_sc as door

CUT = {"objective": "normalized_cut"}
LARGE = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")


@pytest.mark.parametrize(
    ("graph", "best"),
    [
        pytest.param(nx.path_graph(40), 2 / 39, id="path"),
        pytest.param(nx.cycle_graph(40), 0.1, id="ring"),
        pytest.param(nx.grid_2d_graph(8, 16), 2 * 8 / 232, id="grid"),
        pytest.param(nx.from_scipy_sparse_array(make("karate")), 0.2564, id="karate"),
    ],
)
def test_best_cuts_of_small_graphs(graph, best):
    """Known optima: halves of a path, of a ring and of a grid; the two circles of karate."""
    assert gc.normalized_cut(graph, multilevel_labels(graph, 2, rng=1, **CUT)) == pytest.approx(best, abs=1e-4 * best)


@LARGE
def test_multilevel_finds_planted_blocks_weighted_or_not():
    planted = gc.planted_partition(20, 400, 16, 3, rng=6)
    for weighted in (False, True):
        matrix = planted.graph.to_scipy()
        if weighted:
            noise = sparse.triu(matrix, 1)
            noise.data = np.random.default_rng(2).gamma(2.0, 0.5, noise.nnz)
            matrix = (noise + noise.T).tocsr()
        labels = multilevel_labels(matrix, 20, rng=9, **CUT)
        assert gc.adjusted_rand_index(labels, planted.labels) > 0.999
        assert gc.normalized_cut(matrix, labels) <= gc.normalized_cut(matrix, planted.labels) * 1.0001


@for_each(("objective", "resolution"), [*ONE_OF_EACH, ("modularity", "auto"), ("constant_potts", "auto")])
@for_each("effort", ["low", "normal", "high"])
def test_the_value_that_a_partition_says_it_has_is_its_value(objective, resolution, effort):
    for graph in (looped(60, 3, 0.1), make_graph("karate"), connected_part("tiny pieces")):
        run, choice = run_on(weigh(graph, objective), 3), as_objective_choice(objective, resolution)
        found, schedule = engine.partition_into(run.finest, 4, choice, engine.EFFORTS[effort], run)
        expected = reference.value(graph.to_scipy().toarray(), found.labels, objective, schedule.resolution)
        assert value(found, schedule.task) == pytest.approx(expected, rel=1e-9)
        assert found.sums.size.tolist() == np.bincount(found.labels, minlength=4).tolist()


@pytest.mark.parametrize("at_once", [0, levels.AT_ONCE])
@pytest.mark.parametrize(
    ("objective", "resolution", "k"), [*((*one, 5) for one in ONE_OF_EACH), ("modularity", 1.0, 0)]
)
@pytest.mark.parametrize("name", ["grid", "power-law blocks", "uneven and looped"])
def test_no_step_lets_the_value_fall_and_all_keep_k_clusters(name, objective, resolution, k, at_once, monkeypatch):
    """Of the engine for exactly k or for any number, in one call or in steps over blocks."""
    monkeypatch.setattr(levels, "AT_ONCE", at_once)
    graph = looped(60, 3, 0.1) if name == "uneven and looped" else connected_part(name)
    run, choice = run_on(weigh(graph, objective), 5), as_objective_choice(objective, resolution)
    if k:
        schedule = engine.schedule_on(run.finest, k, choice, run)
    else:
        schedule = schedule_for_any_number(task_at(weigh(graph, objective), resolution, objective))
    random = np.random.default_rng(1).permutation(np.arange(graph.n_nodes) % 5).astype(np.int32)
    found = with_sums(run.finest, random, 5, run)
    other = engine.v_cycle(run.finest, None, schedule.task, schedule.penalties[0], run)
    steps = [
        lambda found: local_moving.refine(run.finest, found, schedule.task, run),
        lambda found: engine.v_cycle(run.finest, found, schedule.task, schedule.penalties[-1], run),
        lambda found: family_tree.recombine(run.finest, [found, other], schedule, run),
        lambda found: engine.improve(run.finest, found, schedule, run),
        lambda found: family_tree.evolve(run.finest, found, schedule, 8, run),
    ]
    for step in steps:
        after = step(found)
        assert value(after, schedule.task) >= value(found, schedule.task) - 1e-9 * schedule.task.objective.unit
        assert (np.bincount(after.labels, minlength=k) > 0).all() and len(after.sums.size) == (
            k or after.labels.max() + 1
        )
        found = after
    assert value(found, schedule.task) >= value(other, schedule.task) - 1e-9 * schedule.task.objective.unit


def test_a_child_has_what_is_good_in_each_parent():
    """One joins two blocks and halves a third, another joins and halves others; nodes that move mend neither."""
    graph, planted = gc.planted_partition(6, 60, 14, 1, rng=0)
    run = run_on(weigh(graph, "normalized_cut"))
    schedule, parents = engine.schedule_on(run.finest, 6, as_objective_choice("normalized_cut", None), run), []
    for joined, halved in (((0, 1), 2), ((4, 5), 3)):
        labels = np.where(planted == joined[1], joined[0], planted).astype(np.int32)
        labels[np.flatnonzero(planted == halved)[::2]] = joined[1]
        parents.append(engine.refine(run.finest, with_sums(run.finest, labels, 6, run), schedule.task, run))
    right = value(with_sums(run.finest, planted.astype(np.int32), 6, run), schedule.task)
    assert max(value(one, schedule.task) for one in parents) < right - 0.1
    assert value(family_tree.recombine(run.finest, parents, schedule, run), schedule.task) >= right - 1e-9


def test_a_child_is_no_worse_than_the_best_parent():
    """Here it is one that V-cycles from other regions seldom reach, and the other parent is of chance."""
    run = run_on(weigh(make_graph("power-law blocks"), "normalized_cut"))
    schedule = engine.schedule_on(run.finest, 9, as_objective_choice("normalized_cut", None), run)
    best, _ = engine.partition_into(
        run.finest, 9, as_objective_choice("normalized_cut", None), engine.EFFORTS["high"], run
    )
    for seed in range(10):
        labels = np.random.default_rng(seed).permutation(np.arange(len(best.labels)) % 9).astype(np.int32)
        child = family_tree.recombine(run.finest, [best, with_sums(run.finest, labels, 9, run)], schedule, run)
        assert value(child, schedule.task) >= value(best, schedule.task) - 1e-12


@pytest.mark.parametrize("objective", ["modularity", "normalized_cut"])
def test_v_cycles_side_by_side_find_what_they_find_one_after_the_other(objective, monkeypatch):
    graph, found = gc.planted_partition(12, 60, 9, 3, rng=2).graph, []
    for worth in (0, 10**9):
        monkeypatch.setattr(family_tree, "WORTH_A_THREAD", worth)
        found.append(multilevel_labels(graph, 12, objective=objective, rng=5))
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize(("objective", "resolution"), [*ONE_OF_EACH, ("modularity", "auto")])
def test_the_same_seed_gives_the_same_labels(objective, resolution):
    graph = connected_part("sparse blocks")
    options = {"objective": objective, "resolution": resolution}
    one, again = (multilevel_labels(graph, 6, rng=8, **options) for _ in range(2))
    assert (one == again).all()
    unclear = nx.gnp_random_graph(300, 0.05, seed=1)
    assert len({multilevel_labels(unclear, 6, rng=seed, **options).tobytes() for seed in range(4)}) > 1


@pytest.mark.slow  # of so small a graph little effort finds nearly as much: only many seeds tell
def test_more_effort_is_better_on_average():
    graph = make_graph("power-law blocks")

    def mean_cut(effort):
        found = [multilevel_labels(graph, 25, effort=effort, rng=seed, **CUT) for seed in range(96)]
        return np.mean([gc.normalized_cut(graph, labels) for labels in found])

    assert mean_cut("high") < mean_cut("normal") < mean_cut("low")


@pytest.mark.filterwarnings("ignore:1 isolated")
@pytest.mark.parametrize(
    "call",
    [lambda graph: gc.merge_clusters(graph, 2), lambda graph: gc.refine_partition(graph, np.array([0, 0, 1, 1]))],
)
def test_isolated_nodes_are_refused(call):
    graph = nx.path_graph(3)
    graph.add_node(3)
    refuses(gc.ParameterError, "G has 1 isolated node, which", call, graph)


@LARGE
def test_nodes_that_heavy_edges_tie_together_move_together():
    """Moves of single nodes and of regions end some .001 above the planted blocks after moves, not .002."""
    planted = gc.planted_partition(10, 200, 16, 4, rng=3)
    upper = sparse.triu(planted.graph.to_scipy(), 1)
    upper.data = np.random.default_rng(2).lognormal(0.0, 1.5, upper.nnz)
    graph = gc.as_graph((upper + upper.T).tocsr())
    moved = gc.modularity(graph, gc.move_nodes(graph, planted.labels, resolution=1.0))
    found = [gc.coreset_sc(graph, 10, resolution=1.0, rng=seed).modularity for seed in range(4)]
    assert np.mean(found) > moved + 0.002


@LARGE
def test_trees_are_cut_into_like_parts():
    """Merged by the cut alone they are not: of eight seeds the cuts were 0.316 to 0.492."""
    cuts = [gc.coreset_sc(nx.balanced_tree(3, 6), 20, rng=seed, **CUT).normalized_cut for seed in range(3)]
    assert max(cuts) < 0.28


def test_a_single_leaf_can_be_a_cluster_where_nodes_count():
    """Its cut is one edge, where that of half a clique is twenty a node."""
    graph = nx.complete_graph(40)
    graph.add_edges_from((node % 40, 40 + node) for node in range(20))
    assert np.bincount(multilevel_labels(graph, 2, objective="ratio_cut", rng=0)).min() == 1


def test_most_seeds_find_the_smallest_cut_of_a_network(data_folder):
    """The smallest cut of a network of students runs around ten of them."""
    with np.load(data_folder / "graphs" / "fb100_Caltech36_dorm.npz") as stored:
        n = int(stored["n"])
        rows = np.ones(len(stored["indices"])), stored["indices"], stored["indptr"]
    graph = gc.as_graph(sparse.csr_array(rows, shape=(n, n)))
    found = [gc.coreset_sc(graph, 2, objective="normalized_cut", rng=seed).normalized_cut for seed in range(20)]
    assert sum(cut < 1.01 * min(found) for cut in found) >= 15


@LARGE
@pytest.mark.parametrize("objective", ["modularity", "normalized_cut"])
@pytest.mark.parametrize("budget", [engine.BUDGET, 600_000])
def test_blocks_that_hardly_show_are_found(objective, budget, monkeypatch):
    """Regions mix the blocks, and the resolution matched to them is below 1."""
    for module in (engine, v_cycle):
        monkeypatch.setattr(module, "BUDGET", budget)  # the smaller one: no V-cycles run on the nodes
    planted = gc.planted_partition(20, 2_000, 8, 8, rng=1)
    found = gc.coreset_sc(planted.graph, 20, objective=objective, method="multilevel", rng=1)
    assert gc.adjusted_rand_index(found.labels, planted.labels) > 0.96


def few_large_ones(scale, inside, outside, seed):
    """Two large blocks among sixty small ones."""
    sizes = np.array([1500, 1000, *[40] * 60]) * scale
    return gc.stochastic_block_model(sizes.tolist(), (inside / sizes).tolist(), outside / sizes.sum(), rng=seed)


@LARGE
@pytest.mark.parametrize("seed", [1, 2])
def test_clusters_of_very_unequal_sizes_are_found_where_no_one_resolution_suits_them(seed):
    """At one for all of them the large ones fall apart, or small ones come together."""
    hidden = few_large_ones(1, 10, 9, seed)
    found = gc.coreset_sc(hidden.graph, 62, rng=seed)
    at_matched = gc.coreset_sc(hidden.graph, 62, resolution=found.resolution, rng=seed)
    assert gc.adjusted_rand_index(found.labels, hidden.labels) > 0.95
    assert gc.adjusted_rand_index(at_matched.labels, hidden.labels) < 0.9


@LARGE
@pytest.mark.slow
def test_clusters_of_very_unequal_sizes_that_a_coreset_cannot_show_are_found(monkeypatch):
    hidden = few_large_ones(4, 12, 10, 1)
    monkeypatch.setattr(door, "suits_a_coreset", lambda *of: True)
    monkeypatch.setattr(door, "default_size", lambda *of: 1_500)
    found = [gc.coreset_sc(hidden.graph, 62, rng=seed).labels for seed in range(4)]
    assert np.median([gc.adjusted_rand_index(labels, hidden.labels) for labels in found]) > 0.97


def unequal_with_hubs(seed, n_blocks=100, inside=10, outside=2):
    """A graph without isolated nodes of blocks of 50 to 7,550 nodes, in which some nodes have far more links."""
    rng = np.random.default_rng(seed)
    sizes = (7500 * 0.85 ** np.arange(n_blocks)).astype(int) + 50
    truth = np.repeat(np.arange(n_blocks), sizes)
    n, last = len(truth), np.cumsum(sizes)
    share = np.concatenate([[0.0], np.cumsum(rng.pareto(2.5, n) + 1.0)])

    def ends(low, high):
        return np.searchsorted(share, low + rng.random(len(low)) * (high - low), side="right") - 1

    block = truth[rng.integers(n, size=n * inside // 2)]
    bounds = [np.append(share[(last - sizes)[block]], np.zeros(n * outside // 2))]
    bounds.append(np.append(share[last[block]], np.full(n * outside // 2, share[-1])))
    u, v = ends(*bounds), ends(*bounds)
    matrix = sparse.coo_array((np.ones(len(u)), (u, v)), shape=(n, n)).tocsr()
    matrix.setdiag(0.0)
    matrix = sparse.csr_array((matrix + matrix.T) != 0, dtype=float)
    linked = np.flatnonzero(np.diff(matrix.indptr))
    return gc.as_graph(matrix[linked][:, linked]), truth[linked]


@LARGE
@pytest.mark.slow
def test_clusters_of_unequal_sizes_and_degrees_are_found():
    graph, truth = unequal_with_hubs(1)
    least = min(gc.adjusted_rand_index(gc.coreset_sc(graph, 100, rng=seed).labels, truth) for seed in (0, 1))
    assert least > 0.97
    if least <= 0.99:
        pytest.xfail(f"ARI {least:.3f}; V-cycles that find .993 are not made where a tenth of the mass stays")


def hard_communities(seed):
    """Communities of unequal sizes and degrees, more than half of all links leaving them."""
    graph = nx.LFR_benchmark_graph(
        1000, 2.5, 1.5, 0.55, average_degree=20, max_degree=50, min_community=20, max_community=100, seed=seed,
        max_iters=1000,
    )  # fmt: skip
    communities = sorted({tuple(sorted(graph.nodes[node]["community"])) for node in graph})
    graph.remove_edges_from(nx.selfloop_edges(graph))
    truth = np.empty(len(graph), int)
    for number, community in enumerate(communities):
        truth[list(community)] = number
    return gc.as_graph(graph), truth, len(communities)


@LARGE
def test_of_communities_that_are_hard_to_tell_apart_likelier_ones_are_taken(monkeypatch):
    """Than those of the most modularity at the resolution at which their number is natural."""
    found, graphs = [], [hard_communities(seed) for seed in range(4)]
    found.append([gc.coreset_sc(graph, k, rng=1).labels for graph, _, k in graphs])
    monkeypatch.setattr(engine, "accept_likelier", lambda level, found, task, run: found)
    found.append([gc.coreset_sc(graph, k, rng=1).labels for graph, _, k in graphs])
    for labels, others, (graph, _, k) in zip(*found, graphs, strict=True):
        run = run_on(weigh(graph, "modularity"))
        likelihoods = [
            log_likelihood(run.totals, with_sums(run.finest, one.astype(np.int32), k, run).sums)
            for one in (labels, others)
        ]
        assert likelihoods[0] > likelihoods[1]
    mean = [
        np.mean([gc.adjusted_rand_index(truth, one) for one, (_, truth, _) in zip(of, graphs, strict=True)])
        for of in found
    ]
    assert mean[0] > mean[1]
