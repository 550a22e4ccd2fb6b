"""Agglomeration: greedy under every objective, and the tree of unions by excess."""

import os
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from aims import AIMS, WITH_EDGES, assert_exact_sums, connected_part, looped, run_and_objective
from cases import for_each, refuses
from graphs import make_graph
from reference import objectives as reference
from scipy import sparse

import graphclust as gc
from graphclust.compiled.graphs.agglomeration import COARSE_TIE, MANY_READS, NEAR_ENOUGH
from graphclust.compiled.graphs.levels import Task
from graphclust.compiled.graphs.objective import value_of
from graphclust.engine import contraction, levels
from graphclust.engine.contraction import agglomerate
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.resolution import dendrogram_of
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, OBJECTIVES, chance_objective, weigh

TREES = ["karate", "barbell", "weighted", "two cliques", "path", "some loops", "weights of all sizes", "tiny pieces"]


def outgrown_giant():
    """A looped node that outweighs every node of a clique, not the clique; two triangles; nothing links the four."""
    pieces = [np.full((1, 1), 40.0), *(np.ones((size, size)) - np.eye(size) for size in (3, 3, 12))]
    return gc.as_graph(sparse.block_diag(pieces).toarray())


def growing_giant():
    """A drawn graph in which a pair stands first until the giant swallows a neighbor of one of the two."""
    rng = np.random.default_rng(5667)
    n = int(rng.integers(6, 22))
    A = np.triu((rng.random((n, n)) < rng.uniform(0.15, 0.7)) * rng.exponential(size=(n, n)) ** rng.uniform(0.5, 3))
    return gc.as_graph(A + A.T + np.diag(rng.random(n) * rng.integers(2) * rng.exponential(3, size=n)))


def some_graph(name):
    made = {"outgrown giant": outgrown_giant, "growing giant": growing_giant}
    return made[name]() if name in made else connected_part(name)


@pytest.mark.parametrize(("objective", "resolution"), AIMS)
@pytest.mark.parametrize(
    "name",
    [
        name if name in ("weighted", "two cliques", "some loops") else pytest.param(name, marks=pytest.mark.slow)
        for name in (*TREES, "uneven and looped", "outgrown giant", "growing giant")
    ],
)
def test_every_union_is_the_best_that_is_allowed(name, objective, resolution):
    """Of linked pairs and, for ratios, pairs with the cluster of most mass; to within the stated slack there.

    The gain that a union was made for is the recomputed one. Where no pair is linked the two lightest are united.
    """
    graph = some_graph(name)
    A, n = graph.to_scipy().toarray(), graph.n_nodes
    run, wanted = run_and_objective(graph, objective, resolution, 2)
    trace, mass_of_nodes = np.full(n, np.nan), run.finest.terms.mass
    agglomerate(run.finest, Task(wanted, 1), run, trace)
    ratio = OBJECTIVES[objective].is_ratio
    slack = (NEAR_ENOUGH if ratio else 0.0) * wanted.unit + 1e-9 * wanted.unit
    labels = np.arange(n)
    for k in range(n - 1, 0, -1):
        found = agglomerate(run.finest, Task(wanted, k), run)
        after = found.labels
        assert set(after) == set(range(k))
        assert_exact_sums(found, run, 1e-3 * graph.total_volume)
        member = np.eye(k + 1)[labels]
        joined = [len(np.unique(after[labels == c])) for c in range(k + 1)]
        assert joined == [1] * (k + 1)  # the unions of a smaller k go on from those of a larger one
        of_cluster = after[[np.flatnonzero(labels == c)[0] for c in range(k + 1)]]
        a, b = np.flatnonzero(of_cluster == np.flatnonzero(np.bincount(of_cluster) == 2)[0])
        gains = reference.gains_of_unions(A, labels, objective, resolution)
        linked = member.T @ A @ member > 0
        mass = member.T @ mass_of_nodes
        if (linked & ~np.eye(k + 1, dtype=bool)).any() or ratio:
            giants = np.flatnonzero(np.isclose(mass, mass.max())) if ratio else [None]
            best = np.inf
            for giant in giants:  # of several giants either may have been the one
                allowed = linked.copy()
                if giant is not None:
                    allowed[giant] = allowed[:, giant] = True
                best = min(best, np.where(allowed, gains, -np.inf).max())
            assert linked[a, b] or (ratio and {a, b} & set(giants))
            assert gains[a, b] >= best - slack
            assert trace[k] == pytest.approx(gains[a, b], abs=1e-9 * wanted.unit)
        else:
            assert sorted([mass[a], mass[b]]) == pytest.approx(np.sort(mass)[:2])
        labels = after


