"""Damaged files of every format that the package reads, each read in this process with little memory and time.

A mutant is known by the seed and its number: `python tests/fuzz_files.py SEED FIRST LAST` reads those, says on a line
of JSON each what is wrong with one, and with none nothing. Fine is a named error with the path, or a valid result.
"""

import gzip
import io
import json
import os
import pathlib
import random
import re
import resource
import signal
import struct
import sys
import tarfile
import tempfile
import warnings
import zipfile
from collections.abc import Callable

import networkx as nx
import numpy as np
from scipy import sparse

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the package beside it, whatever else is installed

from graph_files import BANNER, same_csr

import graphclust as gc
from graphclust.datasets.cache import keep_graph, read_kept_graph
from graphclust.graph.matrices import graph_from_csr
from graphclust.io.text.points import read_points

ADDRESS_SPACE, RESIDENT, SECONDS = 3 << 30, 900 << 20, 10
NUMBERS = [
    *b"0 -1 -0 1e999 -1e999 nan inf 1e-320 0.5 1e5 x 99 65537 4294967296 2147483647 2147483648 1_0 0x10 007 +3".split(),
    *b"-2147483649 9223372036854775807 18446744073709551616".split(), b"", b"1" * 400, "\u0663".encode(),
]  # fmt: skip
TOKENS = [
    *(bytes([letter]) for letter in b"\0\n\r\t ,;\"'%#-<]{"), b"\xff\xfe", b"\xef\xbb\xbf", b"null", b"&x;", b"1 2\n",
    b"[" * 3000, b"'descr': '|O', ", b"<f8", b"|S99999999", b"<!--", b"<graph>", b"PK\3\4",
]  # fmt: skip
OPTIONS: list[dict] = [{}, {"weights": "abs"}, {"weights": "ignore"}, {"symmetrize": "sum"}, {"memory_limit": 1 << 20}]
WORDS = [-1, 0, 1, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 2**40, 0x7FF8000000000000, 0x7FF0000000000000]


