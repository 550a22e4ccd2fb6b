"""Bounds on what communities hold: always met, or an error that says which numbers would do."""

import itertools
import signal

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from graphs import leafy_graph, random_matrix
from hypothesis import given, settings
from hypothesis import strategies as st
from shell import said

import graphclust
from graphclust import GraphValidationError, communities, coreset_sc
from graphclust.compiled.graphs import balance
from graphclust.compiled.graphs import fiduccia_mattheyses as climbing
from graphclust.compiled.graphs.levels import Task
from graphclust.compiled.graphs.objective import ADDITIVE, Objective
from graphclust.compiled.graphs.region_growing import balance_connected, grow_halves, join_singletons
from graphclust.compiled.runtime.loops import plain
from graphclust.compiled.runtime.random_numbers import draws_of
from graphclust.engine.connectivity import connect_once, find_connected_parts
from graphclust.engine.contraction import agglomerate
from graphclust.engine.levels import run_on, value, with_sizes_as_masses, with_sums
from graphclust.engine.local_moving import find_regions, refine
from graphclust.engine.resolution import task_at
from graphclust.engine.settling import is_within, rebalance, settle
from graphclust.engine.within_bounds import balance_by_pieces, grow_connected
from graphclust.errors import ParameterError
from graphclust.objective.objective import weigh

pytestmark = [
    pytest.mark.slow,  # loops for nodes with sizes take half a minute to compile
    pytest.mark.filterwarnings("ignore:.*isolated node:graphclust.errors.GraphWarning"),
]


graphs = st.builds(
    random_matrix, st.integers(2, 40), st.integers(0, 999), st.sampled_from([0.05, 0.1, 0.3]), st.just(3)
)
bounds = st.one_of(st.none(), st.integers(1, 12))


@settings(max_examples=80, deadline=None)
@given(graphs, bounds, bounds, st.sampled_from([0.1, 1.0, 4.0]), st.booleans())
def test_every_cluster_is_within_the_bounds_or_an_error_says_why(A, least, most, resolution, is_weighted):
    if A.nnz == 0:
        return
    weights = np.random.default_rng(A.nnz).integers(1, 5, A.shape[0]) if is_weighted else np.ones(A.shape[0])
    try:
        found = communities(A, resolution=resolution, min_size=least, max_size=most, node_weight=weights, rng=0)
    except ParameterError as problem:
        assert "expected" in str(problem) and (least is not None or most < weights.max())
        return
    load = np.bincount(found.labels, weights)
    components = found.graph.components
    may_be_less = np.bincount(components, weights)[components] < (least or 0)  # those are clusters by themselves
    assert len(load) == found.k and load.max() <= (most or np.inf)
    assert (load[found.labels[~may_be_less]] >= (least or 0)).all()
    assert len({*found.labels[may_be_less]}) == len({*components[may_be_less]})


@pytest.mark.parametrize("weights", [(2, 3, 3, 6, 4, 6), (2, 3, 6, 4, 6, 3), (2, 6, 3, 3, 4, 6)])
def test_nodes_that_no_move_fits_into_the_bounds_are_packed_by_their_weights(weights):
    """6, 6, 3 + 3 and 2 + 4 are the only clusters of 5 to 6."""
    found = communities(nx.complete_graph(6), min_size=5, max_size=6, node_weight=weights, rng=0)
    assert np.bincount(found.labels, weights).tolist() == [6.0] * 4


def test_clusters_within_bounds_are_connected_where_they_can_be():
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 12))
    found = communities(grid, min_size=4, max_size=9, rng=0)
    assert all(nx.is_connected(grid.subgraph(part)) for part in found.communities()) and found.remarks == ()


def test_bounds_cost_little_modularity_where_most_clusters_hold_them():
    """The smallest cluster takes the node that it lacks; a union would lose .014."""
    graph = graphclust.lfr_like(600, mean_degree=12, mixing=0.2, rng=3).graph
    for seed in range(3):
        free = communities(graph, components="largest", rng=seed)
        least, most = int(free.sizes.min()) + 1, int(free.sizes.max()) - 1
        bounded = communities(graph, components="largest", min_size=least, max_size=most, rng=seed)
        assert bounded.sizes.min() >= least and bounded.sizes.max() <= most
        assert bounded.modularity > 0.99 * free.modularity