@for_each("name", [*TREES, "uneven and looped", "looped block model"])
def test_the_tree_unites_what_is_linked_most_beyond_chance(name):
    """Each union is that of the pair whose links exceed chance most, at the height noted; the heights never rise."""
    graph = some_graph(name)
    A, n = graph.to_scipy().toarray(), graph.n_nodes
    run = run_on(weigh(graph, "modularity"))
    found = dendrogram_of(run.finest, run).excess
    assert found.shape == (n,) and found[0] == -np.inf
    heights = found[1:]  # from few clusters to many
    assert np.count_nonzero(heights > -np.inf) == n - graph.n_components
    assert (np.diff(heights[heights > -np.inf]) >= -1e-12 * heights.max(initial=1.0)).all()
    assert (heights[: graph.n_components - 1] == -np.inf).all()
    labels = np.arange(n)
    for k in range(n - 1, 0, -1):
        excess = reference.excess_over_chance(A, labels)
        after = agglomerate(run.finest, Task(chance_objective(run.totals), k), run).labels
        if k >= graph.n_components:
            a, b = np.unravel_index(excess.argmax(), excess.shape)
            assert found[k] == pytest.approx(excess[a, b], rel=1e-9)
            pair = np.flatnonzero(np.bincount(after[[np.flatnonzero(labels == c)[0] for c in range(k + 1)]]) == 2)
            a, b = np.unique(labels[after == pair[0]])
            assert excess[a, b] == pytest.approx(excess.max(), rel=1e-9)
        labels = after


def test_of_nodes_that_count_alike_the_tree_unites_those_linked_most():
    """Under the constant Potts model chance is the same for all pairs of single nodes."""
    graph = looped()
    A = graph.to_scipy().toarray()
    run = run_on(weigh(graph, "constant_potts"))
    off_diagonal = A - np.diag(np.diag(A))
    assert dendrogram_of(run.finest, run).excess[-1] == pytest.approx(off_diagonal.max() * len(A) ** 2 / A.sum())


@for_each("name", WITH_EDGES)
@for_each(("objective", "resolution"), [*AIMS[:2], ("modularity", None), ("constant_potts", None)])
def test_merging_gives_exactly_k_clusters(name, objective, resolution):
    graph = connected_part(name)
    for k in {min(k, graph.n_nodes) for k in (1, 2, 7)}:
        labels = gc.merge_clusters(graph, k, objective=objective, resolution=resolution)
        assert sorted(set(labels)) == list(range(k))
        assert labels.dtype == np.int64
        firsts = [np.flatnonzero(labels == c)[0] for c in range(k)]
        assert firsts == sorted(firsts)  # numbered by first appearance


def test_clusters_that_nothing_links_are_united_lightest_first():
    graph = gc.as_graph(nx.disjoint_union_all([nx.complete_graph(size) for size in (9, 3, 7, 4)]))
    sizes = np.repeat([9, 3, 7, 4], [9, 3, 7, 4])
    for k, expected in ((4, [9, 7, 4, 3]), (3, [9, 7, 7]), (2, [14, 9])):
        labels = gc.merge_clusters(graph, k, objective="modularity", resolution=1.0)
        assert sorted(np.bincount(labels), reverse=True) == expected
        assert all(len(set(labels[sizes == size])) == 1 for size in sizes)


def hub_graph(name, n):
    """Nodes that hang on one hub or on some: at first all of them gain the same by joining a hub."""
    rng, hubs = np.random.default_rng(0), {"two hubs": 2, "ten hubs": 10}.get(name, 1)
    leaves, hub = np.tile(np.arange(hubs, n), hubs), np.repeat(np.arange(hubs), n - hubs)
    weights = rng.lognormal(size=len(leaves)) if name == "unequal leaves" else np.ones(len(leaves))
    if name == "wheel":
        leaves, hub = np.r_[leaves, leaves[1:]], np.r_[hub, leaves[:-1]]
        weights = np.ones(len(leaves))
    A = sparse.coo_array((weights, (leaves, hub)), shape=(n, n)).tocsr()
    return gc.as_graph(A + A.T)


