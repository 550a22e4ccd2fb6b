"""Clusters that are halves of one here and two there: they are noticed, and made whole on the whole graph."""

import os

import numpy as np
import pytest
from scipy import sparse

from graphclust import Interrupted, adjusted_rand_index, coreset_sc, planted_partition, stochastic_block_model
from graphclust.graph.gate import as_graph
from graphclust.objective.objective import as_aim, weighed
from graphclust.partition import healing, multilevel, pipeline
from graphclust.partition.cycles import assigned
from graphclust.partition.healing import Partition, healed, is_unhealthy, likelier_by_ratio
from graphclust.partition.likelihood import implied_resolution, log_likelihood
from graphclust.partition.multilevel import partitioned
from graphclust.partition.purity import are_impure, in_plain_terms
from graphclust.partition.resolution import NO_UNIONS, goal_at, goal_of
from graphclust.progress import Progress

K = 8


@pytest.fixture(scope="module")
def two_as_one():
    """A planted graph, its blocks, and the same but for two that are one and one that is two."""
    planted = planted_partition(K, 60, 12, 3, rng=2)
    wrong = np.where(planted.labels == 1, 0, planted.labels)
    wrong[np.flatnonzero(planted.labels == 5)[::2]] = 1
    return planted.graph, planted.labels.astype(np.int32), wrong.astype(np.int32)


def partition_of(graph, labels, objective, resolution=None):
    """The aim, the graph as it weighs it, and the labels as a partition made for it at a resolution of 0.5."""
    aim = as_aim(objective, resolution)
    on = weighed(graph, aim.name)
    unit = (
        goal_of(aim, on, K, NO_UNIONS)
        if objective in ("normalized_cut", "ratio_cut")
        else goal_at(aim, on, K, 0.5, None)
    )
    return aim, on, Partition(*assigned(on, labels, K), unit)


@pytest.mark.parametrize("objective", ["modularity", "constant_potts", "normalized_cut", "ratio_cut"])
def test_halves_come_together_and_two_clusters_come_apart(two_as_one, objective):
    graph, truth, wrong = two_as_one
    aim, on, found = partition_of(graph, wrong, objective)
    given = found.labels.copy()
    better = healed(on, found, aim, np.random.default_rng(0), Progress())
    assert adjusted_rand_index(better.labels, truth) == 1.0
    assert not are_impure(on, better.labels, better.sums)
    assert all(np.allclose(*sums) for sums in zip(better.sums, assigned(on, better.labels, K).sums, strict=True))
    assert np.array_equal(found.labels, given)


def test_the_resolution_becomes_that_which_the_clusters_call_for(two_as_one):
    graph, _, wrong = two_as_one
    aim, on, found = partition_of(graph, wrong, "modularity")
    better = healed(on, found, aim, np.random.default_rng(0), Progress())
    assert better.goal.resolution == pytest.approx(implied_resolution(on, found.sums))
    assert log_likelihood(on, better.sums) > log_likelihood(on, found.sums)


@pytest.mark.parametrize("resolution", [0.5, 3.0])
def test_a_given_resolution_stays_and_its_value_never_falls(two_as_one, resolution):
    graph, _, wrong = two_as_one
    aim = as_aim("modularity", resolution)
    on = weighed(graph, aim.name)
    found = Partition(*assigned(on, wrong, K), goal_at(aim, on, K, resolution, None))
    better = healed(on, found, aim, np.random.default_rng(0), Progress())
    assert better.goal == found.goal and better.value > found.value


def test_it_is_gone_on_with_while_clusters_are_impure(two_as_one, monkeypatch):
    graph, _, wrong = two_as_one
    aim, on, found = partition_of(graph, wrong, "modularity")
    resolutions, real = [], healing.cycle
    monkeypatch.setattr(healing, "cycle", lambda *of: resolutions.append(of[-1]) or real(*of))
    monkeypatch.setattr(healing, "are_impure", lambda *of: True)
    better = healed(on, found, aim, np.random.default_rng(0), Progress())
    called_for = [implied_resolution(on, one.sums) for one in (found, better)]
    assert resolutions == pytest.approx(called_for)  # the second changes nothing


