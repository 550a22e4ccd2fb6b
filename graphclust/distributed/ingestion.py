"""Edge lists in Parquet files become a store, partition by partition, on the workers of a Dask cluster.

Each file is read by one task, which sorts its edges, in both directions, into files by range of rows; each range is
then made into rows by one task; the store is written from those in order. All intermediate files lie in one folder
beside the store, which every worker has to see. A task that runs again, since its worker died, writes the same files.
"""

import os
import uuid
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from graphclust.checks import as_number, as_whole_number
from graphclust.distributed.engine import DaskEngine, check_client, import_extra
from graphclust.errors import GraphFormatError, GraphValidationError, ResourceLimitError
from graphclust.graph.container import Graph
from graphclust.graph.executor import ByBlock
from graphclust.io.atomic_write import temporary_folder
from graphclust.io.store.store import new_store, open_store

EDGES_PER_RANGE = 1 << 24
BATCH = 1 << 20  # edges at a time
MOST_NODES = 2**31 - 1


class Table(NamedTuple):
    """The columns of the edge lists, and the folder that ranges of rows are written to."""

    source: str
    target: str
    weight: str | None
    folder: str


class Rows(NamedTuple):
    """The rows of a range, on the disk: how many entries, and whether they have weights other than 1, and loops."""

    file: str
    n_entries: int
    weighted: bool
    looped: bool


def ingest_parquet(
    files: Sequence[str | os.PathLike[str]],
    store: str | os.PathLike[str],
    *,
    client: Any,
    source: str = "source",
    target: str = "target",
    weight: str | None = None,
    n_nodes: int | None = None,
    overwrite: bool = False,
    patience: float = 60.0,
) -> Graph:
    """Make a store of the edges in Parquet files; every worker has to see the files and the folder of the store.

    files : paths, each read, and held in memory, by one task. source, target : columns of node numbers >= 0. weight :
        column of weights, None for none. n_nodes : by default one more than the largest number.
    client, patience : as in `coreset_sc`; overwrite : as in `save_store`.

    An edge that occurs several times, in whatever direction, counts once, with its largest weight; edges of weight 0
    are none. Returns the graph as `open_store` gives it.

    Raises GraphFormatError for files that are missing or have other columns, GraphValidationError for numbers or
    weights that are none and for files without rows where n_nodes is not given, ImportError without the extra "dask",
    what `coreset_sc` raises where the cluster fails, and OSError.
    """
    import_extra("distributed")
    import_extra("pyarrow.parquet")
    check_client(client)
    if isinstance(files, str | bytes | os.PathLike):
        raise TypeError(f"files={files!r} is one path, expected a list of them: [{files!r}]")
    names = [os.path.abspath(os.fsdecode(name)) for name in files]
    if not names:
        raise GraphValidationError("files is empty, expected the paths of Parquet files")
    name = os.path.abspath(os.fsdecode(store))
    table = Table(source, target, weight, "")
    by_file = DaskEngine(
        client, None, np.arange(len(names) + 1), len(names), as_number(patience, "patience", above=0.0)
    )
    each_file = by_file.by_block(names)
    facts = by_file.fetch(by_file.each(count_edges, each_file, table))
    n_edges, n = sum(count for count, _ in facts), max(highest for _, highest in facts) + 1
    if n_edges == 0 and n_nodes is None:
        raise GraphValidationError(f"no file holds a row, {names[0]} the first; expected an edge, or n_nodes=")
    if n_nodes is not None:
        n = as_whole_number(n_nodes, "n_nodes", at_least=n, why=", one more than the largest number in the files")
    if n > MOST_NODES:
        raise ResourceLimitError(f"the files have nodes up to {n - 1}, expected fewer than 2^31; number them from 0")
    n_ranges = max(1, n_edges // EDGES_PER_RANGE)
    bounds = np.unique(np.linspace(0, n, n_ranges + 1).round().astype(np.int64))
    with temporary_folder(name) as folder:
        table = table._replace(folder=folder)
        spread: ByBlock = by_file.each(sort_into_ranges, each_file, table, bounds)
        done = by_file.once(all_done, spread)
        by_range = DaskEngine(client, None, bounds, len(bounds) - 1, by_file.patience)
        ranges = by_range.fetch(by_range.each(rows_of_range, table, len(names), done))
        write_store(name, ranges, bounds, overwrite)
    return open_store(name, verify="fast")


def count_edges(origin: None, first: int, last: int, file: str, table: Table) -> tuple[int, int]:
    """How many edges a file has, and the largest node number in it, -1 where it has none."""
    n_edges, highest = 0, -1
    for sources, targets, _ in batches(file, table):
        n_edges += len(sources)
        highest = max(highest, int(sources.max(initial=-1)), int(targets.max(initial=-1)))
    return n_edges, highest


def batches(file: str, table: Table):
    """The edges of a file, some at a time: node numbers, int64, and weights or None."""
    from pyarrow import ArrowInvalid, parquet

    columns = [table.source, table.target, *([] if table.weight is None else [table.weight])]
    try:
        parts = parquet.ParquetFile(file)
    except (OSError, ArrowInvalid) as problem:
        raise GraphFormatError(f"is not a Parquet file that a worker can read: {problem}", file) from None
    missing = [column for column in columns if column not in parts.schema_arrow.names]
    if missing:
        raise GraphFormatError(f"has columns {parts.schema_arrow.names}, expected {missing[0]!r} among them", file)
    for batch in parts.iter_batches(BATCH, columns=columns):
        ends = []
        for column in columns[:2]:
            numbers = batch.column(column).to_numpy(zero_copy_only=False)
            if numbers.dtype.kind not in "iu" or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < 2**63):
                raise GraphValidationError(
                    f"column {column!r} of {file} holds other things than whole numbers >= 0 and below 2^63"
                )
            ends.append(numbers.astype(np.int64))
        weights = None
        if table.weight is not None:
            weights = _as_weights(batch.column(table.weight))
            if weights is None:
                raise GraphValidationError(f"column {table.weight!r} of {file} holds what is not a weight >= 0")
        yield *ends, weights


