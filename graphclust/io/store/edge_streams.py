"""The edges of a conversion on their way: streams out of a file, and files between the steps.

A stream can be taken up again at an offset. Files hold edges as they were read, buckets of keys, and growing arrays.

Every file only grows. A step notes the lengths of its files once they are on the disk; a process that resumes after a
kill first cuts the files to these lengths.
"""

import io
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import IO, Any

import numpy as np

from graphclust.errors import ResourceLimitError
from graphclust.io.edges import Edges, NegativeOrInfinite, allowed_bytes
from graphclust.io.formats.array_files import parse_json
from graphclust.io.formats.matrix_market import edges_of, read_header, stream_entries
from graphclust.io.store.store import DTYPES, npy_header, write_json
from graphclust.io.text.byte_source import Source
from graphclust.io.text.edge_lines import EdgeLines, Reading, Sample, judge_first_line
from graphclust.io.text.edge_list import NumberReader
from graphclust.progress import Progress

Part = tuple[np.ndarray, np.ndarray, np.ndarray | None]
_COUNTS = np.dtype("<i8")
NO_LIMIT = 1 << 62
BYTES_PER_NODE = 40  # counts and starts of rows while lines are sorted


class GrowingFile(AbstractContextManager):
    """A file that is appended to; `length` bytes of it are sure."""

    def __init__(self, path: str, length: int = 0, start: bytes = b""):
        self.path = path
        self._file: IO[bytes] = io.FileIO(path, "r+" if os.path.exists(path) else "x+")
        if length == 0:
            self._file.write(start)
            length = len(start)
        self._file.truncate(length)
        self._file.seek(length)
        self.length = length

    def append(self, array: np.ndarray) -> None:
        view = np.ascontiguousarray(array).view(np.uint8).data
        while len(view):
            n_written = self._file.write(view)
            self.length += n_written
            view = view[n_written:]

    def to_disk(self) -> int:
        os.fsync(self._file.fileno())
        return self.length

    def __exit__(self, *_) -> None:
        self._file.close()


class GrowingArray(GrowingFile):
    """A .npy file of an array of a store whose length is known only at the end."""

    def __init__(self, folder: str, array: str, n_numbers: int = 0):
        self.array, self._dtype = array, np.dtype(DTYPES[array])
        start = npy_header(DTYPES[array], 0)
        n_bytes = len(start) + n_numbers * self._dtype.itemsize if n_numbers else 0
        super().__init__(os.path.join(folder, array + ".npy"), n_bytes, start)
        self._n_start = len(start)

    def finish(self) -> None:
        """Write the length into the header."""
        n_numbers = (self.length - self._n_start) // self._dtype.itemsize
        self._file.seek(0)
        self._file.write(npy_header(DTYPES[self.array], n_numbers))


def append_parts(file: GrowingFile, parts: list[Part]) -> None:
    """Append parts as records: the number of lines, the bytes of an id, whether there are weights, and the lines."""
    for sources, targets, weights in parts:
        if len(sources):
            file.append(np.array([len(sources), sources.itemsize, weights is not None], _COUNTS))
            for column in (sources, targets, weights):
                if column is not None:
                    file.append(column)


def read_parts(path: str, start: int = 0) -> Iterator[tuple[Part, int]]:
    """The lines of such a file, a record at a time, and where the next record begins."""
    with open(path, "rb") as file:
        file.seek(start)
        while len(counts := np.fromfile(file, _COUNTS, 3)):
            n, id_bytes, weighted = counts.tolist()
            ids = np.int32 if id_bytes == 4 else np.int64
            sources, targets = np.fromfile(file, ids, n), np.fromfile(file, ids, n)
            yield (sources, targets, np.fromfile(file, np.float64, n) if weighted else None), file.tell()


class Notebook:
    """What is known of a conversion that may go on another time; a note replaces the one before as a whole."""

    def __init__(self, path: str, task: dict[str, Any]):
        self.path = path
        self.notes: dict[str, Any] = {"task": task}

    def recall(self) -> bool:
        """Take up the notes of the same task, if there are any."""
        try:
            with open(self.path, "rb") as file:
                notes = parse_json(file.read())
        except (FileNotFoundError, ValueError):
            return False
        if not isinstance(notes, dict) or notes.get("task") != self.notes["task"]:
            return False
        self.notes = notes
        return True

    def note(self, **what: Any) -> None:
        self.notes.update(what)
        write_json(self.path + ".new", self.notes)
        os.replace(self.path + ".new", self.path)


