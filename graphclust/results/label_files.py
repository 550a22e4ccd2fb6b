"""Labels of nodes as a table of text (TSV or CSV), JSON, NumPy's NPZ, METIS's list, or on the nodes of a graph file."""

import csv
import io
import json
import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from html import escape
from typing import IO, Any

import numpy as np

from graphclust.checks import as_labels, as_names, refuse_swapped
from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError, amount, quote
from graphclust.io.atomic_write import is_pipe, whole_file
from graphclust.io.columns import plain_name
from graphclust.io.formats.array_files import name_failures, open_archive, parse_json
from graphclust.io.save import NO_XML, as_network, write_network
from graphclust.io.text.records import as_numbers
from graphclust.results.clustering import Clustering
from graphclust.results.file_header import header_of, read_header

KINDS = {
    ".tsv": "tsv", ".txt": "tsv", ".csv": "csv", ".json": "json", ".npz": "npz", ".part": "partition",
    ".graphml": "graphml", ".gexf": "gexf",
}  # fmt: skip
WITH_GRAPH = ("graphml", "gexf")
_PARTITION = re.compile(r"\.part(\.\d+)?$")  # as METIS names its own, such as mesh.graph.part.8
_COMPLAINT = "holds no labels of nodes"
_SIGNED = re.compile("[+-]?[0-9]+")  # in METIS's files
_WHOLE = re.compile(r"-?[0-9]+")  # in tables
_ROWS = 1 << 16
_UNSAFE = ("\t", "\n", "\r")
_SURROGATE = re.compile("[\ud800-\udfff]")
_COMMENT = "# "
_NODES = {
    "", "node", "nodeid", "nodes", "id", "name", "vertex", "index", "key", "cell", "cellid", "barcode", "gene", "user",
}  # fmt: skip
_LABELS = {
    "label", "labels", "cluster", "clusters", "clusterid", "community", "communities", "communityid", "class", "group",
    "module", "modularityclass", "partition", "membership", "category", "type", "celltype", "louvain", "leiden",
}  # fmt: skip

Row = tuple[int, str, str]  # line, node and label


def write_labels(
    path: str | os.PathLike, labels: Any, nodes: Sequence[Hashable] | None = None, *, overwrite: bool = False
) -> None:
    """Write the label of each node, -1 for none, to a .tsv (or .txt), .csv, .json or .npz file; or to one of METIS.

    path : the ending tells the format. Of METIS, `.part` or `.part.K`, is a file of labels alone, in the order of the
        nodes. .graphml and .gexf are the graph itself with an attribute "cluster" on each node; of a `Clustering` only.
        What is written to a pipe or a device goes straight into it, as of a .tsv file where no ending says otherwise.
        A .json file holds the lists "nodes" and "labels", and of a `Clustering` also "label_of", the label of each
        name, "communities", a list of names for each, and "origin".
    labels : a `Clustering`; a mapping from nodes, or a pandas Series with the nodes as its index; or whole numbers of
        shape (n_nodes,). Of a `Clustering` the graph's file, k, the seed and the options are written too in .json, .npz
        and .graphml, as "origin", and in .gexf, as the description. A table is a row "node", "cluster" and a row for
        each node; `write_report` keeps beside it what was run.
    nodes : names of the nodes, strings or whole numbers; None takes those of the labels, or 0..n_nodes-1.
    overwrite : replace a file that is there. The new file appears whole or not at all.

    `read_labels` gives the names back as they were, with two exceptions. If all names are strings of digits, a table
    gives them back as numbers. Numbers beside strings, and in all but .json files numbers of 2^63 or more, come back as
    strings. A spreadsheet runs a name that begins with =, +, - or @ as a formula: if others chose the names, import the
    column as text, or write .json.

    Raises ParameterError for another ending; FileExistsError; GraphValidationError for names that the format cannot
    hold: other than strings or whole numbers, in a TSV file with a tab or a line break, in a CSV file with a carriage
    return, and so on; .json holds all strings. OSError as `open` does, or, with the file's name and about its size,
    where there is no room for it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_labels(f"{folder}/labels.tsv", np.array([0, 1, -1]), ["a", "b", "c"])
    ...     read_labels(f"{folder}/labels.tsv")
    (['a', 'b', 'c'], array([ 0,  1, -1]))
    """
    refuse_swapped(path, "write_labels(path, clustering)")
    kind = kind_of(path)
    clustering = labels
    origin: dict[str, Any] | None = None
    if isinstance(labels, Clustering):
        origin = header_of("labels", labels.origin)
        nodes = labels.nodes if nodes is None else nodes
        labels = labels.labels
    elif kind in WITH_GRAPH:
        raise ParameterError(f"labels alone make no .{kind} file, expected a Clustering, which has its graph")
    elif nodes is None and hasattr(labels, "items"):  # a mapping, or a Series with an index
        nodes, labels = map(list, zip(*labels.items(), strict=True)) if len(labels) else ([], [])
    labels = as_labels(labels, len(labels))
    names: list[Any] = list(range(len(labels))) if nodes is None else as_names(nodes)
    if len(names) != len(labels):
        raise GraphValidationError(f"nodes has {len(names)} names, expected one for each of {len(labels)} labels")
    if not all(type(name) is int for name in names):
        names = _as_text(names, kind)
    with whole_file(path, overwrite, lambda: _size(names, labels, kind)) as file:
        if kind == "npz":
            more: dict[str, Any] = {} if origin is None else {"origin": np.array(json.dumps(origin))}
            array = np.array(names, dtype=None if names else np.int64)
            if array.dtype.kind not in "iUS":  # of whole numbers that int64 cannot hold NumPy made floats or objects
                array = np.array([str(name) for name in names])
            np.savez_compressed(file, nodes=array, labels=labels, **more)
        elif kind == "json":
            text = json.dumps(_json_of(names, labels, origin), ensure_ascii=False)
            file.write(text.encode(errors="backslashreplace"))  # a lone surrogate as JSON has it
        elif kind in WITH_GRAPH:
            _write_labeled_graph(file, clustering, names, kind, json.dumps(origin, ensure_ascii=False))
        else:
            for text in label_rows(names, labels, kind):
                file.write(text.encode())


