"""Files of NumPy's arrays: what they claim is checked before memory is taken, and every failure has a path."""

import io
import json
import struct
import tracemalloc
import zipfile

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from scipy import sparse

import graphclust as gc
from graphclust.io.formats.array_files import open_archive, parse_json, read_array
from graphclust.io.text.points import read_points

RING = {"indices": np.array([1, 2, 0, 3, 0, 3, 1, 2], "i4"), "indptr": np.array([0, 2, 4, 6, 8], "i4")}
MATRIX = {"format": b"csr", "shape": [4, 4], "data": np.ones(8), **RING}


def npy(header: str | bytes, numbers: bytes = b"", version: bytes = b"\1\0", length: int | None = None) -> bytes:
    text = header.encode() if isinstance(header, str) else header
    size = struct.pack("<H" if version[0] == 1 else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + version + size + text + numbers


def npz(path, kind: int = zipfile.ZIP_STORED, **members: bytes):
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, content in members.items():
            archive.writestr(name + ".npy", content)
    return path


def of_array(values) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(values))
    return file.getvalue()


READERS = {
    "matrix.npz": gc.load_graph, "labels.npz": gc.read_labels, "model.npz": gc.load_model, "points.npz": read_points,
    "points.npy": read_points,
}  # fmt: skip
FACTS = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }"
HEADERS = {
    "a number": "7", "no end": "{'descr': '<f8', 'shape': (", "deep": "(" * 4000, "signs": "-" * 9000 + "1",
    "fields": "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (8,), }",
} | {
    kind: FACTS % facts
    for kind, facts in {
        "objects": ("|O", "False", "8,"), "no type": ("<x9", "False", "8,"), "dates": ("<M8[s]", "False", "8,"),
        "texts of no length": ("<U0", "False", "8,"), "a word for the order": ("<f8", "'no'", "8,"),
        "negative": ("<f8", "False", "-8,"), "a truth": ("<f8", "False", "True,"),
        "a fraction": ("<f8", "False", "8.0,"), "huge": ("<f8", "False", f"{10**12},"),
        "beyond integers": ("<f8", "False", f"{10**40},"),
        "too many dimensions": ("<f8", "False", "1," * 70),
    }.items()
}  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", HEADERS)
def test_headers_that_cannot_be_are_named_before_memory_is_taken(tmp_path, reader, kind):
    path, content = tmp_path / reader, npy(HEADERS[kind], bytes(64))
    if reader == "points.npy":
        path.write_bytes(content)
    else:
        members = {"format": of_array(b"csr"), "shape": of_array([4, 4]), "data": of_array(np.ones(8))}
        npz(path, **members, **dict.fromkeys(("indices", "indptr", "nodes", "labels", "header", "points"), content))
    tracemalloc.start()
    with pytest.raises(gc.GraphFormatError, match=reader.replace(".", r"\.")) as caught:
        READERS[reader](path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.path == str(path) and "allow_pickle" not in str(caught.value) and peak < 4 << 20
    if kind == "objects":
        assert "pickled objects are never loaded" in str(caught.value)


@pytest.mark.parametrize("version", [b"\2\0", b"\3\0"])
def test_a_header_that_claims_gigabytes_is_not_read(tmp_path, version):
    (tmp_path / "p.npy").write_bytes(npy("{", b"", version, length=2**32 - 1))
    refuses(gc.GraphFormatError, "claims 4294967295 bytes, expected at most 10000", read_points, tmp_path / "p.npy")


def test_all_versions_and_orders_of_arrays_are_read(tmp_path):
    values = np.arange(6.0).reshape(2, 3)
    for dtype in ("<f8", ">f8", "<f4", ">i2", "|b1", "<f2"):
        for array in (values.astype(dtype), np.asfortranarray(values.astype(dtype))):
            for version in ((1, 0), (2, 0), (3, 0)):
                with open(tmp_path / "p.npy", "wb") as file:
                    np.lib.format.write_array(file, array, version)
                assert np.array_equal(read_points(tmp_path / "p.npy"), array.astype(float))
    for array in (np.empty((0, 3)), np.array(2.5), np.array(["ä", "bc"]), np.array([b"x"])):
        np.save(tmp_path / "p.npy", array)
        with open(tmp_path / "p.npy", "rb") as file:
            found = read_array(file, "p.npy", "is none")
        assert np.array_equal(found, array) and found.dtype == array.dtype and found.shape == array.shape


def test_numbers_of_python_2_are_read(tmp_path):
    (tmp_path / "p.npy").write_bytes(npy(FACTS % ("<f8", "False", "2L, 1L"), np.ones(2).tobytes()))
    assert read_points(tmp_path / "p.npy").tolist() == [[1], [1]]


def test_an_array_that_is_cut_off_or_followed_by_more_is_refused(tmp_path):
    whole = of_array(np.ones((4, 2)))
    for content, words in ((whole[:-1], "ends after 63|bytes"), (whole + whole, "more bytes follow")):
        (tmp_path / "p.npy").write_bytes(content)
        refuses(gc.GraphFormatError, words, read_points, tmp_path / "p.npy")


def test_damaged_archives_are_refused_with_their_path(tmp_path):
    npz(tmp_path / "a.npz", zipfile.ZIP_DEFLATED, nodes=of_array(np.arange(40)), labels=of_array(np.arange(40) % 3))
    whole = (tmp_path / "a.npz").read_bytes()
    assert gc.read_labels(tmp_path / "a.npz")[1].tolist() == (np.arange(40) % 3).tolist()
    refused = 0
    for at in range(0, len(whole), 7):
        for bit in (1, 128):
            (tmp_path / "a.npz").write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            try:
                gc.read_labels(tmp_path / "a.npz")
            except (gc.GraphFormatError, gc.ResourceLimitError) as problem:
                assert str(tmp_path / "a.npz") in str(problem)
                refused += 1
    assert refused > len(whole) / 7


def test_members_that_numpy_does_not_write_are_refused(tmp_path):
    arrays = {"nodes": of_array(np.arange(4)), "labels": of_array(np.arange(4))}
    with pytest.raises(gc.GraphFormatError, match="neither stored nor deflated"):
        gc.read_labels(npz(tmp_path / "a.npz", zipfile.ZIP_LZMA, **arrays))
    with (
        zipfile.ZipFile(npz(tmp_path / "a.npz", **arrays), "a") as archive,
        pytest.warns(UserWarning, match="Duplicate"),
    ):
        archive.writestr("labels.npy", of_array(np.zeros(4, int)))
    refuses(gc.GraphFormatError, "two of its members have one name", gc.read_labels, tmp_path / "a.npz")


def test_text_that_is_no_unicode_is_refused(tmp_path):
    header = FACTS % ("<U1", "False", "1,")
    npz(tmp_path / "a.npz", nodes=npy(header, struct.pack("<I", 0x110000)), labels=of_array([0]))
    refuses(gc.GraphFormatError, "letters of Unicode", gc.read_labels, tmp_path / "a.npz")


@pytest.mark.slow
def test_a_limit_holds_for_labels_models_points_and_matrices(tmp_path):
    many = of_array(np.zeros(1 << 14))  # 128 KiB, which deflate packs far smaller
    members = dict.fromkeys(("nodes", "labels", "header", "inside", "mass", "points"), many)
    npz(tmp_path / "a.npz", zipfile.ZIP_DEFLATED, **members)
    np.savez(tmp_path / "m.npz", **MATRIX)
    for read, name in ((gc.read_labels, "a"), (gc.load_model, "a"), (gc.load_graph, "m")):
        with pytest.raises(gc.ResourceLimitError, match=rf"{name}\.npz: .*memory_limit"):
            read(tmp_path / f"{name}.npz", memory_limit=1 << 8)
    assert gc.load_graph(tmp_path / "m.npz", memory_limit=1 << 20).n_edges == 4


def test_an_array_beyond_what_its_bytes_can_hold_is_refused(tmp_path):
    """The directory says one thing and the bytes cannot: no limit is needed."""
    npz(tmp_path / "a.npz", zipfile.ZIP_DEFLATED, nodes=of_array(np.arange(4)), labels=npy(HEADERS["huge"]))
    with pytest.raises(gc.GraphFormatError, match="8000000000000 bytes, but at most"):
        gc.read_labels(tmp_path / "a.npz", memory_limit=1 << 60)


def test_a_shape_of_half_a_gigabyte_is_not_read(tmp_path):
    claimed = npy(FACTS % ("<i8", "False", f"{1 << 26},"))
    npz(tmp_path / "a.npz", format=of_array(b"csr"), shape=claimed, data=of_array(np.ones(8)))
    tracemalloc.start()
    refuses(gc.GraphFormatError, "shape", gc.load_graph, tmp_path / "a.npz")
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


DAMAGED = {
    "a start far away": {"indptr": np.array([0, 10**9, 4, 6, 8], "i4")},
    "starts that decrease": {"indptr": np.array([0, 6, 2, 6, 8], "i4")},
    "starts beyond the entries": {"indptr": np.array([0, 2, 4, 6, 10**9], "i4")},
    "a start below zero": {"indptr": np.array([-(10**9), 2, 4, 6, 8], "i4")},
    "too few starts": {"indptr": np.array([0, 2, 8], "i4")},
    "an index too large": {"indices": np.array([1, 2, 0, 3, 0, 3, 1, 10**9], "i4")},
    "an index below zero": {"indices": np.array([1, 2, 0, 3, 0, 3, 1, -7], "i4")},
    "fractions for indices": {"indices": np.array([1, 2, 0, 3, 0, 3, 1, 2.5])},
    "too few values": {"data": np.ones(3)},
    "values in a table": {"data": np.ones((8, 2))},
    "complex values": {"data": np.ones(8, complex)},
    "texts for values": {"data": np.array(["1"] * 8)},
    "no values": {"data": None},
    "another format": {"format": b"xyz"},
    "a long format": {"format": b"csr" * 9},
    "three sizes": {"shape": [4, 4, 4]},
    "a size below zero": {"shape": [-4, -4]},
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGED)
@pytest.mark.parametrize("layout", ["csr", "csc", "plain"])
def test_matrices_with_damaged_arrays_are_refused_by_name(tmp_path, kind, layout):
    parts = MATRIX | {"format": layout.encode()} | DAMAGED[kind]
    if layout == "plain":
        del parts["format"]
        if kind in ("no values", "another format", "a long format"):
            return
    np.savez(tmp_path / "r.npz", **{name: values for name, values in parts.items() if values is not None})
    refuses((gc.GraphFormatError, gc.GraphValidationError), r"r\.npz", gc.load_graph, tmp_path / "r.npz")


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
@pytest.mark.parametrize("kind", ["bsr", "coo", "dia"])
def test_other_layouts_of_scipy_are_read_and_checked(tmp_path, kind):
    matrix = gc.as_graph(nx.cycle_graph(12)).to_scipy()
    sparse.save_npz(tmp_path / "m.npz", matrix.asformat(kind))
    assert gc.load_graph(tmp_path / "m.npz") == gc.as_graph(matrix)
    with np.load(tmp_path / "m.npz") as stored:
        parts = {name: stored[name] for name in stored.files}
    for name in {"bsr": ("indices", "indptr"), "coo": ("row", "col"), "dia": ("offsets",)}[kind]:
        for wrong in (parts[name] + 10**9, parts[name][:-1], parts[name].astype(float), parts[name][None]):
            np.savez(tmp_path / "r.npz", **(parts | {name: wrong}))
            try:
                graph = gc.load_graph(tmp_path / "r.npz")
            except (gc.GraphFormatError, gc.GraphValidationError) as problem:
                assert str(tmp_path / "r.npz") in str(problem)
            else:  # a diagonal far away holds no entry
                assert kind == "dia" and graph.n_edges == 0


@pytest.mark.parametrize("prefix", ["", "adj_"])
@pytest.mark.parametrize(
    "given", ["indptr indices", "indptr indices data", "indptr indices data shape", "row col shape"]
)
def test_plain_arrays_of_a_matrix_are_read(tmp_path, prefix, given):
    """As graph neural networks' data sets have them, beside arrays that are left alone."""
    matrix = gc.as_graph(nx.karate_club_graph()).to_scipy()
    entries = matrix.tocoo()
    arrays = {name: getattr(matrix, name) for name in ("indptr", "indices", "data", "shape")}
    arrays |= {"row": entries.row, "col": entries.col}
    parts = {prefix + name: arrays[name] for name in given.split()}
    np.savez(tmp_path / "g.npz", **parts, labels=np.arange(34), names=np.array([print], object))
    expected = gc.as_graph(matrix) if "data" in given else gc.as_graph(matrix.astype(bool))
    graph, info = gc.load_graph(tmp_path / "g.npz", return_info=True)
    assert graph == expected and info.format == "npz"
    assert gc.convert_to_store(tmp_path / "g.npz", tmp_path / "g.store") == expected


def test_an_archive_of_other_arrays_says_which_it_has_and_which_are_missing(tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=np.zeros((2, 3), int), x=np.ones(3))
    words = r"g\.npz: .*archive of the arrays edge_index, x; expected .*indptr and indices"
    refuses(gc.GraphFormatError, words, gc.load_graph, tmp_path / "g.npz")
    np.savez(tmp_path / "g.npz", format=b"csr", data=np.ones(3), indices=np.arange(3))
    with pytest.raises(gc.GraphFormatError, match=r"no array 'indptr', but 'format', 'data', 'indices'"):
        gc.load_graph(tmp_path / "g.npz")
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("edges.txt", "1 2\n")
    refuses(gc.GraphFormatError, "zip archive, expected plain text", gc.load_graph, tmp_path / "t.zip")


@pytest.mark.parametrize("name", ["labels.json", "model.npz", "s.store"])
def test_json_that_is_nested_too_deep_is_refused(tmp_path, name):
    deep = b"[" * 100_000 + b"]" * 100_000
    path = tmp_path / name
    if name == "s.store":
        gc.save_store(path, nx.relabel_nodes(nx.path_graph(3), {0: "a", 1: "b", 2: "c"}))
        (path / "nodes.json").write_bytes(deep)
    elif name == "model.npz":
        header = of_array(np.frombuffer(deep, np.uint8))
        npz(path, header=header, **dict.fromkeys(("labels", "inside", "mass"), of_array([0])))
    else:
        path.write_bytes(deep)
    with pytest.raises(gc.GraphFormatError, match="nested too deep"):
        {"labels.json": gc.read_labels, "model.npz": gc.load_model, "s.store": gc.open_store}[name](path)
    refuses(ValueError, "nested too deep", parse_json, deep)


def test_json_of_other_things_is_no_file_of_labels(tmp_path):
    pairs = [
        ("abc", [0, 1, 2]), ({"a": 1}, [0]), ([None], [0]), ([[1]], [0]), ([1], [1.5]), ([1, 2], ["1", 2]),
        ([1], [True]), ([1], [2**70]), ([1, 2], [1]),
    ]  # fmt: skip
    for stored in (*({"nodes": nodes, "labels": labels} for nodes, labels in pairs), [1], 7):
        (tmp_path / "l.json").write_text(json.dumps(stored))
        refuses(gc.GraphFormatError, r"l\.json", gc.read_labels, tmp_path / "l.json")


def test_labels_beyond_int64_do_not_wrap_around(tmp_path):
    np.savez(tmp_path / "l.npz", nodes=np.arange(2), labels=np.array([0, 2**64 - 1], np.uint64))
    refuses(gc.GraphFormatError, "below 2\\^63", gc.read_labels, tmp_path / "l.npz")
    gc.write_labels(tmp_path / "k.npz", np.array([0, -1]), ["a", "ñ"])
    assert gc.read_labels(tmp_path / "k.npz")[0] == ["a", "ñ"]


def test_models_whose_header_cannot_be_are_refused(tmp_path):
    gc.coreset_sc(nx.karate_club_graph(), 2, rng=0).model().save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as stored:
        parts = {name: stored[name] for name in stored.files}
    impossible = {
        "total": (None, float("nan"), -1.0), "resolution": (None, [1], float("inf")),
        "nodes": ("x" * 34, [None] * 34, 5, ["x"] * 34), "objective": ([],), "options": ([1],), "k": ("x",),
        "format": (1,), "format_version": ([2],),
    }  # fmt: skip
    for field, values in impossible.items():
        for value in values:
            header = json.dumps(json.loads(parts["header"].tobytes()) | {field: value}).encode()
            np.savez(tmp_path / "m.npz", **(parts | {"header": np.frombuffer(header, np.uint8)}))
            refuses(gc.GraphFormatError, r"m\.npz: expected a model", gc.load_model, tmp_path / "m.npz")


def test_names_of_members_and_their_headers_are_known_before_they_are_read(tmp_path):
    np.savez(tmp_path / "a.npz", one=np.ones((3, 2)), two=np.arange(4))
    with open_archive(tmp_path / "a.npz", "a", "is none") as archive:
        assert archive.names == ["one", "two"] and archive.header("one").shape == (3, 2)
        assert archive.header("two").n_bytes == 32 and archive.read("two")[0].tolist() == [0, 1, 2, 3]