def test_a_cluster_that_lacks_a_node_takes_one_and_one_that_lacks_most_is_united():
    for smallest, sizes in ((19, [24, 24, 23, 20]), (8, [32, 24, 24])):
        G = nx.disjoint_union_all([nx.complete_graph(size) for size in (24, 24, 24, smallest)])
        G.add_edges_from((24 * i + j, 24 * ((i + 1) % 4) + j + 3) for i in range(4) for j in range(3))
        found = communities(G, min_size=20, rng=0)
        assert found.sizes.tolist() == sizes
        assert any("took nodes" in said for said in found.remarks) == (smallest == 19)


def test_a_node_attribute_weighs():
    G = nx.les_miserables_graph()
    nx.set_node_attributes(G, {u: 1 + i % 4 for i, u in enumerate(G)}, "tokens")
    weights = np.array([G.nodes[u]["tokens"] for u in G])
    found = communities(G, max_size=15, node_weight="tokens", rng=0)
    assert np.bincount(found.labels, weights).max() <= 15 and found.parameters["node_weight"] == "tokens"
    assert (found.labels == communities(G, max_size=15, node_weight=weights, rng=0).labels).all()


def test_small_components_are_clusters_unless_left_out():
    G = nx.disjoint_union_all([nx.complete_graph(9), nx.path_graph(3), nx.path_graph(2)])
    assert communities(G, min_size=4, max_size=5, rng=0).sizes.tolist() == [5, 4, 3, 2]
    found = communities(nx.disjoint_union(nx.star_graph(11), nx.path_graph(2)), min_size=3, max_size=4, rng=0)
    assert found.sizes[:-1].min() >= 3 and found.sizes[-1] == 2 and found.labels[12] == found.labels[13] == found.k - 1
    assert communities(G, min_size=4, components="largest", rng=0).labels.tolist() == [0] * 9 + [-1] * 5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"min_size": 9, "max_size": 4}, "max_size=4.*min_size=9.*>= 9"),
        ({"min_size": 50}, "min_size=50.*at most 34"),
        ({"max_size": 0.5}, "max_size=0.5.*at least 1"),
        ({"min_size": 0}, "min_size=0.*> 0"),
        ({"min_size": 18, "max_size": 20}, "18 to 20.*34: 1 holds too little.*min_size <= 17.*max_size >= 34"),
        ({"min_size": "5"}, "min_size='5'.*number"),
        ({"max_size": 5, "node_weight": [1, 2]}, r"node_weight.*\(34,\)"),
        ({"max_size": 5, "node_weight": "age"}, "node_weight='age'.*34 nodes"),
    ],
)
def test_impossible_bounds_are_named(options, words):
    refuses((ParameterError, GraphValidationError, TypeError), words, communities, nx.karate_club_graph(), **options)


def test_one_cluster_that_cannot_be_is_counted_in_the_singular():
    path, words = nx.path_graph(3), r"^1 cluster of max_size=2 holds at most 2, .* max_size >= 3 or k >= 2$"
    refuses(ParameterError, words, coreset_sc, path, 1, max_size=2)
    words = "^1 cluster of min_size=4 holds 4 or more, .* expected min_size <= 3$"
    refuses(ParameterError, words, coreset_sc, path, 1, min_size=4)


def test_an_attribute_of_a_matrix_is_refused():
    with pytest.raises(TypeError, match=r"node_weight='age'.*networkx"):
        communities(nx.to_scipy_sparse_array(nx.karate_club_graph()), max_size=9, node_weight="age")


@settings(deadline=None)
@given(st.integers(3, 60), st.integers(1, 12), st.integers(1, 12))
def test_bounds_of_a_connected_graph_pass_exactly_where_some_number_of_clusters_meets_them(n, least, most):
    """Of exactly k clusters: test_exactly_k_clusters_are_within_the_bounds_or_an_error_says_why."""
    graph = nx.barabasi_albert_graph(n, 2, seed=n) if n % 2 else nx.path_graph(n)
    try:
        found = communities(graph, min_size=least, max_size=most, rng=n)
    except ParameterError as problem:
        assert "were found" not in str(problem), "the sizes alone tell"
        assert not any(least <= most and k * least <= n <= k * most for k in range(1, n + 1))
    else:
        assert least <= found.sizes.min() and found.sizes.max() <= most and found.sizes.sum() == n


