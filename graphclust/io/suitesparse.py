"""Archives of the SuiteSparse Matrix Collection (https://sparse.tamu.edu): Name.tar.gz with Name/Name.mtx and company.

Nothing is ever unpacked to disk: the archive is read once, as a stream, and the names in it are only compared.
"""

import io
import re
import tarfile
from typing import Any

import numpy as np
from scipy.io import mmread

from graphclust.errors import GraphFormatError
from graphclust.io.edges import Edges
from graphclust.io.matrix_market import read_matrix_market
from graphclust.io.source import Source
from graphclust.progress import Progress

_MAIN = re.compile(r"(?:\./)?([^/]+)/\1\.mtx")
_COMPANION = re.compile(r"(?:\./)?([^/]+)/\1_(nodename\.txt|coord\.mtx)")
MOST_MEMBERS = 10_000
MOST_COMPANION_BYTES = 1 << 30
_MAGIC_AT, _MAGIC = 257, b"ustar"


def is_tar(head: bytes) -> bool:
    """Does a file that starts so hold a tar archive?"""
    return head[_MAGIC_AT : _MAGIC_AT + len(_MAGIC)] == _MAGIC


def read_suitesparse(
    source: Source, weights: str, memory_limit: int | None, progress: Progress, bipartite: bool = False
) -> Edges:
    """The edges of the one member Name/Name.mtx; the other members are passed over.

    The node names of Name_nodename.txt, one a line, and the coordinates of Name_coord.mtx, shape (n_nodes, d), are
    in `details` where they are there and fit. Raises what `read_matrix_market` does, and GraphFormatError for an
    archive that is broken, or without exactly one such member.
    """
    edges: Edges | None = None
    companions: dict[str, bytes] = {}
    seen: list[str] = []
    stream: Any = source
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                seen.append(member.name)
                if len(seen) > MOST_MEMBERS:
                    raise GraphFormatError(f"has more than {MOST_MEMBERS} members, expected one matrix", source.path)
                content = archive.extractfile(member) if member.isreg() else None
                if content is None:
                    continue
                if _MAIN.fullmatch(member.name):
                    if edges is not None:
                        raise GraphFormatError(f"holds a second matrix, {member.name!r}; expected one", source.path)
                    with content:
                        part = source.member(content, member.name, member.size)
                        edges = read_matrix_market(part, weights, memory_limit, progress, bipartite)
                elif (found := _COMPANION.fullmatch(member.name)) and member.size <= MOST_COMPANION_BYTES:
                    companions[found[2]] = content.read()
    except (tarfile.TarError, EOFError, UnicodeError) as problem:
        raise GraphFormatError(f"is no whole tar archive ({problem}); get the file again", source.path) from None
    if edges is None:
        listed = ", ".join(seen[:10]) + (" ..." if len(seen) > 10 else "")
        raise GraphFormatError(f"has no member Name/Name.mtx, but {listed or 'nothing'}", source.path)
    edges.details |= _companions(companions, edges.n_nodes)
    return edges


def _companions(found: dict[str, bytes], n_nodes: int) -> dict:
    """Node names and coordinates, each only if there is one for every node."""
    details: dict[str, Any] = {}
    if "nodename.txt" in found:
        names = found["nodename.txt"].decode("utf-8", "replace").splitlines()
        if len(names) == n_nodes:
            details["node_names"] = names
    if "coord.mtx" in found:
        try:
            coordinates = mmread(io.BytesIO(found["coord.mtx"]))
        except (ValueError, OverflowError, MemoryError):
            return details
        if isinstance(coordinates, np.ndarray) and coordinates.shape[0] == n_nodes:
            details["coordinates"] = coordinates
    return details
