"""Archives of the SuiteSparse Matrix Collection (https://sparse.tamu.edu): Name.tar.gz with Name/Name.mtx and company.

Nothing is ever unpacked to disk: the archive is read once, as a stream, and the names in it are only compared. Files
beside the matrix, of names, coordinates, classes and communities, are read only where they are asked for, and with the
loops of `matrix_market`: damaged ones end the process in `scipy.io.mmread`.
"""

import io
import re
import tarfile
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphFormatError, UnsafeArchiveError
from graphclust.io.edges import Edges, NegativeOrInfinite
from graphclust.io.formats.array_files import name_failures
from graphclust.io.formats.communities import communities_of_columns
from graphclust.io.formats.matrix_market import Header, read_matrix_market, stream_entries
from graphclust.io.text.byte_source import Source
from graphclust.io.text.edge_lines import Reading
from graphclust.progress import Progress

MATRIX = re.compile(r"(?:\./)?([^/]+)/\1\.mtx")
_COMPANION = re.compile(
    r"(?:\./)?([^/]+)/\1_(nodename\.txt|coord\.mtx|nodeid\.mtx|label\.mtx|Communities_(?:all|top5000)\.mtx)"
)
_WHOLE_NUMBERS = {"nodeid": "node_ids", "label": "class_of_node"}
_FIELDS = {"real": float, "double": float, "integer": int}
MOST_MEMBERS = 10_000
MOST_COMPANION_BYTES = 1 << 30
_OUTSIDE = re.compile(r"[/\\]|[A-Za-z]:|(.*[/\\])?\.\.([/\\]|$)", re.DOTALL)
TAR_AT, TAR = 257, b"ustar"  # where a tar archive says that it is one


def read_suitesparse(source: Source, reading: Reading, progress: Progress) -> Edges:
    """The edges of the one member Name/Name.mtx; of the others what `LoadInfo.details` names, where that is asked for.

    Raises UnsafeArchiveError for a member that is a link or a device or would lie outside, and GraphFormatError for an
    archive that is broken, or without exactly one such member.
    """
    edges: Edges | None = None
    details = reading.with_details
    companions: dict[str, bytes] = {}
    seen: list[str] = []
    stream: Any = source
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                seen.append(member.name)
                if len(seen) > MOST_MEMBERS:
                    raise GraphFormatError(f"has more than {MOST_MEMBERS} members, expected one matrix", source.path)
                refuse_unsafe(member, source.path)
                content = archive.extractfile(member)
                if content is None:
                    continue
                if MATRIX.fullmatch(member.name):
                    if edges is not None:
                        raise GraphFormatError(f"holds a second matrix, {member.name!r}; expected one", source.path)
                    with content:
                        part = source.member(content, member.name, member.size)
                        edges = read_matrix_market(part, reading, progress)
                elif details and (match := _COMPANION.fullmatch(member.name)) and member.size <= MOST_COMPANION_BYTES:
                    companions[match[2]] = content.read()
    except (tarfile.TarError, EOFError, UnicodeError) as problem:
        raise GraphFormatError(f"is not a whole tar archive ({problem}); get the file again", source.path) from None
    if edges is None:
        listed = ", ".join(seen[:10]) + (" ..." if len(seen) > 10 else "")
        raise GraphFormatError(f"has no member Name/Name.mtx, but {listed or 'nothing'}", source.path)
    while source.read(1 << 20):  # to the end, where the checksum of the compression is
        pass
    found_beside, remarks = details_of(companions, edges.n_nodes, source)
    edges.details |= found_beside
    edges.repairs += remarks
    return edges


def refuse_unsafe(member: tarfile.TarInfo, path: str) -> None:
    """Raise UnsafeArchiveError for a member that is a link or a device, or would lie outside."""
    if not (member.isreg() or member.isdir()):
        what = "is neither a file nor a folder"
    elif _OUTSIDE.match(member.name):
        what = "would lie outside the archive's folder"
    else:
        return
    wrong = f"has a member {member.name!r} that {what}; expected Name/Name.mtx and files beside it; nothing was read"
    raise UnsafeArchiveError(wrong, path)


