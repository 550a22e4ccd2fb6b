"""Merging: greedy under every objective, the tree of unions, and the resolutions at which k clusters are natural."""

import os

import networkx as nx
import numpy as np
import pytest
import reference_objectives as reference
from aims import AIMS, WITH_EDGES, connected_part, looped, on_and_objective
from graphs import make_graph
from numpy.testing import assert_allclose
from scipy import sparse

from graphclust.compiled.graphs.merging import NEAR_ENOUGH, ROUGHLY, TIRING
from graphclust.errors import ParameterError
from graphclust.generators import planted_partition
from graphclust.graph.gate import as_graph
from graphclust.objective.cuts import normalized_cut
from graphclust.objective.objective import RATIOS, as_aim, chance_objective, weighed
from graphclust.partition import merging, small_graphs
from graphclust.partition.improvement import goal_for
from graphclust.partition.merging import merge_clusters, merged, unions
from graphclust.partition.moves import summed
from graphclust.partition.resolution import FLOOR, goal_of, matched_resolution, natural_range
from graphclust.progress import Progress

TREES = ["karate", "barbell", "weighted", "two cliques", "path", "some loops", "weights of all sizes", "tiny pieces"]


def outgrown_giant():
    """A looped node that outweighs every node of a clique, not the clique; two triangles; nothing links the four."""
    pieces = [np.full((1, 1), 40.0), *(np.ones((size, size)) - np.eye(size) for size in (3, 3, 12))]
    return as_graph(sparse.block_diag(pieces).toarray())


def growing_giant():
    """A drawn graph in which a pair stands first until the giant swallows a neighbor of one of the two."""
    rng = np.random.default_rng(5667)
    n = int(rng.integers(6, 22))
    A = np.triu((rng.random((n, n)) < rng.uniform(0.15, 0.7)) * rng.exponential(size=(n, n)) ** rng.uniform(0.5, 3))
    return as_graph(A + A.T + np.diag(rng.random(n) * rng.integers(2) * rng.exponential(3, size=n)))


def some_graph(name):
    made = {"uneven and looped": looped, "outgrown giant": outgrown_giant, "growing giant": growing_giant}
    return made[name]() if name in made else connected_part(name)


def greedy_twin(A: np.ndarray, k: int) -> float:
    """Normalised cut after merging, among pairs that are linked or include the giant, always the best pair."""
    groups = [[u] for u in range(len(A))]

    def cut(g):
        volume = A[g].sum()
        return 1 - A[np.ix_(g, g)].sum() / volume

    while len(groups) > k:
        volumes = [A[g].sum() for g in groups]
        giant = int(np.argmax(volumes))
        best = None
        for i in range(len(groups)):
            for j in range(i):
                if A[np.ix_(groups[i], groups[j])].any() or giant in (i, j):
                    gain = cut(groups[i]) + cut(groups[j]) - cut(groups[i] + groups[j])
                    if best is None or gain > best[0]:
                        best = (gain, i, j)
        _, i, j = best
        groups[j] = groups[j] + groups[i]
        del groups[i]
    return sum(cut(g) for g in groups)


@pytest.mark.parametrize("name", ["karate", "barbell", "weighted", "two cliques", "path", "some loops"])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_merging_reaches_what_its_slow_twin_reaches(name, k):
    graph = connected_part(name)
    found = normalized_cut(graph, merge_clusters(graph, k, objective="normalized_cut"))
    assert found <= greedy_twin(graph.to_scipy().toarray(), k) * 1.1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("objective", "resolution"), AIMS)
@pytest.mark.parametrize("name", [*TREES, "uneven and looped", "outgrown giant", "growing giant"])
def test_every_union_is_the_best_that_is_allowed(name, objective, resolution):
    """Of linked pairs and, for ratios, pairs with the cluster of most mass; to within the stated slack there.

    The gain that a union was made for is the recomputed one. Where no pair is linked the two lightest are united.
    """
    graph = some_graph(name)
    A, n = graph.to_scipy().toarray(), graph.n_nodes
    on, wanted = on_and_objective(graph, objective, resolution, 2)
    trace = np.full(n, np.nan)
    merged(on, 1, wanted, Progress(), trace)
    ratio = objective in RATIOS
    slack = (NEAR_ENOUGH if ratio else 0.0) * wanted.unit + 1e-9 * wanted.unit
    labels = np.arange(n)
    for k in range(n - 1, 0, -1):
        after, sums = merged(on, k, wanted, Progress())
        assert set(after) == set(range(k))
        for known, exact in zip(sums, summed(on, after, k)[1], strict=True):
            np.testing.assert_allclose(known, exact, rtol=1e-9, atol=1e-12 * on.graph.total_volume)
        member = np.eye(k + 1)[labels]
        joined = [len(np.unique(after[labels == c])) for c in range(k + 1)]
        assert joined == [1] * (k + 1)  # the unions of a smaller k go on from those of a larger one
        of_cluster = after[[np.flatnonzero(labels == c)[0] for c in range(k + 1)]]
        a, b = np.flatnonzero(of_cluster == np.flatnonzero(np.bincount(of_cluster) == 2)[0])
        gains = reference.gains_of_unions(A, labels, objective, resolution)
        linked = member.T @ A @ member > 0
        mass = member.T @ on.terms.mass
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


