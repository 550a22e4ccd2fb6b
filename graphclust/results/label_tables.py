"""Labels of nodes in tables of text, as people and other programs write them: labels may be numbers or names."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from graphclust.errors import GraphFormatError, amount
from graphclust.io.columns import plain_name
from graphclust.io.text.lines import quote
from graphclust.io.text.records import as_numbers

COMMENT = "# "
_BOM = b"\xef\xbb\xbf"
_WHOLE = re.compile(r"-?[0-9]+")
_NODES = {
    "", "node", "nodeid", "nodes", "id", "name", "vertex", "index", "key", "cell", "cellid", "barcode", "gene", "user",
}  # fmt: skip
_LABELS = {
    "label", "labels", "cluster", "clusters", "clusterid", "community", "communities", "communityid", "class", "group",
    "module", "modularityclass", "partition", "membership", "category", "type", "celltype", "louvain", "leiden",
}  # fmt: skip

Row = tuple[int, str, str]  # line, node and label


def read_label_table(path: str, kind: str) -> tuple[list[Any], np.ndarray]:
    """Nodes, and labels as int64 or, where they are names, as text, of a "tsv" or "csv" file.

    Lines at the top that start with "# " are comments. The first row names the columns where its words are such names,
    or where its label is no number and all others are.
    """
    rows = list(_tab_rows(path) if kind == "tsv" else _comma_rows(path))
    if rows and plain_name(rows[0][1]) in _LABELS and plain_name(rows[0][2]) in _NODES:
        rows = [(line, node, label) for line, label, node in rows[1:]]  # the label comes first
    elif rows and _is_header(rows):
        del rows[0]
    elif len(rows) == 1 and not _WHOLE.fullmatch(rows[0][2]):
        line, node, label = rows[0]
        raise GraphFormatError(
            f"holds one row, {node!r} and {label!r}, which may name columns; put 'node' and 'cluster' in a row above",
            path, line,
        )  # fmt: skip
    return as_numbers([node for _, node, _ in rows]), _labels_of(rows, path)


def labels_of_json(stored: Any) -> tuple[list[Any], np.ndarray]:
    """Nodes and labels of parsed JSON: lists under "nodes" and "labels", or one object of a label for each name."""
    if isinstance(stored, dict) and not {"nodes", "labels"} & stored.keys():
        stored = {"nodes": list(stored), "labels": list(stored.values())}
    if not isinstance(stored, dict) or not {"nodes", "labels"} <= stored.keys():
        raise ValueError('it is not an object with a label for each name, or with lists under "nodes" and "labels"')
    nodes, labels = stored["nodes"], stored["labels"]
    for key, found in (("nodes", nodes), ("labels", labels)):
        if not isinstance(found, list) or not all(type(item) in (str, int) for item in found):
            raise ValueError(f"its {key} are not a list of texts or whole numbers")
    if len({type(label) for label in labels}) > 1:
        raise ValueError("its labels mix names and whole numbers")
    return nodes, np.array(labels, dtype=np.str_ if labels and isinstance(labels[0], str) else np.int64)


def _is_header(rows: list[Row]) -> bool:
    _, node, label = rows[0]
    others = [other for *_, other in rows[1:]]
    if plain_name(label) in _LABELS:
        return label not in others
    if plain_name(node.removeprefix("#")) in _NODES and label not in others and others:
        return True
    return bool(others) and not _WHOLE.fullmatch(label) and all(map(_WHOLE.fullmatch, others))


def _labels_of(rows: list[Row], path: str) -> np.ndarray:
    """The labels of all rows: whole numbers, or names where none is a number."""
    whole = [_WHOLE.fullmatch(label) is not None for *_, label in rows]
    if all(whole):
        return np.array([int(label) for *_, label in rows], np.int64)
    for (line, node, label), number in zip(rows, whole, strict=True):
        if any(whole) and not number:
            where = rows[whole.index(True)]
            raise GraphFormatError(
                f"the label of {node!r} is {label!r}, no whole number as that of line {where[0]} is; expected all "
                "labels to be whole numbers, or all names", path, line,
            )  # fmt: skip
        if not label:
            raise GraphFormatError(f"node {node!r} has no label, expected one for each; -1 means none", path, line)
    return np.array([label for *_, label in rows])


def _tab_rows(path: str) -> Iterator[Row]:
    """Rows of a table with tabs: line, node and label; comments at the top and blank lines are passed over."""
    with open(path, "rb") as file:
        at_top = True
        for line, text in enumerate(file, 1):
            row = (text.removeprefix(_BOM) if line == 1 else text).decode("utf-8").rstrip("\r\n")
            if at_top and row.startswith(COMMENT):
                continue
            at_top = False
            if not row:
                continue
            columns = row.split("\t")
            if len(columns) != 2:
                raise GraphFormatError(
                    f"{quote(text)!r} has {amount(len(columns), 'column')}, expected two: a node, a tab and a label",
                    path, line,
                )  # fmt: skip
            yield line, columns[0], columns[1]


def _comma_rows(path: str) -> Iterator[Row]:
    """Rows of a table with commas, as `_tab_rows` gives them."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        n_comments, first = 0, ""
        for first in file:
            if not first.startswith(COMMENT):
                break
            n_comments, first = n_comments + 1, ""
        reader = csv.reader(_chain(first, file), strict=True)
        try:
            for row in filter(None, reader):
                if len(row) != 2:
                    raise GraphFormatError(
                        f"{row} has {amount(len(row), 'column')}, expected two: a node and a label",
                        path, n_comments + reader.line_num,
                    )  # fmt: skip
                number = row[1].strip()
                yield n_comments + reader.line_num, row[0], number if _WHOLE.fullmatch(number) else row[1]
        except csv.Error as problem:
            raise GraphFormatError(f"is not CSV: {problem}", path, n_comments + reader.line_num) from None


def _chain(first: str, rest: Iterable[str]) -> Iterator[str]:
    if first:
        yield first
    yield from rest
