"""Files that earlier releases wrote are read; those of later ones are refused with what to do."""

import json

import networkx as nx
import numpy as np
import pytest
from cases import refuses

from graphclust import (
    GraphFormatError,
    communities,
    hierarchy,
    load_model,
    open_store,
    read_labels,
    write_labels,
)

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
GRAPH = nx.barbell_graph(3, 0)
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
    assert model.update(GRAPH, added=[(5, "new")], rng=0).labels.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert levels.update(GRAPH, rng=0).levels[0].tolist() == [0, 0, 0, 1, 1, 1]
    assert levels.origin == {"version": "0.1.0", "file": None, "seed": 0, "options": OPTIONS}
    for path in labels:
        nodes, read = read_labels(path)
        assert nodes == [0, 1, 2, 3, 4, 5] and read.tolist() == [0, 0, 0, 1, 1, 1]


def test_files_are_written_as_the_latest_version_has_them(tmp_path):
    clusters, levels = communities(GRAPH, rng=0), hierarchy(GRAPH, rng=0)
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