@pytest.mark.parametrize("name", [*TREES, "uneven and looped", "looped block model"])
def test_the_tree_unites_what_is_linked_most_beyond_chance(name):
    """Each union is that of the pair whose links exceed chance most, at the height noted; the heights never rise."""
    graph = some_graph(name)
    A, n = graph.to_scipy().toarray(), graph.n_nodes
    on = weighed(graph, "modularity")
    found = unions(on, Progress())
    assert found.shape == (n,) and found[0] == -np.inf
    heights = found[1:]  # from few clusters to many
    assert np.count_nonzero(heights > -np.inf) == n - graph.n_components
    assert (np.diff(heights[heights > -np.inf]) >= -1e-12 * heights.max(initial=1.0)).all()
    assert (heights[: graph.n_components - 1] == -np.inf).all()
    labels = np.arange(n)
    for k in range(n - 1, 0, -1):
        excess = reference.excess_over_chance(A, labels)
        after = merged(on, k, chance_objective(on), Progress())[0]
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
    on = weighed(graph, "constant_potts")
    off_diagonal = A - np.diag(np.diag(A))
    assert unions(on, Progress())[-1] == pytest.approx(off_diagonal.max() * len(A) ** 2 / A.sum())


@pytest.mark.parametrize("name", ["modularity", "constant_potts"])
def test_the_range_in_which_k_is_natural_is_where_just_k_is_left(name):
    """No union of two of the k clusters pays in it, and of k + 1 clusters one does: by the definition."""
    graph = looped(30, 3)
    A = graph.to_scipy().toarray()
    on = weighed(graph, name)
    tree = unions(on, Progress())
    for k in (1, 2, 5, 12):
        goal = goal_of(as_aim(name, "auto"), on, k, tree)
        lowest, highest = goal.natural
        of_k, of_more = (merged(on, c, chance_objective(on), Progress())[0] for c in (k, k + 1))
        if k > 1:
            assert reference.gains_of_unions(A, of_k, name, lowest * 1.001).max() < 0
            assert reference.gains_of_unions(A, of_k, name, lowest * 0.999).max() > 0
        else:
            assert lowest == 0.0
        assert reference.gains_of_unions(A, of_more, name, highest * 0.999).max() > 0
        assert reference.gains_of_unions(A, of_more, name, highest * 1.001).max() < 0
        unit = 1.0 if name == "modularity" else on.chance
        if highest > FLOOR * unit and k > 1:
            assert goal.resolution == pytest.approx(max(np.sqrt(lowest * highest), FLOOR * unit))


def test_natural_ranges_of_a_known_tree():
    tree = np.array([-np.inf, 0.1, 0.4, 2.0, 8.0, 9.0])  # six nodes
    assert natural_range(tree, 1) == (0.0, 0.1)
    assert natural_range(tree, 3) == (0.4, 2.0)
    assert natural_range(tree, 6) == (9.0, np.inf)
    assert natural_range(tree, 7) == (9.0, np.inf)  # more than there are nodes
    in_pieces = np.array([-np.inf, -np.inf, -np.inf, 2.0, 8.0, 9.0])
    assert natural_range(in_pieces, 2) == (0.0, 0.0)
    assert natural_range(in_pieces, 3) == (0.0, 2.0)


def test_the_matched_resolution_is_in_the_middle_on_a_logarithmic_scale():
    tree = np.array([-np.inf, 0.1, 0.4, 2.0, 8.0, 9.0])
    assert matched_resolution(tree, 2) == pytest.approx(0.2)
    assert matched_resolution(tree, 3) == pytest.approx(np.sqrt(0.8))
    assert matched_resolution(tree, 1) == pytest.approx(np.sqrt(0.1 * 0.1))  # from the lower of the floor and the range
    assert matched_resolution(tree, 5) == matched_resolution(tree, 3)  # no more clusters than half the nodes
    assert matched_resolution(np.array([-np.inf, -np.inf, -np.inf, 2.0, 8.0, 9.0]), 3) == pytest.approx(
        np.sqrt(FLOOR * 2.0)
    )
    assert matched_resolution(np.array([-np.inf]), 1) == FLOOR


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@pytest.mark.parametrize(("k", "size", "inner"), [(4, 500, 16), (8, 300, 14), (20, 200, 16)])
@pytest.mark.parametrize("name", ["modularity", "constant_potts"])
def test_the_planted_number_of_clusters_is_natural_over_a_wide_range(name, k, size, inner):
    graph, _ = planted_partition(k, size, inner, 2, rng=518)
    graph = graph.subgraph(np.flatnonzero(~graph.isolated))
    widths = {}
    for n in range(2, 2 * k + 3):
        on = weighed(graph, name)
        goal, _ = goal_for(as_aim(name, "auto"), on, n, np.random.default_rng(7), Progress())
        widths[n] = np.log(goal.natural[1] / goal.natural[0])
    assert widths[k] > 0.9 and widths[k] > 2.5 * max(width for n, width in widths.items() if n != k)


