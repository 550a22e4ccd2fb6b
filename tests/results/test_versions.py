"""Files that earlier releases wrote are read; those of later ones are refused with what to do."""

import json

import networkx as nx
import numpy as np
import pytest

from graphclust import GraphFormatError, load_model, open_store

# Two triangles and an edge between them, as release 0.1.0 writes them. These lines stay as they are for good.
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
GRAPH = nx.barbell_graph(3, 0)


@pytest.fixture
def write(tmp_path):
    """Writes all three files, of a version if one is given, and returns what reads each, by its path."""

    def do(version: int = 1):
        store, model, hierarchy = tmp_path / "store", tmp_path / "model.npz", tmp_path / "levels.json"
        store.mkdir()
        (store / "header.json").write_text(json.dumps(STORE | {"version": version}))
        neighbors = [1, 2, 0, 2, 0, 1, 3, 2, 4, 5, 3, 5, 3, 4]
        np.save(store / "indptr.npy", np.array([0, 2, 4, 7, 10, 12, 14]))
        np.save(store / "indices.npy", np.array(neighbors, np.int32))
        np.save(store / "degrees.npy", np.array([2.0, 2.0, 3.0, 3.0, 2.0, 2.0]))
        header = np.frombuffer(json.dumps(MODEL | {"version": version}).encode(), np.uint8)
        arrays = {"labels": np.array([0, 0, 0, 1, 1, 1]), "inside": np.full(2, 6.0), "mass": np.full(2, 7.0)}
        np.savez(model, header=header, **(arrays if version == 1 else {"other": np.arange(3)}))
        hierarchy.write_text(json.dumps(HIERARCHY | {"format_version": version}))
        return {str(store): open_store, str(model): load_model, str(hierarchy): load_model}

    return do


def test_files_of_version_1_are_read(write):
    store, model, hierarchy = (read(path) for path, read in write().items())
    assert store.n_nodes == 6 and list(store.neighbors(2)) == [0, 1, 3]
    assert model.predict({"new": [3, 4]}).tolist() == [1]
    assert model.update(GRAPH, added=[(5, "new")], rng=0).labels.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert hierarchy.update(GRAPH, rng=0).levels[0].tolist() == [0, 0, 0, 1, 1, 1]


def test_files_of_a_later_version_are_refused_with_what_to_do(write):
    for path, read in write(2).items():
        with pytest.raises(GraphFormatError, match=r"version is 2, expected 1.* or write the file again") as refusal:
            read(path)
        assert path in str(refusal.value)