class ListStream:
    """The lines of an edge list with whole-number ids. `facts` is what has to be known to go on, ready for JSON."""

    def __init__(self, source: Source, reading: Reading):
        self.source, self.reading = source, reading
        self.lines = EdgeLines(source, reading)
        layout = self.lines.layout
        # The attributes that are left out are counted over all lines, which a conversion may read in two goes.
        self.fits = not (layout.text_ids or layout.bipartite or reading.quoted or self.lines.attributes)
        self.facts: dict[str, Any] = {"offset": 0, "line": 0, "n_rows": 0, "low": 2**63, "high": 0, "first": None}

    def parts(self, progress: Progress) -> Iterator[list[Part]]:
        """Edges, block by block; what is known after each is recorded, so that a later process can go on from there."""
        unfit = NegativeOrInfinite(self.source.path, self.reading.policy)
        facts, reader = self.facts, NumberReader(self.lines.layout, self.reading, unfit)
        if facts["offset"]:
            self.source.skip_to(facts["offset"])
            self.lines.n_lines = facts["line"]
        for block in self.lines.blocks(progress):
            parts, n_lines = reader(block, facts["line"])
            unfit.complain()
            for sources, targets, weights in parts:
                facts["n_rows"] += len(sources)
                if facts["first"] is None and len(sources):
                    facts["first"] = [int(sources[0]), int(targets[0]), None if weights is None else float(weights[0])]
                    sources, targets = sources[1:], targets[1:]
                for column in (sources, targets) if len(sources) else ():
                    facts["low"] = min(facts["low"], int(column.min()))
                    facts["high"] = max(facts["high"], int(column.max()))
            facts["line"] += n_lines
            facts["offset"] = self.source.offset
            self.lines.n_lines = facts["line"]
            yield parts
        self.doubts = reader.doubts.sentence()

    def edges(self) -> Edges:
        """What the file says of itself, without its lines; raises what `judge_first_line` does."""
        facts, path, lines = self.facts, self.source.path, self.lines
        if facts["first"] is None:
            raise lines.no_edges()
        first: tuple[int, int, float | None] = (*facts["first"],)
        sample = Sample(*first, facts["n_rows"], facts["low"], facts["high"])
        said = judge_first_line(sample, lines.layout, self.reading, path)
        edges = Edges(path, max(*first[:2], facts["high"]) + 1, [], gaps=True)
        lines.complete(edges, facts["n_rows"], said, self.doubts)
        return edges


class MatrixStream:
    """The entries of a Matrix Market file."""

    def __init__(self, source: Source, reading: Reading):
        self.source, self.reading = source, reading
        self.facts: dict[str, Any] = {"offset": 0, "line": 0, "n_rows": 0}

    def parts(self, progress: Progress) -> Iterator[list[Part]]:
        """Edges, block by block; what is known after each is recorded, so that a later process can go on from there."""
        facts, source = self.facts, self.source
        self.header, n_lines = read_header(source, replace(self.reading, memory_limit=NO_LIMIT))
        n_nodes = self.header.offset + self.header.n_columns
        needed = BYTES_PER_NODE * n_nodes
        # More than the machine has, or a file of this size may ask for without a word.
        allowed = max(allowed_bytes(source.most_bytes, None), self.reading.memory_limit or 0)
        if needed > allowed:
            raise ResourceLimitError(
                f"{source.path}: {n_nodes} nodes need about {needed} bytes ({needed >> 20} MiB) beside the lines "
                f"that are sorted, but {allowed >> 20} MiB are allowed; pass a larger memory_limit if the file is right"
            )
        if facts["offset"]:
            source.skip_to(facts["offset"])
            n_lines = facts["line"]
        unfit = NegativeOrInfinite(source.path, self.reading.policy)
        for parts, line, n_read in stream_entries(source, self.header, unfit, progress, n_lines, facts["n_rows"]):
            unfit.complain()
            facts.update(offset=source.offset, line=line, n_rows=n_read)
            yield parts

    def edges(self) -> Edges:
        """What the file says of itself, without its entries."""
        return edges_of(self.source.path, self.header, [])
