"""A graph on the disk that is mapped: only the rows that are used come into memory.

A store is a folder of plain .npy arrays under a JSON header, with int64 row starts and int32 neighbors, which SciPy's
matrices cannot combine. It is written into a new folder beside its place, header last, and takes its name when
everything is on the disk. Files are never changed once they have their name, so that a process that has mapped them
keeps reading what was there.
"""

from __future__ import annotations

import errno
import io
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from graphclust.checks import as_choice
from graphclust.compiled.graphs import csr
from graphclust.compiled.graphs.objective import RowSums
from graphclust.compiled.runtime.blocks import entry_blocks, row_blocks, run_in_blocks
from graphclust.errors import GraphFormatError, escape_controls
from graphclust.graph.container import Graph
from graphclust.graph.matrices import check_degrees
from graphclust.io import atomic_write
from graphclust.io.formats.array_files import check_version, name_failures, parse_json
from graphclust.io.formats.array_files import read_header as read_array_header

__all__ = ["StoredGraph", "open_store"]

HEADER, NAMES = "header.json", "nodes.json"
FORMAT, VERSION = "graphclust-store", 1
# What a store may hold: one number a row and one more, one an entry, or one a node.
DTYPES = {
    "indptr": "<i8", "indices": "<i4", "weights": "<f8", "degrees": "<f8", "loops": "<f8", "nodes": "<i8",
    "node_weights": "<f8",
}  # fmt: skip
LONGEST_HEADER = 1 << 24
AGAIN = "write the store again"
VERIFICATIONS = ("full", "fast")
COPIED = 1 << 22  # numbers at a time
MOST_TRIALS = 100  # to map a store that others replace


def length_of(name: str, n_nodes: int, n_entries: int) -> int:
    """How many numbers an array of a store has."""
    return {"indptr": n_nodes + 1, "indices": n_entries, "weights": n_entries}.get(name, n_nodes)


def npy_header(dtype: str, length: int) -> bytes:
    """The first bytes of a .npy file of one dimension; as many for any length, so that they can be written last."""
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, {"descr": dtype, "fortran_order": False, "shape": (length,)})
    return text.getvalue()


def check_store_target(path: str | os.PathLike, overwrite: bool) -> str:
    """The name of a folder that a store may be written to; FileNotFoundError or FileExistsError where it may not.

    overwrite : whether a store that is there may be replaced; what is no store never is.
    """
    name = os.path.abspath(os.fsdecode(path))
    said, folder = escape_controls(name), os.path.dirname(name)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"cannot write {said}: there is no folder {escape_controls(folder)}")
    atomic_write.check_length(name)
    atomic_write.take_back(name)
    if os.path.lexists(name) and not os.path.isfile(os.path.join(name, HEADER)):
        raise FileExistsError(f"{said} exists already and is not a store; choose another name")
    if os.path.lexists(name) and not overwrite:
        raise FileExistsError(f"{said} exists already and was left as it is; choose another name, or overwrite=True")
    return name


@contextmanager
def new_store(
    path: str | os.PathLike, lengths: dict[str, int], overwrite: bool = False, names: list[str] | None = None,
    remarks: Sequence[str] = (),
) -> Iterator[dict[str, np.ndarray]]:  # fmt: skip
    """The arrays of a store that appears under its name when the block ends, and leaves nothing behind if that fails.

    lengths : of the arrays. The room for all of them is taken first: a write to a mapped file on a disk that has become
        full would kill the process.
    """
    name = check_store_target(path, overwrite)
    atomic_write.remove_partial(name)
    n_bytes = sum(length * np.dtype(DTYPES[array]).itemsize for array, length in lengths.items())
    with (
        atomic_write.no_room_named(name, lambda: f" for about {n_bytes:,} bytes"),
        atomic_write.temporary_folder(name) as folder,
    ):
        arrays = {array: _allocate(folder, array, length) for array, length in lengths.items()}
        if names is not None:
            write_json(os.path.join(folder, NAMES), names)
        yield arrays
        arrays.clear()
        seal(folder, lengths, remarks, names is not None)
        publish(folder, name, overwrite)


