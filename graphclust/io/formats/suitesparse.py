"""Archives of the SuiteSparse Matrix Collection (https://sparse.tamu.edu): Name.tar.gz with Name/Name.mtx and company.

Nothing is ever unpacked to disk: the archive is read once, as a stream, and the names in it are only compared.
"""

import re
import tarfile
from typing import Any

from graphclust.errors import GraphFormatError, UnsafeArchiveError
from graphclust.io.edges import Edges
from graphclust.io.formats.auxiliary_files import details_of
from graphclust.io.formats.matrix_market import read_matrix_market
from graphclust.io.text.byte_source import Source
from graphclust.io.text.edge_lines import Reading
from graphclust.progress import Progress

MATRIX = re.compile(r"(?:\./)?([^/]+)/\1\.mtx")
_COMPANION = re.compile(
    r"(?:\./)?([^/]+)/\1_(nodename\.txt|coord\.mtx|nodeid\.mtx|label\.mtx|Communities_(?:all|top5000)\.mtx)"
)
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
                elif details and (found := _COMPANION.fullmatch(member.name)) and member.size <= MOST_COMPANION_BYTES:
                    companions[found[2]] = content.read()
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
    raise UnsafeArchiveError(
        f"has a member {member.name!r} that {what}; expected Name/Name.mtx and files beside it; nothing was read", path
    )