def level_and_run(G, sizes, objective="modularity"):
    on = weigh(graphclust.as_graph(G), objective)
    run = run_on(on, size=sizes)
    return on, run.finest, run


@pytest.mark.parametrize("seed", range(6))
def test_no_step_passes_the_maximum(seed):
    A, sizes = random_matrix(60, 3 * seed + 1, 0.1, 3), np.random.default_rng(seed).integers(1, 4, 60).astype(float)
    on, level, run = level_and_run(A, sizes)
    task = task_at(on, 0.3, "modularity")._replace(most=9.0)
    regions = find_regions(level, task.objective.penalty, run, task.most)
    merged = agglomerate(level, task, run)
    for found in (regions, merged, refine(level, regions, task, run), refine(level, merged, task, run)):
        assert np.bincount(found.labels, sizes).max() <= 9.0
    apart = with_sums(level, np.arange(60, dtype=np.int32), 60, run)
    free = refine(level, apart, task._replace(most=np.inf), run)
    assert np.bincount(free.labels, sizes).max() > 9.0  # or the bound did not bind


def test_moving_leaves_no_cluster_below_the_minimum():
    on, level, run = level_and_run(nx.barbell_graph(8, 0), np.ones(16), "constant_potts")
    labels = np.r_[np.zeros(11), np.ones(5)].astype(np.int32)
    task = task_at(on, 0.1, "constant_potts")
    found = with_sums(level, 1 - labels, 2, run)
    assert sorted(np.bincount(refine(level, found, task, run).labels)) == [8, 8]
    kept = refine(level, found, task._replace(least=10.0), run)
    assert np.bincount(kept.labels).max() >= 10


def test_merging_to_k_ends_where_no_two_clusters_fit_into_one():
    _, level, run = level_and_run(nx.path_graph(9), np.ones(9), "constant_potts")
    found = agglomerate(level, Task(Objective(ADDITIVE, 0.0, 1.0), 3, 0.0, 2.0), run)
    assert np.bincount(found.labels).max() <= 2 and len(found.sums.size) == 5


def test_the_command_takes_bounds(tmp_path, capsys):
    output = tmp_path / "labels.tsv"
    code, out, _ = said(capsys, "communities", "karate", "--min-size", 4, "--max-size", 8, "-o", output)
    sizes = np.bincount(graphclust.read_labels(output)[1])
    assert code == 0 and sizes.min() >= 4 and sizes.max() <= 8 and f"in {len(sizes)} clusters" in out
    code, out, _ = said(capsys, "communities", "karate", "--min-size", 8, "--small", "apart")
    assert code == 0 and "left apart, in no cluster" in out
    code, _, err = said(capsys, "communities", "karate", "--small", "apart")
    assert code == 2 and "--small apart leaves out clusters of less than --min-size" in err
    assert said(capsys, "communities", "karate", "--max-size", 0.5)[0] == 2


def level_and_goal(G, k, least, most):
    on, level, run = level_and_run(G, np.ones(len(G)), "constant_potts")
    return level, Task(Objective(ADDITIVE, on.totals.chance, 1.0), k, least, most), run


@pytest.mark.parametrize("seed", range(4))
def test_settling_makes_k_clusters_within_the_bounds_of_any_partition(seed):
    level, task, run = level_and_goal(nx.barabasi_albert_graph(50, 2, seed=seed), 5, 8.0, 12.0)
    for labels in (np.zeros(50), np.arange(50), np.arange(50) % 5, np.arange(50) // 7):
        found = with_sums(level, labels.astype(np.int32), int(labels.max()) + 1, run)
        if len(found.sums.size) >= task.k:
            assert is_within(level, settle(level, found, task, run), task, run)


def test_growth_makes_connected_clusters():
    level, task, run = level_and_goal(nx.les_miserables_graph(), 6, 1.0, 77.0)
    found = grow_connected(level, 6, run)
    assert is_within(level, found, task, run) and find_connected_parts(level, found, run)[1] == 6


@pytest.mark.parametrize("seed", range(4))
def test_balancing_keeps_clusters_connected(seed):
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 8))
    level, task, run = level_and_goal(graph, 4, 15.0, 17.0)
    corners = np.array([0, 1, 8, 9])
    labels = np.full(64, 0, np.int32)
    labels[corners[1:] + 4 * seed] = [1, 2, 3]
    found = with_sums(level, labels, 4, run)
    if find_connected_parts(level, found, run)[1] > 4:
        return
    made = balance_by_pieces(level, found, task, run)
    assert is_within(level, made, task, run) and find_connected_parts(level, made, run)[1] == 4