def _allocate(folder: str, array: str, length: int) -> np.ndarray:
    """An array of a new store, mapped for writing to a file of full length."""
    path, dtype = os.path.join(folder, array + ".npy"), np.dtype(DTYPES[array])
    start = npy_header(DTYPES[array], length)
    n_bytes = len(start) + length * dtype.itemsize
    with open(path, "wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, n_bytes)
        else:
            file.truncate(n_bytes)
        file.write(start)
    return np.memmap(path, dtype, "r+", len(start), (length,)).view(np.ndarray) if length else np.empty(0, dtype)


def seal(folder: str, lengths: dict[str, int], remarks: Sequence[str], has_names: bool = False) -> str:
    """Bring the arrays of a folder to the disk, and then its header, without which it is no store; returns its id."""
    for array in lengths:
        with open(os.path.join(folder, array + ".npy"), "rb+") as file:
            os.fsync(file.fileno())
    arrays = {array: {"dtype": DTYPES[array], "length": length} for array, length in lengths.items()}
    header = {
        "format": FORMAT, "version": VERSION, "id": (key := secrets.token_hex(16)), "n_nodes": lengths["indptr"] - 1,
        "n_entries": lengths["indices"], "arrays": arrays, "names": has_names, "remarks": list(remarks),
    }  # fmt: skip
    write_json(os.path.join(folder, HEADER), header, indent=1)
    _folder_to_disk(folder)
    return key


def publish(folder: str, name: str, overwrite: bool) -> None:
    """Give a sealed folder its name, from which a store that it replaces is never missing."""
    check_store_target(name, overwrite)
    try:
        os.rename(folder, name)
    except OSError:
        if not os.path.lexists(name):
            raise
        check_store_target(name, overwrite)  # another process may have written it meanwhile
        atomic_write.replace_folder(folder, name)
    _folder_to_disk(os.path.dirname(name))


def write_json(path: str, value: Any, indent: int | None = None) -> None:
    """Write a file that is on the disk afterwards."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=indent)
        file.flush()
        os.fsync(file.fileno())


def _folder_to_disk(folder: str) -> None:
    with suppress(OSError):  # some file systems cannot, and need not
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_header(folder: str) -> dict[str, Any]:
    """The header of a store, with every field of the right type; GraphFormatError names the one that is not.

    FileNotFoundError where there is nothing at all.
    """
    path = os.path.join(folder, HEADER)
    atomic_write.take_back(folder)
    try:
        with open(path, encoding="utf-8") as file:
            header = parse_json(file.read(LONGEST_HEADER))
    except FileNotFoundError:
        if not os.path.lexists(folder):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder) from None
        raise GraphFormatError(f"has no {HEADER}: it is not a store, or one that was not finished", folder) from None
    except ValueError as problem:
        raise GraphFormatError(f"is not JSON text ({problem}); {AGAIN}", path) from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise GraphFormatError(f'holds no "format": "{FORMAT}", expected the header of a store', path)
    with name_failures(path, "is no store that can be read"):
        check_version(FORMAT, FORMAT, header.get("version"), VERSION)
    for field, kind in (("id", str), ("n_nodes", int), ("n_entries", int), ("arrays", dict), ("names", bool)):
        if type(header.get(field)) is not kind:
            raise GraphFormatError(f"{field} is {header.get(field)!r}, expected {_KINDS[kind]}", path)
    n_nodes, n_entries, remarks = header["n_nodes"], header["n_entries"], header.get("remarks")
    if not (1 <= n_nodes < 2**31 and 0 <= n_entries < 2**62):
        raise GraphFormatError(f"n_nodes is {n_nodes}, n_entries is {n_entries}, expected a graph of 1 to 2^31", path)
    if not isinstance(remarks, list) or not all(isinstance(remark, str) for remark in remarks):
        raise GraphFormatError(f"remarks is {remarks!r}, expected a list of sentences", path)
    missing = {"indptr", "indices", "degrees"} - set(header["arrays"])
    unknown = set(header["arrays"]) - set(DTYPES)
    if missing or unknown:
        raise GraphFormatError(f"arrays lacks {sorted(missing)} and has the unknown {sorted(unknown)}", path)
    for array, said in header["arrays"].items():
        expected = {"dtype": DTYPES[array], "length": length_of(array, n_nodes, n_entries)}
        if said != expected:
            raise GraphFormatError(f"arrays.{array} is {said!r}, expected {expected!r}", path)
    return header


_KINDS = {str: "text", int: "a whole number", dict: "an object", bool: "true or false"}


def open_array(folder: str, array: str, length: int) -> np.ndarray:
    """An array of a store, mapped read-only; GraphFormatError where its file is not exactly what it should be."""
    path, dtype = os.path.join(folder, array + ".npy"), np.dtype(DTYPES[array])
    try:
        with open(path, "rb") as file:
            n_bytes = os.fstat(file.fileno()).st_size
            with name_failures(path, "is no .npy file"):
                header = read_array_header(file)
            offset = file.tell()
    except FileNotFoundError:
        raise GraphFormatError(f"is missing; {AGAIN}", path) from None
    if header.dtype != dtype:
        raise GraphFormatError(f"holds dtype {header.dtype.str}, expected {dtype.str}", path)
    if header.shape != (length,) or header.fortran_order:
        raise GraphFormatError(f"has shape {header.shape}, expected ({length},) as in {HEADER}", path)
    if n_bytes != (expected := offset + length * dtype.itemsize):
        problem = f"has {n_bytes} bytes, expected {expected} for {length} numbers"
        raise GraphFormatError(f"{problem}: it was cut off or is not whole; {AGAIN}", path)
    if length == 0:
        return np.empty(0, dtype)
    return np.memmap(path, dtype, "r", offset, (length,)).view(np.ndarray)


def read_names(folder: str, n_nodes: int) -> list[str]:
    """The names of the nodes, one text each."""
    path = os.path.join(folder, NAMES)
    try:
        with open(path, encoding="utf-8") as file:
            names = parse_json(file.read())
    except FileNotFoundError:
        raise GraphFormatError(f"is missing; {AGAIN}", path) from None
    except ValueError as problem:
        raise GraphFormatError(f"is not JSON text ({problem}); {AGAIN}", path) from None
    if not isinstance(names, list) or len(names) != n_nodes or not all(isinstance(name, str) for name in names):
        raise GraphFormatError(f"does not hold {n_nodes} names, one for each node", path)
    return names


@dataclass(frozen=True, eq=False, repr=False)
class StoredGraph(Graph):
    """A `Graph` whose arrays are mapped from a store: it takes no memory of its own, and pickles as its path.

    path : the folder.  key : of this very store; another one that was put in its place has another.
    """

    path: str = ""
    key: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self.key)


def _reopen(path: str, key: str) -> StoredGraph:
    graph = map_store(path)
    if graph.key != key:
        raise GraphFormatError("is not the store that was pickled: another graph was written to its place", path)
    return graph


def is_store(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder with the header of a store."""
    name = os.path.abspath(os.fsdecode(path))
    atomic_write.take_back(name)
    return os.path.isfile(os.path.join(name, HEADER))


def open_store(path: str | os.PathLike[str], *, verify: str = "full") -> Graph:
    """The graph in a store, mapped: it takes memory only for the rows that are being looked at.

    verify : "full" reads everything once: whether rows are in order and symmetric, indices in range, weights positive,
        degrees right. "fast" looks at the header, the sizes of the files and the starts of the rows, and trusts the
        rest: for a store that was checked when it was written, as `save_store` and `convert_to_store` do.

    The files must not be changed while the graph is in use; nothing here does, since a store is replaced by another
    folder. A file that is cut short from outside kills the process that reads it.

    Raises GraphFormatError, with the file and what is wrong with it, for what is no store or a damaged one, and
    FileNotFoundError where there is nothing.

    >>> import networkx as nx, tempfile
    >>> from graphclust import save_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_store(f"{folder}/path.store", nx.path_graph(4))
    ...     open_store(f"{folder}/path.store").degrees
    array([1., 2., 2., 1.])
    """
    as_choice(verify, "verify", VERIFICATIONS)
    graph = map_store(os.path.abspath(os.fsdecode(path)))
    if verify == "full":
        _check_entries(graph)
    return graph


def map_store(folder: str) -> StoredGraph:
    """The graph in a store whose files have the right sizes and starts of rows; all files are of one store.

    Another process may replace it meanwhile: then the header has another id afterwards, and the files are mapped again.
    """
    for left in reversed(range(MOST_TRIALS)):
        key = None
        try:
            header = read_header(folder)
            key = header["id"]
            graph = _map_by(header, folder)
        except (GraphFormatError, OSError, ValueError):  # NumPy's own of a file that has become shorter
            if not left or _key_of(folder) == key:
                raise
        else:
            if _key_of(folder) == key:
                return graph
    raise GraphFormatError("is replaced again and again by other processes; open it when they have finished", folder)


def _key_of(folder: str) -> str | None:
    """The id of the store that is there now, None where there is none."""
    with suppress(GraphFormatError, OSError):
        return read_header(folder)["id"]
    return None


def _map_by(header: dict[str, Any], folder: str) -> StoredGraph:
    """The graph of a store, its arrays mapped, not read."""
    n, n_entries = header["n_nodes"], header["n_entries"]
    arrays = {array: open_array(folder, array, length_of(array, n, n_entries)) for array in header["arrays"]}
    nodes = read_names(folder, n) if header["names"] else arrays.get("nodes")
    loops = arrays["loops"] if "loops" in arrays else np.zeros(n)  # of which pages that are only read take no memory
    indptr, file = arrays["indptr"], os.path.join(folder, "indptr.npy")  # checked, or a loop could read beyond the file
    if indptr[0] != 0:
        raise GraphFormatError(f"begins with {indptr[0]}, expected 0", file)
    if indptr[-1] != n_entries:
        raise GraphFormatError(f"ends with {indptr[-1]}, expected {n_entries}, the number of entries", file)
    for first, last in pairwise(row_blocks(n, COPIED).tolist()):
        decreasing = np.flatnonzero(indptr[first + 1 : last + 1] < indptr[first:last])
        if len(decreasing):
            raise GraphFormatError(f"decreases after row {first + decreasing[0]}, expected increasing row starts", file)
    return StoredGraph(
        indptr, arrays["indices"], arrays.get("weights"), arrays["degrees"], loops, nodes,
        tuple(header["remarks"]), folder, header["id"], file=folder, node_weights=arrays.get("node_weights"),
    )  # fmt: skip


def _check_entries(graph: StoredGraph) -> None:
    """What the gate checks of a matrix, in one pass over the files."""
    n = graph.n_nodes
    blocks = entry_blocks(graph.indptr)
    rows, sums = graph.rows, RowSums(np.zeros(n), np.zeros(n))
    faults, asymmetry = np.zeros((2, len(blocks) - 1), np.int64)
    run_in_blocks(csr.check_rows, blocks, rows, rows.weights.view(np.uint64), sums, faults, asymmetry)
    if faults.any():
        block = int(np.flatnonzero(faults)[0])
        starts = graph.indptr[blocks[block] : blocks[block + 1] + 1]
        columns, weights = (values[starts[0] : starts[-1]] for values in (rows.indices, rows.weights))
        is_wrong = np.append(False, columns[1:] <= columns[:-1])
        is_wrong[starts[starts < starts[-1]] - starts[0]] = False  # the first of a row follows none
        is_wrong |= (columns < 0) | (columns >= n)
        if len(weights):
            is_wrong |= ~((weights > 0.0) & (weights < np.inf))
        entry = int(starts[0] + is_wrong.argmax())
        row = int(np.searchsorted(graph.indptr, entry, side="right")) - 1
        weight = "" if graph.weights is None else f" with weight {graph.weights[entry]}"
        problem = f"row {row} holds {graph.indices[entry]}{weight} at entry {entry}"
        expected = f"expected increasing numbers of nodes below {n} with finite weights > 0"
        raise GraphFormatError(f"{problem}, {expected}; {AGAIN}", graph.path)
    if asymmetry.sum() != 0:  # wraps around, as it should
        expected = "expected each edge in the rows of both its ends"
        raise GraphFormatError(f"rows are not symmetric, {expected}; {AGAIN}", graph.path)
    for array, sums_of, stored in (("degrees", sums.degrees, graph.degrees), ("loops", sums.loops, graph.loops)):
        if len(wrong := np.flatnonzero(sums_of != stored)):
            u, file = int(wrong[0]), os.path.join(graph.path, array + ".npy")
            raise GraphFormatError(f"holds {stored[u]} for row {u}, whose entries make {sums_of[u]}; {AGAIN}", file)
    check_degrees(sums.degrees)
    own = graph.node_weights
    if own is not None and len(wrong := np.flatnonzero(~(np.isfinite(own) & (own >= 0.0)))):
        u, file = int(wrong[0]), os.path.join(graph.path, "node_weights.npy")
        raise GraphFormatError(f"holds {own[u]} for node {u}, expected finite numbers >= 0; {AGAIN}", file)
