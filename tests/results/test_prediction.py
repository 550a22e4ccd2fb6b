"""New nodes: exact gains against the recomputed objective, agreement with clustering all at once, files."""

import json
import os
import zipfile
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from aims import ONE_OF_EACH, looped
from cases import for_each, refuses
from graphs import make_graph
from reference import objectives as reference
from scipy import sparse

from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError
from graphclust.generators import planted_partition
from graphclust.io.graph_input import as_graph
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.cuts import modularity
from graphclust.objective.objective import ADDITIVE_OBJECTIVES
from graphclust.partition.communities import communities
from graphclust.partition.coreset_sc import coreset_sc
from graphclust.partition.hierarchy import hierarchy
from graphclust.profile.path_builder import cluster_path
from graphclust.results.clustering import Clustering
from graphclust.results.model_io import load_model


@pytest.fixture(scope="module")
def model():
    return coreset_sc(nx.karate_club_graph(), 3, rng=0).model()


@for_each(("objective", "resolution"), [*ONE_OF_EACH, ("modularity", 3.0)])
@for_each("seed", [1, 2])
def test_each_new_node_goes_where_the_recomputed_objective_is_largest(objective, resolution, seed):
    graph = looped(30, seed)
    found = coreset_sc(graph, 4, objective=objective, resolution=resolution, rng=seed)
    rng = np.random.default_rng(seed)
    A, n = graph.to_scipy().toarray(), graph.n_nodes
    rows = rng.exponential(1.0, (80, n)) * (rng.random((80, n)) < 0.15)
    rows[40:] *= 30.0  # as heavy as the whole graph: what they add to degrees and volume decides
    for row, label in zip(rows, found.predict(rows), strict=True):
        if not row.any():
            assert label == -1
            continue
        more = np.zeros((n + 1, n + 1))
        more[:n, :n], more[n, :n], more[:n, n] = A, row, row
        linked = sorted(set(found.labels[row > 0]))
        values = [reference.value(more, np.append(found.labels, c), objective, resolution) for c in linked]
        assert label == linked[int(np.argmax(values))]


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
@for_each(("objective", "resolution"), ONE_OF_EACH)
def test_nodes_without_edges_change_no_prediction(objective, resolution):
    graph, rng = looped(30, 1), np.random.default_rng(1)
    padded = sparse.block_diag([graph.to_scipy(), sparse.csr_array((90, 90))]).tocsr()
    rows = rng.exponential(1.0, (80, graph.n_nodes)) * (rng.random((80, graph.n_nodes)) < 0.15)
    options = {"objective": objective, "resolution": resolution, "rng": 1}
    found, among = coreset_sc(graph, 4, **options), coreset_sc(padded, 4, **options)
    assert found.predict(rows).tolist() == among.predict(np.hstack([rows, np.zeros((80, 90))])).tolist()


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@for_each("options", [{}, {"size_ratio": 0.85}, {"degree_exponent": 2.5}])
@for_each("objective", ["modularity", "normalized_cut"])
def test_held_out_nodes_are_labeled_nearly_as_well_as_all_at_once(options, objective):
    graph, labels = planted_partition(8, 150, 16, 4, rng=11, **options)
    A = graph.to_scipy()
    whole = coreset_sc(graph, 8, objective=objective, rng=0)
    held = np.random.default_rng(3).random(graph.n_nodes) < 0.2
    old, new = np.flatnonzero(~held), np.flatnonzero(held)
    found = coreset_sc(as_graph(A[old][:, old]), 8, objective=objective, rng=0)
    predicted = found.predict(A[new][:, old])
    scored = (predicted >= 0) & (whole.labels[new] >= 0)
    assert scored.mean() > 0.97
    alone = adjusted_rand_index(labels[new][scored], predicted[scored])
    together = adjusted_rand_index(labels[new][scored], whole.labels[new][scored])
    assert alone >= together - 0.02 and together > 0.8


def test_rows_in_every_form_say_the_same(model):
    dense = np.zeros((3, 34))
    dense[0, [0, 1, 2]], dense[1, [33, 32]], dense[2, 5] = 2.0, 1.0, 4.0
    expected = model.predict(dense).tolist()
    named = {"a": dict.fromkeys([0, 1, 2], 2.0), "b": [33, 32], "c": {5: 4.0}}
    for rows in (sparse.csr_array(dense), sparse.coo_matrix(dense), dense.tolist(), dense.astype(int), named):
        assert model.predict(rows).tolist() == expected
    assert expected[0] == model.labels[0] and expected[1] == model.labels[33]
    stored_zero = sparse.csr_array(dense)
    stored_zero.data[0] = 0.0
    model.predict(stored_zero)
    assert stored_zero.nnz == 6


