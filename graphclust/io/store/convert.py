"""Make a store of a file larger than memory: an external bucket sort by row.

1. The file is read once; its lines go to the disk as numbers (8 bytes each, 24 with weights and long ids at most).
2. A pass over them counts the entries of each row. Runs of rows that fit into memory become buckets, and a second pass
   sends each line to the buckets of its two ends (16 bytes, 32 with weights).
3. Bucket by bucket the keys are sorted, the two directions of an edge joined, and the rows appended to the store.

Notes at every step say what is on the disk, so that a conversion that was stopped or killed can resume.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from itertools import islice, pairwise
from typing import Any

import numpy as np

from graphclust.compiled.graphs.csr import sum_rows
from graphclust.compiled.graphs.objective import Rows, RowSums
from graphclust.compiled.runtime.blocks import MadeRows, row_blocks
from graphclust.compiled.text import edges_to_csr
from graphclust.compiled.text.edges_to_csr import N_COUNTS
from graphclust.errors import GraphFormatError, GraphValidationError, GraphWarning, ResourceLimitError, warn_caller
from graphclust.graph.container import NO_WEIGHTS, Graph
from graphclust.graph.matrices import check_degrees, remark_on_isolated, warn_of
from graphclust.io.atomic_write import LOCK, NOTES, forget, no_room_named, partial_folder
from graphclust.io.columns import Column
from graphclust.io.container_limits import available_bytes
from graphclust.io.edges import EdgeCounts, Edges, IdTable, allowed_bytes, apply_policies
from graphclust.io.formats.whole_files import whole_format
from graphclust.io.load import load
from graphclust.io.read_file import as_reading, check_format, recognize
from graphclust.io.save import save_store
from graphclust.io.store.edge_streams import (
    GrowingArray,
    GrowingFile,
    ListStream,
    MatrixStream,
    Notebook,
    append_parts,
    read_parts,
)
from graphclust.io.store.store import check_store_target, is_store, open_store, publish, read_header, seal
from graphclust.io.text.byte_source import Source, open_source
from graphclust.io.text.edge_lines import MayBeMetis, ReadAgain, Reading
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["convert_to_store"]

SHARE_OF_MEMORY = 4  # of what the machine has, by default
BYTES_PER_KEY, BYTES_PER_WEIGHTED_KEY = 20, 56  # while a bucket is sorted and its rows are written
MOST_BUCKETS = 512  # as many files are open at a time
WORTH_KEEPING = 64 << 20  # bytes of lines on the disk: less is read again in a second
_STOPS = (ResourceLimitError, GraphFormatError, GraphValidationError, KeyboardInterrupt)
BLOCKS_PER_NOTE = 32  # of text, or of lines: some hundred megabytes
KEPT = ("path", "n_nodes", "symmetric", "gaps", "remarks", "repairs", "weighted")  # of `Edges`, in the notes


def convert_to_store(
    path: str | os.PathLike[str],
    store: str | os.PathLike[str],
    *,
    format: str | None = None,
    symmetrize: str | None = "max",
    weights: str | None = None,
    bipartite: bool | None = None,
    source: Column = None,
    target: Column = None,
    weight: Column = None,
    header: bool | None = None,
    missing: str = "error",
    duplicates: str = "sum",
    constraint: int | None = None,
    encoding: str | None = None,
    max_bytes: int | None = None,
    memory_limit: int | None = None,
    overwrite: bool = False,
    progress: ProgressLike = None,
) -> Graph:
    """Make a store of a graph file of any size, and open it; the graph is the one that `load_graph` makes.

    path : a file, a store or a name as `load_graph` takes it, which also explains all arguments from format to
        max_bytes. Edge lists with whole-number ids and Matrix Market files are sorted on the disk; what is of another
        kind, or read with duplicates, constraint or encoding, is loaded first.
    store : the folder of the store, which appears when it is whole. Until then its parts are in `store`.partial, for
        which there has to be room: up to 24 bytes a line, 40 with weights, and the store. A conversion that was killed
        goes on from there when it is called again, a compressed file from its beginning; one that was stopped by Ctrl-C
        too, unless it has only begun: then nothing is left. Any other write to the store removes the parts.
    memory_limit : bytes for the lines that are sorted at a time, besides some 40 for each node; by default a quarter
        of what the machine has. The result does not depend on it. The nodes that a header claims may take 200 bytes for
        each byte of the file, at least 256 MiB, or this limit where it is given and larger.
    overwrite : whether a store that is there may be replaced.

    Returns the graph, mapped. Raises what `load_graph` and `save_store` do; ParameterError while another process
    converts to the same target, and for a folder of parts that another user has made, or that holds a link;
    ResourceLimitError, before any sorting, for a limit that the longest row exceeds.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/triangle.txt", "w") as file:
    ...         _ = file.write("10 20\\n20 30\\n30 10\\n")
    ...     convert_to_store(f"{folder}/triangle.txt", f"{folder}/triangle.store")
    Graph(3 nodes, 3 edges, unweighted)
    """
    from graphclust.datasets.catalog import entry_at

    reading = as_reading(
        format=format, symmetrize=symmetrize, weights=weights, bipartite=bipartite, source=source, target=target,
        weight=weight, header=header, missing=missing, duplicates=duplicates, constraint=constraint, encoding=encoding,
        max_bytes=max_bytes, memory_limit=memory_limit,
    )  # fmt: skip
    limit = available_bytes() // SHARE_OF_MEMORY if memory_limit is None else int(memory_limit)
    progress = as_progress(progress)
    name = check_store_target(store, overwrite)
    # A store, an archive of arrays, or the name of a data set is no stream of text, and is loaded first.
    is_loaded = is_store(path) or whole_format(path) is not None or entry_at(path) is not None
    is_loaded, asked = is_loaded or (duplicates, constraint, encoding) != ("sum", None, None), reading
    while not is_loaded:
        with open_source(path, max_bytes) as opened:
            stream = _stream(opened, reading)
            if stream is None:
                break
            advice = "make room and convert again: it goes on where it stopped"
            with partial_folder(name) as folder, no_room_named(folder, str, advice):
                facts = os.stat(opened.path)
                task = asdict(replace(reading, memory_limit=None)) | {"columns": [*reading.columns]}
                task |= {"source": os.path.abspath(opened.path), "bytes": facts.st_size, "changed": facts.st_mtime_ns}
                book = Notebook(os.path.join(folder, NOTES), task)
                conversion = _Conversion(folder, name, book, progress)
                try:
                    repairs = conversion.run(stream, symmetrize, limit, overwrite)
                except (*_STOPS, ReadAgain, MayBeMetis) as stop:
                    if not conversion.is_worth_keeping(stop):
                        forget(folder)
                    if isinstance(stop, MayBeMetis):
                        break
                    if not isinstance(stop, ReadAgain):
                        raise
                    reading = stop.reading
                    continue
        if repairs:
            warn_caller(f"{opened.path}: {'; '.join(repairs)}", GraphWarning)
        return open_store(name, verify="fast")
    is_file = os.path.isfile(path) and memory_limit is not None  # which may take what `load_graph` allows, or more
    most = max(limit, allowed_bytes(os.path.getsize(path), None)) if is_file else None
    graph, info = load(path, replace(asked, memory_limit=most), progress)
    warn_of(graph, info.repairs, f"{info.path}: ")
    return save_store(name, graph, overwrite=overwrite)


def _stream(source: Source, reading: Reading) -> ListStream | MatrixStream | None:
    """The lines of a file; None for one that has to be loaded first."""
    recognized = reading.format or recognize(source)
    check_format(recognized, reading, source)
    if recognized == "matrix_market":
        return MatrixStream(source, reading)
    stream = ListStream(source, reading) if recognized in ("snap", "csv") else None
    return stream if stream is not None and stream.fits else None


class _Conversion:
    """The steps of one conversion; each begins where the notes say that the last one stopped."""

    def __init__(self, folder: str, name: str, book: Notebook, progress: Progress):
        self.folder, self.name, self.book, self.progress = folder, name, book, progress
        self.store = os.path.join(folder, "store")
        self.numbered: Callable[[np.ndarray], np.ndarray] = lambda ids: ids.astype(np.int32, copy=False)
        known = self.book.recall()
        if not known or (self.book.notes["step"] in ("writing", "sealed") and not self.has_store()):  # has its name
            self.book.notes = {"task": book.notes["task"]}
            for entry in os.scandir(folder):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                elif entry.name != LOCK:
                    os.remove(entry.path)
            self.book.note(step="reading", stream=None, n_bytes=0)
        os.makedirs(self.store, exist_ok=True)

    def is_worth_keeping(self, stop: BaseException) -> bool:
        """Whether another call goes on from what is on the disk; a file at fault will not be better another time."""
        notes = self.book.notes
        if isinstance(stop, ResourceLimitError):
            return notes["step"] != "reading" or notes["stream"] is not None
        return isinstance(stop, KeyboardInterrupt) and notes.get("n_bytes", 0) >= WORTH_KEEPING

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def has_store(self) -> bool:
        """Whether the unfinished store is still here; once published, its place may hold the store it replaced."""
        if self.book.notes["step"] != "sealed":
            return os.path.isdir(self.store)
        with suppress(GraphFormatError, FileNotFoundError):
            return read_header(self.store)["id"] == self.book.notes["id"]
        return False

    def run(self, stream: Any, symmetrize: str | None, memory_limit: int, overwrite: bool) -> list[str]:
        """Do the remaining steps; returns the repairs."""
        notes = self.book.notes
        if notes["step"] == "reading":
            with self.progress.stage("reading"):
                self.read(stream)
        if notes["step"] == "sorting":
            with self.progress.stage("sorting into buckets"):
                self.distribute(symmetrize == "sum", memory_limit)
        if notes["step"] == "writing":
            with self.progress.stage("writing the rows"):
                self.write_rows(symmetrize == "sum")
            self.finish(symmetrize)
        publish(self.store, self.name, overwrite)
        forget(self.folder)
        return notes["repairs"]

    def read(self, stream: Any) -> None:
        """Write the lines of the file, as numbers, to the disk."""
        notes = self.book.notes
        resumed = notes["stream"] is not None and stream.source.compression is None
        if resumed:
            stream.facts.update(notes["stream"])
        with GrowingFile(self.path("lines"), notes["n_bytes"] if resumed else 0) as file:
            for n_blocks, parts in enumerate(stream.parts(self.progress), 1):
                append_parts(file, parts)
                if n_blocks % BLOCKS_PER_NOTE == 0:
                    self.book.note(stream=stream.facts, n_bytes=file.to_disk())
            n_bytes = file.to_disk()
        edges, n_rows = stream.edges(), stream.facts["n_rows"]
        edges.weighted = any(weights is not None for (*_, weights), _ in islice(read_parts(self.path("lines")), 1))
        said = {name: getattr(edges, name) for name in KEPT}
        self.book.note(step="sorting", n_bytes=n_bytes, n_rows=n_rows, edges=said, first_rows=None)

    def lines(self, start: int = 0) -> Iterator[tuple[tuple, int]]:
        """The lines with their ends as node numbers, and where the next record begins."""
        for (sources, targets, weights), end in read_parts(self.path("lines"), start):
            yield (self.numbered(sources), self.numbered(targets), weights), end

    def count_rows(self) -> np.ndarray:
        """The number of entries in each row, (n_nodes,); from now on, ids on no line are no nodes."""
        said, n_bytes = self.book.notes["edges"], self.book.notes["n_bytes"]
        ids = None
        if said["gaps"] and said["n_nodes"] - 1 >= max(2 * self.book.notes["n_rows"], 1 << 20):
            table = IdTable()
            for (sources, targets, _), _ in read_parts(self.path("lines")):
                for column in (sources, targets):
                    table.add(column)
            ids, self.numbered = table.sort(), table.ranks
        n = said["n_nodes"] if ids is None else len(ids)
        if n >= 2**31:
            raise ResourceLimitError(f"{said['path']}: {n} nodes, expected fewer than 2^31")
        counts = np.zeros(n, np.int64)
        for (sources, targets, _), end in self.lines():
            edges_to_csr.count_row_entries(sources, targets, counts)
            self.progress.step(end, 3 * n_bytes)
        if said["gaps"] and ids is None and not counts.all():
            ids = np.flatnonzero(counts)
            ranks = np.cumsum(counts > 0, dtype=np.int32) - np.int32(1)
            self.numbered = lambda column: ranks[column]
            counts = counts[ids]
        if ids is not None:
            with GrowingArray(self.store, "nodes") as file:
                file.append(ids.astype(np.int64, copy=False))
                file.finish()
        return counts

    def distribute(self, as_weighted: bool, memory_limit: int) -> None:
        """Write the lines to the buckets of their ends."""
        notes = self.book.notes
        counts = self.count_rows()
        weighted = as_weighted or notes["edges"]["weighted"]
        if notes["first_rows"] is None:
            first_rows = _buckets(counts, memory_limit, weighted)
            lengths = [0] * len(first_rows)
            nothing: dict[str, Any] = {"at": 0, "keys": lengths, "key_weights": lengths}
            self.book.note(first_rows=first_rows, n_nodes=len(counts), weighted=weighted, **nothing)
        del counts
        bounds = np.array(notes["first_rows"])
        with ExitStack() as stack:
            files, weight_files = (
                [stack.enter_context(GrowingFile(self.path(f"{kind}-{b}"), n)) for b, n in enumerate(lengths)]
                for kind, lengths in (("keys", notes["keys"]), ("weights", notes["key_weights"]))
            )
            for n_parts, ((sources, targets, values), end) in enumerate(self.lines(notes["at"]), 1):
                rows = np.concatenate([sources, targets[targets != sources]])
                sizes = np.bincount(np.searchsorted(bounds, rows, side="right") - 1, minlength=len(bounds))
                ends = np.cumsum(sizes)
                keys = np.empty(ends[-1], np.uint64)
                key_weights = np.empty(ends[-1] if weighted else 0)
                given = NO_WEIGHTS if not weighted else np.ones(len(sources)) if values is None else values
                edges_to_csr.distribute(sources, targets, given, bounds, ends - sizes, keys, key_weights)
                for b in np.flatnonzero(sizes).tolist():
                    here = slice(int(ends[b] - sizes[b]), int(ends[b]))
                    files[b].append(keys[here])
                    if weighted:
                        weight_files[b].append(key_weights[here])
                if n_parts % BLOCKS_PER_NOTE == 0:
                    on_disk = {"keys": [f.to_disk() for f in files], "key_weights": [f.to_disk() for f in weight_files]}
                    self.book.note(at=end, **on_disk)
                self.progress.step(notes["n_bytes"] + 2 * end, 3 * notes["n_bytes"])
            for file in (*files, *weight_files):
                file.to_disk()
        unseen = np.zeros(N_COUNTS, np.int64).tolist()
        self.book.note(step="writing", done=0, n_entries=0, all_one=True, counts=unseen, examples=[[0, 0]] * N_COUNTS)
        os.remove(self.path("lines"))

    def write_rows(self, add: bool) -> None:
        """The rows of one bucket after the other to the store."""
        notes, done = self.book.notes, self.book.notes["done"]
        bounds = [*notes["first_rows"], notes["n_nodes"]]
        first = bounds[done]
        if os.path.exists(self.path("lines")):  # killed between the note and the removal
            os.remove(self.path("lines"))
        at = {"indptr": first + 1 if done else 0, "indices": notes["n_entries"], "degrees": first, "loops": first}
        at |= {"weights": notes["n_entries"]} if notes["weighted"] else {}
        with ExitStack() as stack:
            files = {array: stack.enter_context(GrowingArray(self.store, array, n_now)) for array, n_now in at.items()}
            if done == 0:
                files["indptr"].append(np.zeros(1, np.int64))
            self.append_rows(files, bounds, add)

    def append_rows(self, files: dict[str, GrowingArray], bounds: list[int], add: bool) -> None:
        """The rows of each bucket that is not done yet."""
        notes, weighted, done = self.book.notes, self.book.notes["weighted"], self.book.notes["done"]
        counts, examples = np.array(notes["counts"]), np.array(notes["examples"])
        for bucket in range(done, len(bounds) - 1):
            first, last = bounds[bucket], bounds[bucket + 1]
            keys = np.fromfile(self.path(f"keys-{bucket}"), np.uint64)
            values = np.fromfile(self.path(f"weights-{bucket}")) if weighted else NO_WEIGHTS
            if weighted:  # what belongs to an edge has to stay in the order of the file, for its sum
                order = np.argsort(keys, kind="stable")
                keys, values = keys[order], values[order]
                del order
            else:
                keys.sort()
            rows = MadeRows(np.zeros(last - first, np.int64), np.empty(len(keys), np.int32), np.empty(len(values)))
            n_here = edges_to_csr.join_rows(keys, values, first, add, rows, counts, examples)
            indices, row_weights = rows.indices[:n_here], rows.weights[: n_here if weighted else 0]
            ends = np.cumsum(rows.lengths)
            sums = RowSums(*np.zeros((2, last - first)))
            local = indices - np.int32(first)  # so that a loop is found where a row holds its own number
            sum_rows(0, last - first, 0, Rows(np.append(0, ends), local, row_weights), sums)
            made = {"indptr": notes["n_entries"] + ends, "indices": indices, **sums._asdict()}
            made |= {"weights": row_weights} if weighted else {}
            for array, numbers in made.items():
                files[array].append(numbers)
                files[array].to_disk()
            all_one = bool(notes["all_one"] and (row_weights == 1).all())
            seen = {"counts": counts.tolist(), "examples": examples.tolist()}
            self.book.note(done=bucket + 1, n_entries=notes["n_entries"] + n_here, all_one=all_one, **seen)
            os.remove(self.path(f"keys-{bucket}"))
            os.remove(self.path(f"weights-{bucket}"))
            self.progress.step(bucket + 1, len(bounds) - 1)

    def finish(self, symmetrize: str | None) -> None:
        """Judge what was found, take out what is not needed, and seal the store."""
        notes, said = self.book.notes, self.book.notes["edges"]
        n, n_entries = notes["n_nodes"], notes["n_entries"]
        arrays = {"indptr": n + 1, "indices": n_entries, "degrees": n, "loops": n}
        arrays |= {"weights": n_entries} if notes["weighted"] else {}
        counts = EdgeCounts(notes["n_rows"], *notes["counts"])
        unneeded = {"weights": notes["weighted"] and notes["all_one"], "loops": counts.loops == 0}
        for array, length in list(arrays.items()):
            if unneeded.get(array):
                del arrays[array]
                with suppress(FileNotFoundError):
                    os.remove(os.path.join(self.store, array + ".npy"))
            else:
                with GrowingArray(self.store, array, length) as file:
                    file.finish()
        nodes = os.path.join(self.store, "nodes.npy")
        named = os.path.exists(nodes)
        edges = Edges(**said, chunks=[], nodes=np.load(nodes, mmap_mode="r") if named else None)
        apply_policies(edges, counts, np.array(notes["examples"]), symmetrize)
        degrees = np.load(os.path.join(self.store, "degrees.npy"), mmap_mode="r")
        blocks = pairwise(row_blocks(n, 1 << 22).tolist())
        if n_isolated := sum(int(np.count_nonzero(degrees[first:last] == 0)) for first, last in blocks):
            edges.repairs.append(remark_on_isolated(n_isolated))
        if "weights" not in arrays and edges.weighted:
            edges.remarks.append("all weights are 1, so the graph counts as unweighted")
        try:
            check_degrees(degrees)
        except GraphValidationError as problem:
            raise GraphValidationError(f"{edges.path}: {problem}") from None
        if named:
            arrays["nodes"] = n
        sealed = seal(self.store, arrays, [*edges.remarks, *edges.repairs])
        self.book.note(step="sealed", id=sealed, repairs=edges.repairs)


def _buckets(counts: np.ndarray, memory_limit: int, weighted: bool) -> list[int]:
    """The first row of each run of rows that can be sorted within the limit."""
    most = memory_limit // (BYTES_PER_WEIGHTED_KEY if weighted else BYTES_PER_KEY)
    ends = np.cumsum(counts)
    longest, least = int(counts.max(initial=0)), int(ends[-1]) // MOST_BUCKETS
    if most < longest or most // 2 < least:
        needed = max(longest, 2 * least + 2) * (BYTES_PER_WEIGHTED_KEY if weighted else BYTES_PER_KEY)
        problem = f"memory_limit={memory_limit} is too little for {ends[-1]} entries with up to {longest} in a row"
        raise ResourceLimitError(f"{problem}, expected at least {needed}")
    first_rows = [0]
    while True:
        begun = int(ends[first_rows[-1] - 1]) if first_rows[-1] else 0
        following = int(np.searchsorted(ends, begun + most, side="right"))
        if following >= len(counts):
            return first_rows
        first_rows.append(following)
