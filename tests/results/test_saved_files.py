"""Saved hierarchies go on as if they had never left memory; files of each version are read, or refused by number."""

import json
import os

import networkx as nx
import numpy as np
import pytest
from cases import refuses

from graphclust import communities, hierarchy, load_model, open_store, read_labels, write_labels
from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError, ResourceLimitError

GRAPH = nx.les_miserables_graph()
NUMBERS = nx.to_scipy_sparse_array(nx.ring_of_cliques(8, 5))
TOKENS = {name: 1.0 + len(name) for name in GRAPH}
EDITS = {"added": [("Valjean", "new", 2.0), ("Javert", "new", 1.0)], "removed": [("Napoleon", "Myriel")]}
CASES = {
    "a bound": (GRAPH, {"max_size": 10}, EDITS | {"removed_nodes": ["Geborand"]}),
    "no bound": (GRAPH, {}, EDITS),
    "few levels": (GRAPH, {"max_size": 6, "min_size": 2, "levels": 2, "objective": "constant_potts"}, EDITS),
    "weights of nodes": (GRAPH, {"max_size": 90, "node_weight": TOKENS}, EDITS),
    "unweighted": (GRAPH, {"max_size": 10, "weight": None}, {"added": [("Valjean", "new"), ("Javert", "new")]}),
    "no names": (NUMBERS, {"max_size": 5}, {"added": [(0, 40), (1, 40), (2, 40)], "removed": [(5, 6)]}),
}


def saved(folder, levels):
    path = os.path.join(folder, "levels.json")
    levels.save(path, overwrite=True)
    return path


def told(levels):
    """All that a hierarchy says of itself, as bytes."""
    arrays = [array.tobytes() for arrays in (levels.levels, levels.parents, levels.ids) for array in arrays]
    return arrays, levels.to_json(), levels.changes, levels.n_ids, levels.remarks


@pytest.mark.parametrize("case", CASES)
def test_an_update_after_a_restart_is_byte_for_byte_that_without_one(case, tmp_path):
    graph, options, edits = CASES[case]
    levels = hierarchy(graph, rng=0, **options)
    without = levels.update(**edits, rng=1)
    after = load_model(saved(tmp_path, levels)).update(graph, **edits, rng=1)
    assert told(after) == told(without) and after == without
    later = load_model(saved(tmp_path, without)).update(without.graph, rng=2)  # ids that updates have left
    assert told(later) == told(without.update(rng=2))


def test_nodes_are_found_by_name_whatever_their_order(tmp_path):
    model = load_model(saved(tmp_path, hierarchy(GRAPH, max_size=10, rng=0)))
    other = nx.Graph()
    other.add_nodes_from(sorted(GRAPH))
    other.add_edges_from((v, u, data) for u, v, data in GRAPH.edges(data=True))
    one, two = (model.update(graph, rng=1) for graph in (GRAPH, other))
    assert one.to_json() == two.to_json() and {change.kind for change in two.changes} == {"kept"}


def test_a_graph_that_has_changed_is_updated_where_it_differs(tmp_path):
    names = nx.relabel_nodes(nx.ring_of_cliques(8, 5), str)
    model = load_model(saved(tmp_path, hierarchy(names, max_size=5, rng=0)))
    names.add_edges_from([("0", "new"), ("1", "new")])
    names.remove_node("39")
    later = model.update(names, rng=0)
    kinds = sorted(change.kind for change in later.changes if change.kind != "kept")
    assert len(later.nodes) == 40 and later.sizes_on(-1).max() <= 5 and "split" in kinds
    assert sum(change.kind == "kept" for change in later.changes) >= 5


def test_a_node_that_has_other_neighbors_now_goes_to_them(tmp_path):
    """Inside a pair of cliques that is one cluster of the first level, where nothing else tells of the change."""
    levels = hierarchy(NUMBERS, max_size=6, resolution=0.3, rng=0)
    graph, first = nx.Graph(NUMBERS), levels.levels[0]
    other = next(node for node in range(7, 40, 5) if first[node] == first[2])
    graph.remove_edges_from([*graph.edges(2)])
    graph.add_edges_from([(2, other), (2, other + 1), (2, other - 1)])
    later = load_model(saved(tmp_path, levels)).update(nx.to_scipy_sparse_array(graph, nodelist=range(40)), rng=0)
    assert len(levels.levels) == 2 and later.levels[-1][2] == later.levels[-1][other] != later.levels[-1][0]


def test_an_id_that_a_cluster_had_is_never_given_again(tmp_path):
    found = hierarchy(nx.ring_of_cliques(4, 5), max_size=5, rng=0)
    born = found.update(added=[("a", "b")], rng=0)
    gone = born.update(removed_nodes=["a", "b"], rng=0)
    again = load_model(saved(tmp_path, gone)).update(gone.graph, added=[("c", "d")], rng=0)
    (one, other) = (next(change for change in levels.changes if change.kind == "born") for levels in (born, again))
    assert one.after == (4,) and other.after == (5,)