def _as_weights(column: Any) -> np.ndarray | None:
    """A column as finite float64 >= 0; None where it holds anything else, such as text or dates."""
    from pyarrow import types

    kind = column.type
    if not (types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind) or types.is_boolean(kind)):
        return None
    weights: np.ndarray = column.to_numpy(zero_copy_only=False).astype(np.float64)
    return weights if np.isfinite(weights).all() and (weights >= 0).all() else None


def sort_into_ranges(origin: None, first: int, last: int, file: str, table: Table, bounds: np.ndarray) -> bool:
    """Write the edges of a file, in both directions, to a file for each range of rows."""
    pieces: list[list[tuple[np.ndarray, ...]]] = [[] for _ in bounds[1:]]
    for sources, targets, weights in batches(file, table):
        for rows, columns in ((sources, targets), (targets, sources)):
            given = np.ones(len(rows)) if weights is None else weights
            kept = given > 0
            rows, columns, given = rows[kept], columns[kept], given[kept]
            which = np.searchsorted(bounds, rows, side="right") - 1
            order = np.argsort(which, kind="stable")
            cuts = np.searchsorted(which[order], np.arange(len(bounds)))
            for number, (a, b) in enumerate(pairwise(cuts.tolist())):
                if a < b:
                    part = order[a:b]
                    pieces[number].append((rows[part], columns[part], given[part]))
    nothing = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    for row, of_range in zip(bounds.tolist(), pieces, strict=False):
        sources, targets, given = (np.concatenate(column) for column in zip(nothing, *of_range, strict=True))
        write_arrays(range_file(table, row, first), rows=sources, columns=targets, weights=given)
    return True


def all_done(origin: None, parts: list[bool]) -> bool:
    """When the files of all ranges are there."""
    return all(parts)


def rows_of_range(origin: None, first: int, last: int, table: Table, n_files: int, done: bool) -> Rows:
    """The sorted rows first..last-1, each neighbor once with the largest weight it was given, on the disk."""
    parts = [np.load(range_file(table, first, file)) for file in range(n_files)]
    rows, columns, weights = (np.concatenate([part[key] for part in parts]) for key in ("rows", "columns", "weights"))
    order = np.lexsort((-weights, columns, rows))
    rows, columns, weights = rows[order], columns[order], weights[order]
    new = np.append(True, (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1]))[: len(rows)]
    rows, columns, weights = rows[new], columns[new], weights[new]
    lengths = np.bincount(rows - first, minlength=last - first)
    degrees = np.bincount(rows - first, weights, minlength=last - first)
    loops = np.zeros(last - first)
    loops[rows[rows == columns] - first] = weights[rows == columns]
    file = os.path.join(table.folder, f"rows-{first}.npz")
    write_arrays(
        file, lengths=lengths, indices=columns.astype(np.int32), weights=weights, degrees=degrees, loops=loops
    )  # fmt: skip
    return Rows(file, len(rows), bool((weights != 1.0).any()), bool(loops.any()))


def range_file(table: Table, row: int, file: int) -> str:
    """The file of the edges of one file whose rows are in the range from this row on."""
    return os.path.join(table.folder, f"{row}-of-{file}.npz")


def write_arrays(file: str, **arrays: np.ndarray) -> None:
    """Write them to a file that appears whole: another task may be writing the same."""
    half = f"{file}.{uuid.uuid4().hex[:8]}.npz"
    np.savez(half, allow_pickle=False, **arrays)
    os.replace(half, file)


def write_store(name: str, ranges: list[Rows], bounds: np.ndarray, overwrite: bool) -> None:
    """The store, from the rows of all ranges in order."""
    n, n_entries = int(bounds[-1]), sum(part.n_entries for part in ranges)
    lengths = {"indptr": n + 1, "indices": n_entries, "degrees": n}
    if any(part.weighted for part in ranges):
        lengths["weights"] = n_entries
    if any(part.looped for part in ranges):
        lengths["loops"] = n
    with new_store(name, lengths, overwrite) as arrays:
        arrays["indptr"][0] = start = 0
        for (first, last), part in zip(pairwise(bounds.tolist()), ranges, strict=True):
            with np.load(part.file) as rows:
                arrays["indptr"][first + 1 : last + 1] = start + np.cumsum(rows["lengths"])
                for array in lengths.keys() - {"indptr"}:
                    of_entries = array in ("indices", "weights")
                    place = slice(start, start + part.n_entries) if of_entries else slice(first, last)
                    arrays[array][place] = rows[array]
            start += part.n_entries