def changed(content: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """One to three changes: a bit, a cut, a piece left out, said twice or from elsewhere, a number, a word."""
    text = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at, kind = rng.randrange(len(text) + 1), rng.choice("bbbxddrrotwwnnnnnnnn")
        if kind == "b" and at < len(text):
            text[at] ^= 1 << rng.randrange(8)
        elif kind == "x":
            del text[at:]
        elif kind == "d":
            del text[at : at + rng.choice((1, 4, 8, 40))]
        elif kind == "r":
            text[at:at] = text[at : at + rng.choice((1, 8, 80))] * rng.choice((1, 1, 2, 50))
        elif kind == "o":
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            text[at:at] = other[start : start + rng.choice((8, 80, 800))]
        elif kind == "t":
            text[at:at] = rng.choice(TOKENS)
        elif kind == "w":
            at -= at % 4  # where a number of an array begins
            word = struct.pack("<q", rng.choice(WORDS))[: rng.choice((1, 2, 4, 8))]
            text[at : at + len(word)] = word
        else:
            places = [found.span() for found in re.finditer(rb"-?\d+(\.\d+)?(e[+-]?\d+)?", text)]
            if places:
                first, last = rng.choice(places)
                text[first:last] = rng.choice(NUMBERS) if rng.random() < 0.6 else b"%d" % rng.randrange(14)
    return bytes(text)


def header_changed(content: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """An .npy file with a change in its header, whose length is right again; or with other numbers; or anywhere."""
    start = 10 + struct.unpack("<H", content[8:10])[0]
    kind = rng.choice("hnna")
    if kind == "h":
        text = changed(content[10:start], others, rng)[:60_000]
        return content[:8] + struct.pack("<H", len(text)) + text + content[start:]
    if kind == "n" and start + 4 <= len(content):
        numbers = bytearray(content)
        at = rng.randrange(start, len(content) - 3, 4)
        word = struct.pack("<q", rng.choice((*WORDS, rng.randrange(14))))[: rng.choice((1, 4, 8))][: len(content) - at]
        numbers[at : at + len(word)] = word
        return bytes(numbers)
    return changed(content, others, rng)


def of_gzip(content: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """A change below the compression, or of it."""
    if rng.random() < 0.3:
        return changed(content, others, rng)
    return gzip.compress(changed(gzip.decompress(content), others, rng), 1, mtime=0)


def of_zip(content: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """A change of one array in an archive that is whole, or of the archive; or an array left out."""
    if rng.random() < 0.3:
        return changed(content, others, rng)
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as archive,
        zipfile.ZipFile(packed, "w", archive.infolist()[0].compress_type) as new,
    ):
        unlucky = rng.choice(archive.namelist())
        for name in archive.namelist():
            part = archive.read(name)
            if name == unlucky and rng.random() < 0.05:
                continue
            new.writestr(name, header_changed(part, others, rng) if name == unlucky else part)
    return packed.getvalue()


def check_graph(graph: gc.Graph) -> None:
    assert same_csr(graph, graph_from_csr(graph.indptr, graph.indices, graph.weights)), "not as the gate wants it"
    assert graph.nodes is None or len(graph.nodes) == graph.n_nodes, "another number of names than of nodes"


def read_graph(path: str) -> None:
    options = OPTIONS[os.path.getsize(path) % len(OPTIONS)]
    check_graph(gc.load_graph(path, return_info=True, **options)[0])


def read_converted(path: str) -> None:
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        check_graph(gc.convert_to_store(path, folder + "/store"))


def read_kept(path: str) -> None:
    found = read_kept_graph(pathlib.Path(path))
    assert found is None or found[0].n_nodes == 12


def read_some_points(path: str) -> None:
    points = read_points(path)
    assert points.ndim == 2 and points.dtype == np.float64


def read_some_labels(path: str) -> None:
    nodes, labels = gc.read_labels(path)
    assert isinstance(nodes, list) and labels.dtype.kind in "iU" and labels.shape == (len(nodes),)


def read_model(path: str) -> None:
    model = gc.load_model(path)
    found = model.predict(np.eye(len(model.labels))) if len(model.labels) < 1000 else model.labels
    assert (found < len(model.mass)).all()


def read_store(path: str) -> None:
    check_graph(gc.open_store(path))


Change = Callable[[bytes, list[bytes], random.Random], bytes]


def samples(folder: pathlib.Path) -> dict[str, tuple[bytes, Change, Callable[[str], None]]]:
    """By the names of files: what is in them, how it is changed, how they are read. A store counts file by file."""
    network = nx.relabel_nodes(nx.barbell_graph(6, 0), {u: f"n{u}" for u in range(12)})
    nx.set_edge_attributes(network, {edge: 1.0 + place / 4 for place, edge in enumerate(network.edges)}, "weight")
    graph, named = gc.as_graph(nx.barbell_graph(6, 0)), gc.as_graph(network)
    found: dict[str, tuple[bytes, Change, Callable[[str], None]]] = {}

    def add(name: str, change: Change, read: Callable[[str], None]) -> None:
        found[name] = (folder / name).read_bytes(), change, read

    def write(name: str, content: str | bytes, change: Change, read: Callable[[str], None]) -> None:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        add(name, change, read)

    for ending in ("mtx", "txt", "csv", "graph", "graphml", "gexf", "gml"):
        for name, one in (("a", graph), ("b", named)):
            if (name, ending) not in (("b", "graph"), ("b", "mtx"), ("b", "txt")):
                gc.save_graph(folder / f"{name}.{ending}", one)
                add(f"{name}.{ending}", changed, read_graph)
    entries = "".join(f"{u + 1} {v + 1} {u}.5e-1\n" for u in range(1, 6) for v in range(6))
    write("c.mtx", f"{BANNER}% c\n6 6 30\n{entries}", changed, read_graph)
    write("d.mtx", f"{BANNER.replace('real', 'integer')}6 6 30\n{entries.replace('.5e-1', '')}", changed, read_graph)
    write("e.txt", "# Nodes: 4 Edges: 4\n10\t20\t1.5\n20\t30\t2\n30\t40\t.5\n40\t10\t7\n", changed, read_graph)
    write("f.csv", "Source;Target;Weight\n1;2;0.5\n2;3;1\n3;1;2\n", changed, read_graph)
    write("g.graph", "4 3 011 1\n1 2 5\n1 1 5 3 6\n1 2 6 4 7\n1 3 7\n", changed, read_graph)
    write("h.txt.gz", gzip.compress(found["e.txt"][0], mtime=0), of_gzip, read_graph)
    write("i.mtx.gz", gzip.compress(found["c.mtx"][0], mtime=0), of_gzip, read_graph)
    for name in ("c.mtx", "e.txt"):
        write(f"converted-{name}", found[name][0], changed, read_converted)
    tar = io.BytesIO()
    column, banner = "".join(f"{u}\n" for u in range(6)), "%%MatrixMarket matrix array integer general\n"
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for part, content in {
            "K/K.mtx": found["c.mtx"][0].decode(),
            "K/K_nodename.txt": column,
            "K/K_coord.mtx": f"{banner.replace('integer', 'real')}6 2\n{column}{column}",
            "K/K_nodeid.mtx": f"{banner}6 1\n{column}",
            "K/K_Communities_all.mtx": BANNER.replace("real", "pattern") + "6 2 3\n1 1\n2 1\n6 2\n",
        }.items():
            member = tarfile.TarInfo(part)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content.encode()))
    write("k.tar", tar.getvalue(), changed, read_graph)
    write("k.tar.gz", gzip.compress(tar.getvalue(), 1, mtime=0), of_gzip, read_graph)
    matrix = graph.to_scipy()
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        sparse.save_npz(folder / f"{kind}.npz", matrix.asformat(kind), compressed=kind in ("csr", "coo"))
        add(f"{kind}.npz", of_zip, read_graph)
    np.savez(folder / "plain.npz", indptr=graph.indptr, indices=graph.indices, data=matrix.data)
    add("plain.npz", of_zip, read_graph)
    with zipfile.ZipFile(folder / "text.zip", "w") as archive:
        archive.writestr("e.txt", found["e.txt"][0])
    add("text.zip", of_zip, read_graph)
    points = np.arange(24.0).reshape(8, 3)
    np.save(folder / "points.npy", points)
    np.savez_compressed(folder / "points.npz", X=points.astype("f4"), y=np.arange(8))
    np.savetxt(folder / "points.csv", points, delimiter=",", header="x,y,z", comments="")
    for name, change in (("points.npy", header_changed), ("points.npz", of_zip), ("points.csv", changed)):
        add(name, change, read_some_points)
    clustering = gc.coreset_sc(named, 2, rng=0)
    for ending in ("tsv", "csv", "json", "npz", "part"):
        gc.write_labels(folder / f"labels.{ending}", clustering)
        add(f"labels.{ending}", of_zip if ending == "npz" else changed, read_some_labels)
    clustering.model().save(folder / "model.npz")
    add("model.npz", of_zip, read_model)
    keep_graph(folder / "kept.npz", *gc.load_graph(folder / "a.mtx", return_info=True))
    add("kept.npz", changed, read_kept)
    gc.save_store(folder / "s.store", named)
    for file in sorted((folder / "s.store").iterdir()):
        add(f"s.store/{file.name}", header_changed if file.suffix == ".npy" else changed, read_store)
    return found


def fault_of(path: str, read: Callable[[str], None], limit: int = RESIDENT) -> str | None:
    """What is wrong with how a file was read; None where it was read, or refused by name."""
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")  # the peak of memory is reset: that of compiling is not this file's
    try:
        read(path)
    except gc.GraphClustError as problem:
        if path not in str(problem) or "memory ran out" in str(problem) or "\n" in str(problem):
            return f"{type(problem).__name__} without a path, after the memory, or of many lines: {problem}"
    except BaseException as problem:
        return f"{type(problem).__name__}: {problem}"
    with open("/proc/self/status") as status:  # getrusage would begin with the peak of the parent process
        resident = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
    return f"{resident >> 20} MiB of memory" if resident > limit else None


def main(seed: int, first: int, last: int) -> None:
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", gc.GraphWarning)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        files = samples(pathlib.Path(folder))
        names, contents = list(files), [content for content, _, _ in files.values()]
        for name in names:  # compiles, which takes more memory, and shows that the files are whole
            path = os.path.join(folder, os.path.dirname(name) or name)
            fault = fault_of(path, files[name][2], limit=ADDRESS_SPACE)
            assert fault is None, (name, fault)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        for number in range(first, last):
            name = names[number % len(names)]
            content, change, read = files[name]
            file = pathlib.Path(folder, name)
            mutant = change(content, contents, random.Random(f"{seed} {number}"))
            file.write_bytes(mutant)
            print(number, flush=True)
            signal.setitimer(signal.ITIMER_REAL, SECONDS)  # whose signal ends the process
            fault = fault_of(str(file.parent if read is read_store else file), read)
            signal.setitimer(signal.ITIMER_REAL, 0)
            if fault is not None:
                print(json.dumps([name, fault, repr(mutant[:2000])]), flush=True)
            if read is read_store:
                file.write_bytes(content)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