def test_names_that_json_cannot_hold_are_refused_when_they_are_read(tmp_path):
    path = saved(tmp_path, hierarchy(nx.grid_2d_graph(4, 4), max_size=4, rng=0))
    refuses(GraphValidationError, r"levels.json: nodes are named by something else than strings", load_model, path)
    odd = nx.relabel_nodes(GRAPH, {"Valjean": "\udcff", "Javert": 7})
    levels = hierarchy(odd, max_size=10, rng=0)
    assert told(load_model(saved(tmp_path, levels)).update(odd, rng=1)) == told(levels.update(rng=1))


DAMAGE = {
    "another version": lambda held: held | {"format_version": 3},
    "another format": lambda held: held | {"format": "levels"},
    "no clusters": lambda held: held | {"clusters": []},
    "a cluster twice": lambda held: held | {"clusters": [*held["clusters"], held["clusters"][-1]]},
    "a leaf is missing": lambda held: held | {"clusters": held["clusters"][:-1]},
    "another number of levels": lambda held: held | {"n_levels": 1},
    "an id given again": lambda held: held | {"n_ids": 1},
    "a resolution of nothing": lambda held: held | {"resolutions": [0.0]},
    "an unknown objective": lambda held: held | {"options": held["options"] | {"objective": "beauty"}},
    "names that are numbers": lambda held: held | {"named": False},
    "a list": lambda held: [held],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_refused(damage, tmp_path):
    path = saved(tmp_path, hierarchy(GRAPH, max_size=10, rng=0))
    with open(path) as file:
        held = json.load(file)
    with open(path, "w") as file:
        json.dump(DAMAGE[damage](held), file)
    refuses(GraphFormatError, r"levels.json: expected a hierarchy as graphclust writes it: ", load_model, path)


def test_a_node_in_two_clusters_or_in_none_is_refused(tmp_path):
    path = saved(tmp_path, hierarchy(GRAPH, max_size=10, rng=0))
    text = (tmp_path / "levels.json").read_text()
    n_refused = 0
    for place, one in enumerate(json.loads(text)["clusters"]):
        for nodes in ([*one["nodes"], "Nobody"], one["nodes"][1:], [*one["nodes"], one["nodes"][0]]):
            held = json.loads(text)
            held["clusters"][place]["nodes"] = nodes
            with open(path, "w") as file:
                json.dump(held, file)
            refuses(GraphFormatError, None, load_model, path)
            n_refused += 1
    assert n_refused > 30


def test_impossible_paths_and_limits_are_named(tmp_path):
    levels = hierarchy(GRAPH, max_size=10, rng=0)
    path = saved(tmp_path, levels)
    with pytest.raises(ParameterError, match=r"another ending, expected .npz of ClusterModel.save, or .json of Hier"):
        load_model(tmp_path / "levels.csv")
    refuses(TypeError, r"path is a Hierarchy.*the call is load_model\(path\)", load_model, levels)
    refuses(ResourceLimitError, "memory_limit", load_model, path, memory_limit=10)
    refuses(FileNotFoundError, None, load_model, tmp_path / "none.json")
    assert repr(load_model(path)).startswith(f"HierarchyModel({len(GRAPH)} nodes, levels of ")
    assert not np.shares_memory(load_model(path).levels[0], levels.levels[0])


# Two triangles and an edge between them, as each version of the form has them. These lines stay as they are for good.
STORE = {
    "format": "graphclust-store", "version": 1, "id": "5daaba4a32b4788d0920a98f031cad69", "n_nodes": 6, "n_entries": 14,
    "arrays": {"indptr": {"dtype": "<i8", "length": 7}, "indices": {"dtype": "<i4", "length": 14},
               "degrees": {"dtype": "<f8", "length": 6}},
    "names": False, "remarks": [],
}  # fmt: skip
MODEL = {
    "format": "graphclust model", "version": 1, "objective": "modularity", "resolution": 1.0, "total": 14.0,
    "nodes": [0, 1, 2, 3, 4, 5], "origin": {"version": "0.1.0", "file": None, "k": 2, "seed": 0, "options": {}},
    "n_ids": None,
}  # fmt: skip
OPTIONS = {"max_size": 3.0, "min_size": None, "resolution": None, "levels": None, "objective": "modularity",
           "effort": "low"}  # fmt: skip
CLUSTERS = [
    {"id": at, "level": 0, "parent": None, "size": 3, "is_leaf": True, "nodes": nodes, "cut": 1.0, "volume": 7.0}
    for at, nodes in enumerate(([0, 1, 2], [3, 4, 5]))
]
HIERARCHY = {
    "format": "graphclust hierarchy", "format_version": 1, "version": "0.1.0", "file": None, "seed": 0,
    "options": OPTIONS, "n_levels": 1, "max_size": 3.0, "resolutions": [1.0], "n_ids": None, "named": True,
    "names_are_texts": False, "remarks": [], "clusters": CLUSTERS,
}  # fmt: skip
ORIGIN = {"version": "0.1.0", "file": None, "k": 2, "seed": 0, "options": {}}
LABELS = {"origin": ORIGIN, "nodes": [0, 1, 2, 3, 4, 5], "labels": [0, 0, 0, 1, 1, 1]}
HEADER = {"format": "graphclust model", "format_version": 2, **ORIGIN, "objective": "modularity", "resolution": 1.0,
          "total": 14.0, "nodes": [0, 1, 2, 3, 4, 5], "n_ids": None}  # fmt: skip
OF_LABELS = LABELS | {"origin": {"format": "graphclust labels", "format_version": 2, **ORIGIN}}
FILES = {1: (MODEL, HIERARCHY, LABELS), 2: (HEADER, HIERARCHY | {"format_version": 2}, OF_LABELS)}
BARBELL = nx.barbell_graph(3, 0)
ARRAYS = {"labels": np.array([0, 0, 0, 1, 1, 1]), "inside": np.full(2, 6.0), "mass": np.full(2, 7.0)}


@pytest.fixture
def write(tmp_path):
    """Writes files of a model, of a hierarchy and of labels, JSON and NPZ, and returns their paths."""

    def do(model, hierarchy, labels, arrays=ARRAYS):
        paths = [tmp_path / name for name in ("model.npz", "levels.json", "labels.json", "labels.npz")]
        np.savez(paths[0], header=np.frombuffer(json.dumps(model).encode(), np.uint8), **arrays)
        paths[1].write_text(json.dumps(hierarchy))
        paths[2].write_text(json.dumps(labels))
        origin = np.array(json.dumps(labels["origin"]))
        np.savez(paths[3], nodes=np.arange(6), labels=np.array(labels["labels"]), origin=origin)
        return paths

    return do


@pytest.fixture
def write_store(tmp_path):
    def do(version):
        (store := tmp_path / "store").mkdir()
        (store / "header.json").write_text(json.dumps(STORE | {"version": version}))
        np.save(store / "indptr.npy", np.array([0, 2, 4, 7, 10, 12, 14]))
        np.save(store / "indices.npy", np.array([1, 2, 0, 2, 0, 1, 3, 2, 4, 5, 3, 5, 3, 4], np.int32))
        np.save(store / "degrees.npy", np.array([2.0, 2.0, 3.0, 3.0, 2.0, 2.0]))
        return store

    return do


@pytest.mark.parametrize("version", FILES)
def test_files_of_each_version_are_read(write, version):
    files, labels = (paths := write(*FILES[version]))[:2], paths[2:]
    model, levels = map(load_model, files)
    assert model.origin == ORIGIN and model.predict({"new": [3, 4]}).tolist() == [1]
    assert model.update(BARBELL, added=[(5, "new")], rng=0).labels.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert levels.update(BARBELL, rng=0).levels[0].tolist() == [0, 0, 0, 1, 1, 1]
    assert levels.origin == {"version": "0.1.0", "file": None, "seed": 0, "options": OPTIONS}
    for path in labels:
        nodes, read = read_labels(path)
        assert nodes == [0, 1, 2, 3, 4, 5] and read.tolist() == [0, 0, 0, 1, 1, 1]


def test_files_are_written_as_the_latest_version_has_them(tmp_path):
    clusters, levels = communities(BARBELL, rng=0), hierarchy(BARBELL, rng=0)
    clusters.model().save(tmp_path / "model.npz")
    write_labels(tmp_path / "labels.json", clusters)
    with np.load(tmp_path / "model.npz") as held:
        model = json.loads(held["header"].tobytes())
    labels = json.loads((tmp_path / "labels.json").read_text())["origin"]
    for kind, header in (("model", model), ("hierarchy", json.loads(levels.to_json())), ("labels", labels)):
        origin = levels.origin if kind == "hierarchy" else clusters.origin
        assert header | {"format": f"graphclust {kind}", "format_version": max(FILES), **origin} == header


def test_a_store_is_read(write_store):
    store = open_store(write_store(1))
    assert store.n_nodes == 6 and list(store.neighbors(2)) == [0, 1, 3]


def test_files_of_a_later_version_are_refused_with_what_to_do(write, write_store):
    later = [held | {"format_version": 3} for held in FILES[2][:2]]
    labels = OF_LABELS | {"origin": OF_LABELS["origin"] | {"format_version": 3}}
    of_arrays = zip(write(*later, labels, {"other": np.arange(3)}), [load_model] * 2 + [read_labels] * 2, strict=True)
    cases = [(write_store(2), open_store, "2, expected 1"), *((*one, "3, expected 1 or 2") for one in of_arrays)]
    for path, read, words in cases:
        with pytest.raises(GraphFormatError, match=f"version is {words};.* or write the file again") as refusal:
            read(path)
        assert str(path) in str(refusal.value)


def test_a_model_of_the_first_form_has_the_first_version(write):
    refuses(GraphFormatError, "version is 2, expected 1;", load_model, write(MODEL | {"version": 2}, *FILES[1][1:])[0])
