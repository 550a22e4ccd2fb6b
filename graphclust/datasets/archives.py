"""Whether an archive holds the matrix that its name promises: the member, and the sizes of the catalog."""

import io
import pathlib
import tarfile
from contextlib import suppress
from typing import Any

from graphclust.datasets.catalog import SUITESPARSE, CatalogEntry
from graphclust.errors import GraphFormatError, IntegrityError, UnsafeArchiveError
from graphclust.io.formats.suitesparse import MATRIX, refuse_unsafe
from graphclust.io.text.byte_source import open_source

MOST_HEADER_BYTES = 1 << 20  # of comments before the sizes


def check_matrix(file: pathlib.Path, entry: CatalogEntry) -> None:
    """Refuse an archive whose first matrix is another one; a file that is no archive is left to its reader."""
    if entry.source != SUITESPARSE:
        return
    expected = f"{entry.name}/{entry.name}.mtx"
    try:
        found, sizes = _first_matrix(file)
    except UnsafeArchiveError:
        raise
    except (tarfile.TarError, EOFError, UnicodeError, GraphFormatError):
        return
    if found != expected:
        raise IntegrityError(f"{file} holds {found or 'no matrix'}, expected {expected}; it was removed")
    if sizes is None:
        return
    n_rows, n_columns, n_lines = sizes
    # A symmetric matrix is stored as one triangle; explicit zeros are lines, and no entries of the catalog.
    is_half = entry.structure in ("symmetric", "Hermitian", "skew-symmetric")
    least = (entry.entries + 1) // 2 if is_half else entry.entries
    if (n_rows, n_columns) != (entry.rows, entry.columns) or n_lines < least:
        found = f"{file} holds a matrix of {n_rows} x {n_columns} with {n_lines} lines of entries"
        promised = f"{entry.address} is of {entry.rows} x {entry.columns} with {entry.entries} entries"
        raise IntegrityError(f"{found}, but {promised}; it was removed")


def _first_matrix(file: pathlib.Path) -> tuple[str | None, tuple[int, int, int] | None]:
    """The name of the first matrix Name/Name.mtx, and rows, columns and entries from its header; None without one."""
    with open_source(file) as source:
        stream: Any = source
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                refuse_unsafe(member, source.path)
                content = archive.extractfile(member) if MATRIX.fullmatch(member.name) else None
                if content is not None:
                    return member.name.removeprefix("./"), _sizes(content.read(MOST_HEADER_BYTES))
    return None, None


def _sizes(start: bytes) -> tuple[int, int, int] | None:
    with suppress(ValueError):
        for line in io.BytesIO(start):
            if line.strip() and not line.lstrip().startswith(b"%"):
                n_rows, n_columns, n_entries = map(int, line.split())
                return n_rows, n_columns, n_entries
    return None