def test_nodes_without_a_cluster_to_go_to_have_none():
    graph = make_graph("isolates")
    found = coreset_sc(graph, 2, rng=0)
    lonely = int(np.flatnonzero(graph.isolated)[0])
    assert found.predict({"x": [lonely], "y": [], "z": [lonely, 1]}).tolist() == [-1, -1, found.labels[1]]
    assert found.predict(sparse.csr_array((0, 8))).shape == (0,)


def test_names_of_nodes_are_the_callers():
    graph = nx.relabel_nodes(nx.barbell_graph(4, 0), dict(enumerate("abcdefgh")))
    found = coreset_sc(graph, 2, rng=0)
    assert found.predict({"new": {"e", "f"}, 7: ["a"]}).tolist() == [found.labels[4], found.labels[0]]
    refuses(GraphValidationError, r"rows\['new'\] holds 'z', which is not a node", found.predict, {"new": ["a", "z"]})


@for_each(
    ("rows", "error", "message"),
    [
        (np.ones((2, 33)), GraphValidationError, r"rows has shape \(2, 33\), expected .* the 34 nodes"),
        (np.ones(34), GraphValidationError, r"rows has shape \(34,\)"),
        (-np.ones((1, 34)), GraphValidationError, r"rows holds the weight -1.0"),
        (np.full((1, 34), np.nan), GraphValidationError, "rows holds the weight nan"),
        (np.full((1, 34), "x"), TypeError, "rows has dtype <U1"),
        ({"new": "ab"}, TypeError, r"rows\['new'\] is a str, expected a list of neighbors, as \['ab'\]"),
    ],
)
def test_impossible_rows_are_named(model, rows, error, message):
    refuses(error, message, model.predict, rows)


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
@pytest.mark.parametrize("named", [False, True])
def test_a_saved_model_predicts_the_same(tmp_path, named):
    graph = nx.karate_club_graph()
    graph.add_node(34)  # with no edge, and in no cluster
    graph = nx.relabel_nodes(graph, lambda u: f"ñ{u}") if named else graph
    model = cluster_path(graph, [4], rng=0)[4].model()
    file = tmp_path / "model.npz"
    model.save(file)
    loaded = load_model(file)
    rows = np.random.default_rng(0).random((40, 35)) * (np.random.default_rng(1).random((40, 35)) < 0.1)
    assert (loaded.labels == model.labels).all() and loaded.labels[34] == -1
    assert (loaded.predict(rows) == model.predict(rows)).all()
    assert loaded.nodes == model.nodes and loaded.resolution == model.resolution and repr(loaded) == repr(model)
    refuses(FileExistsError, None, model.save, file)
    model.save(file, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]
    with np.load(file, allow_pickle=False) as held:
        assert json.loads(held["header"].tobytes())["format"] == "graphclust model"


EDITS = {"added": [("Valjean", "new", 2.0), ("Javert", "new", 1.0)], "removed_nodes": ["Geborand"]}


@pytest.mark.parametrize(
    "options", [{}, {"max_size": 20, "min_size": 2, "node_weight": np.arange(77) % 3 + 1.0}], ids=["free", "bounded"]
)
def test_a_saved_model_updates_as_its_clustering_does(tmp_path, options):
    graph, file = nx.les_miserables_graph(), tmp_path / "model.npz"
    found = communities(graph, **options, rng=0).update(removed=[("Fantine", "Valjean")], added=[("a", "b")], rng=0)
    found.model().save(file)
    whole, by_file = found.update(**EDITS, rng=1), load_model(file).update(found.graph, **EDITS, rng=1)
    assert by_file == whole and by_file.changes == whole.changes and by_file.n_ids == whole.n_ids
    assert (by_file.ids == whole.ids).all() and np.array_equal(by_file.node_sizes, whole.node_sizes)


@pytest.mark.parametrize(("seed", "objective"), [(5, "modularity"), (24, "normalized_cut")])
def test_rounding_in_a_model_settles_ties_as_in_its_clustering(seed, objective):
    graph, rng = nx.gnm_random_graph(24, 48, seed=seed), np.random.default_rng(seed)
    nx.set_edge_attributes(graph, {edge: float(rng.random()) for edge in graph.edges}, "weight")
    matrix = nx.to_scipy_sparse_array(graph)
    found = coreset_sc(matrix, 16, objective=objective, rng=0)
    edits = {"added": [(0, 24)], "rng": 0}
    assert (found.update(**edits).labels == found.model().update(matrix, **edits).labels).all()