@pytest.mark.parametrize(
    ("least", "most", "joins"), [(1.0, 4.0, True), (1.0, 3.0, False), (3.0, 4.0, False), (2.0, 4.0, True)]
)
def test_a_part_joins_a_neighbor_only_where_both_clusters_stay_within_the_bounds(least, most, joins):
    level, task, run = level_and_goal(nx.path_graph(6), 2, least, most)
    found = with_sums(level, np.array([0, 1, 1, 1, 0, 0], np.int32), 2, run)
    assert connect_once(level, found, task, run).labels.tolist() == (
        [1, 1, 1, 1, 0, 0] if joins else [0, 1, 1, 1, 0, 0]
    )


@pytest.mark.parametrize("seed", range(6))
def test_pieces_leave_heavy_clusters_which_stay_connected(seed):
    graph, rng = leafy_graph(60, 40, seed), np.random.default_rng(seed)
    weights = rng.integers(1, 4, 100).astype(float)
    run = run_of_parts(graph, weights)
    ends = nx.multi_source_dijkstra_path(graph, rng.choice(60, 5, replace=False).tolist())
    labels = np.unique([ends[u][0] for u in range(100)], return_inverse=True)[1].astype(np.int32)
    ballast, before = np.array([0.0, 9.0, 0.0, 4.0, 0.0]), labels.copy()
    mean = (weights.sum() + ballast.sum()) / 5
    task = Task(Objective(ADDITIVE, 0.0, 1.0), 5, np.floor(0.9 * mean), np.ceil(1.1 * mean))
    within = balance_connected(run.finest, labels, task, ballast)
    load = np.bincount(labels, weights) + ballast
    assert within == bool((load >= task.least).all() and (load <= task.most).all()) and within
    assert all(nx.is_connected(graph.subgraph(np.flatnonzero(labels == c).tolist())) for c in range(5))
    spread = [np.var(np.bincount(one, weights) + ballast) for one in (labels, before)]
    assert spread[0] < spread[1]


def run_of_parts(G, size):
    return with_sizes_as_masses(run_on(weigh(graphclust.as_graph(G), "edge_cut")), size)


def climbed(level, found, task, seed=0):
    search_limits, rng = climbing.FMLimits(1, 20, np.inf, 30, 0.0), np.random.default_rng(seed)
    return climbing.climb(level, found, task, np.zeros(task.k), search_limits, draws_of(rng))


def test_fiduccia_mattheyses_crosses_a_hill():
    ladder = graphclust.as_graph(nx.circular_ladder_graph(20))
    run, task = run_of_parts(ladder, np.ones(40)), Task(Objective(ADDITIVE, 0.0, 1.0), 2, 0.0, 30.0)
    labels = (np.arange(40) % 20 < 10).astype(np.int32)
    labels[[20, 39]] = 1  # a border of slanted steps: each move alone loses or keeps
    found = with_sums(run.finest, labels, 2, run)
    assert value(climbed(run.finest, found, task), task) > value(found, task)


def moved_in_rounds(level, found, task):
    return balance.move_in_rounds(level, found, task, np.zeros(task.k), 0.25, 12)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("move", "most"), [(climbed, 14), (moved_in_rounds, 13)])
def test_moves_never_lower_the_value_nor_break_the_bound(move, most, seed):
    run = run_of_parts(random_matrix(60, seed, 0.1), np.ones(60))
    task = Task(Objective(ADDITIVE, 0.0, 1.0), 5, 0.0, float(most))
    found = with_sums(run.finest, np.random.default_rng(seed).permutation(np.arange(60) % 5).astype(np.int32), 5, run)
    after = move(run.finest, found, task)
    sizes = np.bincount(after.labels, minlength=5)
    assert after.sums.inside == pytest.approx(with_sums(run.finest, after.labels, 5, run).sums.inside)
    assert value(after, task) > value(found, task) and sizes.max() <= most and sizes.min() > 0
    assert after.sums.size.tolist() == sizes.tolist()
    for u, to in itertools.product(range(60 if move is climbed else 0), range(5)):  # no move that has room gains
        moved = after.labels.copy()
        moved[u] = to
        if np.bincount(moved).max() <= most and len(np.unique(moved)) == 5:
            assert value(with_sums(run.finest, moved, 5, run), task) <= value(after, task) + 1e-9