def _write_labeled_graph(file: IO[bytes], clustering: Clustering, names: list[Any], kind: str, origin: str) -> None:
    """Write all nodes with their attribute "cluster", -1 for none, and the edges with their weights.

    What made the labels is an attribute "origin" of the graph in GraphML, and the description of the file in GEXF.
    """
    labeled = as_network(clustering.graph, names)
    for name, label in zip(names, clustering.labels.tolist(), strict=True):
        labeled.nodes[name]["cluster"] = label
    if kind == "graphml":
        labeled.graph["origin"] = origin
        write_network(file, labeled, kind)
    else:
        text = io.BytesIO()
        write_network(text, labeled, kind)
        description = f"</creator><description>{escape(origin, quote=False)}</description>"  # NetworkX writes none
        file.write(text.getvalue().replace(b"</creator>", description.encode(), 1))


def print_labels(clustering: Clustering, show: Callable[[str], None]) -> None:
    """The text of a .tsv file, a block of rows at a time, without the last one's line break."""
    for text in label_rows(_as_text(list(clustering.nodes), "tsv"), clustering.labels, "tsv"):
        show(text.removesuffix("\n"))


def _json_of(names: list[Any], labels: np.ndarray, origin: dict[str, Any] | None) -> dict[str, Any]:
    lists = {"nodes": names, "labels": labels.tolist()}
    if origin is None:
        return lists
    communities: list[list[Any]] = [[] for _ in range(int(labels.max(initial=-1)) + 1)]
    for name, label in zip(names, lists["labels"], strict=True):
        if label >= 0:
            communities[label].append(name)
    of_name = dict(zip(map(str, names), lists["labels"], strict=True))
    return {"origin": origin, "label_of": of_name, "communities": communities, **lists}


def label_rows(names: Sequence[Any], labels: np.ndarray, kind: str) -> Iterator[str]:
    """The text of a "tsv", "csv" or "partition" file, in blocks of rows."""
    if kind != "partition":
        yield "node,cluster\n" if kind == "csv" else "node\tcluster\n"
    for start in range(0, len(labels), _ROWS):
        rows = zip(names[start : start + _ROWS], labels[start : start + _ROWS].tolist(), strict=True)
        if kind == "csv":
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            yield text.getvalue()
        elif kind == "tsv":
            yield "".join(f"{name}\t{label}\n" for name, label in rows)
        else:
            yield "".join(f"{label}\n" for _, label in rows)