def test_a_saved_model_finds_the_nodes_of_what_the_graph_has_become(tmp_path):
    graph, file = nx.les_miserables_graph(), tmp_path / "model.npz"
    coreset_sc(graph, 5, rng=0).model().save(file)
    now = nx.Graph()
    now.add_nodes_from(["new", *sorted(set(graph) - {"Geborand"})])
    now.add_edges_from((u, v, data) for u, v, data in graph.edges(data=True) if "Geborand" not in (u, v))
    now.add_edge("new", "Valjean", weight=2.0)
    later = load_model(file).update(now, rng=0)
    assert list(later.nodes) == list(now) and later.k == later.n_clusters == 5
    assert later.as_dict()["new"] == later.as_dict()["Valjean"] and later.graph == as_graph(now)
    assert later.ids.tolist() == list(range(5))


def test_another_graph_than_that_of_the_model_is_named():
    unnamed = coreset_sc(nx.to_numpy_array(nx.karate_club_graph()), 2, rng=0).model()
    named = coreset_sc(nx.relabel_nodes(nx.barbell_graph(4, 0), str), 2, rng=0).model()
    for model, graph, words in (
        (unnamed, nx.path_graph(["a", "b"]), "G has names of nodes and the model has none"),
        (named, nx.to_numpy_array(nx.path_graph(3)), "the model has names of nodes and G has none"),
        (unnamed, nx.to_numpy_array(nx.path_graph(3)), "G has 3 nodes without names and the model 34.*removed_nodes="),
        (named, nx.path_graph([0.0, 1.0]), r"no node of G, such as 0\.0, is one of the model, such as '0'"),
    ):
        refuses(GraphValidationError, words, model.update, graph, rng=0)


def test_files_that_are_no_models(tmp_path, model):
    good = tmp_path / "good.npz"
    model.save(good)
    refuses(ParameterError, r"expected \.npz", model.save, tmp_path / "model.pkl")
    refuses(ParameterError, r"expected \.npz", load_model, tmp_path / "model.pkl")
    refuses(FileNotFoundError, None, load_model, tmp_path / "none.npz")
    whole = good.read_bytes()
    bad = tmp_path / "bad.npz"
    for content in (b"", b"hello", whole[: len(whole) // 2]):
        bad.write_bytes(content)
        refuses(GraphFormatError, "expected a model as graphclust writes it", load_model, bad)
    with np.load(good) as held:
        parts = {name: held[name] for name in held.files}
    header = json.loads(parts["header"].tobytes())
    for wrong in (
        {"header": np.frombuffer(json.dumps(header | {"format_version": 3}).encode(), np.uint8)},
        {"header": np.frombuffer(json.dumps(header | {"objective": "beauty"}).encode(), np.uint8)},
        {"header": np.frombuffer(json.dumps(header | {"nodes": [1]}).encode(), np.uint8)},
        {"labels": parts["labels"] + 7},
        {"mass": parts["mass"][:1]},
        {"ids": np.array([1, 1, 2])},
        {"ids": np.array([0, 1])},
        {"node_sizes": np.zeros(34)},
        {"inside": parts["inside"].astype(object)},
    ):
        np.savez(bad, **(parts | wrong))
        refuses(GraphFormatError, None, load_model, bad)
    assert zipfile.is_zipfile(good)


def test_names_that_a_file_cannot_hold(tmp_path):
    found = coreset_sc(nx.grid_2d_graph(3, 3), 2, rng=0)
    refuses(GraphValidationError, r"a node is named \(0, 0\), a tuple", found.model().save, tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []
    assert found.predict({"x": [(0, 0)]}).tolist() == [found.labels[0]]


def test_a_cut_of_a_hierarchy_is_judged_at_the_resolution_of_its_level(tmp_path):
    graph = nx.karate_club_graph()
    levels = hierarchy(graph, weight=None, rng=0)
    found = levels.cut(4)
    assert [len(ids) for ids in levels.ids] == [2, 4] and found.resolution == levels.resolutions[1] == 1.0
    assert (levels.cut(2).resolution, levels.cut(30).resolution) == (levels.resolutions[0], 1.0)
    graph.add_edges_from([("x", 0), ("x", 4)])
    values = [modularity(graph, [*found.labels.tolist(), c], weight=None) for c in range(4)]
    assert found.predict({"x": [0, 4]}).tolist() == [int(np.argmax(values))]
    found.model().save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").resolution == 1.0


@pytest.mark.parametrize("objective", ADDITIVE_OBJECTIVES)
def test_a_model_of_an_objective_without_its_resolution_is_refused(objective, tmp_path):
    by_hand = Clustering(np.array([0, 0, 1, 1]), 2, as_graph(nx.path_graph(4)), objective=objective)
    refuses(ParameterError, f"resolution=None leaves objective='{objective}'", by_hand.model)
    replace(by_hand, resolution=1.0).model().save(tmp_path / "m.npz")
    assert load_model(tmp_path / "m.npz").predict([[1, 0, 0, 0]]) == [0]