def test_rounds_of_moves_exchange_nodes_of_full_clusters():
    cliques = nx.convert_node_labels_to_integers(nx.disjoint_union(nx.complete_graph(10), nx.complete_graph(10)))
    run, task = run_of_parts(cliques, np.ones(20)), Task(Objective(ADDITIVE, 0.0, 1.0), 2, 0.0, 10.0)
    labels = (np.arange(20) >= 10).astype(np.int32)
    labels[[0, 1, 2, 10, 11, 12]] ^= 1
    found = with_sums(run.finest, labels, 2, run)
    assert climbed(run.finest, found, task).labels.tolist() == labels.tolist()  # no cluster has room
    after = moved_in_rounds(run.finest, found, task)
    assert value(after, task) == 180.0 and after.sums.size.tolist() == [10, 10]


def test_rounds_of_moves_end_where_the_cut_is_lost_in_the_round_off_of_heavy_edges():
    light, heavy, A = [(0, 2), (0, 5), (1, 3), (3, 4)], [(2, 3), (2, 4), (3, 5)], np.zeros((6, 6))
    for (u, v), weight in [*itertools.product(light, [0.1]), *itertools.product(heavy, [1e15])]:
        A[u, v] = A[v, u] = weight
    run, task = run_of_parts(A, np.ones(6)), Task(Objective(ADDITIVE, 0.0, 1.0), 2, 0.0, 4.0)
    found = with_sums(run.finest, (np.arange(6) % 2).astype(np.int32), 2, run)

    def give_up(*_):
        raise TimeoutError("rounds go on and on")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 5.0)
    try:
        with plain():  # a compiled loop would not hear of it
            after = moved_in_rounds(run.finest, found, task)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert (
        graphclust.edge_cut(A, after.labels) < graphclust.edge_cut(A, found.labels)
        and np.bincount(after.labels).max() <= 4
    )


@pytest.mark.parametrize("k", [0, 4])
@pytest.mark.parametrize("seed", range(5))
def test_balancing_moves_clusters_into_their_bounds(seed, k):
    graph, rng = graphclust.as_graph(random_matrix(40, seed, 0.1)), np.random.default_rng(seed)
    run = run_of_parts(graph, np.ones(40))
    labels = np.r_[np.arange(4), rng.integers(0, 2, 36)].astype(np.int32)
    found, task = with_sums(run.finest, labels, 4, run), Task(Objective(ADDITIVE, 0.0, 1.0), k, 8.0, 12.0)
    made, within = rebalance(run.finest, found, task)
    n_clusters = len(made.sums.size)
    sizes = np.bincount(made.labels, minlength=n_clusters)
    assert within and sizes.min() >= 8 and sizes.max() <= 12 and (k == 0 or n_clusters == k)
    assert made.sums.inside == pytest.approx(with_sums(run.finest, made.labels, n_clusters, run).sums.inside)


def test_a_half_grows_to_its_target_in_one_piece():
    graph = graphclust.as_graph(nx.grid_2d_graph(8, 8))
    halves = grow_halves(graph.rows, np.ones(64), np.zeros(64, np.int32), np.array([32.0]), np.arange(64))
    assert np.bincount(halves).tolist() == [32, 32]
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 8))
    assert nx.is_connected(grid.subgraph(np.flatnonzero(halves == 1)))


def test_leaves_of_a_hub_join_each_other_within_the_bound():
    star = graphclust.as_graph(nx.star_graph(9))
    labels = np.arange(10, dtype=np.int32)
    k = join_singletons(star.rows, np.ones(10), np.zeros(10, np.int32), labels, 3.0)
    sizes = np.bincount(labels)
    assert len(sizes) == k and sizes.max() <= 3 and (sizes[labels[1:]] > 1).sum() >= 8
    apart = np.arange(10, dtype=np.int32)
    join_singletons(star.rows, np.ones(10), np.zeros(10, np.int32), apart, 1.0)
    assert apart.tolist() == list(range(10))