def details_of(companions: dict[str, bytes], n_nodes: int, source: Source) -> tuple[dict[str, Any], list[str]]:
    """What fits the nodes of a graph, and a remark on each file that cannot be read.

    companions : the content of each file by what its name ends in, such as "coord.mtx".
    """
    details: dict[str, Any] = {}
    remarks = []
    for member, content in companions.items():
        try:
            if member == "nodename.txt":
                names = content.decode("utf-8", "replace").splitlines()
                details |= {"node_names": names} if len(names) == n_nodes else {}
            else:
                part = source.member(io.BytesIO(content), member, len(content))
                details |= _detail(member.removesuffix(".mtx"), _read_matrix(part, len(content)), n_nodes)
        except GraphFormatError as problem:
            remarks.append(f"a file beside the matrix was left out: {problem}")
    return details, remarks


def _detail(name: str, matrix: Any, n_nodes: int) -> dict[str, Any]:
    """What a further matrix of an archive tells of the nodes: coordinates, communities, ids or classes."""
    if matrix.shape[0] != n_nodes:
        return {}
    if name == "coord" and isinstance(matrix, np.ndarray):
        return {"coordinates": matrix}
    if name.startswith("Communities"):
        columns = sparse.coo_array(matrix) if isinstance(matrix, np.ndarray) else matrix
        return {name.lower(): communities_of_columns(columns)}
    if name in _WHOLE_NUMBERS and isinstance(matrix, np.ndarray) and matrix.shape == (n_nodes, 1):
        numbers = matrix[:, 0]
        if np.array_equal(numbers, np.rint(numbers)) and np.abs(numbers).max(initial=0) < 2**63:
            return {_WHOLE_NUMBERS[name]: numbers.astype(np.int64)}
    return {}


def _read_matrix(source: Source, n_bytes: int) -> np.ndarray | sparse.coo_array:
    """A general matrix: numbers column by column as an array, coordinates as a sparse one."""
    with name_failures(source.path, "holds no matrix"):
        first = source.line()
        if not first:
            raise ValueError("it is empty")
        banner = first.lower().split()
        if len(banner) != 5 or banner[:2] != [b"%%matrixmarket", b"matrix"] or banner[4] != b"general":
            raise ValueError(f"its first line is {first[:60]!r}, expected the banner of a general matrix")
        layout, field = banner[2].decode("ascii"), banner[3].decode("ascii")
        text, n_lines = source.data_line()
        if not text or not all(word.isdigit() and len(word) < 20 for word in text.split()):
            raise ValueError("it has no line of sizes")
        sizes = [int(word) for word in text.split()]
        if len(sizes) != (2 if layout == "array" else 3) or max(sizes[1:]) > n_bytes:
            raise ValueError(f"its sizes are {sizes} in {n_bytes} bytes")
        if layout == "array":
            return _read_array(source.line_blocks(Progress()), field, *sizes)
        if layout != "coordinate" or field not in ("pattern", *_FIELDS):
            raise ValueError(f"it is of layout {layout!r} and field {field!r}")
        header = Header("real" if field == "double" else field, False, *sizes)
        parts: list = []
        unfit = NegativeOrInfinite(source.path, "file")
        for entries, _, _ in stream_entries(source, header, unfit, Progress(), n_lines + 1):
            parts += entries
        nothing = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
        rows, columns = (np.concatenate([nothing[place], *(part[place] for part in parts)]) for place in (0, 1))
        values = np.ones(len(rows)) if field == "pattern" else np.concatenate([nothing[2], *(p[2] for p in parts)])
        return sparse.coo_array((values, (rows, columns)), shape=(header.n_rows, header.n_columns))


def _read_array(blocks: Any, field: str, n_rows: int, n_columns: int) -> np.ndarray:
    """The numbers of an array, one a line and column by column."""
    if field not in _FIELDS:
        raise ValueError(f"it is an array of the field {field!r}")
    dtype = np.int64 if field == "integer" else np.float64
    parts = [np.empty(0, dtype)]
    for block in blocks:
        lines = (line for line in bytes(block).split(b"\n") if not line.lstrip().startswith(b"%"))
        words = b"\n".join(lines).split()
        if odd := next((word for word in words if b"_" in word), None):  # which Python reads
            raise ValueError(f"it has {odd!r} among its numbers")
        parts.append(np.fromiter(map(_FIELDS[field], words), dtype, len(words)))
    numbers = np.concatenate(parts)
    if len(numbers) != n_rows * n_columns:
        raise ValueError(f"it has {len(numbers)} numbers, expected {n_rows} x {n_columns}")
    return numbers.reshape(n_columns, n_rows).T