class Counted(gc.Progress):
    """Progress that only counts how often it is told of."""

    def __init__(self):
        super().__init__()
        self.steps = 0

    def step(self, done, total):
        self.steps += 1


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@pytest.mark.parametrize("name", ["star", "unequal leaves", "two hubs", "ten hubs", "wheel"])
@pytest.mark.parametrize("objective", [*OBJECTIVES, "beyond chance"])
def test_nodes_that_hang_on_a_hub_are_merged_in_time_that_grows_with_their_number(name, objective, monkeypatch):
    """Each union with a hub shifts the gains of all the others: that must not cost a look at all of them."""
    graph = hub_graph(name, 4_000)
    monkeypatch.setattr(levels, "AT_ONCE", 0)
    monkeypatch.setattr(contraction, "ENTRIES_PER_LOOK", graph.n_entries)
    at, counted = dict.fromkeys(ADDITIVE_OBJECTIVES, 1.0) | {"constant_potts": 1e-4}, Counted()
    run, wanted = run_and_objective(graph, objective.replace("beyond chance", "constant_potts"), at.get(objective), 5)
    run = replace(run, progress=counted)
    wanted = chance_objective(run.totals) if objective == "beyond chance" else wanted
    found = agglomerate(run.finest, Task(wanted, 5), run)
    assert sorted(set(found.labels)) == list(range(5))
    assert counted.steps < 2 * MANY_READS
    assert_exact_sums(found, run)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
def test_leaves_of_unequal_weight_join_their_hub_about_in_the_order_of_their_links():
    """Gains that differ by an eighth may be taken for each other there, those that differ by more may not."""
    graph = hub_graph("unequal leaves", 4_000)
    run, pairs = run_on(weigh(graph, "constant_potts")), np.zeros((4_000, 2), np.int32)
    agglomerate(run.finest, Task(chance_objective(run.totals), 1), run, pairs=pairs)
    ended, enlarged = pairs[:0:-1].T
    leaf = np.where(ended > 0, ended, enlarged)  # the hub is node 0, and may go on under a leaf's name
    order = graph.weights[: graph.indptr[1]][leaf - 1]
    assert sorted(leaf) == list(range(1, 4_000))
    assert (order[1:] < order[:-1]).sum() > 100
    assert (np.minimum.accumulate(order)[:-1] > order[1:] * (1.0 - 2.0 * COARSE_TIE)).all()


@pytest.mark.parametrize("objective", ["normalized_cut", "modularity"])
def test_merging_goes_on_from_where_a_step_ended(objective, monkeypatch):
    run, wanted = run_and_objective(
        make_graph("power-law blocks"), objective, 1.0 if objective == "modularity" else None, 5
    )
    at_once = agglomerate(run.finest, Task(wanted, 5), run)
    monkeypatch.setattr(levels, "AT_ONCE", 0)
    monkeypatch.setattr(contraction, "ENTRIES_PER_LOOK", 7)
    counted = Counted()
    in_steps = agglomerate(run.finest, Task(wanted, 5), replace(run, progress=counted))
    assert (in_steps.labels == at_once.labels).all() and counted.steps > 100
    for ours, expected in zip(in_steps.sums, at_once.sums, strict=True):
        np.testing.assert_array_equal(ours, expected)


@for_each("name", TREES)
@for_each(("objective", "resolution"), [("modularity", 1.0), ("modularity", 4.0), ("constant_potts", 0.5)])
def test_where_k_is_free_merging_ends_when_no_union_gains(name, objective, resolution):
    graph = some_graph(name)
    run, wanted = run_and_objective(graph, objective, resolution, 1)
    found = agglomerate(run.finest, Task(wanted, 0), run)
    gains = reference.gains_of_unions(graph.to_scipy().toarray(), found.labels, objective, resolution)
    assert gains.max() <= 1e-9 * graph.total_volume and len(found.sums.size) == found.labels.max() + 1
    alone = value_of(wanted, with_sums(run.finest, np.arange(graph.n_nodes, dtype=np.int32), graph.n_nodes, run).sums)
    assert value_of(wanted, found.sums) >= alone


def test_the_trace_of_unions_names_the_clusters_that_become_one():
    run, wanted = run_and_objective(looped(), "modularity", 1.0, 1)
    gains, pairs = np.full(24, -np.inf), np.zeros((24, 2), np.int32)
    agglomerate(run.finest, Task(wanted, 1), run, gains, pairs)
    labels = np.arange(24)
    for k in range(23, 0, -1):
        ended, enlarged = pairs[k]
        assert ended != enlarged and (labels == ended).any() and (labels == enlarged).any()
        labels[labels == ended] = enlarged
        expected = agglomerate(run.finest, Task(wanted, k), run).labels
        assert len(np.unique(np.c_[labels, expected], axis=0)) == k == len(set(labels))


@pytest.mark.parametrize("k", [0, 35])
def test_an_impossible_number_of_clusters_is_refused(k):
    refuses(gc.ParameterError, f"k={k}", gc.merge_clusters, nx.karate_club_graph(), k)
