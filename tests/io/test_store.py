"""Stores: what is mapped is what was saved, every damage has a name, and a store is there whole or not at all."""

import dataclasses
import json
import os
import pathlib
import pickle
import shutil
import sys

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from graph_files import same_csr

import graphclust as gc
from graphclust.errors import GraphWarning
from graphclust.io.store.store import new_store, npy_header


def looped_graph():
    """Weighted, with a self-loop and a node without edges."""
    network = nx.gnm_random_graph(40, 90, seed=11)
    network.add_edge(3, 3)
    network.add_node(40)
    for u, v, attributes in network.edges(data=True):
        attributes["weight"] = 0.25 * (1 + (u + v) % 5)
    with pytest.warns(GraphWarning, match="isolated"):
        return gc.as_graph(network)


@pytest.fixture
def store(tmp_path) -> str:
    path = str(tmp_path / "g.store")
    gc.save_store(path, looped_graph())
    return path


def test_a_store_holds_the_graph_bit_for_bit(store):
    graph, stored = looped_graph(), gc.open_store(store)
    assert same_csr(graph, stored) and stored.remarks == graph.remarks
    assert stored.nodes.tolist() == list(range(41)) and stored == graph
    loaded, info = gc.load_graph(store, return_info=True)
    assert same_csr(loaded, graph) and info.format == "store" and info.counts.loops == 1
    ignored = gc.load_graph(store, weights="ignore")
    assert ignored.weights is None and ignored.degrees[3] == np.diff(graph.indptr)[3]


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")  # of a node without edges
@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot be removed there")
def test_a_store_that_is_removed_can_be_worked_on_while_it_is_open_and_then_is_a_missing_file(store):
    graph, stored = looped_graph(), gc.open_store(store)
    shutil.rmtree(store)
    assert (gc.communities(stored, rng=0).labels == gc.communities(graph, rng=0).labels).all()
    for verify in ("full", "fast"):
        refuses(FileNotFoundError, r"No such file or directory: .*g\.store'", gc.open_store, store, verify=verify)


def test_a_store_keeps_what_a_metis_file_says_that_nodes_weigh(tmp_path):
    (tmp_path / "w.graph").write_text("4 3 010 1\n5 2\n1 1 3\n1 2 4\n1 3\n")
    graph = gc.load_graph(tmp_path / "w.graph")
    saved = gc.save_store(tmp_path / "saved", graph)
    made = gc.convert_to_store(tmp_path / "w.graph", tmp_path / "made")
    plain = gc.load_graph(tmp_path / "made", weights="ignore")
    for stored in (saved, made, gc.open_store(tmp_path / "saved"), pickle.loads(pickle.dumps(made)), plain):
        assert stored.node_weights.tolist() == [5, 1, 1, 1] and stored == graph
    assert gc.as_graph(nx.path_graph(4)) != graph != dataclasses.replace(graph, node_weights=np.ones(4))


def test_weights_of_nodes_in_a_store_are_checked(tmp_path):
    graph = dataclasses.replace(gc.as_graph(nx.path_graph(4)), node_weights=np.array([5.0, 1, np.nan, 1]))
    gc.save_store(tmp_path / "g.store", graph)
    words = r"node_weights.npy: holds nan for node 2, expected finite numbers >= 0"
    refuses(gc.GraphFormatError, words, gc.open_store, tmp_path / "g.store")


def test_nothing_is_read_into_memory(store):
    for name in ("indptr", "indices", "weights", "degrees"):
        array = getattr(gc.open_store(store), name)
        base = array
        while base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap) and not array.flags.writeable, name


def test_names_are_kept(tmp_path):
    names = {0: "anna", 1: "#b", 2: "ü"}
    texts = gc.save_store(tmp_path / "t", nx.relabel_nodes(nx.path_graph(3), names))
    assert list(gc.open_store(tmp_path / "t").nodes) == list(names.values()) and texts.weights is None
    numbers = gc.save_store(tmp_path / "n", nx.relabel_nodes(nx.path_graph(3), {0: 7, 1: 2**40, 2: -1}))
    assert numbers.nodes.tolist() == [7, 2**40, -1]


@pytest.mark.parametrize("names", [["a", ("b", 2)], [1, "a"], [True, 2], [2**63, 1], [-(2**70), 1], [(1, 2), (3, 4)]])
def test_names_that_a_store_cannot_hold_are_refused(tmp_path, names):
    words = "named by other things than whole numbers below 2\\^63 or texts"
    refuses(gc.GraphValidationError, words, gc.save_store, tmp_path / "x", nx.path_graph(names))
    assert not os.listdir(tmp_path)


def test_a_stored_graph_pickles_as_its_path(store, tmp_path):
    graph = gc.open_store(store)
    packed = pickle.dumps(graph)
    assert len(packed) < 500 and pickle.loads(packed) == graph
    gc.save_store(store, nx.path_graph(5), overwrite=True)
    refuses(gc.GraphFormatError, "another graph was written to its place", pickle.loads, packed)
    assert graph.n_nodes == 41 and graph.indices.max() < 41, "who has mapped the old store keeps reading it"


