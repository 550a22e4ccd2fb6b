"""Files that list communities, as SNAP has them: a community a line, or a node and its community a line."""

import os

import numpy as np

from graphclust.errors import GraphFormatError
from graphclust.io.text.byte_source import open_source
from graphclust.io.text.lines import quote
from graphclust.progress import Progress


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
                parts = [text.rpartition(b";") for text in rows]
                names += [name.decode("utf-8", "replace").removeprefix("Category:") for name, _, _ in parts]
                rows = [after for _, _, after in parts]
            try:
                ids.append(np.array(b" ".join(rows).split(), dtype=np.int64))
            except (ValueError, OverflowError):
                _complain(lines, source.path, line)
            counts.append(np.array([len(text.split()) for text in rows], np.int64))
            if written == "labels" and not (counts[-1] == 2).all():
                raise GraphFormatError("has lines that are not a pair of a node and its community", source.path)
            line += len(lines) - 1
    members = np.concatenate([*ids, np.zeros(0, np.int64)])
    if written == "labels":
        nodes, numbers = members[::2], members[1::2]
        _, sizes = np.unique(numbers, return_counts=True)
        return np.concatenate([[0], np.cumsum(sizes)]), nodes[np.argsort(numbers, kind="stable")], None
    starts = np.concatenate([[0], np.cumsum(np.concatenate([*counts, np.zeros(0, np.int64)]))])
    return starts, members, names if written == "categories" else None


def _complain(lines: list[bytes], path: str, before: int) -> None:
    for number, text in enumerate(lines, before + 1):
        if not text.startswith(b"#") and not all(word.isdigit() for word in text.rpartition(b";")[2].split()):
            raise GraphFormatError(f"{quote(text)!r} is not a list of nodes", path, number)
    raise GraphFormatError("holds numbers that are not ids of nodes", path)