def test_a_partition_of_a_higher_value_is_kept(two_as_one):
    """At so low a resolution two blocks in one, and a cluster of a single node, are worth more than two blocks."""
    graph, truth, _ = two_as_one
    united = np.where(truth == 1, 0, truth)
    united[np.argmax(truth == 5)] = 1
    aim = as_aim("modularity", 0.01)
    on = weighed(graph, aim.name)
    found = Partition(*assigned(on, united, K), goal_at(aim, on, K, 0.01, None))
    assert healed(on, found, aim, np.random.default_rng(0), Progress()) is found
    likelier = healed(on, found, as_aim("modularity", "auto"), np.random.default_rng(0), Progress())
    assert adjusted_rand_index(likelier.labels, truth) == 1.0


def test_likelihoods_of_a_ratio_cut_read_all_that_is_inside(two_as_one):
    graph, truth, _ = two_as_one
    on, potts = weighed(graph, "ratio_cut"), weighed(graph, "constant_potts")
    plain, sums = in_plain_terms(on, truth, assigned(on, truth, K).sums)
    assert np.allclose(sums.inside, assigned(potts, truth, K).sums.inside) and plain.chance == potts.chance
    assert all(np.array_equal(*terms) for terms in zip(plain.terms, potts.terms, strict=True))
    for name in ("modularity", "normalized_cut", "constant_potts"):
        on = weighed(graph, name)
        assert in_plain_terms(on, truth, assigned(on, truth, K).sums)[0] is on


@pytest.mark.parametrize("objective", ["modularity", "normalized_cut"])
def test_whole_clusters_stay_as_they_are(two_as_one, objective):
    graph, truth, _ = two_as_one
    aim, on, found = partition_of(graph, truth, objective)
    assert healed(on, found, aim, np.random.default_rng(0), Progress()).labels is found.labels


def test_an_interruption_has_what_is_healed_already(two_as_one, monkeypatch):
    graph, truth, wrong = two_as_one
    aim, on, found = partition_of(graph, wrong, "modularity")
    monkeypatch.setattr(healing, "are_impure", lambda *of: (_ for _ in ()).throw(KeyboardInterrupt))
    progress = Progress()
    with pytest.raises(Interrupted) as raised, progress.interruptible():
        healed(on, found, aim, np.random.default_rng(0), progress)
    assert adjusted_rand_index(raised.value.best, truth) == 1.0


def test_without_time_nothing_is_healed(two_as_one):
    graph, _, wrong = two_as_one
    aim, on, found = partition_of(graph, wrong, "modularity")
    assert healed(on, found, aim, np.random.default_rng(0), Progress(time_budget=1e-9)).labels is found.labels


@pytest.mark.parametrize(("resolution", "unhealthy"), [(0.5, True), (9.0, False)])
def test_only_what_was_made_for_too_low_a_resolution_is_unhealthy(two_as_one, resolution, unhealthy):
    """Halves of a block belong together at any resolution that blocks call for."""
    graph, truth, wrong = two_as_one
    for labels, expected in ((truth, False), (wrong, unhealthy)):
        aim, on, found = partition_of(graph, labels, "modularity")
        found = found._replace(goal=goal_at(aim, on, K, resolution, None))
        assert is_unhealthy(on, found) == expected


def test_more_clusters_than_there_are_keep_the_matched_resolution(two_as_one):
    found = coreset_sc(two_as_one[0], 3 * K, rng=0)
    lowest, highest = found.natural_range
    assert lowest <= found.resolution <= highest and found.n_clusters == 3 * K


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@pytest.mark.parametrize("objective", ["modularity", "normalized_cut"])
@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
def test_blocks_that_hardly_show_are_found(monkeypatch, objective, large):
    """As many links leave a block as stay: regions mix the blocks, and the resolution matched to them is below 1."""
    planted = planted_partition(20, 2_000, 8, 8, rng=1)
    if large:  # where starts begin on a coarse level, and no cycles run on the nodes
        monkeypatch.setattr(multilevel, "BUDGET", 0)
    options = {"objective": objective, "method": "multilevel", "rng": 1}
    assert adjusted_rand_index(coreset_sc(planted.graph, 20, **options).labels, planted.labels) > 0.96
    if large or objective == "modularity":
        monkeypatch.setattr(multilevel, "is_unhealthy", lambda *of: False)
        monkeypatch.setattr(multilevel, "likelier_by_ratio", lambda on, found, *of: found)
        assert adjusted_rand_index(coreset_sc(planted.graph, 20, **options).labels, planted.labels) < 0.92