def _size(names: list, labels: np.ndarray, kind: str) -> int:
    """About the bytes of a file, before compression."""
    if kind == "npz":
        return np.array(names).nbytes + labels.nbytes
    between = {"json": 6, "graphml": 60, "gexf": 60}.get(kind, 2)
    rows = (f"{name}{label}" for name, label in zip(names, labels.tolist(), strict=True))
    return sum(len(row.encode(errors="replace")) + between for row in rows)


def read_labels(path: str | os.PathLike, *, memory_limit: int | None = None) -> tuple[list, np.ndarray]:
    """Names of the nodes and their labels, int64, from a file of `write_labels` or of another program.

    path : a .tsv (or .txt), .csv, .json, .npz or METIS file, .part or .part.K; a pipe without an ending is read as a
        .tsv file. A table may have a row of names of columns, comments that start with "# " before it, and names as
        labels; JSON may be an object with a label for each name.

    Returns a list of n_nodes names, those of METIS being 0..n_nodes-1, and labels of shape (n_nodes,), -1 for nodes in
    no cluster; where the file has names as labels, an array of text. Names of nodes that are all whole numbers in a TSV
    or CSV file come back as numbers.

    memory_limit : most bytes of the arrays of a .npz file; None allows 200 for each byte of the file, at least 256 MiB
        and at most what the machine has.

    Raises OSError as `open` does, ParameterError for another ending, GraphFormatError for another content,
    ResourceLimitError past the limit.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/labels.tsv", "w") as file:
    ...         _ = file.write("node\\tcluster\\nann\\t0\\nbob\\t1\\n")
    ...     read_labels(f"{folder}/labels.tsv")
    (['ann', 'bob'], array([0, 1]))
    """
    kind, name = kind_of(path), os.fsdecode(path)
    if kind in WITH_GRAPH:
        raise ParameterError(
            f"path={name!r} is a graph file, expected labels; networkx.read_{kind} reads its attribute"
        )
    with name_failures(name, _COMPLAINT):
        if kind == "npz":
            nodes, labels = _read_npz(name, memory_limit)
        elif kind == "json":
            with open(path, "rb") as file:
                nodes, labels = labels_of_json(parse_json(file.read()))
        elif kind == "partition":
            labels = _read_list(name)
            nodes = list(range(len(labels)))
        else:
            nodes, labels = read_label_table(name, kind)
    if labels.dtype.kind not in "iuU" or labels.shape != (len(nodes),):
        raise GraphFormatError(
            f"holds {len(nodes)} nodes and labels of shape {labels.shape} and dtype {labels.dtype}, expected a whole "
            "number or a name for each node",
            name,
        )
    return nodes, labels if labels.dtype.kind == "U" else labels.astype(np.int64, copy=False)


