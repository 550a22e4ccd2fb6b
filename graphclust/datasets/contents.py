"""What a downloaded file holds: whether it is the matrix that its name promises, and lists of communities."""

from __future__ import annotations

import io
import os
import pathlib
import tarfile
from typing import Any

import numpy as np

from graphclust.datasets.catalog import SUITESPARSE, CatalogEntry
from graphclust.errors import GraphFormatError, IntegrityError, UnsafeArchiveError, quote
from graphclust.io.formats.suitesparse import MATRIX, refuse_unsafe
from graphclust.io.text.byte_source import open_source
from graphclust.progress import Progress

MOST_HEADER_BYTES = 1 << 20  # of comments before the sizes


def check_matrix(file: pathlib.Path, entry: CatalogEntry) -> None:
    """Refuse an archive whose first matrix is another one; a file that is no archive is left to its reader."""
    if entry.source != SUITESPARSE:
        return
    expected = f"{entry.name}/{entry.name}.mtx"
    try:
        name, sizes = _first_matrix(file)
    except UnsafeArchiveError:
        raise
    except (tarfile.TarError, EOFError, ValueError, GraphFormatError):
        return
    if name != expected:
        raise IntegrityError(f"{file} holds {name or 'no matrix'}, expected {expected}; it was removed")
    if len(sizes) != 3:
        return
    n_rows, n_columns, n_lines = sizes
    # A symmetric matrix is stored as one triangle; explicit zeros are lines, and no entries of the catalog.
    is_half = entry.structure in ("symmetric", "Hermitian", "skew-symmetric")
    least = (entry.entries + 1) // 2 if is_half else entry.entries
    if (n_rows, n_columns) != (entry.rows, entry.columns) or n_lines < least:
        raise IntegrityError(
            f"{file} holds a matrix of {n_rows} x {n_columns} with {n_lines} lines of entries, but {entry.address} is "
            f"of {entry.rows} x {entry.columns} with {entry.entries} entries; it was removed"
        )


def _first_matrix(file: pathlib.Path) -> tuple[str | None, list[int]]:
    """The name of the first matrix Name/Name.mtx, None without one, and the rows, columns and entries of its header."""
    with open_source(file) as source:
        stream: Any = source
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                refuse_unsafe(member, source.path)
                content = archive.extractfile(member) if MATRIX.fullmatch(member.name) else None
                if content is not None:
                    lines = map(bytes.split, io.BytesIO(content.read(MOST_HEADER_BYTES)))
                    sizes = next((words for words in lines if words and not words[0].startswith(b"%")), [])
                    return member.name.removeprefix("./"), [*map(int, sizes)]
    return None, []


def read_communities(
    path: str | os.PathLike, written: str, progress: Progress
) -> tuple[np.ndarray, np.ndarray, list[str] | None]:
    """Starts (n_communities + 1,), the ids of the nodes of all communities one after the other, and names if any.

    written : "cmty" (ids of a community a line), "labels" (an id and the number of its community a line; communities in
        increasing order of their numbers) or "categories" ("Category:NAME; " before the ids). Lines that start with #
        are comments.

    Raises GraphFormatError with the line for what is neither.
    """
    counts: list[np.ndarray] = []
    ids: list[np.ndarray] = []
    names: list[str] = []
    line = 0
    with progress.stage("reading communities"), open_source(path) as source:
        for block in source.line_blocks(progress):
            lines = [text.strip() for text in bytes(block).split(b"\n")]
            rows = [text for text in lines if text and not text.startswith(b"#")]
            if written == "categories":
                parted = [text.rpartition(b";") for text in rows]
                names += [name.decode("utf-8", "replace").removeprefix("Category:") for name, _, _ in parted]
                rows = [after for _, _, after in parted]
            try:
                ids.append(np.array(b" ".join(rows).split(), dtype=np.int64))
            except (ValueError, OverflowError):
                _complain(lines, source.path, line)
            counts.append(np.array([len(text.split()) for text in rows], np.int64))
            if written == "labels" and not (counts[-1] == 2).all():
                raise GraphFormatError("has lines that are not a pair of a node and its community", source.path)
            line += len(lines) - 1
    members, sizes = (np.concatenate([*parts, np.zeros(0, np.int64)]) for parts in (ids, counts))
    if written == "labels":
        nodes, numbers = members[::2], members[1::2]
        members, sizes = nodes[np.argsort(numbers, kind="stable")], np.unique(numbers, return_counts=True)[1]
    return np.concatenate([[0], np.cumsum(sizes)]), members, names if written == "categories" else None


def _complain(lines: list[bytes], path: str, before: int) -> None:
    for number, text in enumerate(lines, before + 1):
        if not text.startswith(b"#") and not all(word.isdigit() for word in text.rpartition(b";")[2].split()):
            raise GraphFormatError(f"{quote(text)!r} is not a list of nodes", path, number)
    raise GraphFormatError("holds numbers that are not ids of nodes", path)