def test_nothing_is_overwritten_unless_asked_for(store, tmp_path):
    refuses(FileExistsError, "overwrite=True", gc.save_store, store, nx.path_graph(3))
    (tmp_path / "folder").mkdir()
    refuses(FileExistsError, "is not a store", gc.save_store, tmp_path / "folder", nx.path_graph(3), overwrite=True)
    refuses(FileNotFoundError, "no folder", gc.save_store, tmp_path / "none" / "g", nx.path_graph(3))
    assert gc.save_store(store, nx.path_graph(3), overwrite=True).n_nodes == 3


def in_header(field, value):
    def damage(store: str) -> None:
        path = pathlib.Path(store, "header.json")
        header = json.loads(path.read_text())
        inner = header
        *outer, last = field.split(".")
        for name in outer:
            inner = inner[name]
        inner[last] = value
        path.write_text(json.dumps(header))

    return damage


def in_array(name, change):
    """Replace an array by what `change` makes of it."""

    def damage(store: str) -> None:
        path = pathlib.Path(store, name + ".npy")
        np.save(path, change(np.load(path)), allow_pickle=True)

    return damage


def cut(name):
    def damage(store: str) -> None:
        path = pathlib.Path(store, name)
        os.truncate(path, path.stat().st_size - 3)

    return damage


def changed(at, value):
    def change(array):
        array[at] = value
        return array

    return change


def claims_ten_trillion(store: str) -> None:
    path = pathlib.Path(store, "indices.npy")
    path.write_bytes(npy_header("<i4", 10**13) + path.read_bytes()[128:])


class Canary:
    def __reduce__(self):
        return os.mkdir, ("canary",)


DAMAGES = {
    "no header": (lambda store: os.remove(f"{store}/header.json"), "has no header.json"),
    "half a header": (cut("header.json"), "is not JSON text"),
    "a header of something else": (in_header("format", "zarr"), 'no "format"'),
    "another version": (in_header("version", 2), "version is 2, expected 1"),
    "nodes as text": (in_header("n_nodes", "41"), "n_nodes is '41', expected a whole number"),
    "more entries": (in_header("n_entries", 10**7), "arrays.indices is .* expected .*10000000"),
    "no nodes": (in_header("n_nodes", 0), "n_nodes is 0"),
    "remarks of numbers": (in_header("remarks", [1]), "remarks is"),
    "unknown array": (in_header("arrays.more", {}), r"unknown \['more'\]"),
    "missing file": (lambda store: os.remove(f"{store}/degrees.npy"), "degrees.npy: is missing"),
    "truncated": (cut("indices.npy"), r"indices.npy: has \d+ bytes, expected \d+"),
    "claims": (claims_ten_trillion, "indices.npy: has shape"),
    "no npy": (lambda store: pathlib.Path(store, "indptr.npy").write_bytes(b"indptr"), "indptr.npy: is no .npy"),
    "pickle": (in_array("nodes", lambda a: np.array([Canary()] * len(a), object)), "never loaded"),
    "big-endian": (in_array("indices", lambda a: a.astype(">i4")), "indices.npy: holds dtype >i4, expected <i4"),
    "wider": (in_array("indices", lambda a: a.astype(np.int64)), "indices.npy: holds dtype <i8"),
    "two dimensions": (in_array("degrees", lambda a: np.c_[a, a]), "degrees.npy: has shape"),
    "fortran": (in_array("degrees", lambda a: np.asfortranarray(np.c_[a, a])), "degrees.npy: has shape"),
    "first row start": (in_array("indptr", changed(0, 1)), "indptr.npy: begins with 1"),
    "last row start": (in_array("indptr", changed(-1, 5)), "indptr.npy: ends with 5"),
    "decreasing": (in_array("indptr", changed(7, 0)), "indptr.npy: decreases after row 6"),
    "last row of less than nothing": (in_array("indptr", changed(-2, 9999)), "indptr.npy: decreases after row 40"),
    "index too large": (in_array("indices", changed(0, 41)), "row 0 holds 41 with weight .* at entry 0"),
    "negative index": (in_array("indices", changed(0, -1)), "row 0 holds -1"),
    "unsorted": (in_array("indices", lambda a: a[[1, 0, *range(2, len(a))]]), "row 0 holds"),
    "no weight": (in_array("weights", changed(2, 0.0)), r"with weight 0.0 at entry 2"),
    "one-sided": (in_array("weights", changed(2, 77.0)), "not symmetric"),
    "degree": (in_array("degrees", changed(5, 1.5)), "degrees.npy: holds 1.5 for row 5"),
    "loop": (in_array("loops", changed(3, 9.0)), "loops.npy: holds 9.0 for row 3"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_every_damage_has_a_name(store, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    damage, words = DAMAGES[name]
    damage(store)
    refuses(gc.GraphFormatError, words, gc.open_store, store)
    if name != "no header":
        refuses(gc.GraphFormatError, None, gc.load_graph, store)
    assert not os.path.exists("canary")


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room cannot be taken ahead here")
def test_room_for_all_arrays_is_taken_before_they_are_written(tmp_path):
    """A write to a page that a full disk has no room for would kill the process."""
    lengths = {"indptr": 1 << 15, "indices": 1 << 17}
    with pytest.raises(ZeroDivisionError), new_store(tmp_path / "g.store", lengths):
        for name in lengths:
            about = os.stat(next(tmp_path.glob(f"*/{name}.npy")))
            assert 512 * about.st_blocks >= about.st_size > 1 << 18
        raise ZeroDivisionError  # the store is given up
    assert os.listdir(tmp_path) == []