def test_regions_need_not_be_healed_nor_what_had_cycles_on_the_whole_graph(two_as_one, monkeypatch):
    graph, _, _ = two_as_one
    looks = []
    monkeypatch.setattr(multilevel, "is_unhealthy", lambda *of: bool(looks.append(of)))
    for name, effort, budget, n_looks in (
        ("modularity", 0.4, graph.n_entries - 1, 0),
        ("modularity", 1.0, graph.n_entries - 1, 1),
        ("modularity", 1.0, graph.n_entries, 0),
        ("normalized_cut", 0.4, graph.n_entries - 1, 0),
        ("normalized_cut", 1.0, graph.n_entries - 1, 1),
        ("normalized_cut", 1.0, graph.n_entries, 0),
    ):
        monkeypatch.setattr(multilevel, "BUDGET", budget)
        looks.clear()
        aim = as_aim(name, None)
        partitioned(weighed(graph, aim.name), K, aim, effort, np.random.default_rng(0), Progress())
        assert len(looks) == n_looks


def few_large_ones(scale, inside, outside, seed):
    """Two large blocks among sixty small ones."""
    sizes = np.array([1500, 1000, *[40] * 60]) * scale
    return stochastic_block_model(sizes.tolist(), (inside / sizes).tolist(), outside / sizes.sum(), rng=seed)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@pytest.mark.parametrize("seed", [1, 2])
def test_clusters_of_very_unequal_sizes_take_a_cycle_by_the_ratio(seed, monkeypatch):
    """At one resolution for all of them the large ones fall apart, or small ones come together."""
    hidden = few_large_ones(1, 10, 9, seed)

    def index() -> float:
        return adjusted_rand_index(coreset_sc(hidden.graph, 62, rng=seed).labels, hidden.labels)

    assert index() > 0.95
    monkeypatch.setattr(multilevel, "likelier_by_ratio", lambda on, found, *of: found)
    assert index() < 0.9


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
    return as_graph(matrix[linked][:, linked]), truth[linked]


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
def test_the_cycle_by_the_ratio_begins_with_regions_smaller_than_small_clusters(monkeypatch):
    graph, truth = unequal_with_hubs(1)

    def index() -> float:
        return min(adjusted_rand_index(coreset_sc(graph, 100, rng=seed).labels, truth) for seed in (0, 1))

    assert index() > 0.99
    monkeypatch.setattr(healing, "REGIONS", (1,))
    assert index() < 0.99


@pytest.mark.parametrize("weighted", [False, True])
def test_what_the_ratio_finds_is_kept_only_where_the_edges_are_likelier(weighted, monkeypatch):
    hidden = few_large_ones(1, 12, 9, 1)
    graph, aim, rng = hidden.graph, as_aim("modularity", None), np.random.default_rng(0)
    if weighted:
        graph = with_weights(graph, rng)
    on = weighed(graph, aim.name)
    monkeypatch.setattr(multilevel, "likelier_by_ratio", lambda on, found, *of: found)
    found = partitioned(on, 62, aim, 1.0, rng, Progress())
    better = likelier_by_ratio(on, found, aim, rng, Progress())
    assert log_likelihood(on, better.sums) > log_likelihood(on, found.sums) and better.goal == found.goal
    assert all(np.allclose(*sums) for sums in zip(better.sums, assigned(on, better.labels, 62).sums, strict=True))
    assert likelier_by_ratio(on, found, as_aim("modularity", 1.0), rng, Progress()) is found
    assert likelier_by_ratio(on, found, aim, rng, Progress(time_budget=1e-9)) is found
    monkeypatch.setattr(healing, "is_likelier", lambda *of: False)
    assert likelier_by_ratio(on, found, aim, rng, Progress()) is found


def with_weights(graph, rng):
    """The same edges, with weights between one and two."""
    upper = sparse.triu(graph.to_scipy(), 1).tocoo()
    upper.data = 1.0 + rng.random(upper.nnz)
    return as_graph(upper + upper.T)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
def test_clusters_of_very_unequal_sizes_that_a_coreset_cannot_show(monkeypatch):
    """Where a coreset is chosen, its clusters in doubt are looked at on the whole graph, by the ratio as well."""
    hidden = few_large_ones(4, 12, 10, 1)
    monkeypatch.setattr(pipeline, "suits_a_coreset", lambda *of: True)
    monkeypatch.setattr(pipeline, "default_size", lambda *of: 1_500)

    def index() -> float:
        found = coreset_sc(hidden.graph, 62, rng=0)
        assert found.parameters["method"] == "two-step" and "healing" in found.seconds
        return adjusted_rand_index(found.labels, hidden.labels)

    assert index() > 0.97
    monkeypatch.setattr(pipeline, "likelier_by_ratio", lambda on, found, *of: found)
    assert index() < 0.8