@pytest.mark.parametrize("name", WITH_EDGES)
@pytest.mark.parametrize(("objective", "resolution"), [*AIMS[:2], ("modularity", None), ("constant_potts", None)])
def test_merging_gives_exactly_k_clusters(name, objective, resolution):
    graph = connected_part(name)
    for k in {min(k, graph.n_nodes) for k in (1, 2, 7)}:
        labels = merge_clusters(graph, k, objective=objective, resolution=resolution)
        assert sorted(set(labels)) == list(range(k))
        assert labels.dtype == np.int64
        firsts = [np.flatnonzero(labels == c)[0] for c in range(k)]
        assert firsts == sorted(firsts)  # numbered by first appearance


def test_clusters_that_nothing_links_are_united_lightest_first():
    graph = as_graph(nx.disjoint_union_all([nx.complete_graph(size) for size in (9, 3, 7, 4)]))
    sizes = np.repeat([9, 3, 7, 4], [9, 3, 7, 4])
    for k, expected in ((4, [9, 7, 4, 3]), (3, [9, 7, 7]), (2, [14, 9])):
        labels = merge_clusters(graph, k, objective="modularity", resolution=1.0)
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
    return as_graph(A + A.T)


class Counted(Progress):
    """Progress that only counts how often it is told of."""

    def __init__(self):
        super().__init__()
        self.steps = 0

    def step(self, done, total):
        self.steps += 1


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@pytest.mark.parametrize("name", ["star", "unequal leaves", "two hubs", "ten hubs", "wheel"])
@pytest.mark.parametrize("objective", ["normalized_cut", "ratio_cut", "modularity", "constant_potts", "beyond chance"])
def test_nodes_that_hang_on_a_hub_are_merged_in_time_that_grows_with_their_number(name, objective, monkeypatch):
    """Each union with a hub shifts the gains of all the others: that must not cost a look at all of them."""
    graph = hub_graph(name, 4_000)
    monkeypatch.setattr(small_graphs, "AT_ONCE", 0)
    monkeypatch.setattr(merging, "ENTRIES_PER_STEP", graph.n_entries)
    resolution = {"modularity": 1.0, "constant_potts": 1e-4}.get(objective)
    on, wanted = on_and_objective(graph, objective.replace("beyond chance", "constant_potts"), resolution, 5)
    counted = Counted()
    labels, sums = merged(on, 5, chance_objective(on) if objective == "beyond chance" else wanted, counted)
    assert sorted(set(labels)) == list(range(5))
    assert counted.steps < 2 * TIRING
    assert_allclose(sums.inside, summed(on, labels, 5)[1].inside)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
def test_leaves_of_unequal_weight_join_their_hub_about_in_the_order_of_their_links():
    """Gains that differ by an eighth may be taken for each other there, those that differ by more may not."""
    graph = hub_graph("unequal leaves", 4_000)
    on = weighed(graph, "constant_potts")
    pairs = np.zeros((4_000, 2), np.int32)
    merged(on, 1, chance_objective(on), Progress(), pairs=pairs)
    ended, enlarged = pairs[:0:-1].T
    leaf = np.where(ended > 0, ended, enlarged)  # the hub is node 0, and may go on under a leaf's name
    order = graph.weights[: graph.indptr[1]][leaf - 1]
    assert sorted(leaf) == list(range(1, 4_000))
    assert (order[1:] < order[:-1]).sum() > 100
    assert (np.minimum.accumulate(order)[:-1] > order[1:] * (1.0 - 2.0 * ROUGHLY)).all()


@pytest.mark.parametrize("objective", ["normalized_cut", "modularity"])
def test_merging_goes_on_from_where_its_budget_ended(objective, monkeypatch):
    on, wanted = on_and_objective(make_graph("power-law blocks"), objective, None, 5)
    monkeypatch.setattr(small_graphs, "AT_ONCE", 0)
    at_once, in_steps = Counted(), Counted()
    labels = merged(on, 5, wanted, at_once)[0]
    monkeypatch.setattr(merging, "ENTRIES_PER_STEP", 7)
    assert (merged(on, 5, wanted, in_steps)[0] == labels).all()
    assert at_once.steps == 0
    assert in_steps.steps > 100


@pytest.mark.parametrize("k", [0, 35])
def test_an_impossible_number_of_clusters_is_refused(k):
    with pytest.raises(ParameterError, match=f"k={k}"):
        merge_clusters(nx.karate_club_graph(), k)