def _read_list(path: str) -> np.ndarray:
    """The labels of a file of METIS, a whole number a line."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        words = {line: word for line, text in enumerate(file, 1) if (word := text.strip())}
    for line, word in words.items():
        if not (_SIGNED.fullmatch(word) and abs(int(word[:40])) < 2**63):
            got = quote(word.encode())
            raise GraphFormatError(f"{got!r} is not a label, expected a whole number below 2^63", path, line)
    return np.array([*map(int, words.values())], np.int64)


def _read_npz(path: str, memory_limit: int | None) -> tuple[list, np.ndarray]:
    """Nodes and labels, each an array; files of others have no header."""
    with open_archive(path, path, _COMPLAINT, memory_limit) as archive:
        nodes, labels = archive.read("nodes", "labels")
        if labels.dtype.kind not in "iuU" or (labels.dtype.kind == "u" and labels.size and labels.max() >= 2**63):
            raise ValueError(f"its labels are of dtype {labels.dtype}, expected whole numbers below 2^63 or names")
        if nodes.ndim != 1 or nodes.dtype.kind not in "iuU":
            raise ValueError(
                f"its nodes are an array of {nodes.ndim} dimensions and dtype {nodes.dtype}, expected names"
            )
        if "origin" in archive.names and (text := str(archive.read("origin")[0])).startswith('{"format":'):
            read_header(parse_json(text), "labels")
        return nodes.tolist(), labels


def kind_of(path: str | os.PathLike) -> str:
    """The format of a file of labels, by its ending."""
    name = os.fsdecode(path)
    ending = os.path.splitext(name)[1].lower()
    kind = "partition" if _PARTITION.search(name) else KINDS.get(ending)
    if kind is None and is_pipe(path):
        return "tsv"
    if kind is None:
        got = f"ends in {ending!r}" if ending else "has no ending"
        raise ParameterError(f"path={name!r} {got}, expected a name in {', '.join(KINDS)}, or .part.K as of METIS")
    return kind


def _fault_of(name: str, kind: str) -> str:
    """What keeps a name out of a file of a kind, which would not give it back; nothing does of "json"."""
    if kind == "tsv" and any(mark in name for mark in _UNSAFE):
        return "holds a tab or a line break"
    if kind == "csv" and "\r" in name:
        return "holds a carriage return"
    if kind in ("tsv", "csv") and len(name) > csv.field_size_limit():
        return f"is longer than {csv.field_size_limit():,} characters, which Python's csv does not read"
    if kind in ("tsv", "csv") and _SURROGATE.search(name):
        return "holds half of a character, which UTF-8 has no form for"
    if kind == "npz" and name.endswith("\0"):
        return "ends in a zero character, which NumPy drops"
    return f"holds a character that .{kind} files cannot hold" if kind in WITH_GRAPH and NO_XML.search(name) else ""


def _as_text(names: list[Any], kind: str) -> list[Any]:
    """Names as strings, or all as whole numbers; a name that could not be read back as it was is an error."""
    if kind == "partition":
        return names  # which are not written
    texts: list[Any] = []
    for name in names:
        if not isinstance(name, str | int | np.integer) or isinstance(name, bool):
            raise GraphValidationError(
                f"node {name!r} is a {type(name).__name__}; labels files hold strings or whole numbers: pass nodes="
            )
        text = str(name)
        if fault := _fault_of(text, kind):
            raise GraphValidationError(f"node {text!r} {fault}; write a .json file")
        texts.append(text)
    if all(isinstance(name, int | np.integer) for name in names):
        return [int(name) for name in names]
    if len({*texts}) < len({*names}):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise GraphValidationError(
            f"two nodes are named {twice!r} as text, by which files tell them apart: pass nodes="
        )
    return texts


def read_label_table(path: str, kind: str) -> tuple[list[Any], np.ndarray]:
    """Nodes, and labels as int64 or, where they are names, as text, of a "tsv" or "csv" file.

    Lines at the top that start with "# " are comments. The first row names the columns where its words are such names,
    or where its label is no number and all others are.
    """
    rows = list(_rows(path, kind))
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
    if isinstance(origin := stored.get("origin"), dict) and "format" in origin:
        read_header(origin, "labels")
    for key in ("nodes", "labels"):
        if not isinstance(stored[key], list) or not all(type(item) in (str, int) for item in stored[key]):
            raise ValueError(f"its {key} are not a list of texts or whole numbers")
    nodes, labels = stored["nodes"], stored["labels"]
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


def _without_comments(file: Iterable[str]) -> Iterator[str]:
    """The lines of a table, those of comments at the top as blank ones."""
    at_top = True
    for line in file:
        at_top = at_top and line.startswith(_COMMENT)
        yield "\n" if at_top else line


def _rows(path: str, kind: str) -> Iterator[Row]:
    """Rows of a "tsv" or "csv" table: line, node and label; blank lines are passed over."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        form: dict[str, Any] = {"strict": True} if kind == "csv" else {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
        reader, two = csv.reader(_without_comments(file), **form), "a node" if kind == "csv" else "a node, a tab"
        try:
            for row in filter(None, reader):
                if len(row) != 2:
                    said = f"{row} has {amount(len(row), 'column')}, expected two: {two} and a label"
                    raise GraphFormatError(said, path, reader.line_num)
                number = row[1].strip() if kind == "csv" else row[1]
                yield reader.line_num, row[0], number if _WHOLE.fullmatch(number) else row[1]
        except csv.Error as problem:
            raise GraphFormatError(f"is not {kind.upper()}: {problem}", path, reader.line_num) from None
