"""What nodes weigh, from a file of numbers or a table of nodes."""

import os
from collections.abc import Iterator

import numpy as np

from graphclust.errors import GraphFormatError, GraphWarning, ParameterError, amount, quote, warn_caller
from graphclust.graph.container import Graph
from graphclust.io.columns import is_plain_number
from graphclust.io.text.records import split


def read_node_weights(path: str | os.PathLike[str], graph: Graph) -> np.ndarray:
    """The weights of the nodes of a graph, float64 (n_nodes,).

    path : a text file with one number a line, in the order of the nodes; or a table between tabs, commas or spaces,
        whose first column has the nodes' names, and the second their weights, or the column that follows the path after
        a colon: "nodes.tsv:length", where the first line names the columns. A line "#" or "%" is a comment.

    A node that comes twice or not at all is an error; a GraphWarning counts nodes that the graph does not have.
    """
    path, column = os.fspath(path), None
    if not os.path.exists(path) and ":" in path:
        path, column = path.rsplit(":", 1)
    rows = list(_rows(path))
    if not rows:
        raise GraphFormatError("is empty, expected the weights of nodes", path)
    if len(rows[0][1]) == 1 and column is None:
        if len(rows) != graph.n_nodes:
            raise GraphFormatError(f"has {len(rows)} numbers, expected one for each of {graph.n_nodes} nodes", path)
        longer = next((line for line, words in rows if len(words) > 1), None)
        if longer is not None:
            raise GraphFormatError("has several columns, expected one number as in the first line", path, longer)
        return np.array([_number(words[0], path, line) for line, words in rows])
    header = rows[0][1]
    if column is not None and column not in header[1:]:
        raise ParameterError(f"{path} has no column {column!r}, expected one of {', '.join(map(repr, header[1:]))}")
    place = 1 if column is None else header.index(column)
    if column is not None or not is_plain_number(header[1]):
        rows = rows[1:]
    names = range(graph.n_nodes) if graph.nodes is None else graph.nodes
    node_of = {str(name): u for u, name in enumerate(names)}
    weights, n_unknown = np.full(graph.n_nodes, np.nan), 0
    for line, words in rows:
        if len(words) <= place:
            raise GraphFormatError(f"has {len(words)} columns, expected at least {place + 1}", path, line)
        u = node_of.get(words[0])
        if u is None:
            n_unknown += 1
        elif not np.isnan(weights[u]):
            raise GraphFormatError(f"has node {words[0]!r} a second time", path, line)
        else:
            weights[u] = _number(words[place], path, line)
    missing = np.flatnonzero(np.isnan(weights))
    if len(missing):
        problem = f"has no weight of {amount(len(missing), 'node')}, the first {names[missing[0]]!r}"
        raise GraphFormatError(f"{problem}; expected a line for each node", path)
    if n_unknown:
        warn_caller(f"{path}: {amount(n_unknown, 'node')} that the graph does not have left out", GraphWarning)
    return weights


def _rows(path: str) -> Iterator[tuple[int, list[str]]]:
    """The number and the columns of each line that is neither blank nor a comment."""
    with open(path, encoding="utf-8-sig") as file:
        for line, text in enumerate(file, 1):
            text = text.rstrip("\r\n")
            if text.strip() and not text.startswith(("#", "%")):
                separator = "\t" if "\t" in text else "," if "," in text else None
                try:
                    words = split(text, separator)
                except ValueError as problem:
                    raise GraphFormatError(f"{quote(text.encode())!r} is not a row ({problem})", path, line) from None
                yield line, [word.strip() if separator else word.strip('"') for word in words]


def _number(word: str, path: str, line: int) -> float:
    if not is_plain_number(word):
        raise GraphFormatError(f"{word!r} is not a number, expected the weight of a node", path, line)
    return float(word)
