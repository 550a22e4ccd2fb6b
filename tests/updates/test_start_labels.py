"""Labels of any origin: clusterings that begin with them are no worse and keep their names, and so do other labels."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from hypothesis import given, settings
from hypothesis import strategies as st

from graphclust import communities, hierarchy, modularity, planted_partition, remap_labels
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.results.label_matching import list_changes, number_ids, overlap_of

pytestmark = pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
PLANTED = planted_partition(12, 40, 10, 3, rng=1)


def shuffled(labels, share, seed=0):
    rng, labels = np.random.default_rng(seed), labels.copy()
    chosen = rng.random(len(labels)) < share
    labels[chosen] = rng.permutation(labels[chosen])
    return labels


def connected(found, labels):
    graph = nx.from_scipy_sparse_array(found.graph.to_scipy())
    return all(nx.is_connected(graph.subgraph(np.flatnonzero(labels == c).tolist())) for c in set(labels.tolist()))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_the_value_is_no_less_than_at_the_start_and_close_to_that_from_nothing(share):
    start, fresh = shuffled(PLANTED.labels, share), communities(PLANTED.graph, rng=0)
    found = communities(PLANTED.graph, start=start, rng=0)
    assert found.modularity >= max(modularity(PLANTED.graph, start) - 1e-12, 0.98 * fresh.modularity)
    assert connected(found, found.labels) and found.parameters == fresh.parameters
    assert found.modularity == pytest.approx(modularity(found.graph, found.labels), rel=1e-12)


def test_a_start_reads_fewer_rows_than_no_start():
    graph = planted_partition(150, 200, 15, 5, rng=1).graph  # of more entries than one compiled call takes
    fresh = communities(graph, rng=0)
    again = communities(graph, start=fresh, rng=1)
    assert again.entries_read["partition"] < 0.7 * fresh.entries_read["partition"]
    assert again.modularity >= fresh.modularity and {change.kind for change in again.changes} == {"kept"}


def test_clusters_keep_the_numbers_that_they_came_with():
    graph = nx.ring_of_cliques(4, 6)
    numbers = {u: (70, 10**12, 3, 9)[u // 6] for u in graph}
    del numbers[7], numbers[20]
    found = communities(graph, start=numbers | {"gone": 3, "also gone": 55}, rng=0)
    own = found.as_dict()
    assert {int(found.ids[own[u]]) for u in range(6)} == {70} and int(found.ids[own[7]]) == 10**12
    assert found.ids.tolist() == [70, 10**12, 3, 9] and found.n_ids == 10**12 + 1
    assert {change.kind for change in found.changes} == {"kept", "grown"}
    later = found.update(added=[(24, 25), (24, 26), (25, 26)], rng=0)
    assert later.ids.tolist()[-1] == 10**12 + 1


def test_every_form_of_labels_is_a_start():
    pandas, graph = pytest.importorskip("pandas"), nx.ring_of_cliques(3, 5)
    sets = [set(range(c, c + 5)) for c in (0, 5, 10)]
    before = communities(graph, rng=0)
    for start in (
        before.labels, before.labels.tolist(), before, before.as_dict(), sets, [f"c{u // 5}" for u in graph],
        {u: f"c{u // 5}" for u in graph if u}, pandas.Series(before.as_dict()), sets[:2],
        hierarchy(graph, max_size=3, resolution=1, rng=0),
    ):  # fmt: skip
        found = communities(graph, start=start, rng=0)
        assert found.ids.tolist() == [0, 1, 2] and (found.labels == before.labels).all()


@for_each(
    ("start", "error", "words"),
    [
        ([0, 1], GraphValidationError, "start has shape"),
        ({"x": 0, "y": 1}, GraphValidationError, "start holds no node of the graph"),
        ([{0, 1}, {1, 2}], GraphValidationError, "start holds a node in two sets"),
        ([-7] * 6, GraphValidationError, "start holds labels of shape .* from -7"),
        ([0.5] * 6, TypeError, "start"),
        (7, GraphValidationError, "start has shape"),
    ],
)
def test_what_is_no_start_is_refused(start, error, words):
    for make in (communities, hierarchy):
        refuses(error, words, make, nx.path_graph(6), start=start)


def test_bounds_hold_whatever_the_start():
    for start in (np.zeros(480, int), PLANTED.labels, np.arange(480)):
        found = communities(PLANTED.graph, start=start, min_size=5, max_size=30, rng=0)
        assert found.sizes.min() >= 5 and found.sizes.max() <= 30 and connected(found, found.labels)
        levels = hierarchy(PLANTED.graph, start=start, max_size=15, rng=0)
        assert np.bincount(levels.levels[-1]).max() <= 15 and connected(levels, levels.levels[-1])
    refuses(ParameterError, "max_size", communities, PLANTED.graph, start=PLANTED.labels, max_size=0.5)


@pytest.mark.parametrize("options", [{"max_size": 15}, {}, {"max_size": 15, "levels": 2}])
def test_levels_keep_the_names_of_the_start(options):
    graph, names = PLANTED.graph, PLANTED.labels * 5 + 100
    found = hierarchy(graph, start=names, rng=0, **options)
    fresh = hierarchy(graph, rng=0, **options)
    ids = found.ids[0][found.levels[0]]
    assert np.mean(ids == names) > 0.9 or not options  # without a bound the coarsest level may be another
    assert found.resolutions == fresh.resolutions and found.parameters == fresh.parameters
    assert modularity(graph, found.levels[0]) >= modularity(graph, fresh.levels[0]) - 0.02
    new = np.concatenate([ids[~np.isin(ids, names)] for ids in found.ids])
    assert not len(new) or new.min() > names.max()
    assert found.update(removed_nodes=[0], rng=0).n_ids >= found.n_ids


labels = st.lists(st.integers(-1, 4), min_size=1, max_size=12)


@settings(max_examples=50, deadline=None)
@given(st.data(), st.sampled_from(["auto", "hungarian", "greedy"]))
def test_remapped_labels_are_the_same_clusters(data, method):
    new = data.draw(labels)
    old = data.draw(st.lists(st.integers(-1, 9), min_size=len(new), max_size=len(new)))
    found = remap_labels(np.array(old), np.array(new), method=method)
    assert ((found == -1) == (np.array(new) == -1)).all()
    pairs = {(a, b) for a, b in zip(new, found.tolist(), strict=True)}
    assert len(pairs) == len(set(new)) == len(set(found.tolist()))
    for label in set(found.tolist()) - set(old) - {-1}:
        assert label > max(old)
    for label in set(found.tolist()) & set(old) - {-1}:
        assert label in np.array(old)[found == label]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.permutations(range(6)))
def test_the_same_clusters_get_their_numbers_back(old, order):
    new = [order[label] for label in old]
    for method in ("hungarian", "greedy"):
        assert remap_labels(old, new, method=method).tolist() == old


def test_hungarian_keeps_more_nodes_than_greedy():
    """One pair overlaps in 5, which costs greedy the two pairs of 4 and 4."""
    old = [0] * 5 + [0] * 4 + [1] * 4
    new = [0] * 5 + [1] * 4 + [0] * 4
    assert (remap_labels(old, new, method="hungarian") == old).sum() == 8
    assert (remap_labels(old, new, method="greedy") == old).sum() == 5


def test_old_numbers_stay_however_large_they_are():
    assert remap_labels([10**12, 10**12, 7], [1, 2, 0]).tolist() == [10**12, 10**12 + 1, 7]
    assert remap_labels(np.array([5, 5, 2**40, -1]), [1, 1, 0, 2]).tolist() == [5, 5, 2**40, 2**40 + 1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ({"a": 1, "gone": "x"}, {"a": 0}, "old holds labels of dtype <U"),
        ({"a": 1, "gone": 2.5}, {"a": 0}, "old holds labels of dtype float64"),
        ({"a": -7}, {"a": 0}, "old holds labels of shape .* from -7 to -7"),
        (np.array([0, 2**63], np.uint64), [0, 1], "old holds labels of shape"),
        ([0, 1], [0, 1, 2], "new has shape"),
    ],
)
def test_what_is_no_number_of_a_cluster_is_refused_by_name(old, new, words):
    refuses(GraphValidationError, f"^{words}", remap_labels, old, new)


def test_names_may_come_and_go():
    assert remap_labels({"a": 5, "b": 5, "x": 9}, {"c": 1, "a": 0, "b": 0}) == {"c": 10, "a": 5, "b": 5}
    assert remap_labels({"a": 0}, {}) == remap_labels({}, {}) == {} and remap_labels({}, {"a": 3}) == {"a": 0}
    assert remap_labels([], []).tolist() == []


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=14), st.integers(0, 5))
def test_every_cluster_is_in_the_change_log(pairs, n_gone):
    old, new = (np.array(values) for values in zip(*pairs, strict=True))
    before = np.arange(len(old))
    before[: min(n_gone, len(old) - 1)] = -1
    (old_ids, place), (new_ids, now) = number_ids(old), number_ids(new)
    overlap = overlap_of(np.where(before >= 0, place, -1), len(old_ids), now, len(new_ids))
    changes = list_changes(overlap, old_ids, new_ids, np.bincount(place), np.bincount(now)).changes
    assert {one for change in changes for one in change.before} == set(old.tolist())
    assert {one for change in changes for one in change.after} == set(new.tolist())
    for change in changes:
        assert change.size_before == sum((old == one).sum() for one in change.before)
        assert {"born": 0, "died": 0}.get(change.kind, 1) == min(len(change.before), len(change.after), 1)
